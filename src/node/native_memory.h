/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * native_memory.h - the memory that pods have of native jobs on this node.
 *
 * The processes of a pod are not in the job's cgroup, and slurmd lets the job's own processes have
 * all of its memory. So the limit of the job's cgroup is lowered by the shares of its pods before
 * a container of them starts, and raised again when the cgroups of the pods are gone, which exist
 * as long as their volumes in memory do. A pod is admitted only if the lower limit is above what
 * the job uses, so nothing has to be reclaimed for it. slurmd writes the limit anew with each step;
 * then it is lowered again, and the containers of the pods end if that cannot be done in time
 * (patience.h).
 *
 * Files below "native": shares/POD and limits/JOB, so that a restart raises
 * what must be raised. The runtime's thread writes shares/POD once and reads it; everything else is
 * done by keep(), on a thread of its own, because the kernel may take long to lower a limit.
 */
#ifndef SLURMKUBE_NODE_NATIVE_MEMORY_H
#define SLURMKUBE_NODE_NATIVE_MEMORY_H

#include "src/node/limit_writers.h"
#include "src/node/native_jobs.h"
#include "src/node/patience.h"

namespace slurmkube::node
{

/* What a pod has of a job's memory, or waits for. */
struct MemoryShare {
	std::string pod_uid;
	core::NativeMark mark;
	std::int64_t bytes = 0;
	std::string cgroup;     /* of the pod, below the root of a hierarchy */
	bool is_low = false;    /* the job's limit is lowered by it */
	std::int64_t asked = 0; /* seconds since boot */
	bool is_ending = false; /* its processes are killed until there is none */
	/* not in the file: what files in memory have of a pod whose share is not low */
	std::int64_t remains = 0;
};

/* The limit of a job's cgroup as slurmd wrote it, and as we wrote it. */
struct JobLimit {
	std::string life; /* OpenedJob::text */
	/* what slurmd wrote, what we wrote before, and what we were about to write */
	std::int64_t base = 0, written = 0, next = 0;
};

/* A limit that is not one: ConstrainRAMSpace=no. With version 2 it is no number. */
inline constexpr std::int64_t k_no_limit = std::int64_t{1} << 60;
/* What the job can still use when a pod has been admitted. */
inline constexpr std::int64_t k_memory_margin = std::int64_t{16} << 20;

class NativeMemory
{
      public:
	NativeMemory(const NativeJobs &jobs, const Cgroups &cgroups);

	/* io: not written. Repeated calls change nothing. */
	[[nodiscard]] Result<Ok> ask(const MemoryShare &share) const;
	[[nodiscard]] std::optional<MemoryShare> share_of(const std::string &pod_uid) const;
	/* Whether slurmd limits the memory of the job. */
	[[nodiscard]] bool is_limited(const core::NativeMark &mark) const;

	/* One pass: lowers and raises what is due. Returns how many pods have or await a share. */
	std::size_t keep(Patience::Time now = Patience::Clock::now());

      private:
	struct Job;
	void keep_job(Job &job, Patience::Time now);
	bool raise_closed(Job &job);
	void keep_low(Job &job, Patience::Time now);
	[[nodiscard]] bool is_excess(const Job &job) const;
	void admit(Job &job, const MemoryShare &share);
	void give_up(Job &job);
	void end_processes(Job &job);
	[[nodiscard]] bool record_limit(Job &job, std::int64_t limit);
	void set_limit(Job &job, std::int64_t limit);
	[[nodiscard]] Result<Ok> write_share(const MemoryShare &share) const;
	[[nodiscard]] std::vector<MemoryShare> shares() const;
	[[nodiscard]] std::optional<JobLimit> limit_of(std::uint32_t job) const;

	const NativeJobs &jobs_;
	const Cgroups &cgroups_;
	MemoryFiles files_;
	Patience patience_;
	LimitWriters writers_;
};

} // namespace slurmkube::node

#endif
