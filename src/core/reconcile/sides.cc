/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/reconcile/sides.h"

#include "src/core/model/outcome.h"

namespace slurmkube::core
{

PodSide pod_side(const Pod *pod, const std::string &bound_node)
{
	if (!pod)
		return PodSide::absent;
	if (is_terminal(*pod))
		return PodSide::ended;
	if (!bound_node.empty())
		return pod->deleting ? PodSide::stopping : PodSide::running;
	if (pod->deleting)
		return PodSide::withdrawn;
	return pod->gated ? PodSide::gated : PodSide::waiting;
}

JobSide job_side(const SlurmJob *job)
{
	if (!job)
		return JobSide::none;
	switch (job->state) {
	case JobState::pending:
		return JobSide::pending;
	case JobState::running:
	case JobState::suspended:
		return JobSide::allocated;
	case JobState::unknown: /* not an end: reconcile() does nothing for such a job */
	case JobState::complete:
	case JobState::cancelled:
	case JobState::failed:
	case JobState::timeout:
	case JobState::node_fail:
	case JobState::preempted:
	case JobState::boot_fail:
	case JobState::deadline:
	case JobState::oom:
		break;
	}
	return JobSide::ended;
}

std::int64_t queued_since(const SlurmJob &job)
{
	return job.marker.since > 0 ? job.marker.since : job.submit_time;
}

const char *state_text(JobState state)
{
	switch (state) {
	case JobState::pending:
		return "pending";
	case JobState::running:
		return "running";
	case JobState::suspended:
		return "suspended";
	case JobState::complete:
		return "completed";
	case JobState::cancelled:
		return "cancelled";
	case JobState::failed:
		return "failed";
	case JobState::timeout:
		return "time limit reached";
	case JobState::node_fail:
		return "node failed";
	case JobState::preempted:
		return "preempted";
	case JobState::boot_fail:
		return "boot failed";
	case JobState::deadline:
		return "deadline reached";
	case JobState::oom:
		return "out of memory";
	case JobState::unknown:
		break;
	}
	return "unknown";
}

bool is_live_side(PodSide side)
{
	return side == PodSide::gated || side == PodSide::waiting || side == PodSide::running ||
		side == PodSide::stopping;
}

bool is_bound_side(PodSide side)
{
	return side == PodSide::running || side == PodSide::stopping;
}

bool is_live_job_side(JobSide side)
{
	return side == JobSide::pending || side == JobSide::allocated;
}

bool is_live(const SlurmJob &job)
{
	return is_live_job_side(job_side(&job));
}

bool ended_with_prolog(const SlurmJob &job)
{
	return job.state == JobState::cancelled && job.configuring && job.ended_by.value_or(0) == 0;
}

bool is_wish(const SlurmJob &job)
{
	const JobState state = job.state;
	return !ended_with_prolog(job) &&
		(state == JobState::cancelled || state == JobState::timeout ||
			state == JobState::deadline);
}

} // namespace slurmkube::core
