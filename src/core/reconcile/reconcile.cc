/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/reconcile/reconcile.h"

#include "src/core/model/names.h"
#include "src/core/options/change.h"
#include "src/core/reconcile/parts.h"
#include "src/core/reconcile/report.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* Above what Slurm computes; NO_VAL and INFINITE are greater (slurm.h). */
constexpr std::uint32_t k_first_priority = 4'294'967'000;

/* ---- without a job ---- */

/* Slurm does not start a job that requires a node which it excludes. So required nodes are not
 * excluded; waiting pods of the job are judged again before they are bound. Slurm refuses a job
 * that requires more nodes than it may have (job_mgr.c). */
void pin_nodes(const ComponentFacts &f, JobSpec &spec)
{
	spec.required_node = f.pinned;
	std::erase_if(spec.excluded_nodes, [&](const std::string &node) {
		return ("," + f.pinned + ",").find("," + node + ",") != std::string::npos;
	});
	if (spec.options.max_nodes == 1 || spec.tasks == 1)
		return;
	for (const std::string &node : f.other_nodes) {
		if (!std::ranges::binary_search(spec.excluded_nodes, node))
			spec.required_node += "," + node;
	}
}

/* The pods run and hold their nodes, so Slurm has to count them before it starts others there, and
 * wishes about the start and the place come too late. */
void start_first(JobSpec &spec)
{
	spec.priority = k_first_priority;
	spec.options.hold = false;
	spec.options.begin = 0;
	spec.options.dependency.clear();
	spec.options.constraints.clear();
	spec.options.prefer.clear();
}

/* Pods that were created later than that have not waited as long. */
std::int64_t waiting_since(const ComponentFacts &f)
{
	const std::int64_t aged = earlier(f.aged_since, f.others.aged_since);
	if (aged == 0 || has_own_bound(f))
		return 0;
	std::int64_t created = 0;
	for (const RankFacts &r : f.ranks) {
		if (r.side == PodSide::waiting)
			created = earlier(created, r.pod->created);
	}
	/* a component may be asked for before its pods come */
	created = created > 0 ? created : f.others.oldest_waiting;
	return created > 0 ? std::max(created, aged) : 0;
}

/* Slurm has lost the job of running pods. They are never killed on doubt: after a while a job for
 * the same nodes is submitted, under a new attempt. */
RankActions without_job(const ComponentFacts &f)
{
	if (!has_own_bound(f))
		return has_waiting(f) ? submit(f) : RankActions{};
	if (std::ranges::none_of(f.ranks,
		    [](const RankFacts &r) { return r.is_ours && r.side == PodSide::running; }))
		return tell(f, waiting_for_earlier_pods());
	if (!f.missing_long || !f.submit_due || f.waits_for || !f.spec || !f.spec->ok())
		return {};
	JobSpec spec = f.spec->value();
	pin_nodes(f, spec);
	if (!has_waiting(f))
		start_first(spec);
	spec.marker.ends_apart = !f.ends_together;
	return own(f, Submit{std::move(spec)});
}

/* ---- with a job ---- */

RankActions look_for_pods(const ComponentFacts &f)
{
	RankActions actions;
	if (!f.busy.look)
		actions.push_back({{}, LookUp{f.name_space, f.name}});
	return actions;
}

/* The bound pod is being deleted, so another job for it would be useless. */
bool is_too_late(const ComponentFacts &f)
{
	return f.is_alone && !f.ranks.empty() && f.ranks.front().side == PodSide::stopping;
}

RankActions pending(const ComponentFacts &f)
{
	/* slurmctld did not answer: without a repetition, the pods would wait in the queue for a
	 * job that is ended when it starts */
	if (f.ending)
		return own(f, Cancel{f.job->id, f.ending->for_absence || has_own_live(f)});
	if (!has_live(f) && !f.owner_done && !f.absent_long)
		return {};
	if (!has_live(f) || is_too_late(f) || (!has_own_live(f) && f.absent_long))
		return own(f, Cancel{f.job->id, f.for_absence});
	/* for_absence is set, so that the marker records that nobody wanted this end, and no agent
	 * deletes pods for it. */
	if (f.is_outgrown || f.others.gives_back)
		return own(f, Cancel{f.job->id, true});
	Action next = change_of(*f.job, f.change, f.spec);
	if (const auto *report = std::get_if<Report>(&next))
		return tell(f, with_excess(report->not_scheduled, f.excess));
	return f.submit_due ? own(f, std::move(next)) : RankActions{};
}

bool is_on_lost_hybrid(const RankFacts &r)
{
	return r.is_ours && r.is_on_lost_node;
}

RankActions allocated(const ComponentFacts &f)
{
	if (has_succeeded(f) || (!has_live(f) && f.owner_succeeded))
		return own(f, Complete{f.job->id, 0});
	if (!has_live(f) || (!has_own_live(f) && f.absent_long))
		return f.owner_done || f.absent_long ? end_absent(f) : RankActions{};
	if (std::ranges::any_of(f.ranks, is_on_lost_hybrid) && !f.ending)
		return own(f, Complete{f.job->id, k_status_cancelled});
	if (f.late_long && !f.ending)
		return end_unbound(f, {f.job->id, k_status_never_came});
	return hold_or_bind(f);
}

