/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/placement/foreign.h"

#include "src/core/model/outcome.h"
#include "src/core/placement/pod_topology.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* Keeps the constraints of a placed pod that affect other pods. All members are named, so that a
 * new one does not compile before it is considered here. */
SchedulingConstraints kept(SchedulingConstraints &&all)
{
	auto &[node_selector, node_terms, preferences, tolerations, host_ports, affinity,
		anti_affinity, spreads, claims] = all;
	SchedulingConstraints out;
	out.host_ports = std::move(host_ports);
	out.anti_affinity = std::move(anti_affinity);
	out.claims = std::move(claims);
	return out;
}

Pod trimmed(Pod &&pod)
{
	Pod out;
	out.uid = std::move(pod.uid);
	out.name_space = std::move(pod.name_space);
	out.name = std::move(pod.name);
	out.node_name = std::move(pod.node_name);
	out.deleting = pod.deleting;
	out.requests = std::move(pod.requests);
	out.labels = std::move(pod.labels);
	out.constraints = kept(std::move(pod.constraints));
	return out;
}

std::int64_t left(std::int64_t all, std::int64_t used)
{
	return std::max<std::int64_t>(all - used, 0);
}

} // namespace

std::set<std::string> ForeignPods::seen(Pod pod)
{
	const PodUid uid = pod.uid;
	if (pod.node_name.empty() || is_terminal(pod))
		return gone(uid);
	Pod now = trimmed(std::move(pod));
	const auto known = pods_.find(uid);
	if (known != pods_.end() && known->second == now)
		return {};
	std::set<std::string> changed = gone(uid);
	changed.insert(now.node_name);
	by_node_[now.node_name].insert(uid);
	if (!now.constraints.anti_affinity.empty())
		anti_affinity_.insert(uid);
	if (constrains_topology(now))
		topology_constrained_.insert(uid);
	pods_.emplace(uid, std::move(now));
	return changed;
}

std::set<std::string> ForeignPods::gone(const PodUid &uid)
{
	const auto known = pods_.find(uid);
	if (known == pods_.end())
		return {};
	const std::string node = known->second.node_name;
	std::set<PodUid> &there = by_node_[node];
	there.erase(uid);
	if (there.empty())
		by_node_.erase(node);
	anti_affinity_.erase(uid);
	topology_constrained_.erase(uid);
	pods_.erase(known);
	return {node};
}

std::set<std::string> ForeignPods::listed(const std::set<std::string> &live_uids)
{
	std::vector<PodUid> absent;
	for (const auto &[uid, pod] : pods_) {
		if (!live_uids.contains(uid.text))
			absent.push_back(uid);
	}
	std::set<std::string> changed;
	for (const PodUid &uid : absent)
		changed.merge(gone(uid));
	return changed;
}

Holders ForeignPods::on(const std::string &node) const
{
	Holders out;
	const auto there = by_node_.find(node);
	if (there == by_node_.end())
		return out;
	for (const PodUid &uid : there->second)
		out.push_back(&pods_.at(uid));
	return out;
}

Resources ForeignPods::held(const std::string &node) const
{
	return held_by(on(node));
}

Resources without(const Resources &allocatable, const Resources &used)
{
	Resources out = allocatable;
	out.milli_cpu = left(out.milli_cpu, used.milli_cpu);
	out.memory_bytes = left(out.memory_bytes, used.memory_bytes);
	out.pods = left(out.pods, used.pods);
	for (const auto &[name, amount] : used.extended) {
		const auto found = out.extended.find(name);
		if (found != out.extended.end())
			found->second = left(found->second, amount);
	}
	return out;
}

} // namespace slurmkube::core
