/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/reconcile/reconcile_gang.h"

#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/reconcile/report.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

using Actions = std::vector<GangAction>;

std::size_t count(const GangFacts &f, std::initializer_list<PodSide> sides)
{
	return static_cast<std::size_t>(std::ranges::count_if(f.members, [&](const MemberFacts &m) { return std::ranges::find(sides, m.side) != sides.end(); }));
}

std::size_t count_bound(const GangFacts &f, std::initializer_list<PodSide> sides)
{
	return static_cast<std::size_t>(std::ranges::count_if(f.members, [&](const MemberFacts &m) { return m.is_ours && std::ranges::find(sides, m.side) != sides.end(); }));
}

bool has_own_live(const GangFacts &f)
{
	return count(f, {PodSide::gated, PodSide::waiting, PodSide::running, PodSide::stopping}) > 0;
}

/* Those that run may be what the others wait for. */
bool has_live(const GangFacts &f)
{
	return has_own_live(f) || f.others.has_live;
}

/* Wants a job: a pod waits, or will come when those of other components run. */
bool has_waiting(const GangFacts &f)
{
	return f.others.asks_ahead || count(f, {PodSide::waiting}) > 0;
}

Actions own(const GangFacts &f, Action action)
{
	if (f.busy.slurm || !f.may_retry)
		return {};
	Actions actions;
	actions.push_back({{}, std::move(action)});
	return actions;
}

Actions tell(const GangFacts &f, const Condition &why, std::size_t most)
{
	Actions actions;
	for (const MemberFacts &member : f.members) {
		if (member.side == PodSide::waiting && actions.size() < most)
			actions.push_back({member.uid, Report{why}});
	}
	return actions;
}

Actions submit(const GangFacts &f)
{
	if (f.waits_for)
		return tell(f, *f.waits_for, k_told_members);
	if (f.others.waits_for && (!f.spec || f.spec->ok()))
		return tell(f, *f.others.waits_for, k_told_members);
	if (f.busy.slurm || !f.spec || !f.is_complete)
		return {};
	if (!f.spec->ok()) {
		const Condition why = not_submitted(f.spec->error());
		return tell(f, why, f.spec->error().code == Errc::again ? k_told_members : f.members.size());
	}
	if (!f.may_retry || !f.submit_due)
		return f.trouble ? tell(f, *f.trouble, f.trouble->reason == names::k_reason_refused ? f.members.size() : k_told_members) : Actions{};
	return own(f, Submit{f.spec->value()});
}

/* Slurm lost the job of pods that run: the same nodes again, under a new attempt. */
Actions without_job(const GangFacts &f)
{
	if (count_bound(f, {PodSide::running, PodSide::stopping}) == 0)
		return has_waiting(f) ? submit(f) : Actions{};
	if (count_bound(f, {PodSide::running}) == 0)
		return tell(f, waiting_for_earlier_pods(), k_told_members);
	if (!f.missing_long || !f.submit_due || f.waits_for || !f.spec || !f.spec->ok())
		return {};
	JobSpec spec = f.spec->value();
	spec.required_node = f.pinned;
	/* Slurm starts no job that must have what it must not; who waits is judged again then */
	std::erase_if(spec.excluded_nodes, [&](const std::string &node) {
		return ("," + f.pinned + ",").find("," + node + ",") != std::string::npos;
	});
	for (const std::string &node : f.other_nodes) {
		if (!std::ranges::binary_search(spec.excluded_nodes, node))
			spec.required_node += "," + node;
	}
	return own(f, Submit{std::move(spec)});
}

/* A wrong scheduler_name hides pods from the watch, and so do rights that are missing. */
bool is_doubtful(const GangFacts &f)
{
	return f.is_unseen && !f.owner_done && !has_live(f);
}

Actions look_for_pods(const GangFacts &f)
{
	Actions actions;
	if (!f.busy.look)
		actions.push_back({{}, LookUp{f.name_space, {}}});
	return actions;
}

Actions pending(const GangFacts &f)
{
	if (is_doubtful(f))
		return look_for_pods(f);
	if (!has_live(f))
		return f.owner_done || f.absent_long ? own(f, Cancel{f.job->id, true}) : Actions{};
	if (f.is_outgrown || f.others.gives_back) /* the marker says that it is nobody's wish: pods stay, also with another agent */
		return own(f, Cancel{f.job->id, true});
	Action next = change_of(*f.job, f.change, f.spec);
	if (const auto *report = std::get_if<Report>(&next))
		return tell(f, with_excess(report->not_scheduled, f.excess), k_told_members);
	return f.submit_due ? own(f, std::move(next)) : Actions{};
}

