/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world/place.cc - the part of World that knows where Kubernetes lets a pod run.
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

constexpr std::int64_t k_nowhere_us = 1'000'000; /* pods that no node may take are looked at so often, when something has changed */
constexpr std::size_t k_reasons_most = 4;

/* The first name of the list that is none of these; empty: there is none. */
std::string unknown_of(const std::string &list, const std::map<std::string, SlurmNode> &nodes)
{
	const auto names = list.empty() ? Result<std::vector<std::string>>(std::vector<std::string>{}) : expand_hosts(list);
	if (!names)
		return list;
	const auto unknown = std::ranges::find_if(*names, [&](const std::string &name) { return !nodes.contains(name); });
	return unknown == names->end() ? "" : *unknown;
}

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
	note_company(pod);
	claims_.note(pod);
	note_tolerations(pod);
}

void World::forget_demands(const PodUid &uid)
{
	forget_company(uid);
	nowhere_.erase(uid);
	behind_.erase(uid);
	claims_.forget(uid);
}

void World::others_changed(const std::set<std::string> &nodes)
{
	for (const std::string &node : nodes) {
		wake_waiters(node);
		forget_places(node);
	}
	if (!nodes.empty())
		place_changed();
}

void World::foreign_seen(Pod pod)
{
	select_namespaces(pod);
	others_changed(foreign_.seen(std::move(pod)));
}

void World::foreign_gone(const PodUid &uid)
{
	others_changed(foreign_.gone(uid));
}

void World::foreign_listed(const std::set<std::string> &live_uids)
{
	others_changed(foreign_.listed(live_uids));
	sync_.listed(Sync::List::foreign);
	retry_all();
}

void World::place_changed()
{
	place_changed_ = true;
	reviews_.add_all();
}

void World::wake_nowhere(Now now)
{
	wake_behind_in_time(now);
	if (!place_changed_ || now.mono_us < nowhere_next_us_)
		return;
	place_changed_ = false;
	nowhere_next_us_ = now.mono_us + k_nowhere_us;
	queue_.mark(nowhere_);
}

/* Whether it depends on other pods where it may run. */
bool World::is_concerned(const Pod &pod) const
{
	return minds_others(pod) || !averse_.empty() || !foreign_.averse().empty();
}

/* ---- deciding ---- */

/* slurmctld writes a line to its log for each name that it does not have, and would refuse the job in the end. */
Status World::names_known_nodes(const JobSpec &spec) const
{
	const std::string &list = spec.options.required_nodes;
	if (const std::string name = unknown_of(list, slurm_nodes_); !name.empty())
		return Error{Errc::invalid, "option required-nodes='" + list.substr(0, 64) + "': Slurm has no node '" + name.substr(0, 64) +
						    "' for pods; change or remove the option"};
	return Ok{};
}

/* What the user does not want joins what Kubernetes forbids: a node that comes later is then kept off waiting jobs like any other. */
void World::exclude_unwanted(JobSpec &spec) const
{
	const std::string list = std::exchange(spec.options.excluded_nodes, "");
	const auto names = expand_hosts(list);
	if (list.empty() || !names)
		return; /* not there, or refused by the table of options */
	std::set<std::string> all(spec.excluded_nodes.begin(), spec.excluded_nodes.end());
	for (const std::string &name : *names) {
		if (slurm_nodes_.contains(name))
			all.insert(name);
	}
	spec.excluded_nodes.assign(all.begin(), all.end());
}

void World::place(const PodUid &uid, const Pod &pod, std::optional<Result<JobSpec>> &spec, std::uint32_t at_once)
{
	nowhere_.erase(uid);
	behind_.erase(uid);
	if (!spec || !*spec)
		return; /* refused */
	if (!pod.node_name.empty()) {
		(*spec)->options.excluded_nodes.clear(); /* it has its node; Slurm would refuse names that it does not have */
		return;
	}
	if (!groups_.at(uid).held_node.empty())
		return exclude_unwanted(**spec);
	for (const Status &asked : {names_known_nodes(**spec), is_fit_for_pods((*spec)->partition)}) {
		if (asked)
			continue;
		nowhere_.insert(uid); /* that may change */
		*spec = asked.error();
		return;
	}
	if (must_wait_for_other(uid, pod)) {
		behind_.insert(uid);
		spec.reset();
		return;
	}
	std::optional<Company> company;
	if (is_concerned(pod))
		company.emplace(company_of(uid, pod, true, at_once));
	const Places *places = &places_of(pod);
	std::optional<Places> narrower;
	if (company || !pod.demands.claims.empty() || !places->oversized.empty())
		exclude_more(uid, pod, company ? &*company : nullptr, narrower.emplace(*places));
	if (!groups_.at(uid).crowded.empty())
		exclude_crowded(uid, pod, narrower ? *narrower : narrower.emplace(*places));
	places = narrower ? &*narrower : places;
	if (places->candidates > 0 && places->excluded.size() == places->candidates) {
		nowhere_.insert(uid);
		wake_behind();
		*spec = Error{Errc::not_found, "no node may take the pod: " + reasons_text(places->reasons)};
		return;
	}
	if (const std::string why = gangs_.contains(uid) ? std::string() : too_large(**spec, *places); !why.empty()) {
		nowhere_.insert(uid);
		*spec = Error{Errc::not_found, why};
		return;
	}
	(*spec)->excluded_nodes = places->excluded;
	if (!gangs_.contains(uid))
		exclude_unwanted(**spec);
	wish(pod, **spec);
}

/* Preferred node affinity, unless the pod says itself what Slurm shall prefer. */
void World::wish(const Pod &pod, JobSpec &spec) const
{
	if (pod.demands.preferences.empty() || settings_.policy.features.empty() || !spec.options.prefer.empty())
		return;
	std::set<std::string> known;
	for (const auto &[name, node] : slurm_nodes_) {
		for (std::size_t begin = 0, end = 0; begin < node.features.size(); begin = end + 1) {
			end = std::min(node.features.find(',', begin), node.features.size());
			known.insert(node.features.substr(begin, end - begin));
		}
	}
	spec.options.prefer = prefer_of(pod.demands.preferences, settings_.policy.features, known);
}

/* A pod that is ending holds its port for a moment: that is worth waiting for, all else is not. */
void World::check_place(const PodUid &uid, const Group &group, const KubeNode &node, GroupFacts &facts) const
{
	const Pod &pod = *group.pod;
	const Holders holders = holders_of(node.name, uid), lasting = staying_on(node.name, uid);
	auto refusal = cordon_refuses(pod, node);
	if (!refusal)
		refusal = taint_refuses(pod, node.taints, ignored_taints(settings_.nodes));
	if (!refusal)
		refusal = node_refuses(pod, node);
	if (!refusal)
		refusal = room_refuses(pod.requests, room_on(node), {});
	if (!refusal) {
		const auto record = slurm_nodes_.find(node.name);
		const bool is_larger = record != slurm_nodes_.end() && is_oversized(node, record->second);
		refusal = room_refuses_for_good(pod, node, record == slurm_nodes_.end() ? nullptr : &record->second, is_larger ? taken_on(node.name, uid) : Resources{});
	}
	if (!refusal)
		refusal = holders_refuse(pod, lasting);
	if (!refusal && is_concerned(pod))
		refusal = company_of(uid, pod, false, 1).surroundings.refuses(node);
	if (refusal)
		facts.forbidden = refusal->why;
	else if (holders_refuse(pod, holders))
		facts.has_room = false;
}

} // namespace slurmkube::core
