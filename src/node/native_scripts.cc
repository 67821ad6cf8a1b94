/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/native_scripts.h"

#include "src/base/log.h"
#include "src/base/text.h"
#include "src/node/files.h"

namespace slurmkube::node
{

std::optional<core::NativeMark> life_of_prolog(const Variable &variable)
{
	core::NativeMark life;
	if (!read_number(variable("SLURM_JOB_ID"), life.job.number) || life.job.number == 0 ||
		!read_number(variable("SLURM_JOB_UID"), life.user_id) ||
		!read_number(variable("SLURM_JOB_RESTART_COUNT"), life.restarts))
		return std::nullopt;
	const char *cluster = variable("SLURM_CLUSTER_NAME");
	if (!cluster)
		return std::nullopt;
	life.cluster = cluster;
	const char *start = variable("SLURM_JOB_START_TIME");
	if (start && (!read_number(start, life.start) || life.start == 0))
		return std::nullopt;
	return life;
}

/* An earlier life is closed first: its Epilog may not have run. */
Result<Ok> settle_native_pods(const NativeJobs &jobs, const Cgroups &cgroups,
	const Variable &variable, bool is_open, const EndLimits &limits,
	const ContainerdStatus &containerd)
{
	const auto life = life_of_prolog(variable);
	if (life)
		jobs.close(life->job.number);
	const auto has_ended = [&](std::uint32_t job) {
		return !jobs.opened(job) || !cgroups.cpuset_of(job);
	};
	const Records containers = Records::at(jobs.directory());
	if (Result<Ok> ended = end_containers(containers, cgroups, has_ended, limits, containerd);
		!ended)
		return ended;
	if (!is_open || !life)
		return Ok{};
	if (const Result<Ok> opened = jobs.open(*life); !opened)
		log_warning("%s, so pods in job %u are refused",
			printable(opened.error().what).c_str(), life->job.number);
	return Ok{};
}

Result<Ok> end_native_pods(const NativeJobs &jobs, const Cgroups &cgroups, std::uint32_t job,
	bool is_epilog, const EndLimits &limits, const ContainerdStatus &containerd)
{
	const Records containers = Records::at(jobs.directory());
	const auto is_it = [job](std::uint32_t one) { return one == job; };
	if (is_epilog || !cgroups.cpuset_of(job)) {
		jobs.close(job);
		return end_containers(containers, cgroups, is_it, limits, containerd);
	}
	Result<Ok> ended = end_containers(
		containers, cgroups, is_it, {limits.grace, limits.all, true}, containerd);
	return ended
		? ended
		: Error{Errc::again,
			  ended.error().what + ": job " + std::to_string(job) +
				  " has a cgroup and may live, because SLURM_SCRIPT_CONTEXT is "
				  "not epilog_slurmd, so nothing is killed"};
}

} // namespace slurmkube::node
