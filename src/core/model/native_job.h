/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * native_job.h - a native job within which pods run, as slurmctld describes it, and the mark that
 * the agent writes into the binding of such a pod.
 *
 * Plain values. Times are seconds since the epoch (0: unknown); names of sizes contain the unit.
 */
#ifndef SLURMKUBE_CORE_MODEL_NATIVE_JOB_H
#define SLURMKUBE_CORE_MODEL_NATIVE_JOB_H

#include "src/core/model/job.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::core
{

/*
 * One life of one job of one user. A number alone is not enough: Slurm gives it out again after a
 * lost state, a job that is requeued keeps it, and each Slurm cluster has it.
 */
struct NativeMark {
	JobId job;
	std::uint32_t user_id = 0;
	std::uint32_t restarts = 0; /* how often the job has been requeued */
	std::int64_t start = 0;
	std::string cluster = {}; /* Slurm's ClusterName */
	auto operator<=>(const NativeMark &) const = default;
};

/* "JOB:USER:RESTARTS:START:CLUSTER" */
std::string text_of(const NativeMark &mark);
/* nullopt: not a mark */
std::optional<NativeMark> mark_from_text(std::string_view text);

struct NativeJob {
	NativeMark mark; /* start: for a pending job Slurm's estimate */
	JobState state = JobState::unknown;
	bool completing = false, configuring = false;
	bool is_of_pod = false; /* has a marker of ours */
	bool is_het = false;    /* a component of a heterogeneous job */
	bool is_shared = false; /* other jobs may have its processors (--oversubscribe) */
	std::string partition;
	std::vector<std::string> nodes;
	/* of the whole job */
	std::uint32_t cpus = 0;
	std::uint64_t memory_mib = 0; /* 0: Slurm does not count memory */
	/* Jobs that slurmctld had to describe for the answer: all tasks of an array. */
	std::size_t described = 1;
	/* Why no pod may run in a job of this partition, as text for users; empty: it may. */
	std::string unsuitable = {};
	bool operator==(const NativeJob &) const = default;
};

} // namespace slurmkube::core

#endif
