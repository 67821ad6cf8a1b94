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
#include <map>
#include <string>

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
std::string unsuitable_for_pods(const NativeSettings &settings, const std::string &partition);

class NativeQuestions
{
      public:
	/* cluster: Slurm's ClusterName.
	 * not_found: slurmctld has no such job. Any other error: it has not answered. */
	Result<core::NativeJob> ask(core::JobId id, const std::string &cluster);

      private:
	NativeSettings settings_;
	std::int64_t settings_us_ = 0; /* when they were read; 0: never */
};

} // namespace slurmkube::slurm

#endif
