/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts of report.h about gangs and about the components of a workload. */
#include "src/core/reconcile/report.h"

#include "src/core/gang/grouping.h"
#include "src/core/model/names.h"
#include "src/core/reconcile/report_parts.h"
#include "src/core/reconcile/sides.h"

namespace slurmkube::core
{

namespace
{

/* ": Slurm job 12 is pending: Resources" */
std::string state_of_other(const SlurmJob *job)
{
	switch (job_side(job)) {
	case JobSide::pending:
		return ": " + waiting_in_queue(*job).message;
	case JobSide::allocated:
		return ": " + job_text(*job) + " has its nodes, and its pods cannot be bound yet";
	case JobSide::none:
	case JobSide::ended:
		break;
	}
	return {};
}

} // namespace

Condition waiting_for_turn(const std::string &component, const SlurmJob *job)
{
	return {names::k_reason_pending,
		component + " of the workload gets its nodes first" + state_of_other(job)};
}

Condition waiting_for_component(
	const SlurmJob &own, const std::string &component, const SlurmJob *job)
{
	return {names::k_reason_pending,
		job_text(own) + " has its nodes and waits for " + component + " of the workload" +
			state_of_other(job)};
}

Condition tried_again_at(std::int64_t next_epoch_seconds)
{
	return {names::k_reason_pending,
		"not all components of the workload had nodes at once, and what it held was given "
		"back; the next try is at " +
			minute_text(next_epoch_seconds)};
}

Condition job_of_other_ended(const SlurmJob &job)
{
	return {names::k_reason_job_ended,
		job_text(job) + " of another component ended: " + state_text(job.state) +
			(job.state == JobState::cancelled && job.ended_by
					? " by uid " + std::to_string(*job.ended_by)
					: "")};
}

Condition pods_never_came(const PodsLate &late, std::int64_t next_epoch_seconds)
{
	return {names::k_reason_retrying,
		"Slurm job " + std::to_string(late.job.number) + " of this pod's gang was ended: " +
			std::to_string(late.missing) + " of " + std::to_string(late.ranks) +
			" pods did not come within " + std::to_string(late.waited_seconds) +
			" s, and none was running (" + std::to_string(late.count) +
			" in a row). The next job is submitted when all pods exist, or at " +
			minute_text(next_epoch_seconds)};
}

Condition waiting_for_pods(const GangId &gang, std::size_t count, std::size_t minimum)
{
	return {names::k_reason_pending,
		gang.kind + " " + gang.name + " has " + std::to_string(count) + " of at least " +
			std::to_string(minimum) + " pods"};
}

Condition waiting_for_gates(const GangId &gang, std::int64_t held_back)
{
	return {names::k_reason_pending,
		std::to_string(held_back) + " pods of " + gang.kind + " " + gang.name +
			" have scheduling gates"};
}

Condition waiting_for_earlier_pods()
{
	return {names::k_reason_pending, "earlier pods of the gang are still ending"};
}

Condition waiting_for_rank(const SlurmJob &job, std::optional<std::uint32_t> rank)
{
	if (!rank)
		return {names::k_reason_retrying, job_text(job) + " has no rank left for this pod"};
	return {names::k_reason_retrying,
		job_text(job) + " keeps rank " + std::to_string(*rank) +
			" for this pod until the earlier pod of that rank has ended"};
}

Condition no_place_left(const SlurmJob &job, std::uint32_t rank)
{
	return {names::k_reason_retrying,
		"the allocation of " + job_text(job) + " has no place left for rank " +
			std::to_string(rank)};
}

Condition too_small(const SlurmJob &job, std::uint32_t rank)
{
	return {names::k_reason_retrying,
		"the allocation of " + job_text(job) + " is too small for the pod of rank " +
			std::to_string(rank) +
			", which requests more than its owner's template; "
			"the gang is queued again with what its pods request"};
}

Condition with_excess(Condition condition, const std::string &excess)
{
	condition.message += excess.empty() ? "" : "; " + excess;
	return condition;
}

Condition gang_job_ended(const SlurmJob &job)
{
	return {names::k_reason_job_ended, job_text(job) + " ended: " + state_text(job.state)};
}

} // namespace slurmkube::core
