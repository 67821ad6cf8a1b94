/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of reconcile() for ends: a job has ended and pods are left, or the pods have ended and a
 * job is left. */
#include "src/core/model/outcome.h"
#include "src/core/reconcile/parts.h"
#include "src/core/reconcile/report.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* Whether the pod still has to be deleted. A pod that is already being deleted, but with too long a
 * grace period, is deleted again with a shorter one: until it ends, it holds resources that are
 * free for Slurm. */
bool is_held_on_to(const RankFacts &r)
{
	return r.side == PodSide::running || (r.side == PodSide::stopping && r.is_deletion_slow);
}

bool may_remove(const RankFacts &r)
{
	return !r.busy.remove && !r.busy.bind && r.may_retry;
}

Condition why_ended(const ComponentFacts &f)
{
	const auto lost = std::ranges::find(f.ranks, true, &RankFacts::is_on_lost_node);
	if (f.job->state == JobState::cancelled && lost != f.ranks.end())
		return job_ended_for_node(*f.job, lost->pod->node_name);
	return f.is_alone ? job_ended(*f.job) : gang_job_ended(*f.job);
}

/* Deletes the pod because the job has ended. */
DeletePod eviction(
	const ComponentFacts &f, const RankFacts &r, const SlurmJob &job, const Condition &why)
{
	DeletePod out{
		.disruption = why, .ended_job = job.id, .own_job = f.job ? f.job->id : JobId{}};
	if (r.side != PodSide::stopping)
		out.cause = eviction_of(job.state);
	return out;
}

/* Whether the pod is deleted because its job has ended. */
bool goes(const ComponentFacts &f, const RankFacts &r)
{
	if (is_evicted(r))
		return true;
	if (is_held_on_to(r))
		return r.is_ours && r.is_about;
	return r.side == PodSide::waiting && !r.is_after_end && takes_waiting_along(f) &&
		!f.answer_lost && !f.ended_by_us;
}

/* What the pods are told while the pause before the next job lasts. */
RankActions tell_why_again(const ComponentFacts &f)
{
	if (ended_with_prolog(*f.job))
		return tell(f, prolog_failed(*f.job));
	if (f.job->state == JobState::timeout)
		return tell(f, timed_out_unused(*f.job));
	/* Only pods that have run complete a job so. Slurm says the same of a job whose user
	 * slurmctld's machine does not know: it makes no credential for the nodes. */
	if (f.job->state == JobState::complete && f.ended_ranks == 0 && !f.ended_by_us)
		return tell(f, completed_unused(*f.job));
	return {};
}

} // namespace

RankActions ended(const ComponentFacts &f)
{
	const Condition why = why_ended(f);
	RankActions out;
	bool is_cleared = true;
	for (const RankFacts &r : f.ranks) {
		const bool is_leaving =
			r.side == PodSide::waiting && (r.busy.remove || r.busy.bind);
		is_cleared = is_cleared && !goes(f, r) && !is_bound(r) && !is_leaving;
		if (goes(f, r) && may_remove(r))
			out.push_back({r.uid, eviction(f, r, *f.job, why)});
	}
	if (!out.empty())
		return out;
	if (!is_cleared)
		return f.is_alone ? out : tell(f, waiting_for_earlier_pods());
	if (!f.next_job_due)
		return tell_why_again(f);
	return has_waiting(f) ? submit(f) : out;
}

RankActions evict_again(const ComponentFacts &f)
{
	RankActions out;
	bool is_any_bound = false;
	for (const RankFacts &r : f.ranks) {
		is_any_bound = is_any_bound || is_bound(r) || r.busy.bind;
		if (is_evicted(r) && may_remove(r))
			out.push_back({r.uid, *r.eviction});
	}
	if (!out.empty())
		return out;
	/* its nodes are not held for pods that go */
	if (!is_any_bound && job_side(f.job) == JobSide::pending)
		out = own(f, Cancel{f.job->id, true});
	else if (!is_any_bound && job_side(f.job) == JobSide::allocated)
		out = give_back(f);
	return out.empty() ? tell(f, waiting_for_earlier_pods()) : out;
}

RankActions end_with_other(const ComponentFacts &f)
{
	const SlurmJob &job = *f.others.ended;
	const Condition why = job_of_other_ended(job);
	RankActions out;
	bool is_any_left = false;
	for (const RankFacts &r : f.ranks) {
		const bool goes = is_bound(r) || (r.side == PodSide::waiting && is_wish(job));
		is_any_left = is_any_left || is_bound(r) || r.busy.bind;
		if (!goes || is_made_after(r, job, f.others.end_seen_us))
			continue;
		is_any_left = true;
		if ((r.side != PodSide::stopping || r.is_deletion_slow) && may_remove(r))
			out.push_back({r.uid, eviction(f, r, job, why)});
	}
	if (is_any_left || !f.job)
		return out;
	if (job_side(f.job) == JobSide::pending)
		return own(f, Cancel{f.job->id, true});
	if (job_side(f.job) == JobSide::allocated)
		return has_own_live(f) ? give_back(f) : end_absent(f);
	return out;
}

RankActions end_absent(const ComponentFacts &f)
{
	const bool has_ended = f.rank_count > 0 && f.ended_ranks >= f.rank_count;
	const std::uint32_t status = f.result == 0 && !has_ended ? k_status_cancelled : f.result;
	return own(f, Complete{f.job->id, status, f.for_absence && status == k_status_cancelled});
}

} // namespace slurmkube::core
