/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The acting half of World: looks at what is marked and returns actions; in_flight.cc marks them as
 * under way. */
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/reconcile/reconcile.h"
#include "src/core/reconcile/report.h"
#include "src/core/world/native_pods.h"
#include "src/core/world/parts.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* A restart of slurmctld takes less time than this. And if another agent has the connection, it has
 * written a condition to the pod by then. */
constexpr std::int64_t k_unlinked_us = 10'000'000;

/* A look walks over all members of a gang, and each member causes several events in its life. So
 * the events of a large gang are collected for a while and handled by one look. */
constexpr std::int64_t k_pause_us = 50; /* per member; some twenty times what a look takes */
constexpr std::size_t k_small_gang = 64;

} // namespace

/* Notes the nodes for which the component waits: it is looked at when something about them
 * changes. */
void World::wait_for_share(const PodUid &key, const ComponentFacts &f)
{
	for (const RankFacts &r : f.ranks) {
		if (f.is_alone && r.side == PodSide::running && !f.job &&
			!state_.slurm_nodes.contains(f.pinned))
			waiters_[f.pinned].insert(key);
		const bool waits = r.side == PodSide::waiting && !r.node.name.empty() &&
			(!r.node.has_room || !r.node.is_usable);
		if (waits && waiters_[r.node.name].insert(key).second)
			figures_.counters.gate_waits++;
	}
}

bool World::is_due(const PodUid &key, Now now)
{
	std::size_t members = 0;
	for (const PodUid &one : components_of_workload(state_, key))
		members += state_.gangs.at(one).members.size();
	Gang &gang = state_.gangs.at(key);
	const std::int64_t due = members < k_small_gang
		? 0
		: gang.looked_us + static_cast<std::int64_t>(members) * k_pause_us;
	if (now.mono_us < due) {
		look_later(key, due);
		return false;
	}
	gang.looked_us = now.mono_us;
	return true;
}

/* Notes that an action for a gang is under way. */
void World::note_taken(
	const PodUid &key, Gang &gang, const ComponentFacts &facts, const Action &action, Now now)
{
	if (const auto *submit = std::get_if<Submit>(&action);
		submit && submit->spec.required_node.empty())
		gang.first_attempt = submit->spec.marker.attempt;
	if (std::holds_alternative<Bind>(action))
		gang.given_back = 0;
	const auto *complete = std::get_if<Complete>(&action);
	if (!complete)
		return;
	Component &component = state_.components.at(key);
	if (!has_own_live(facts))
		note_given_up(component, complete->job);
	if (!component.asked_ends.is_first())
		return;
	if (complete->wait_status == k_status_never_came)
		note_never_came(key, gang, facts, now);
	if (complete->wait_status == k_status_given_back && !facts.others.gives_back)
		gang.given_back++;
}

void World::act_on(
	const PodUid &key, const ComponentFacts &facts, Now now, std::vector<PodAction> &out)
{
	Component &component = state_.components.at(key);
	const auto found = state_.gangs.find(key);
	Gang *gang = found == state_.gangs.end() ? nullptr : &found->second;
	if (facts.known)
		wait_for_share(key, facts);
	/* Nothing says what the gang's job was like, so each pod gets a job of its own. */
	if (gang && facts.missing_long && gang->ranks.empty()) {
		for (const RankFacts &r : facts.ranks) {
			/* others would come back at once, and the clock still runs */
			if (state_.pods.at(r.uid).grouping_known)
				leave(*gang, r.uid);
		}
		return;
	}
	ComponentStage stage = stage_of(facts);
	for (RankAction &next : reconcile(facts)) {
		const PodUid uid = next.pod.text.empty() ? key : next.pod;
		const auto *bind = std::get_if<Bind>(&next.action);
		if ((bind && take_back(key, *bind, uid, now)) || !accept(uid, next.action, now))
			continue;
		if (bind) {
			component.crowded.clear();
			component.age_seconds = 0;
		}
		const auto *complete = std::get_if<Complete>(&next.action);
		if (complete && complete->wait_status == k_status_given_back) {
			if (note_nodes_given_back(state_, component, facts))
				place_changed();
			note_failed_bindings(component, facts);
		}
		if (gang)
			note_taken(key, *gang, facts, next.action, now);
		stage = stage_after(stage, next.action);
		out.push_back({uid, std::move(next.action)});
	}
	enter(component, stage, now);
}

/* The next allocation begins without the failures of this one. A Prolog that does not end counts as
 * one: each try is charged for limits.prolog_wait_seconds. */
void World::note_failed_bindings(Component &component, const ComponentFacts &facts)
{
	bool is_any = facts.is_prolog_late;
	for (const RankFacts &r : facts.ranks) {
		is_any = is_any || r.bind_failure;
		state_.pods.at(r.uid).bind_failure.reset();
		state_.pods.at(r.uid).claim_failure.reset();
	}
	if (is_any && component.asked_ends.is_first())
		component.failed_bindings++;
}

void World::enter(Component &component, ComponentStage stage, Now now)
{
	if (component.stage == stage && component.stage_since_us > 0)
		return;
	component.stage = stage;
	component.stage_since_us = now.mono_us;
}