void bind(const GangFacts &f, const MemberFacts &m, Actions &out)
{
	if (!m.has_seat || m.busy.bind || m.busy.remove || f.job->nodes.empty())
		return;
	if (m.node.empty())
		out.push_back({m.uid, Report{no_place_left(*f.job, m.rank)}});
	else if (!m.forbidden.empty())
		out.push_back({m.uid, Report{forbidden_node(*f.job, m.node, m.forbidden)}});
	else if (!m.node_usable)
		out.push_back({m.uid, Report{waiting_for_node(*f.job, m.node)}});
	else if (!m.has_room)
		out.push_back({m.uid, Report{waiting_for_room(*f.job, m.node, m.room_holder)}});
	else if (f.job->configuring)
		out.push_back({m.uid, Report{waiting_for_prolog(*f.job)}});
	else if (!m.claim_wait.empty())
		out.push_back({m.uid, Report{waiting_for_claim(*f.job, m.node, m.claim_wait)}});
	else if (!m.may_retry || m.busy.claim)
		return;
	else if (m.claim_step)
		out.push_back({m.uid, Provide{f.job->id, *m.claim_step}});
	else
		out.push_back({m.uid, Bind{f.job->id, m.node, m.cpus, f.job->marker.attempt, m.rank, m.seat == 0 ? f.excess : ""}});
}

/* While none is bound the allocation can still be given back as a whole. */
Actions wait_together(const GangFacts &f)
{
	const MemberFacts &first = *std::ranges::find_if(f.members, is_crowded_out);
	if (!first.node_usable)
		return tell(f, waiting_for_node(*f.job, first.node), k_told_members);
	return tell(f, waiting_for_room(*f.job, first.node, first.room_holder), k_told_members);
}

/* Of pods that are larger than their template says: the next allocation is asked for with what they request. */
Actions give_back_too_small(const GangFacts &f)
{
	Actions end = own(f, Complete{f.job->id, k_status_given_back});
	if (end.empty())
		return end;
	const MemberFacts &first = *std::ranges::find_if(f.members, is_misfit);
	Actions out = tell(f, too_small(*f.job, first.rank), k_told_members);
	std::ranges::move(end, std::back_inserter(out));
	return out;
}

/* A few at a time. */
Actions look_up(const GangFacts &f, bool (*is_asked_for)(const MemberFacts &))
{
	auto asked = static_cast<std::size_t>(std::ranges::count_if(f.members, [](const MemberFacts &m) { return m.busy.look; }));
	Actions out;
	for (const MemberFacts &m : f.members) {
		if (!is_asked_for(m) || m.busy.look || asked >= k_told_members)
			continue;
		out.push_back({m.uid, LookUp{m.pod->name_space, m.pod->name}});
		asked++;
	}
	return out;
}

/* An agent before this one may have bound members that no watch has shown yet. */
Actions give_back(const GangFacts &f)
{
	const auto is_doubtful = [](const MemberFacts &m) { return m.side == PodSide::waiting && !m.surely_unbound; };
	if (std::ranges::none_of(f.members, is_doubtful))
		return own(f, Complete{f.job->id, k_status_given_back});
	return look_up(f, is_doubtful);
}

/* Not all have succeeded; those that are missing may only be out of sight. */
Actions end_absent(const GangFacts &f)
{
	const bool for_absence = f.result == 0 || f.result == k_status_cancelled;
	return own(f, Complete{f.job->id, for_absence ? k_status_cancelled : f.result, for_absence});
}

Actions allocated(const GangFacts &f)
{
	Actions out;
	if (!has_own_live(f) && f.seats > 0 && f.ended_seats == f.seats && f.result == 0)
		return own(f, Complete{f.job->id, 0});
	if (!has_live(f) && f.owner_succeeded)
		return own(f, Complete{f.job->id, 0});
	if (is_doubtful(f))
		return look_for_pods(f);
	if (!has_live(f) || (!has_own_live(f) && f.absent_long))
		return f.owner_done || f.absent_long ? end_absent(f) : out;
	if (f.late_long)
		return own(f, Complete{f.job->id, k_status_never_came});
	if (lets_go(f))
		return give_back(f);
	if (f.may_give_back && is_untouched(f) && std::ranges::any_of(f.members, is_misfit))
		return give_back_too_small(f);
	if (f.others.gives_back)
		return give_back(f);
	if (is_untouched(f) && std::ranges::any_of(f.members, is_crowded_out))
		return wait_together(f);
	if (f.others.waits_for)
		return tell(f, *f.others.waits_for, k_told_members);
	for (const MemberFacts &member : f.members) {
		if (member.side == PodSide::waiting)
			bind(f, member, out);
	}
	const auto is_asked_for = [](const MemberFacts &m) { return m.is_placeless_long; };
	std::ranges::move(look_up(f, is_asked_for), std::back_inserter(out));
	return out;
}


