/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/device/demand.h"

#include "src/core/device/alternatives.h"
#include "src/core/device/wanted.h"

#include <algorithm>
#include <optional>

namespace slurmkube::core
{

namespace
{

/* Why Slurm's choice could be wrong on the node; empty: it cannot. */
std::string trouble_on(const Wanted &wanted, const std::string &node)
{
	const std::string what = "request " + wanted.request->name + " of its resource claim";
	if (const auto trouble = wanted.fit.troubles.find(node);
		trouble != wanted.fit.troubles.end())
		return "its devices are not known: " + trouble->second;
	const RequestFit::Count sum = count_on(wanted, node);
	if (sum.matching == 0)
		return "has no device for " + what;
	if (const auto why = wanted.fit.incomplete.find(node); why != wanted.fit.incomplete.end())
		return what + " asks for all devices, and " + why->second;
	if (wanted.request->is_for_admin) /* the agent chooses */
		return {};
	const std::size_t all = matching_on(wanted, node);
	if (wanted.request->is_all && all != static_cast<std::size_t>(wanted.count))
		return "has " + std::to_string(all) + " devices for " + what +
			", which asks for all, and most nodes have " + std::to_string(wanted.count);
	if (sum.matching == sum.all)
		return {};
	return std::to_string(sum.matching) + " of its " + std::to_string(sum.all) +
		" devices are for " + what + ", and Slurm cannot be told which";
}

/* Why the node may have too few devices for a request with adminAccess; empty: it has enough. In
 * one claim a device is for one request only. */
std::string admin_trouble_on(
	const Wanted &wanted, const std::vector<Wanted> &all, const std::string &node)
{
	const std::size_t has = matching_on(wanted, node);
	std::size_t others = 0;
	for (const Wanted &one : all) {
		if (&one != &wanted && one.claim == wanted.claim && one.fit.rule == wanted.fit.rule)
			others += static_cast<std::size_t>(one.count);
	}
	const std::size_t own =
		wanted.request->is_all ? has : static_cast<std::size_t>(wanted.count);
	if (own + others <= has)
		return {};
	return "has " + std::to_string(has) + " devices for request " + wanted.request->name +
		" of its resource claim" +
		(others == 0 ? "" : ", and other requests of the claim may need them");
}

/* ---- constraints ---- */

/* Values of all devices that Slurm could choose for the constraint's requests. nullopt: a device
 * has none. */
std::optional<std::vector<std::string>> values_on(const std::string &node,
	const ResourceClaim &claim, const DeviceConstraint &constraint,
	const std::vector<Wanted> &all, const DeviceSources &from, std::size_t &cost)
{
	std::map<DeviceId, std::string> values;
	for (const Wanted &wanted : all) {
		if (wanted.claim != &claim || !concerns(constraint, wanted.request->name))
			continue;
		const DeviceList &list = from.inventory.on_node(node, *wanted.fit.rule);
		cost += 2 * DeviceSources::k_look_cost * (1 + list.devices.size());
		for (const ListedDevice &one : list.devices) {
			if (wanted.type && one.type != *wanted.type)
				continue;
			const SliceDevice *device = from.inventory.find(one.id);
			const auto value =
				device ? attribute_of(*device, constraint.attribute) : std::nullopt;
			if (!value)
				return std::nullopt;
			values[one.id] = *value;
		}
	}
	std::vector<std::string> out;
	for (const auto &[id, value] : values)
		out.push_back(value);
	return out;
}

std::size_t count_of(const std::string &node, const ResourceClaim &claim,
	const DeviceConstraint &constraint, const std::vector<Wanted> &all)
{
	std::size_t sum = 0;
	for (const Wanted &one : all) {
		if (one.claim == &claim && concerns(constraint, one.request->name))
			sum += one.request->is_all ? matching_on(one, node)
						   : static_cast<std::size_t>(one.count);
	}
	return sum;
}

std::string constraint_trouble(const std::string &node, const ResourceClaim &claim,
	const DeviceConstraint &constraint, const std::vector<Wanted> &all,
	const DeviceSources &from, std::size_t &cost)
{
	const auto values = values_on(node, claim, constraint, all, from, cost);
	if (!values)
		return "a device has no attribute " + constraint.attribute +
			", which its resource claim constrains";
	const std::set<std::string> kinds(values->begin(), values->end());
	const bool is_met =
		constraint.is_distinct ? kinds.size() == values->size() : kinds.size() <= 1;
	if (is_met || count_of(node, claim, constraint, all) < 2)
		return {};
	return "its devices " +
		std::string(constraint.is_distinct ? "share values of " : "differ in ") +
		constraint.attribute +
		", which its resource claim constrains, and Slurm cannot be told which to choose";
}

Result<std::string> constraints_trouble(const std::string &node, const std::vector<Wanted> &all,
	const DeviceSources &from, std::size_t &cost)
{
	std::set<const ResourceClaim *> claims;
	for (const Wanted &one : all)
		claims.insert(one.claim);
	for (const ResourceClaim *claim : claims) {
		for (const DeviceConstraint &constraint : claim->constraints) {
			if (const Status charged = charge(all.size(), cost); !charged)
				return charged.error();
			std::string trouble =
				constraint_trouble(node, *claim, constraint, all, from, cost);
			if (!trouble.empty())
				return trouble;
		}
	}
	return std::string();
}

/* ---- the whole ---- */

void add(const Wanted &wanted, std::vector<Gres> &out)
{
	if (wanted.request->is_for_admin || wanted.fit.rule->is_cores)
		return;
	const Gres item{.name = wanted.fit.rule->gres,
		.type = wanted.type.value_or(""),
		.count = static_cast<std::uint64_t>(wanted.count),
		.indices = {}};
	const auto same = std::ranges::find_if(out,
		[&](const Gres &one) { return one.name == item.name && one.type == item.type; });
	if (same == out.end())
		out.push_back(item);
	else
		same->count += item.count;
}

/* CPUs by claim; empty: no claim asks for any. */
std::vector<std::int64_t> cpus_of(
	const std::vector<const ResourceClaim *> &claims, const std::vector<Wanted> &all)
{
	std::vector<std::int64_t> out;
	for (const Wanted &one : all) {
		if (!one.fit.rule->is_cores)
			continue;
		out.resize(claims.size());
		out[static_cast<std::size_t>(
			std::ranges::find(claims, one.claim) - claims.begin())] += one.count;
	}
	return out;
}

/* Of a GRES with a type, or of any type: whether the node has as many devices as all requests
 * together. */
std::string shortage_on(const std::string &node, const std::vector<Wanted> &all, const Gres &asked)
{
	std::size_t has = 0;
	for (const Wanted &one : all) {
		if (one.fit.rule->gres == asked.name && one.type.value_or("") == asked.type &&
			!one.request->is_for_admin)
			has = count_on(one, node).all;
	}
	if (has >= asked.count)
		return {};
	return "has " + std::to_string(has) + " of the " + std::to_string(asked.count) +
		" devices that its resource claims ask for";
}

/* The same for CPUs. */
std::string cpu_shortage_on(const std::string &node, const std::vector<Wanted> &all)
{
	std::int64_t asked = 0, has = 0;
	for (const Wanted &one : all) {
		if (!one.fit.rule->is_cores)
			continue;
		asked += one.count;
		has = static_cast<std::int64_t>(count_on(one, node).all);
	}
	if (has >= asked)
		return {};
	return "has " + std::to_string(has) + " of the " + std::to_string(asked) +
		" CPUs that its resource claims ask for";
}

Result<std::string> trouble_of(const std::string &node, const std::vector<Wanted> &all,
	const std::vector<Gres> &gres, const DeviceSources &from, std::size_t &cost)
{
	std::string trouble;
	for (const Wanted &one : all) {
		trouble = trouble.empty() ? trouble_on(one, node) : trouble;
		if (!trouble.empty() || !one.request->is_for_admin)
			continue;
		if (const Status charged = charge(all.size(), cost); !charged)
			return charged.error();
		trouble = admin_trouble_on(one, all, node);
	}
	if (const Status charged = charge(all.size() * gres.size(), cost); !charged)
		return charged.error();
	for (const Gres &one : gres)
		trouble = trouble.empty() ? shortage_on(node, all, one) : trouble;
	if (trouble.empty())
		trouble = cpu_shortage_on(node, all);
	return trouble.empty() ? constraints_trouble(node, all, from, cost) : trouble;
}

/* Those that have devices of any rule of the requests. */
std::set<std::string> nodes_of(const std::vector<Wanted> &all, const DeviceSources &from)
{
	std::set<std::string> drivers, nodes;
	for (const Wanted &one : all)
		drivers.insert(one.fit.rule->driver);
	for (const std::string &driver : drivers) {
		const std::set<std::string> &found = from.inventory.nodes_of(driver);
		nodes.insert(found.begin(), found.end());
	}
	return nodes;
}

/* For claims without alternatives. */
Result<DeviceDemand> demand_in_one_way(const std::vector<const ResourceClaim *> &claims,
	const DeviceSources &from, std::size_t &cost)
{
	const auto all = wanted_by(claims, from, cost);
	if (!all)
		return all.error();
	DeviceDemand out;
	out.cpus = cpus_of(claims, *all);
	for (const Wanted &one : *all)
		add(one, out.gres);
	for (const std::string &node : nodes_of(*all, from)) {
		auto trouble = trouble_of(node, *all, out.gres, from, cost);
		if (!trouble)
			return in_context("its resource claims", trouble.error());
		if (trouble->empty())
			out.fit.insert(node);
		else
			out.unfit.emplace(node, *std::move(trouble));
	}
	return out;
}

/* Of the requests as they are, and of the alternatives that were not taken. */
std::optional<std::set<std::string>> names_of(const std::vector<const ResourceClaim *> &claims,
	const DeviceSources &from, std::size_t &cost)
{
	std::set<std::string> out;
	const auto take = [&](const DeviceRequest &request) {
		const auto fit = fit_of(request, from, cost);
		if (fit)
			out.insert(fit->rule->gres);
		return fit.ok();
	};
	for (const ResourceClaim *claim : claims) {
		for (const DeviceRequest &request : claim->requests) {
			const bool is_known = request.alternatives.empty()
				? take(request)
				: std::ranges::all_of(request.alternatives, take);
			if (!is_known)
				return std::nullopt;
		}
	}
	return out;
}

Result<DeviceDemand> with_names(DeviceDemand found,
	const std::vector<const ResourceClaim *> &claims, const DeviceSources &from,
	std::size_t &cost)
{
	const bool has_choice = std::ranges::any_of(claims, [](const ResourceClaim *claim) {
		return std::ranges::any_of(claim->requests,
			[](const DeviceRequest &one) { return !one.alternatives.empty(); });
	});
	if (has_choice) {
		found.may_ask = names_of(claims, from, cost);
		return found;
	}
	found.may_ask.emplace();
	for (const Gres &one : found.gres)
		found.may_ask->insert(one.name);
	return found;
}

} // namespace

Result<DeviceDemand> demand_of(
	const std::vector<const ResourceClaim *> &claims, const DeviceSources &from)
{
	Alternatives ways(claims);
	std::size_t cost = 0;
	std::optional<Result<DeviceDemand>> first;
	do {
		auto found = demand_in_one_way(ways.claims(), from, cost);
		if (found && !found->fit.empty())
			return with_names(std::move(*found), claims, from, cost);
		if (const Status charged = charge(0, cost); !charged)
			return found ? charged.error() : found.error();
		if (!first)
			first = std::move(found);
	} while (ways.next());
	return *first ? with_names(std::move(**first), claims, from, cost) : *std::move(first);
}

std::string gres_text(const std::vector<Gres> &gres)
{
	std::string out;
	for (const Gres &one : gres)
		out += (out.empty() ? "" : ",") + one.name +
			(one.type.empty() ? "" : ":" + one.type) + ":" + std::to_string(one.count);
	return out;
}

} // namespace slurmkube::core
