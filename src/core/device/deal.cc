/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/device/deal.h"

#include "src/core/device/alternatives.h"
#include "src/core/device/cores.h"
#include "src/core/device/given.h"

#include <algorithm>
#include <set>

namespace slurmkube::core
{

namespace
{

constexpr std::size_t k_slots_most = 1024;

/* One device that a request needs. */
struct Slot {
	std::size_t claim = 0; /* number of the claim */
	const DeviceRequest *request = nullptr;
	std::vector<std::size_t> fit; /* numbers of the given devices that meet the request */
};

/* Assigns each slot a device of its own (Kuhn's algorithm), because a device that meets two
 * requests may be the only one for the second. */
class Matching
{
      public:
	Matching(const std::vector<Slot> &slots, std::size_t devices)
	    : slots_(slots), slot_of_(devices)
	{
	}
	/* The first slot that gets no device; nullopt: all do. */
	std::optional<std::size_t> make()
	{
		for (std::size_t slot = 0; slot < slots_.size(); slot++) {
			tried_.assign(slot_of_.size(), false);
			if (!place(slot))
				return slot;
		}
		return std::nullopt;
	}
	/* By device: its slot; nullopt: none. */
	[[nodiscard]] const std::vector<std::optional<std::size_t>> &slots() const
	{
		return slot_of_;
	}

      private:
	/* The depth is at most the number of slots, which limits of the API bound. */
	bool place(std::size_t slot) /* NOLINT(misc-no-recursion) */
	{
		const std::vector<std::size_t> &fit = slots_[slot].fit;
		/* so that the order of the claims is kept where it can be */
		const auto free = std::ranges::find_if(
			fit, [&](std::size_t device) { return !slot_of_[device]; });
		if (free != fit.end()) {
			slot_of_[*free] = slot;
			return true;
		}
		for (const std::size_t device : fit) {
			if (tried_[device])
				continue;
			tried_[device] = true;
			if (place(*slot_of_[device])) {
				slot_of_[device] = slot;
				return true;
			}
		}
		return false;
	}

