/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world/place.cc - the part of World that asks where Kubernetes lets a pod run (node_filter.h, peers.h), and looks again when that has changed.
 *
 * Before a submission: which nodes Slurm must not choose. Before a binding: whether that still holds. Slurm queues for CPUs, memory and GRES itself, so what
 * passes of these is left to it; labels, taints, ports and company are not, nor a resource that Slurm does not know.
 */
#include "src/core/model/host_list.h"
#include "src/core/world/world.h"
#include "src/core/world/parts.h"

#include <algorithm>
#include <utility>

namespace slurmkube::core
{

namespace
{

constexpr std::size_t k_reasons_most = 4;

} // namespace

std::string reasons_text(const std::map<std::string, std::size_t> &reasons)
{
	std::string out;
	std::size_t said = 0;
	for (const auto &[why, count] : reasons) {
		if (said++ == k_reasons_most)
			return out + "; and others";
		out += (out.empty() ? "" : "; ") + std::to_string(count) + (count == 1 ? " node " : " nodes: each ") + why;
	}
	return out;
}

/* ---- observing ---- */

void World::note_demands(const Pod &pod)
{
	state_.peers.note(pod);
	state_.claims.note(pod);
	note_tolerations(pod);
}

void World::forget_demands(const PodUid &uid)
{
	state_.peers.forget(uid);
	by_namespaces_.erase(uid);
	places_.forget(uid);
	state_.claims.forget(uid);
}

void World::others_changed(const std::set<std::string> &nodes)
{
	for (const std::string &node : nodes) {
		wake_waiters(node);
		filter_.forget(node);
	}
	if (!nodes.empty())
		place_changed();
}

void World::foreign_seen(Pod pod)
{
	select_namespaces(pod);
	others_changed(state_.foreign.seen(std::move(pod)));
}

void World::foreign_gone(const PodUid &uid)
{
	others_changed(state_.foreign.gone(uid));
}

void World::foreign_listed(const std::set<std::string> &live_uids)
{
	others_changed(state_.foreign.listed(live_uids));
	state_.sync.listed(Sync::List::foreign);
	retry_all();
}

void World::place_changed()
{
	places_.changed();
	reviews_.add_all();
}

/* Of pods of ours, who come and go all the time: it matters to those that mind. */
void World::company_changed()
{
	places_.changed();
	reviews_.add_choosy(!state_.peers.choosy().empty());
}

void World::wake_behind()
{
	if (const auto next = places_.take_behind())
		queue_.mark(*next);
}

void World::namespaces_changed()
{
	if (by_namespaces_.empty())
		return;
	for (const PodUid &uid : std::set<PodUid>(by_namespaces_)) {
		const auto entry = state_.pods.find(uid);
		if (entry != state_.pods.end() && entry->second.pod)
			select_namespaces(*entry->second.pod);
		else if (state_.foreign.all().contains(uid))
			foreign_seen(state_.foreign.all().at(uid));
		else
			by_namespaces_.erase(uid);
	}
	place_changed();
}

/* ---- deciding ---- */

/* Nodes that may not take it, or the reason why none may. own: where the pod's are not those of all that are like it. */
Result<const Places *> World::places_for(const PodUid &uid, const Pod &pod, const JobSpec &spec, std::uint32_t at_once, std::optional<Places> &own)
{
	std::optional<Company> company;
	if (is_concerned(state_, pod))
		company.emplace(company_of(state_, uid, pod, true, at_once));
	const Places *places = &filter_.places_of(state_, pod);
	if (company || !pod.demands.claims.empty() || !places->oversized.empty())
		filter_.exclude_more(state_, uid, pod, company ? &*company : nullptr, own.emplace(*places));
	if (!state_.components.at(uid).crowded.empty())
		exclude_crowded(uid, pod, own ? *own : own.emplace(*places));
	places = own ? &*own : places;
	if (places->candidates > 0 && places->excluded.size() == places->candidates) {
		wake_behind();
		return Error{Errc::not_found, "no node may take the pod: " + reasons_text(places->reasons)};
	}
	if (const std::string why = state_.gangs.contains(uid) ? std::string() : filter_.too_large(state_, spec, *places); !why.empty())
		return Error{Errc::not_found, why};
	return places;
}

void World::place(const PodUid &uid, const Pod &pod, std::optional<Result<JobSpec>> &spec, std::uint32_t at_once)
{
	places_.forget(uid);
	if (!spec || !*spec)
		return; /* refused */
	if (!pod.node_name.empty()) {
		(*spec)->options.excluded_nodes.clear(); /* it has its node; Slurm would refuse names that it does not have */
		return;
	}
	if (const PodEntry *entry = state_.entry(uid); entry && !entry->held_node.empty())
		return filter_.exclude_unwanted(state_, **spec);
	for (const Status &asked : {filter_.names_known_nodes(state_, **spec), filter_.is_fit_for_pods((*spec)->partition)}) {
		if (asked)
			continue;
		places_.add_nowhere(uid); /* that may change */
		*spec = asked.error();
		return;
	}
	if (must_wait_for_other(state_, uid, pod)) {
		places_.add_behind(uid);
		spec.reset();
		return;
	}
	std::optional<Places> own;
	const auto places = places_for(uid, pod, **spec, at_once, own);
	if (!places) {
		places_.add_nowhere(uid);
		*spec = places.error();
		return;
	}
	(*spec)->excluded_nodes = (*places)->excluded;
	if (!state_.gangs.contains(uid))
		filter_.exclude_unwanted(state_, **spec);
	filter_.wish(state_, pod, **spec);
}

} // namespace slurmkube::core
