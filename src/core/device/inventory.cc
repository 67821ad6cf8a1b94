/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/device/inventory.h"

#include "src/core/device/list_maker.h"

#include <algorithm>
#include <utility>

namespace slurmkube::core
{

/* ---- what the API server reports ---- */

std::set<std::string> Inventory::nodes_of_pool(const PoolId &id) const
{
	std::set<std::string> nodes;
	const auto names = by_pool_.find(id);
	if (names == by_pool_.end())
		return nodes;
	for (const std::string &name : names->second) {
		if (const std::string &node = slices_.at(name).node; !node.empty())
			nodes.insert(node);
	}
	return nodes;
}

/* What was made of the pool, and of these nodes. */
void Inventory::forget(const PoolId &id, const std::set<std::string> &nodes)
{
	made_.pools.erase(id);
	made_.nodes.erase(id.driver);
	for (const std::string &node : nodes)
		made_.lists.erase(node);
}

void Inventory::drop(const ResourceSlice &slice)
{
	if (const auto pool = by_pool_.find(slice.pool); pool != by_pool_.end()) {
		pool->second.erase(slice.name);
		if (pool->second.empty())
			by_pool_.erase(pool);
	}
	const auto node = by_node_.find(slice.node);
	if (node == by_node_.end())
		return;
	if (const auto count = node->second.find(slice.pool);
		count != node->second.end() && --count->second == 0)
		node->second.erase(count);
	if (node->second.empty())
		by_node_.erase(node);
}

std::set<std::string> Inventory::seen(ResourceSlice slice)
{
	std::set<std::string> nodes = gone(slice.name);
	by_pool_[slice.pool].insert(slice.name);
	if (!slice.node.empty())
		by_node_[slice.node][slice.pool]++;
	const PoolId pool = slice.pool;
	taint(slice);
	slices_.insert_or_assign(slice.name, std::move(slice));
	nodes.merge(nodes_of_pool(pool));
	forget(pool, nodes);
	return nodes;
}

std::set<std::string> Inventory::gone(const std::string &slice)
{
	const auto found = slices_.find(slice);
	if (found == slices_.end())
		return {};
	std::set<std::string> nodes = nodes_of_pool(found->second.pool);
	forget(found->second.pool, nodes);
	drop(found->second);
	slices_.erase(found);
	return nodes;
}

std::set<std::string> Inventory::listed(const std::set<std::string> &live_uids)
{
	std::vector<std::string> dead;
	for (const auto &[name, slice] : slices_) {
		if (!live_uids.contains(slice.uid))
			dead.push_back(name);
	}
	std::set<std::string> nodes;
	for (const std::string &name : dead)
		nodes.merge(gone(name));
	if (!std::exchange(is_listed_, true)) {
		made_.lists.clear(); /* they said that nothing is listed */
		for (const auto &[node, pools] : by_node_)
			nodes.insert(node);
	}
	return nodes;
}

/* ---- views ---- */

/* Only of pools that are there: a claim may name any. */
const Inventory::Pool &Inventory::pool(const PoolId &id) const
{
	static const Pool none;
	if (!by_pool_.contains(id))
		return none;
	const auto known = made_.pools.find(id);
	return known != made_.pools.end() ? known->second
					  : made_.pools.emplace(id, make_pool(id)).first->second;
}

Inventory::Pool Inventory::make_pool(const PoolId &id) const
{
	Pool pool;
	const auto names = by_pool_.find(id);
	if (names == by_pool_.end())
		return pool;
	for (const std::string &name : names->second) {
		const ResourceSlice &slice = slices_.at(name);
		if (!pool.slices.empty() && slice.generation < pool.slices[0]->generation)
			continue;
		if (!pool.slices.empty() && slice.generation > pool.slices[0]->generation)
			pool.slices.clear();
		pool.slices.push_back(&slice);
	}
	const auto there = std::to_string(pool.slices.size()),
		   wanted = std::to_string(pool.slices[0]->slice_count);
	if (there != wanted)
		pool.trouble = text_of(id) + " is incomplete: it has " + there + " of " + wanted +
			" slices of generation " + std::to_string(pool.slices[0]->generation);
	for (const ResourceSlice *slice : pool.slices) {
		for (const SliceDevice &device : slice->devices) {
			const bool is_new = pool.by_name.emplace(device.name, &device).second;
			if (!is_new && pool.trouble.empty())
				pool.trouble = text_of(id) +
					" is invalid: two devices have the name " + device.name;
		}
	}
	return pool;
}

std::set<PoolId> Inventory::pools_on(const std::string &node, const std::string &driver) const
{
	std::set<PoolId> pools;
	const auto found = by_node_.find(node);
	if (found == by_node_.end())
		return pools;
	for (const auto &[pool, count] : found->second) {
		if (pool.driver == driver)
			pools.insert(pool);
	}
	return pools;
}

/* Only of nodes that have devices: any may be asked for. */
const DeviceList &Inventory::on_node(const std::string &node, const DeviceRule &rule) const
{
	static const DeviceList none,
		unlisted{.devices = {}, .trouble = "the devices have not been listed yet"};
	if (!is_listed_)
		return unlisted;
	if (!by_node_.contains(node))
		return none;
	Lists &lists = made_.lists[node];
	const auto known =
		std::ranges::find_if(lists, [&](const auto &one) { return one.first == rule; });
	return known != lists.end() ? known->second
				    : lists.emplace_back(rule, make_list(node, rule)).second;
}

DeviceList Inventory::make_list(const std::string &node, const DeviceRule &rule) const
{
	ListMaker maker(rule);
	for (const PoolId &id : pools_on(node, rule.driver)) {
		const Pool &found = pool(id);
		if (!found.trouble.empty())
			maker.fail(found.trouble);
		for (const ResourceSlice *slice : found.slices) {
			if (slice->node == node)
				maker.add(*slice);
		}
	}
	return maker.take();
}

std::vector<DeviceList> Inventory::lists_on(const std::string &node, const DeviceRules &rules) const
{
	std::vector<DeviceList> lists;
	std::map<std::string, std::size_t> first; /* by GRES */
	for (const DeviceRule &rule : rules) {
		const std::size_t at = lists.size();
		lists.push_back(on_node(node, rule));
		if (lists[at].devices.empty())
			continue;
		const auto [other, is_first] = first.emplace(rule.gres, at);
		if (is_first)
			continue;
		for (DeviceList *list : {&lists[other->second], &lists[at]})
			*list = {.devices = {},
				.trouble = "drivers " + rules[other->second].driver + " and " +
					rule.driver + " both have devices for GRES " + rule.gres +
					": give them two names"};
	}
	return lists;
}

Inventory::Devices Inventory::all_on(const std::string &node) const
{
	Devices out;
	const auto pools = by_node_.find(node);
	if (pools == by_node_.end())
		return out;
	for (const auto &[id, count] : pools->second) {
		const Pool &found = pool(id);
		out.trouble = out.trouble.empty() ? found.trouble : out.trouble;
		for (const ResourceSlice *slice : found.slices) {
			for (const SliceDevice &device : slice->devices) {
				if (slice->node == node)
					out.ids.push_back({id, device.name});
			}
		}
	}
	return out;
}

std::string Inventory::trouble_on(const std::string &node, const std::string &driver) const
{
	const std::set<PoolId> pools = pools_on(node, driver);
	if (pools.empty())
		return "driver " + driver + " publishes no devices of node " + node + " at present";
	for (const PoolId &id : pools) {
		if (std::string trouble = pool(id).trouble; !trouble.empty())
			return trouble;
	}
	return {};
}

const SliceDevice *Inventory::find(const DeviceId &id) const
{
	const Pool &known = pool(id.pool);
	const auto found = known.by_name.find(id.name);
	return known.trouble.empty() && found != known.by_name.end() ? found->second : nullptr;
}

const std::set<std::string> &Inventory::nodes_of(const std::string &driver) const
{
	const auto [found, is_new] = made_.nodes.try_emplace(driver);
	if (!is_new)
		return found->second;
	for (const auto &[node, pools] : by_node_) {
		if (std::ranges::any_of(
			    pools, [&](const auto &entry) { return entry.first.driver == driver; }))
			found->second.insert(node);
	}
	return found->second;
}

std::string gres_of_list(const DeviceRule &rule, const DeviceList &list)
{
	std::string out;
	for (std::size_t at = 0; !rule.is_cores && at < list.devices.size();) {
		const std::string &type = list.devices[at].type;
		std::size_t end = at;
		while (end < list.devices.size() && list.devices[end].type == type)
			end++;
		out += (out.empty() ? "" : ",") + rule.gres + (type.empty() ? "" : ":" + type) +
			":" + std::to_string(end - at);
		at = end;
	}
	return out;
}

} // namespace slurmkube::core