Actions ended(const GangFacts &f)
{
	const Condition why = gang_job_ended(*f.job);
	Actions out;
	for (const MemberFacts &m : f.members) {
		const bool is_held_on_to = m.side == PodSide::running || (m.side == PodSide::stopping && m.is_deletion_slow);
		const bool goes = (is_held_on_to && m.is_about) || (m.side == PodSide::waiting && !m.is_after_end && is_wish(*f.job) && !f.answer_lost && !f.ended_by_us);
		if (goes && !m.busy.remove && !m.busy.bind && m.may_retry)
			out.push_back({m.uid, Remove{.disruption = why}});
	}
	const bool is_cleared = out.empty() && count_bound(f, {PodSide::running, PodSide::stopping}) == 0 &&
				std::ranges::none_of(f.members, [&](const MemberFacts &m) { return m.side == PodSide::waiting && (m.busy.remove || m.busy.bind); });
	if (out.empty() && !is_cleared)
		return tell(f, waiting_for_earlier_pods(), k_told_members);
	if (is_cleared && !f.next_job_due && ended_with_prolog(*f.job))
		return tell(f, prolog_failed(*f.job), k_told_members);
	return is_cleared && f.next_job_due && has_waiting(f) ? submit(f) : out;
}

/* Another component's job has ended, and this one's pods and job go with it. */
Actions end_with_other(const GangFacts &f)
{
	const SlurmJob &job = *f.others.ended;
	const Condition why = job_of_other_ended(job);
	Actions out;
	bool is_any_left = false;
	for (const MemberFacts &m : f.members) {
		const bool is_bound = m.is_ours && (m.side == PodSide::running || m.side == PodSide::stopping);
		const bool goes = is_bound || (m.side == PodSide::waiting && is_wish(job));
		is_any_left = is_any_left || is_bound || m.busy.bind;
		if (!goes || is_made_after(m, job, f.others.ended_us))
			continue;
		is_any_left = true;
		if ((m.side != PodSide::stopping || m.is_deletion_slow) && !m.busy.remove && !m.busy.bind && m.may_retry)
			out.push_back({m.uid, Remove{.disruption = why}});
	}
	if (is_any_left || !f.job)
		return out;
	if (job_side(f.job) == JobSide::pending)
		return own(f, Cancel{f.job->id, true});
	if (job_side(f.job) == JobSide::allocated)
		return has_own_live(f) ? give_back(f) : end_absent(f);
	return out;
}

} // namespace

/* Nobody asked for the end of pods that never ran, unless somebody cancelled the job or its time was over. */
bool is_wish(const SlurmJob &job)
{
	const JobState state = job.state;
	return !ended_with_prolog(job) && (state == JobState::cancelled || state == JobState::timeout || state == JobState::deadline);
}

bool is_made_after(const MemberFacts &m, const SlurmJob &ended, std::int64_t ended_us)
{
	const bool was_seen_before = ended_us > 0 && m.first_seen_us > 0 && m.first_seen_us < ended_us;
	return m.pod->created > ended.end_time || (m.pod->created == ended.end_time && !was_seen_before);
}

bool is_misfit(const MemberFacts &m)
{
	return m.side == PodSide::waiting && m.has_seat && m.node.empty() && !m.busy.remove;
}

bool is_crowded_out(const MemberFacts &m)
{
	return m.side == PodSide::waiting && m.has_seat && !m.node.empty() && !m.has_room;
}

bool is_untouched(const GangFacts &f)
{
	return std::ranges::all_of(f.members, [](const MemberFacts &m) { return m.side == PodSide::waiting && !m.busy.bind; });
}

/* It may not run there, or keeps others from it: another allocation is asked for. */
bool lets_go(const GangFacts &f)
{
	const bool is_wrong = f.gives_way || std::ranges::any_of(f.members, [](const MemberFacts &m) { return !m.forbidden.empty(); });
	return job_side(f.job) == JobSide::allocated && is_wrong && is_untouched(f) && !f.members.empty();
}

std::vector<GangAction> reconcile_gang(const GangFacts &f)
{
	if (!f.known || (f.job && f.job->state == JobState::unknown))
		return {};
	if (f.is_held && !has_live(f))
		return {};
	if (!f.surplus.empty() && !f.busy.slurm)
		return own(f, Cancel{f.surplus.front()});
	if (f.others.ended)
		return end_with_other(f);
	switch (job_side(f.job)) {
	case JobSide::none:
		return without_job(f);
	case JobSide::pending:
		return pending(f);
	case JobSide::allocated:
		return allocated(f);
	case JobSide::ended:
		return ended(f);
	}
	return {};
}

} // namespace slurmkube::core
