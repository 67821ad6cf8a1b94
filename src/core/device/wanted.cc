/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/device/wanted.h"

#include <algorithm>
#include <map>
#include <set>

namespace slurmkube::core
{

namespace
{

/* of one claim: AllocationResultsMaxSize of the API */
constexpr std::int64_t k_devices_most = 32;

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
	std::set<std::string> need_type; /* names of GRES */
	for (const Wanted &one : all) {
		if (!one.request->is_for_admin && !need_type.contains(one.fit.rule->gres) &&
			!can_be_any(one.fit))
			need_type.insert(one.fit.rule->gres);
	}
	for (Wanted &one : all) {
		if (!one.fit.rule->type_attribute.empty() && !one.request->is_for_admin &&
			need_type.contains(one.fit.rule->gres))
			one.type = commonest_type(one.fit);
	}
}

/* All devices are not equally many on all nodes, and a job has one number. So it is that of most
 * nodes. */
std::int64_t commonest_count(const Wanted &wanted)
{
	std::map<std::size_t, std::size_t> nodes; /* by number of devices */
	for (const auto &[node, types] : wanted.fit.nodes) {
		const RequestFit::Count count = count_on(wanted, node);
		const bool is_known = !wanted.fit.incomplete.contains(node) &&
			count.matching == matching_on(wanted, node);
		if (is_known &&
			(is_good(count) || (wanted.request->is_for_admin && count.matching > 0)))
			nodes[count.matching]++;
	}
	const auto most =
		std::ranges::max_element(nodes, {}, [](const auto &one) { return one.second; });
	return most == nodes.end() ? 1 : static_cast<std::int64_t>(most->first);
}

std::int64_t devices_of(const ResourceClaim &claim, const std::vector<Wanted> &all)
{
	std::int64_t sum = 0;
	for (const Wanted &one : all)
		sum += one.claim == &claim ? std::min(one.count, k_devices_most + 1) : 0;
	return sum;
}

} // namespace

RequestFit::Count count_on(const Wanted &wanted, const std::string &node)
{
	RequestFit::Count sum;
	const auto types = wanted.fit.nodes.find(node);
	if (types == wanted.fit.nodes.end())
		return sum;
	for (const auto &[type, count] : types->second) {
		if (wanted.type && type != *wanted.type)
			continue;
		sum.matching += count.matching;
		sum.all += count.all;
	}
	return sum;
}

std::size_t matching_on(const Wanted &wanted, const std::string &node)
{
	std::size_t sum = 0;
	if (const auto types = wanted.fit.nodes.find(node); types != wanted.fit.nodes.end()) {
		for (const auto &[type, count] : types->second)
			sum += count.matching;
	}
	return sum;
}

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
		for (const DeviceRequest &request : claim->requests) {
			auto fit = fit_of(request, from, cost);
			if (!fit)
				return in_context(what, fit.error());
			out.push_back(
				{claim, &request, std::move(*fit), std::nullopt, request.count});
		}
	}
	choose_types(out);
	for (Wanted &one : out)
		one.count = one.request->is_all ? commonest_count(one) : one.count;
	for (const ResourceClaim *claim : claims) {
		if (devices_of(*claim, out) > k_devices_most)
			return Error{
				Errc::invalid, "its resource claim asks for more than 32 devices"};
	}
	return out;
}

} // namespace slurmkube::core
