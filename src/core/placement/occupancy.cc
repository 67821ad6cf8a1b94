/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/placement/occupancy.h"

#include <algorithm>
#include <utility>

namespace slurmkube::core
{

namespace
{

void add(Resources &sum, const Resources &part, std::int64_t sign)
{
	sum.milli_cpu += sign * part.milli_cpu;
	sum.memory_bytes += sign * part.memory_bytes;
	sum.pods += sign;
	for (const auto &[name, amount] : part.extended) {
		std::int64_t &total = sum.extended[name];
		total += sign * amount;
		if (total == 0)
			sum.extended.erase(name);
	}
}

Resources larger(const Resources &a, const Resources &b)
{
	Resources out = a;
	out.milli_cpu = std::max(a.milli_cpu, b.milli_cpu);
	out.memory_bytes = std::max(a.memory_bytes, b.memory_bytes);
	for (const auto &[name, amount] : b.extended) {
		std::int64_t &most = out.extended[name];
		most = std::max(most, amount);
	}
	return out;
}

} // namespace

bool Occupancy::take(const std::string &node, const PodUid &pod, const Resources &requests)
{
	NodeShare &share = nodes_[node];
	const auto held = share.pods.find(pod);
	if (held == share.pods.end()) {
		share.pods.emplace(pod, NodeShare::Held{requests, requests});
		add(share.sum, requests, 1);
		return false;
	}
	/* asked for all the time, and few pods are resized */
	if (requests == held->second.at_binding && requests == held->second.now)
		return false;
	Resources now = larger(held->second.at_binding, requests);
	if (now == held->second.now)
		return false;
	add(share.sum, held->second.now, -1);
	add(share.sum, now, 1);
	held->second.now = std::move(now);
	return true;
}

bool Occupancy::release(const std::string &node, const PodUid &pod)
{
	const auto found = nodes_.find(node);
	if (found == nodes_.end())
		return false;
	NodeShare &share = found->second;
	const auto held = share.pods.find(pod);
	if (held == share.pods.end())
		return false;
	add(share.sum, held->second.now, -1);
	share.pods.erase(held);
	if (share.pods.empty())
		nodes_.erase(found);
	return true;
}

Resources Occupancy::held(const std::string &node) const
{
	const auto found = nodes_.find(node);
	return found == nodes_.end() ? Resources{} : found->second.sum;
}

std::vector<PodUid> Occupancy::holders(const std::string &node) const
{
	std::vector<PodUid> out;
	const auto found = nodes_.find(node);
	if (found == nodes_.end())
		return out;
	for (const auto &[pod, held] : found->second.pods)
		out.push_back(pod);
	return out;
}

std::size_t Occupancy::pods_on(const std::string &node) const
{
	const auto found = nodes_.find(node);
	return found == nodes_.end() ? 0 : found->second.pods.size();
}

bool Occupancy::has_room(
	const std::string &node, const Resources &allocatable, const Resources &requests) const
{
	Resources after = held(node);
	add(after, requests, 1);
	if (after.milli_cpu > allocatable.milli_cpu ||
		after.memory_bytes > allocatable.memory_bytes)
		return false;
	if (allocatable.pods > 0 && after.pods > allocatable.pods)
		return false;
	for (const auto &[name, amount] : requests.extended) {
		const auto limit = allocatable.extended.find(name);
		/* as the kubelet, which does not check resources that the node does not list */
		if (amount > 0 && limit != allocatable.extended.end() &&
			after.extended[name] > limit->second)
			return false;
	}
	return true;
}

} // namespace slurmkube::core
