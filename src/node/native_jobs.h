/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * native_jobs.h - which native jobs live on this node, for pods that run within them.
 *
 * Prolog, which slurmd runs for every job, writes opened/JOB, and Epilog removes it first of all. A
 * file that is missing refuses containers, so neither fails if it cannot write: a native job never
 * depends on a file of ours. The files are below "native" in the daemon's state directory, where
 * Records keeps the containers of such pods, too.
 */
#ifndef SLURMKUBE_NODE_NATIVE_JOBS_H
#define SLURMKUBE_NODE_NATIVE_JOBS_H

#include "src/core/model/native_job.h"
#include "src/node/cgroups.h"
#include "src/node/containerd_status.h"
#include "src/node/records.h"

#include <chrono>
#include <functional>

namespace slurmkube::node
{

/* What Prolog has said of a job. */
struct OpenedJob {
	core::NativeMark life;    /* start 0: Slurm before 23.02 does not say it to Prolog */
	std::int64_t written = 0; /* when Prolog ran, seconds since the epoch */
	std::string text = {};    /* of the file: another one for each life on this node */
};

/* Why the mark of a binding is not that of the job that lives here; empty: it is. */
std::string misfit(const core::NativeMark &mark, const std::optional<OpenedJob> &opened);

class NativeJobs
{
      public:
	explicit NativeJobs(const std::filesystem::path &state_directory);

	[[nodiscard]] const std::filesystem::path &directory() const { return directory_; }
	/* Whether pods have been allowed in native jobs here since the last boot. */
	[[nodiscard]] bool is_used() const;

	/* io: not written, so pods are refused. */
	[[nodiscard]] Result<Ok> open(const core::NativeMark &life) const;
	void close(std::uint32_t job) const;
	[[nodiscard]] std::optional<OpenedJob> opened(std::uint32_t job) const;
	/* Forgets jobs without a cgroup whose Prolog ran longer ago than that: Epilog did not run
	 * to its end, because slurmd was killed. */
	void prune(const Cgroups &cgroups, std::chrono::seconds age) const;

      private:
	std::filesystem::path directory_;
};

/* How long containers may take to end by themselves, and by SIGKILL. */
struct EndLimits {
	std::chrono::milliseconds grace, all;
	bool only_waits = false; /* the job may live: nothing is killed or forgotten */
};
/* The agent deletes the pods of a job that has ended, and none of them has a grace period of more
 * than 30 s. */
inline constexpr EndLimits k_end_limits{std::chrono::seconds(45), std::chrono::seconds(105)};

/*
 * Blocks until no container of these jobs has a process. After the grace period they are killed:
 * the agent may be away, or too old to know such pods. again: some still run. containers: those of
 * pods in native jobs.
 */
Result<Ok> end_containers(const Records &containers, const Cgroups &cgroups,
	const std::function<bool(std::uint32_t job)> &has_ended, const EndLimits &limits,
	const ContainerdStatus &containerd = {});

} // namespace slurmkube::node

#endif