	const std::vector<Slot> &slots_;
	std::vector<std::optional<std::size_t>> slot_of_;
	std::vector<bool> tried_;
};

/* Devices that meet few requests come first, so that those which meet many are left for pods of the
 * job that come later. */
void prefer_rare(std::vector<Slot> &slots, std::size_t devices)
{
	std::vector<std::size_t> uses(devices);
	const DeviceRequest *last = nullptr;
	for (const Slot &slot : slots) {
		for (const std::size_t device :
			slot.request == last ? std::vector<std::size_t>() : slot.fit)
			uses[device]++;
		last = slot.request;
	}
	for (Slot &slot : slots)
		std::ranges::stable_sort(
			slot.fit, {}, [&](std::size_t device) { return uses[device]; });
}

/* Errors: those of is_met_by(). */
Result<std::vector<Slot>> slots_of(const std::vector<const ResourceClaim *> &claims,
	const std::vector<DeviceId> &given, const std::string &node, const DeviceSources &from)
{
	std::vector<Slot> out;
	for (std::size_t claim = 0; claim < claims.size(); claim++) {
		for (const DeviceRequest &request : claims[claim]->requests) {
			if (request.is_for_admin)
				continue;
			Slot slot{claim, &request, {}};
			for (std::size_t i = 0; i < given.size(); i++) {
				const SliceDevice *device = from.inventory.find(given[i]);
				const auto is_met = device ? is_met_by(request, *device, from)
							   : Result<bool>(false);
				if (!is_met)
					return is_met.error();
				if (*is_met)
					slot.fit.push_back(i);
			}
			const auto all = request.is_all ? all_on(node, request, from)
							: std::vector<DeviceId>();
			if (!all)
				return all.error();
			const std::int64_t count = request.is_all
				? static_cast<std::int64_t>(all->size())
				: request.count;
			for (std::int64_t i = 0; i < count; i++) {
				if (out.size() >= k_slots_most)
					return Error{Errc::too_large, "more than 1,024 devices"};
				out.push_back(slot);
			}
		}
	}
	prefer_rare(out, given.size());
	return out;
}

Error nothing_left(const std::vector<const ResourceClaim *> &claims, const Slot &slot,
	const std::vector<DeviceId> &given)
{
	std::string what = "resource claim " + claims[slot.claim]->id.name + ", request " +
		slot.request->name + ": ";
	if (given.empty())
		return {Errc::not_found, what + "Slurm gave no device"};
	return {Errc::not_found,
		what + "of the devices that Slurm gave none is left that meets it"};
}

/* As kube-scheduler copies them: the configuration of each class once, for all requests that use
 * it; then that of the claim. Kubernetes' results have no other requests than those. */
std::vector<ChosenConfig> configs_of(const ResourceClaim &claim, const DeviceSources &from)
{
	std::vector<ChosenConfig> out;
	std::set<std::string> done;
	for (const DeviceRequest &request : claim.requests) {
		const auto found = from.classes.find(request.device_class);
		if (found == from.classes.end() || !done.insert(request.device_class).second)
			continue;
		std::vector<std::string> users;
		for (const DeviceRequest &other : claim.requests) {
			if (other.device_class == request.device_class)
				users.push_back(other.name);
		}
		for (const std::string &parameters : found->second.configs)
			out.push_back({true, users, parameters});
	}
	for (const ClaimConfig &config : claim.configs)
		out.push_back({false, config.requests, config.parameters});
	return out;
}

/* Devices that other claims may have at the same time, so that Slurm does not count them: the agent
 * chooses. In one claim a device is for one request only, as in kube-scheduler. */
Status choose_for_admin(const DeviceRequest &request, const std::string &node,
	const DeviceSources &from, std::set<DeviceId> &used, ClaimDeal &out)
{
	auto found =
		request.is_all ? all_on(node, request, from) : matching_on(node, request, from);
	if (!found)
		return found.error();
	const std::size_t count =
		request.is_all ? found->size() : static_cast<std::size_t>(request.count);
	std::erase_if(*found, [&](const DeviceId &one) { return used.contains(one); });
	if (found->size() < count)
		return Error{Errc::not_found,
			"resource claim " + out.claim->id.name + ", request " + request.name +
				": node " + node +
				" has too few devices that meet it and no other request of it"};
	found->resize(count);
	used.insert(found->begin(), found->end());
	for (DeviceId &one : *found)
		out.devices.push_back(
			{{request.name, std::move(one), true}, request.tolerations_text});
	return Ok{};
}

/* The given devices that the claim gets. */
std::set<DeviceId> devices_of(std::size_t claim, const std::vector<Slot> &slots,
	const Matching &matching, const std::vector<DeviceId> &given)
{
	std::set<DeviceId> out;
	for (std::size_t i = 0; i < given.size(); i++) {
		const auto slot = matching.slots()[i];
		if (slot && slots[*slot].claim == claim)
			out.insert(given[i]);
	}
	return out;
}

/* In the order of claims and requests; devices of one request by index. */
Status deal_out(const std::vector<Slot> &slots, const Matching &matching,
	const std::vector<DeviceId> &given, const std::string &node, const DeviceSources &from,
	std::vector<ClaimDeal> &out)
{
	for (std::size_t claim = 0; claim < out.size(); claim++) {
		std::set<DeviceId> used = devices_of(claim, slots, matching, given);
		for (const DeviceRequest &request : out[claim].claim->requests) {
			const Status chosen = request.is_for_admin
				? choose_for_admin(request, node, from, used, out[claim])
				: Status(Ok{});
			if (!chosen)
				return chosen;
			for (std::size_t i = 0; i < given.size(); i++) {
				const auto slot = matching.slots()[i];
				if (slot && slots[*slot].claim == claim &&
					slots[*slot].request == &request)
					out[claim].devices.push_back({{request.name, given[i]},
						request.tolerations_text});
			}
		}
	}
	return Ok{};
}

/* The devices may have changed since the node was judged. */
Status check_constraints(const ClaimDeal &deal, const DeviceSources &from)
{
	for (const DeviceConstraint &constraint : deal.claim->constraints) {
		std::set<std::string> values;
		std::size_t devices = 0;
		for (const ChosenDevice &one : deal.devices) {
			if (!concerns(constraint, one.result.request))
				continue;
			const SliceDevice *device = from.inventory.find(one.result.device);
			const auto value =
				device ? attribute_of(*device, constraint.attribute) : std::nullopt;
			if (!value)
				return Error{Errc::not_found,
					"device " + one.result.device.name + " has no attribute " +
						constraint.attribute};
			values.insert(*value);
			devices++;
		}
		if (constraint.is_distinct ? values.size() != devices : values.size() > 1)
			return Error{Errc::not_found,
				"the devices that Slurm gave do not meet the constraint on " +
					constraint.attribute + " of resource claim " +
					deal.claim->id.name};
	}
	return Ok{};
}

} // namespace

Result<std::vector<ClaimDeal>> deal_given(const std::vector<const ResourceClaim *> &claims,
	const std::vector<DeviceId> &given, const std::string &node, const DeviceSources &from)
{
	const auto slots = slots_of(claims, given, node, from);
	if (!slots)
		return slots.error();
	Matching matching(*slots, given.size());
	if (const auto open = matching.make())
		return nothing_left(claims, (*slots)[*open], given);
	std::vector<ClaimDeal> out;
	for (const ResourceClaim *claim : claims)
		out.push_back({claim, {}, configs_of(*claim, from)});
	if (const Status dealt = deal_out(*slots, matching, given, node, from, out); !dealt)
		return dealt.error();
	for (const ClaimDeal &one : out) {
		if (const Status met = check_constraints(one, from); !met)
			return met.error();
	}
	return out;
}

Result<std::vector<ClaimDeal>> deal(const std::vector<const ResourceClaim *> &claims,
	const NodeAllocation &slot, const std::string &extra, const DeviceSources &from)
{
	auto given = published_to(slot, extra, from.rules, from.inventory);
	if (!given)
		return given.error();
	const auto cores = cores_to(slot, extra, from.rules, from.inventory);
	if (cores)
		given->insert(given->end(), cores->begin(), cores->end());
	Alternatives ways(claims);
	if (!cores && ask_for_cores(ways.claims(), slot.node, from))
		return cores.error();
	auto first = deal_given(ways.claims(), *given, slot.node, from);
	auto out = first;
	while (!out && ways.next())
		out = deal_given(ways.claims(), *given, slot.node, from);
	/* while the driver is away, it is not known which requests are for CPUs */
	const bool may_be_cores = !cores && cores.error().code == Errc::again &&
		has_cores_list(extra, from.rules, slot.node);
	if (!out)
		return may_be_cores ? cores.error() : first.error();
	for (std::size_t i = 0; i < claims.size(); i++)
		(*out)[i].claim = claims[i];
	return out;
}

} // namespace slurmkube::core
