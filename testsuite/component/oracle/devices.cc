/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * devices.cc - our decisions about devices, for the cases that "oracle devices" judges, in the same
 * order.
 *
 * Each line on stdin is a case: "rules", "slices", "later" (the slices after Slurm's choice),
 * "classes", "claims" of one pod, "nodes", "taken" devices, and "seed" for the choice of Slurm,
 * which is played here. Each line on stdout has "refused" (why, for the pod as a whole) or "nodes":
 * for each "excluded" (why), or "gres" (what the job asks for) with "waits" (why Slurm gives
 * nothing), or "given" with "back" (why the devices are given back) or "statuses" (of the claims,
 * as we would write them).
 */
#include "src/codec/resource_claim.h"
#include "src/codec/resource_slice.h"
#include "src/core/device/deal.h"
#include "src/core/device/demand.h"
#include "src/core/device/given.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <random>

using namespace slurmkube;

namespace
{

[[noreturn]] void give_up(const std::string &why)
{
	(void)fprintf(stderr, "devices: %s\n", why.c_str());
	std::exit(1);
}

template <class T> T needed(Result<T> value)
{
	if (!value)
		give_up(value.error().what);
	return std::move(*value);
}

template <class F> void for_each(json_object *list, F &&use)
{
	for (std::size_t i = 0; i < codec::array_size(list); i++)
		use(codec::array_at(list, i));
}

std::string text(json_object *value)
{
	return value ? json_object_get_string(value) : "";
}

/* One case, decoded. */
struct Cluster {
	core::DeviceRules rules;
	core::Inventory at_choice, later;
	std::map<std::string, core::DeviceClass> classes;
	core::Selectors selectors;
	std::vector<core::ResourceClaim> claims;
	std::set<core::DeviceId> taken;
	unsigned seed = 0;

	explicit Cluster(json_object *one);
	[[nodiscard]] core::DeviceSources sources(const core::Inventory &inventory) const
	{
		return {inventory, classes, rules, selectors};
	}
	[[nodiscard]] std::vector<const core::ResourceClaim *> pointers() const
	{
		std::vector<const core::ResourceClaim *> out;
		for (const core::ResourceClaim &claim : claims)
			out.push_back(&claim);
		return out;
	}
};

core::DeviceRule rule_of(json_object *object)
{
	core::DeviceRule out;
	out.driver = codec::get_string(object, "driver");
	out.gres = codec::get_string(object, "gres");
	out.type_attribute = codec::get_string(object, "type_attribute");
	if (const std::string only = codec::get_string(object, "only"); !only.empty())
		out.only = needed(core::cel::compile(only));
	return out;
}

core::Inventory inventory_of(json_object *slices)
{
	core::Inventory out;
	std::set<std::string> uids;
	for_each(slices, [&](json_object *one) {
		auto slice = needed(codec::resource_slice_from_json(one));
		uids.insert(slice.uid);
		(void)out.seen(std::move(slice));
	});
	(void)out.listed(uids);
	return out;
}

core::DeviceId device_of(json_object *object)
{
	return {{codec::get_string(object, "Driver"), codec::get_string(object, "Pool")},
		codec::get_string(object, "Device")};
}

Cluster::Cluster(json_object *one)
    : at_choice(inventory_of(codec::get(one, "slices"))),
      later(inventory_of(codec::get(one, codec::get(one, "later") ? "later" : "slices"))),
      seed(static_cast<unsigned>(codec::get_int(one, "seed")))
{
	for_each(codec::get(one, "rules"),
		[&](json_object *rule) { rules.push_back(rule_of(rule)); });
	for_each(codec::get(one, "classes"), [&](json_object *object) {
		auto found = needed(codec::device_class_from_json(object));
		const std::string name = found.name;
		classes.emplace(name, std::move(found));
	});
	for_each(codec::get(one, "claims"), [&](json_object *claim) {
		claims.push_back(needed(codec::resource_claim_from_json(claim)));
	});
	for_each(codec::get(one, "taken"),
		[&](json_object *device) { taken.insert(device_of(device)); });
}

/* ---- Slurm ---- */

/* The devices of the GRES in the record of the node, by index. */
std::vector<core::ListedDevice> record_of(
	const Cluster &cluster, const std::string &node, const std::string &gres)
{
	const auto lists = cluster.at_choice.lists_on(node, cluster.rules);
	for (std::size_t i = 0; i < lists.size(); i++) {
		if (cluster.rules[i].gres == gres && !lists[i].devices.empty())
			return lists[i].devices;
	}
	return {};
}

/* Slurm's choice among the free devices: any, but as many as asked for. Error: it has too few. */
Result<core::NodeAllocation> choice_of_slurm(const Cluster &cluster, const std::string &node,
	const std::vector<core::Gres> &asked, std::mt19937 &dice)
{
	core::NodeAllocation out;
	out.node = node;
	for (core::Gres one : asked) {
		const auto record = record_of(cluster, node, one.name);
		std::vector<std::size_t> free;
		for (std::size_t i = 0; i < record.size(); i++) {
			if ((one.type.empty() || one.type == record[i].type) &&
				!cluster.taken.contains(record[i].id))
				free.push_back(i);
		}
		if (free.size() < one.count)
			return Error{Errc::again,
				record.empty() ? "no GRES in the record" : "too few are free"};
		std::ranges::shuffle(free, dice);
		free.resize(one.count);
		std::ranges::sort(free);
		for (const std::size_t index : free)
			one.indices += (one.indices.empty() ? "" : ",") + std::to_string(index);
		out.gres.push_back(one);
	}
	return out;
}

/* ---- answers ---- */

codec::Json device_json(const core::DeviceId &id)
{
	codec::Json out = codec::new_object();
	codec::put(out.get(), "Driver", id.pool.driver);
	codec::put(out.get(), "Pool", id.pool.name);
	codec::put(out.get(), "Device", id.name);
	return out;
}

/* What our write makes of the status of the claim. */
codec::Json status_of(const core::ClaimDeal &deal, const std::string &node)
{
	core::ResourceClaim ready = *deal.claim;
	ready.finalizers = {core::k_claim_finalizer};
	core::ClaimDeal of_ready = deal;
	of_ready.claim = &ready;
	const auto step = core::next_step(of_ready, node, "p", "uid-p");
	const auto *write = step ? std::get_if<core::AllocateDevices>(&*step) : nullptr;
	if (!write)
		give_up("no allocation follows");
	const auto patch =
		needed(codec::parse_json(codec::allocation_patch(*write), std::size_t{1} << 20));
	return codec::Json(json_object_get(codec::get(patch.get(), "status")));
}

void put_deal(json_object *out, const Cluster &cluster, const core::NodeAllocation &slot)
{
	const std::string extra = core::frozen_text(
		"", cluster.rules, cluster.at_choice.lists_on(slot.node, cluster.rules), slot.node);
	codec::Json given = codec::new_array();
	for (const core::DeviceId &id : needed(core::given_to(slot, extra, cluster.rules)))
		codec::append(given.get(), device_json(id));
	codec::put(out, "given", std::move(given));
	const auto deals =
		core::deal(cluster.pointers(), slot, extra, cluster.sources(cluster.later));
	if (!deals)
		return codec::put(out, "back", deals.error().what);
	codec::Json statuses = codec::new_array();
	for (const core::ClaimDeal &deal : *deals)
		codec::append(statuses.get(), status_of(deal, slot.node));
	codec::put(out, "statuses", std::move(statuses));
}

codec::Json node_answer(const Cluster &cluster, const core::DeviceDemand &demand,
	const std::string &node, std::mt19937 &dice)
{
	codec::Json out = codec::new_object();
	if (!demand.fit.contains(node)) {
		const auto unfit = demand.unfit.find(node);
		codec::put(out.get(), "excluded",
			unfit == demand.unfit.end() ? "has no devices for its resource claims"
						    : unfit->second);
		return out;
	}
	codec::put(out.get(), "gres", core::gres_text(demand.gres));
	const auto slot = choice_of_slurm(cluster, node, demand.gres, dice);
	if (slot)
		put_deal(out.get(), cluster, *slot);
	else
		codec::put(out.get(), "waits", slot.error().what);
	return out;
}

codec::Json answer(json_object *one)
{
	const Cluster cluster(one);
	std::mt19937 dice(cluster.seed);
	codec::Json out = codec::new_object();
	const auto demand = core::demand_of(cluster.pointers(), cluster.sources(cluster.at_choice));
	if (!demand) {
		codec::put(out.get(), "refused", demand.error().what);
		return out;
	}
	codec::Json nodes = codec::new_object();
	for_each(codec::get(one, "nodes"), [&](json_object *name) {
		const std::string node = text(name);
		codec::put(nodes.get(), node.c_str(), node_answer(cluster, *demand, node, dice));
	});
	codec::put(out.get(), "nodes", std::move(nodes));
	return out;
}

} // namespace

int main()
{
	for (std::string line; std::getline(std::cin, line);) {
		const auto one = codec::parse_json(line, std::size_t{16} << 20);
		if (!one)
			give_up(one.error().what);
		std::cout << codec::to_text(answer(one->get()).get()) << '\n';
	}
	return 0;
}
