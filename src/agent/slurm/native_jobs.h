/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * native_jobs.h - what slurmctld says of a native job within which pods are to run.
 *
 * Blocks, so it is for a worker thread; always the same one, because it keeps the last answer about
 * the configuration.
 */
#ifndef SLURMKUBE_AGENT_SLURM_NATIVE_JOBS_H
#define SLURMKUBE_AGENT_SLURM_NATIVE_JOBS_H

#include "src/base/result.h"
#include "src/core/model/native_job.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slurmkube::slurm
{

/* The settings that decide where pods may run within native jobs. */
struct NativeSettings {
	bool counts_memory = false;
	bool runs_scripts_in_job = false; /* PrologFlags=RunInJob */
	bool may_suspend = false;         /* jobs, by preemption or gang scheduling */
	struct Partition {
		bool may_suspend = false, is_oversubscribed = false;
	};
	std::map<std::string, Partition> partitions;
};

/* Why no pod may run in jobs of that partition, as text for users; empty: it may. */
std::string unsuitable_for_pods(
	const Result<NativeSettings> &settings, const std::string &partition);

struct NativeReply {
	std::optional<core::NativeJob> job; /* nullopt: slurmctld has no such job */
	/* Jobs that slurmctld had to describe: all tasks that it knows of an array. */
	std::size_t described = 1;
};

/* numbers: of the jobs that slurmctld has described for the number. If the task that has the
 * number of its array is forgotten, the others are described. job_at: the job at that index. */
NativeReply reply_about(core::JobId id, const std::vector<std::uint32_t> &numbers,
	const std::function<core::NativeJob(std::size_t)> &job_at);

/* not_found: slurmctld has no such job. */
Error question_failed(int slurm_errno);

class NativeQuestions
{
      public:
	/* cluster: Slurm's ClusterName.
	 * not_found: slurmctld has no such job. Any other error: it has not answered. */
	Result<NativeReply> ask(core::JobId id, const std::string &cluster);

      private:
	void read_settings();
	Result<NativeSettings> settings_{Error{Errc::again, "they have not been read"}};
	std::int64_t settings_us_ = 0; /* when they were asked for; 0: never */
};

} // namespace slurmkube::slurm

#endif
