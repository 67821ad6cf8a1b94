/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/device/demand.h"

#include "src/core/device/alternatives.h"

#include <algorithm>
#include <optional>

namespace slurmkube::core
{

namespace
{

/* of one claim: AllocationResultsMaxSize of the API */
constexpr std::int64_t k_devices_most = 32;

/* A request with the type that is asked of Slurm. */
struct Wanted {
	const ResourceClaim *claim;
	const DeviceRequest *request;
	RequestFit fit;
	std::optional<std::string> type; /* nullopt: any */
};

using Types = std::map<std::string, RequestFit::Count>;

bool is_good(const RequestFit::Count &count)
{
	return count.matching > 0 && count.matching == count.all;
}

bool is_any_good(const Types &types)
{
	return std::ranges::any_of(types, [](const auto &one) { return is_good(one.second); });
}

/* Of all types that meet the request as a whole, the one with the most devices. */
std::optional<std::string> commonest_type(const RequestFit &fit)
{
	std::map<std::string, std::size_t> devices;
	for (const auto &[node, types] : fit.nodes) {
		for (const auto &[type, count] : types)
			devices[type] += is_good(count) ? count.all : 0;
	}
	const auto most =
		std::ranges::max_element(devices, {}, [](const auto &one) { return one.second; });
	return most == devices.end() || most->second == 0 ? std::nullopt
							  : std::optional(most->first);
}

/* Whether every node that has a type which meets the request has no other. */
bool can_be_any(const RequestFit &fit)
{
	return std::ranges::all_of(fit.nodes, [](const auto &node) {
		const Types &types = node.second;
		return !is_any_good(types) || std::ranges::all_of(types, [](const auto &one) {
			return is_good(one.second);
		});
	});
}

/* Slurm takes no request for a type beside one for any type of the same GRES. */
void choose_types(std::vector<Wanted> &all)
{
	const auto needs_type = [&](const std::string &gres) {
		return std::ranges::any_of(all, [&](const Wanted &one) {
			return one.fit.rule->gres == gres && !can_be_any(one.fit);
		});
	};
	for (Wanted &one : all) {
		if (!one.fit.rule->type_attribute.empty() && needs_type(one.fit.rule->gres))
			one.type = commonest_type(one.fit);
	}
}

/* Why Slurm's choice could be wrong on the node; empty: it cannot. */
std::string trouble_on(const Wanted &wanted, const std::string &node)
{
	const std::string what = "request " + wanted.request->name + " of its resource claim";
	if (const auto trouble = wanted.fit.troubles.find(node);
		trouble != wanted.fit.troubles.end())
		return "its devices are not known: " + trouble->second;
	const auto types = wanted.fit.nodes.find(node);
	if (types == wanted.fit.nodes.end())
		return "has no device for " + what;
	RequestFit::Count sum;
	for (const auto &[type, count] : types->second) {
		if (wanted.type && type != *wanted.type)
			continue;
		sum.matching += count.matching;
		sum.all += count.all;
	}
	if (sum.matching == 0)
		return "has no device for " + what;
	if (sum.matching == sum.all)
		return {};
	return std::to_string(sum.matching) + " of its " + std::to_string(sum.all) +
		" devices are for " + what + ", and Slurm cannot be told which";
}

/* ---- constraints ---- */

/* Values of all devices that Slurm could choose for the constraint's requests. nullopt: a device
 * has none. */
std::optional<std::vector<std::string>> values_on(const std::string &node,
	const ResourceClaim &claim, const DeviceConstraint &constraint,
	const std::vector<Wanted> &all, const DeviceSources &from)
{
	std::map<DeviceId, std::string> values;
	for (const Wanted &wanted : all) {
		if (wanted.claim != &claim || !concerns(constraint, wanted.request->name))
			continue;
		for (const ListedDevice &one :
			from.inventory.on_node(node, *wanted.fit.rule).devices) {
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

std::int64_t count_of(const ResourceClaim &claim, const DeviceConstraint &constraint)
{
	std::int64_t sum = 0;
	for (const DeviceRequest &request : claim.requests)
		sum += concerns(constraint, request.name) ? request.count : 0;
	return sum;
}

std::string constraint_trouble(const std::string &node, const ResourceClaim &claim,
	const DeviceConstraint &constraint, const std::vector<Wanted> &all,
	const DeviceSources &from)
{
	const auto values = values_on(node, claim, constraint, all, from);
	if (!values)
		return "a device has no attribute " + constraint.attribute +
			", which its resource claim constrains";
	const std::set<std::string> kinds(values->begin(), values->end());
	const bool is_met =
		constraint.is_distinct ? kinds.size() == values->size() : kinds.size() <= 1;
	if (is_met || count_of(claim, constraint) < 2)
		return {};
	return "its devices " +
		std::string(constraint.is_distinct ? "share values of " : "differ in ") +
		constraint.attribute +
		", which its resource claim constrains, and Slurm cannot be told which to choose";
}

std::string constraints_trouble(
	const std::string &node, const std::vector<Wanted> &all, const DeviceSources &from)
{
	std::set<const ResourceClaim *> claims;
	for (const Wanted &one : all)
		claims.insert(one.claim);
	for (const ResourceClaim *claim : claims) {
		for (const DeviceConstraint &constraint : claim->constraints) {
			std::string trouble =
				constraint_trouble(node, *claim, constraint, all, from);
			if (!trouble.empty())
				return trouble;
		}
	}
	return {};
}

/* ---- the whole ---- */

Result<std::vector<Wanted>> wanted_by(const std::vector<const ResourceClaim *> &claims,
	const DeviceSources &from, std::size_t &cost)
{
	std::vector<Wanted> out;
	for (const ResourceClaim *claim : claims) {
		const std::string what = "its resource claim";
		if (!claim->unsupported.empty())
			return Error{Errc::invalid,
				what + ": " + claim->unsupported +
					" is not supported: Slurm cannot be told to honour it"};
		std::int64_t left = k_devices_most;
		for (const DeviceRequest &request : claim->requests) {
			if (request.count > left)
				return Error{
					Errc::invalid, what + " asks for more than 32 devices"};
			left -= request.count;
			auto fit = fit_of(request, from, cost);
			if (!fit)
				return in_context(what, fit.error());
			out.push_back({claim, &request, std::move(*fit), std::nullopt});
		}
	}
	choose_types(out);
	return out;
}

void add(const Wanted &wanted, std::vector<Gres> &out)
{
	const Gres item{.name = wanted.fit.rule->gres,
		.type = wanted.type.value_or(""),
		.count = static_cast<std::uint64_t>(wanted.request->count),
		.indices = {}};
	const auto same = std::ranges::find_if(out,
		[&](const Gres &one) { return one.name == item.name && one.type == item.type; });
	if (same == out.end())
		out.push_back(item);
	else
		same->count += item.count;
}

/* Of a GRES with a type, or of any type: whether the node has as many devices as all requests
 * together. */
std::string shortage_on(const std::string &node, const std::vector<Wanted> &all, const Gres &asked)
{
	std::size_t has = 0;
	for (const Wanted &one : all) {
		const auto types = one.fit.nodes.find(node);
		if (one.fit.rule->gres != asked.name || one.type.value_or("") != asked.type ||
			types == one.fit.nodes.end())
			continue;
		has = 0;
		for (const auto &[type, count] : types->second)
			has += !one.type || type == *one.type ? count.all : 0;
	}
	if (has >= asked.count)
		return {};
	return "has " + std::to_string(has) + " of the " + std::to_string(asked.count) +
		" devices that its resource claims ask for";
}

std::string trouble_of(const std::string &node, const std::vector<Wanted> &all,
	const std::vector<Gres> &gres, const DeviceSources &from)
{
	std::string trouble;
	for (const Wanted &one : all)
		trouble = trouble.empty() ? trouble_on(one, node) : trouble;
	for (const Gres &one : gres)
		trouble = trouble.empty() ? shortage_on(node, all, one) : trouble;
	return trouble.empty() ? constraints_trouble(node, all, from) : trouble;
}

/* For claims without alternatives. */
Result<DeviceDemand> demand_in_one_way(const std::vector<const ResourceClaim *> &claims,
	const DeviceSources &from, std::size_t &cost)
{
	const auto all = wanted_by(claims, from, cost);
	if (!all)
		return all.error();
	DeviceDemand out;
	std::set<std::string> nodes;
	for (const Wanted &one : *all) {
		add(one, out.gres);
		for (const std::string &node : from.inventory.nodes_of(one.fit.rule->driver))
			nodes.insert(node);
	}
	for (const std::string &node : nodes) {
		std::string trouble = trouble_of(node, *all, out.gres, from);
		if (trouble.empty())
			out.fit.insert(node);
		else
			out.unfit.emplace(node, std::move(trouble));
	}
	return out;
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
			return found;
		if (!first)
			first = std::move(found);
	} while (cost <= DeviceSources::k_cost_most && ways.next());
	return *std::move(first);
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