/* What its marker says of the submission stays. */
JobSpec changed(const SlurmJob &job, JobSpec spec)
{
	spec.marker.since = job.marker.since;
	spec.marker.ends_apart = job.marker.ends_apart;
	return spec;
}

} // namespace

/* ---- shared ---- */

RankActions own(const ComponentFacts &f, Action action)
{
	if (f.busy.slurm || !f.may_retry)
		return {};
	RankActions actions;
	actions.push_back({{}, std::move(action)});
	return actions;
}

RankActions tell(const ComponentFacts &f, const Condition &why, std::size_t most)
{
	RankActions actions;
	for (const RankFacts &rank : f.ranks) {
		if (rank.side == PodSide::waiting && !rank.busy.remove && actions.size() < most)
			actions.push_back({rank.uid, Report{why}});
	}
	return actions;
}

RankActions look_up(const ComponentFacts &f, bool (*is_wanted)(const RankFacts &))
{
	const std::size_t most =
		std::clamp(f.ranks.size() / 8, k_looked_up_least, k_looked_up_most);
	auto asked =
		static_cast<std::size_t>(std::ranges::count_if(f.ranks, &RankFacts::is_asked_for));
	RankActions out;
	for (const RankFacts &r : f.ranks) {
		if (!is_wanted(r) || r.busy.look || asked >= most)
			continue;
		out.push_back({r.uid, LookUp{r.pod->name_space, r.pod->name}});
		asked++;
	}
	return out;
}

RankActions submit(const ComponentFacts &f)
{
	if (f.waits_for)
		return tell(f, *f.waits_for);
	if (f.others.waits_for && (!f.spec || f.spec->ok()))
		return tell(f, *f.others.waits_for);
	if (f.busy.slurm || !f.spec || !f.is_complete)
		return {};
	if (!f.spec->ok()) {
		const Condition why = not_submitted(f.spec->error());
		return tell(f, why,
			f.spec->error().code == Errc::again ? k_reported_ranks : f.ranks.size());
	}
	if (!f.may_retry || !f.submit_due) {
		const bool is_refusal = f.trouble && f.trouble->reason == names::k_reason_refused;
		return f.trouble
			? tell(f, *f.trouble, is_refusal ? f.ranks.size() : k_reported_ranks)
			: RankActions{};
	}
	JobSpec spec = f.spec->value();
	spec.marker.since = waiting_since(f);
	spec.marker.ends_apart = !f.next_ends_together;
	return own(f, Submit{std::move(spec)});
}

Action change_of(const SlurmJob &job, const JobChange &change, const Result<JobSpec> *spec)
{
	if (!change.options && !change.exclusions)
		return Report{waiting_in_queue(job)};
	if (!spec->ok())
		return Report{not_changed(job, spec->error().what)};
	/* only the nodes: spec's list replaces that of the job, and an empty one clears it */
	if (!change.options)
		return Update{job.id, changed(job, spec->value()), {}, {"excluded-nodes"}};
	if (!change.trouble.empty())
		return Report{not_changed(job, change.trouble)};
	auto names = option_change(change.submitted_digest, spec->value().marker.options);
	if (!names)
		return Report{not_changed(job, names.error().what)};
	return Update{job.id, changed(job, spec->value()), std::move(names->given),
		std::move(names->removed)};
}

namespace
{

RankActions by_job(const ComponentFacts &f)
{
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

void give_back_devices(const ComponentFacts &f, RankActions &out)
{
	for (const RankFacts &r : f.ranks) {
		if (!r.stale_claim || r.busy.claim || !r.may_retry)
			continue;
		if (r.is_unbound_now)
			out.push_back({r.uid, WriteClaim{{}, *r.stale_claim}});
		else if (!r.busy.look)
			out.push_back({r.uid, LookUp{r.pod->name_space, r.pod->name}});
	}
}

} // namespace

std::vector<RankAction> reconcile(const ComponentFacts &f)
{
	if (!f.known || (f.job && f.job->state == JobState::unknown))
		return {};
	/* A standby that takes over may hear of jobs before its watch shows their pods. */
	if (f.is_held && !has_live(f))
		return {};
	if (f.job && is_live(*f.job) && is_doubtful(f))
		return look_for_pods(f);
	if (!f.surplus.empty() && !f.busy.slurm && f.may_retry)
		return own(f, Cancel{f.surplus.front()});
	if (job_side(f.job) == JobSide::allocated && has_succeeded(f))
		return own(f, Complete{f.job->id, 0});
	if (f.others.ended)
		return end_with_other(f);
	if (job_side(f.job) != JobSide::ended && std::ranges::any_of(f.ranks, is_evicted))
		return evict_again(f);
	RankActions out = by_job(f);
	give_back_devices(f, out);
	return out;
}

} // namespace slurmkube::core
