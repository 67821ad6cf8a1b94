/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world/company.cc - the part of World that knows who is beside whom: on the node, in its zone, or about to be there.
 *
 * Whoever minds others is asked for when those that concern it have got their nodes, or are known to wait; what comes of it all the same is judged again before
 * the binding, with those who are bound.
 */
#include "src/core/model/selectors.h"
#include "src/core/world/world.h"
#include "src/core/world/parts.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_first_look_us = 3'000'000; /* so soon after its submission Slurm has looked at a job, and says what it waits for */
constexpr std::int64_t k_behind_us = 1'000'000;	      /* pods behind others are looked at so often, also when nothing has told of a change */

const Pod *known_pod(const Group &group)
{
	return group.pod ? &*group.pod : group.last ? &*group.last : nullptr;
}

bool names_namespaces(const std::vector<PodTerm> &terms)
{
	return std::ranges::any_of(terms, [](const PodTerm &term) { return term.namespace_selector.has_value(); });
}

} // namespace

/* ---- observing ---- */

void World::note_company(const Pod &pod)
{
	if (minds_others(pod))
		choosy_.insert(pod.uid);
	if (!pod.demands.anti_affinity.empty())
		averse_.insert(pod.uid);
	if (minds_afar(pod))
		far_minded_.insert(pod.uid);
}

void World::forget_company(const PodUid &uid)
{
	for (auto *list : {&choosy_, &averse_, &far_minded_, &by_namespaces_})
		list->erase(uid);
}

/* Of pods of ours, who come and go all the time: it matters to those that mind. */
void World::company_changed()
{
	place_changed_ = true;
	reviews_.add_choosy(!choosy_.empty());
}

/* One at a time: each that is submitted wakes the next when it has its answer. */
void World::wake_behind()
{
	if (behind_.empty())
		return;
	queue_.mark(*behind_.begin());
	behind_.erase(behind_.begin());
}

void World::wake_behind_in_time(Now now)
{
	if (now.mono_us < behind_next_us_)
		return;
	behind_next_us_ = now.mono_us + k_behind_us;
	wake_behind();
}

/* Until all namespaces are known anti-affinity goes by all of them, and affinity by none. */
void World::select_namespaces(Pod &pod)
{
	if (!names_namespaces(pod.demands.affinity) && !names_namespaces(pod.demands.anti_affinity))
		return;
	by_namespaces_.insert(pod.uid);
	for (auto *terms : {&pod.demands.affinity, &pod.demands.anti_affinity}) {
		for (PodTerm &term : *terms) {
			term.selected_namespaces.clear();
			if (!term.namespace_selector)
				continue;
			term.all_namespaces = !sync_.is_listed(Sync::List::namespaces) && terms == &pod.demands.anti_affinity;
			for (const auto &[name, seen] : settings_.policy.identity_facts.namespaces) {
				if (sync_.is_listed(Sync::List::namespaces) && matches(*term.namespace_selector, seen.labels))
					term.selected_namespaces.push_back(name);
			}
		}
	}
}

void World::namespaces_changed()
{
	if (by_namespaces_.empty())
		return;
	for (const PodUid &uid : std::set<PodUid>(by_namespaces_)) {
		const auto group = groups_.find(uid);
		if (group != groups_.end() && group->second.pod)
			select_namespaces(*group->second.pod);
		else if (foreign_.all().contains(uid))
			foreign_seen(foreign_.all().at(uid));
		else
			by_namespaces_.erase(uid);
	}
	place_changed();
}

/* ---- looking ---- */

const KubeNode *World::kube_node(const std::string &name) const
{
	const auto found = kube_nodes_.find(name);
	return found == kube_nodes_.end() ? nullptr : &found->second;
}

Holders World::holders_of(const std::string &node, const PodUid &except) const
{
	Holders out = foreign_.on(node);
	for (const PodUid &uid : occupancy_.holders(node)) {
		const auto found = groups_.find(uid);
		if (uid != except && found != groups_.end() && known_pod(found->second))
			out.push_back(known_pod(found->second));
	}
	return out;
}

