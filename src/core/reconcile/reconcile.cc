/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/reconcile/reconcile.h"

#include "src/core/options/change.h"
#include "src/core/model/outcome.h"
#include "src/core/reconcile/report.h"

namespace slurmkube::core
{

namespace
{

using Actions = std::vector<Action>;

/*
 * Nobody asked for the end of a pod that never ran: its node failed, it was preempted, or slurmctld killed the job because whoever submitted it did not hear the
 * answer (agent killed in between; the job ends FAILED). Another try costs nobody anything.
 */
bool may_queue_again(const SlurmJob &job)
{
	const JobState state = job.state;
	return ended_with_prolog(job) || (state != JobState::cancelled && state != JobState::timeout && state != JobState::deadline);
}

Actions submit(const GroupFacts &f)
{
	if (f.waits_for)
		return {Report{*f.waits_for}};
	if (f.busy.slurm || !f.spec)
		return {};
	if (!f.spec->ok())
		return {Report{not_submitted(f.spec->error())}};
	if (!f.may_retry || !f.submit_due)
		return f.trouble ? Actions{Report{*f.trouble}} : Actions{};
	return {Submit{f.spec->value()}};
}

Actions update(const GroupFacts &f)
{
	Action next = change_of(*f.job, {f.options_changed, f.places_changed, f.told_mark, f.options_trouble}, f.spec);
	if (std::holds_alternative<Update>(next) && (f.busy.slurm || !f.may_retry || !f.submit_due))
		return {};
	return {std::move(next)};
}

bool is_for_absence(const GroupFacts &f)
{
	return !f.pod && !f.saw_deletion;
}

Actions cancel(const GroupFacts &f)
{
	return f.busy.slurm || !f.may_retry ? Actions{} : Actions{Cancel{f.job->id, is_for_absence(f)}};
}

Actions complete(const GroupFacts &f, std::uint32_t wait_status)
{
	const bool for_absence = wait_status == k_status_cancelled && is_for_absence(f);
	return f.busy.slurm || !f.may_retry ? Actions{} : Actions{Complete{f.job->id, wait_status, for_absence}};
}

Actions remove(const GroupFacts &f)
{
	return f.busy.remove || f.busy.bind || !f.may_retry ? Actions{} : Actions{Remove{.disruption = job_ended(*f.job)}};
}

/* Once it is said on the pod, another agent goes on with it; a pod that runs after all is left alone. */
Actions give_up(const GroupFacts &f)
{
	if (f.busy.remove || f.busy.bind || !f.may_retry)
		return {};
	Condition why = f.pod->start_limit.value_or(not_started(*f.job, *f.pod, f.start_limit_us / 1'000'000));
	return {Remove{.disruption = std::move(why), .not_started = true}};
}

Actions look_up(const GroupFacts &f)
{
	return f.busy.look ? Actions{} : Actions{LookUp{f.job->marker.name_space, f.job->marker.name}};
}

Actions give_back(const GroupFacts &f, const std::string &node)
{
	Actions actions = f.surely_unbound ? complete(f, k_status_given_back) : look_up(f);
	if (!f.node_usable)
		actions.push_back(Report{given_back_node(*f.job, node)});
	return actions;
}

Actions bind(const GroupFacts &f)
{
	if (f.busy.bind || f.busy.remove || f.job->nodes.empty())
		return {};
	const NodeAllocation &slot = f.job->nodes.front();
	if (!f.forbidden.empty()) {
		Actions actions = f.surely_unbound ? complete(f, k_status_given_back) : look_up(f);
		if (f.is_native)
			actions.push_back(Report{on_native_node(*f.job, slot.node)});
		return actions;
	}
	/* Waiting would last as long as the node is away or a pod stays there, and be charged; a
	 * pod whose job Slurm has lost cannot get that back before we let go. */
	if (!f.has_room && f.gives_way)
		return give_back(f, slot.node);
	if (!f.node_usable)
		return {Report{f.is_native ? on_native_node(*f.job, slot.node) : waiting_for_node(*f.job, slot.node)}};
	if (!f.has_room)
		return {Report{waiting_for_room(*f.job, slot.node, f.room_holder)}};
	if (f.job->configuring)
		return {Report{waiting_for_prolog(*f.job)}};
	if (!f.claim_wait.empty())
		return {Report{waiting_for_claim(*f.job, slot.node, f.claim_wait)}};
	if (!f.may_retry || f.busy.claim)
		return {};
	if (f.claim_step)
		return {Provide{f.job->id, *f.claim_step}};
	return {Bind{f.job->id, slot.node, slot.cpus, f.job->marker.attempt, std::nullopt}};
}

Actions for_absent(const GroupFacts &f, JobSide job)
{
	if (job == JobSide::pending)
		return cancel(f);
	if (job == JobSide::allocated)
		return complete(f, f.end_status.value_or(wait_status_of_gone(f.last_pod)));
	return {};
}

Actions for_waiting(const GroupFacts &f, JobSide job)
{
	switch (job) {
	case JobSide::none:
		return submit(f);
	case JobSide::pending:
		return update(f);
	case JobSide::allocated:
		return bind(f);
	case JobSide::ended:
		if (!f.answer_lost && !may_queue_again(*f.job))
			return remove(f);
		if (f.next_job_due)
			return submit(f);
		return ended_with_prolog(*f.job) ? Actions{Report{prolog_failed(*f.job)}} : Actions{};
	}
	return {};
}

Actions for_running(const GroupFacts &f, JobSide job)
{
	if (job == JobSide::ended)
		return remove(f);
	if (job == JobSide::allocated && is_starting(*f.pod) && (f.start_expired || f.pod->start_limit))
		return give_up(f);
	if (job != JobSide::none || !f.job_surely_missing)
		return {};
	/* Slurm lost the job, the pod is healthy: ask for the same node under a new attempt, never kill on doubt. */
	Actions actions = submit(f);
	for (Action &action : actions) {
		if (auto *again = std::get_if<Submit>(&action))
			again->spec.required_node = f.bound_node;
	}
	std::erase_if(actions, [](const Action &a) { return std::holds_alternative<Report>(a); }); /* it is scheduled already */
	return actions;
}

Actions for_ended(const GroupFacts &f, JobSide job)
{
	if (job == JobSide::pending)
		return cancel(f);
	return job == JobSide::allocated ? complete(f, f.end_status.value_or(wait_status_of(*f.pod))) : Actions{};
}

} // namespace

Action change_of(const SlurmJob &job, const JobChange &change, const Result<JobSpec> *spec)
{
	if (!change.options && !change.places)
		return Report{waiting_in_queue(job)};
	if (!spec->ok())
		return Report{not_changed(job, spec->error().what)};
	if (!change.options) /* taken back where there is none any more */
		return Update{job.id, spec->value(), {}, {"excluded-nodes"}};
	if (!change.trouble.empty())
		return Report{not_changed(job, change.trouble)};
	auto names = option_change(change.told_mark, spec->value().marker.options);
	if (!names)
		return Report{not_changed(job, names.error().what)};
	return Update{job.id, spec->value(), std::move(names->given), std::move(names->removed)};
}

bool ended_with_prolog(const SlurmJob &job)
{
	return job.state == JobState::cancelled && job.configuring && job.ended_by.value_or(0) == 0;
}

bool is_live(const SlurmJob &job)
{
	const JobSide side = job_side(&job);
	return side == JobSide::pending || side == JobSide::allocated;
}

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
	case JobState::unknown: /* no event: reconcile() does nothing about such a job */
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

std::vector<Action> reconcile(const GroupFacts &f)
{
	if (!f.known || (f.job && f.job->state == JobState::unknown))
		return {};
	const JobSide job = job_side(f.job);
	/* a standby that takes over may hear of jobs before its watch shows their pods */
	if (f.is_held && !f.pod && !f.saw_deletion)
		return {};
	if (!f.pod && !f.surely_gone && (job == JobSide::pending || job == JobSide::allocated))
		return look_up(f);
	if (!f.surplus.empty() && !f.busy.slurm && f.may_retry)
		return {Cancel{f.surplus.front()}};
	switch (pod_side(f.pod, f.bound_node)) {
	case PodSide::absent:
	case PodSide::withdrawn:
		return for_absent(f, job);
	case PodSide::gated:
		return {}; /* gates are never closed again: a job says that our view of the pod is old */
	case PodSide::waiting:
		return for_waiting(f, job);
	case PodSide::running:
		return for_running(f, job);
	case PodSide::stopping:
		if (job == JobSide::ended && f.is_deletion_slow)
			return remove(f); /* with less grace: it holds what Slurm takes for free */
		return job == JobSide::pending ? cancel(f) : Actions{};
	case PodSide::ended:
		return for_ended(f, job);
	}
	return {};
}

} // namespace slurmkube::core