void World::look_at_pod(const PodUid &uid, PodEntry &entry, Now now, std::vector<PodAction> &out)
{
	settle_share(uid, entry, now);
	if (entry.pod && !entry.component && !entry.grouping_known)
		assign(uid, entry, now);
	if (entry.component) {
		state_.native_jobs.forget(uid);
		look_for_late_binding(uid, entry, now, out);
		queue_.mark(*entry.component);
		return;
	}
	if (is_for_native_job(state_, entry, state_.component(uid)) &&
		(entry.grouping_known || native_mark_of(entry))) {
		NativeLooker{*this, uid, entry, now, out}.look();
		return look_for_late_binding(uid, entry, now, out);
	}
	state_.native_jobs.forget(uid);
	Component &component = state_.components[uid];
	if (entry.pod && !entry.grouping_known) {
		enter(component, ComponentStage::ungrouped, now);
		return report_ungrouped(uid, entry, now, out);
	}
	forget_provisional(uid, now);
	std::optional<Result<JobSpec>> spec;
	Findings found(clocks_, now);
	const FactsReader reader(sources(), found);
	ComponentFacts facts = reader.facts_of_pod(uid, entry, spec);
	reader.note_letting_go(uid, facts);
	apply(uid, found, now);
	act_on(uid, facts, now, out);
	look_for_late_binding(uid, entry, now, out);
	drop_if_empty(uid);
}

/* key: of a pod, or of a component that may have several ranks. */
void World::look_at(const PodUid &key, Now now, std::vector<PodAction> &out)
{
	if (state_.gangs.contains(key)) {
		/* the components of a workload are looked at together, under the key of the
		 * first */
		const PodUid first = components_of_workload(state_, key).front();
		if (first != key)
			queue_.mark(first);
		else if (is_due(key, now))
			look_at_workload(key, now, out);
		return;
	}
	if (state_.pods.contains(key) || state_.components.contains(key))
		look_at_pod(key, state_.pods[key], now, out);
	else
		state_.native_jobs.forget(key);
}

/*
 * Without slurmctld nothing is done for pods, except that new pods are told why. Pods that have a
 * condition are left alone: if slurmctld has moved to another machine, the agent there has told
 * them within k_unlinked_us what they wait for.
 */
void World::report_unlinked(Now now, std::vector<PodAction> &out)
{
	if (!state_.sync.is_listed() || state_.sync.has_link() || !state_.has_lease() ||
		now.mono_us < state_.sync.unlinked_since_us() + k_unlinked_us)
		return;
	const Report report{waiting_for_slurm()};
	for (auto &[uid, entry] : state_.pods) {
		const bool waits = side_of(entry) == PodSide::waiting;
		if (!waits || entry.pod->not_scheduled || state_.job_of(uid) ||
			now.mono_us < entry.first_seen_us + k_unlinked_us)
			continue;
		if (accept_report(uid, entry, report, now))
			out.push_back({uid, report});
	}
}

/* The oldest first, in the order in which they would have reached Slurm without an outage; after
 * one, all are here at once. */
std::vector<PodUid> World::by_age(const std::set<PodUid> &uids) const
{
	std::vector<std::pair<std::pair<std::int64_t, std::string_view>, const PodUid *>> sorted;
	sorted.reserve(uids.size());
	for (const PodUid &uid : uids) {
		const Pod *pod = state_.pod(uid);
		if (const auto gang = state_.gangs.find(uid);
			gang != state_.gangs.end() && !gang->second.members.empty())
			/* any member: they are of one age, and may be thousands */
			pod = state_.pod(gang->second.members.begin()->first);
		sorted.emplace_back(pod ? std::pair(pod->created, std::string_view(pod->name))
					: std::pair(std::int64_t{0}, std::string_view()),
			&uid);
	}
	std::ranges::stable_sort(sorted, {}, [](const auto &entry) { return entry.first; });
	std::vector<PodUid> out;
	out.reserve(sorted.size());
	for (const auto &[age, uid] : sorted)
		out.push_back(*uid);
	return out;
}

std::vector<World::PodAction> World::take_actions(Now now)
{
	queue_.wake(now.mono_us);
	queue_.mark(placing_.take(now));
	review_taints(now);
	review_exclusions(now);
	state_.seen_us = now.mono_us;
	std::vector<PodAction> out;
	state_.sync.wanted(now);
	look_for_unseen(now, out);
	if (!state_.is_known()) {
		report_unlinked(now, out);
		const bool waits = !state_.sync.has_link() || stands_aside(state_.lease);
		if (waits && state_.sync.is_listed(Sync::List::pods))
			forget_on_standby(now);
		/* everything is marked again when the snapshot is merged */
		return out;
	}
	forget_old_ends(state_);
	count_absent_pods();
	/* A share that is freed by a look wakes other pods. The loop ends, because each share is
	 * freed once. */
	while (!queue_.marked().empty()) {
		for (const PodUid &uid : by_age(queue_.take()))
			look_at(uid, now, out);
	}
	return out;
}

} // namespace slurmkube::core