/* Pods that are not about to leave. */
Holders World::staying_on(const std::string &node, const PodUid &except) const
{
	Holders out = holders_of(node, except);
	std::erase_if(out, [](const Pod *pod) { return pod->deleting; });
	return out;
}

/* Those who hold a share of a node anywhere. To a pod that minds nobody only those matter that mind it. */
void World::add_holders(const PodUid &uid, const Pod &pod, Surroundings &out) const
{
	const auto add = [&](const PodUid &other, const Group &group) {
		if (other != uid && !group.held_node.empty() && known_pod(group))
			out.add(*known_pod(group), kube_node(group.held_node));
	};
	if (minds_surroundings(pod)) {
		for (const auto &[other, group] : groups_)
			add(other, group);
		for (const auto &[other, foreign] : foreign_.all())
			out.add(foreign, kube_node(foreign.node_name));
		return;
	}
	for (const PodUid &other : far_minded_) {
		if (const auto group = groups_.find(other); group != groups_.end())
			add(other, group->second);
	}
	for (const PodUid &other : foreign_.far_minded())
		out.add(foreign_.all().at(other), kube_node(foreign_.all().at(other).node_name));
}

/* Who is on a node already, and may keep others off it. */
void World::add_averse(const PodUid &uid, Company &out) const
{
	for (const PodUid &other : averse_) {
		const auto group = groups_.find(other);
		if (other != uid && group != groups_.end() && !group->second.held_node.empty() && known_pod(group->second))
			out.there[group->second.held_node].push_back(known_pod(group->second));
	}
	for (const PodUid &other : foreign_.averse())
		out.there[foreign_.all().at(other).node_name].push_back(&foreign_.all().at(other));
}

/* with_allocated: pods too that have an allocation and are not bound yet. */
Company World::company_of(const PodUid &uid, const Pod &pod, bool with_allocated, std::uint32_t at_once) const
{
	Company out{.there = {}, .surroundings = Surroundings(pod, at_once)};
	if (!pod.demands.spreads.empty()) {
		for (const auto &[name, node] : kube_nodes_)
			out.surroundings.add_node(node);
	}
	add_holders(uid, pod, out.surroundings);
	if (!with_allocated)
		return out;
	if (!minds_others(pod))
		add_averse(uid, out);
	for (const PodUid &other : minds_others(pod) ? choosy_ : averse_) {
		const auto found = groups_.find(other);
		if (other == uid || found == groups_.end() || !found->second.pod || !found->second.held_node.empty())
			continue;
		const SlurmJob *job = current_job(found->second);
		if (job_side(job) != JobSide::allocated || job->nodes.empty())
			continue;
		const std::string &node = job->nodes.front().node;
		out.there[node].push_back(&*found->second.pod);
		out.surroundings.add(*found->second.pod, kube_node(node));
	}
	return out;
}

/* Two that concern each other are not asked for at the same moment: the second is told where the first is. */
bool World::must_wait_for_other(const PodUid &uid, const Pod &pod) const
{
	const auto is_first = [&](const PodUid &other) {
		const auto found = groups_.find(other);
		if (other == uid || found == groups_.end() || !found->second.pod || !found->second.held_node.empty())
			return false;
		const Group &group = found->second;
		return (group.busy.slurm && concerns(*group.pod, pod)) || (is_not_looked_at(group) && spreads_over(pod, *group.pod));
	};
	return std::ranges::any_of(minds_others(pod) ? choosy_ : averse_, is_first);
}

/* By Slurm, which starts all such jobs at once, next to each other. */
bool World::is_not_looked_at(const Group &group) const
{
	if (group.submitted_us == 0 || seen_us_ >= group.submitted_us + k_first_look_us)
		return false;
	const SlurmJob *job = current_job(group);
	return job_side(job) == JobSide::pending && !job->held && (job->reason.empty() || job->reason == "None");
}

} // namespace slurmkube::core
