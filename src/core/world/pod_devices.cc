/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/pod_devices.h"

#include "src/core/device/cores.h"
#include "src/core/device/deal.h"
#include "src/core/reconcile/report_parts.h"
#include "src/core/world/extended_resources.h"
#include "src/core/world/hybrid_devices.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

bool is_in(const PodResourceClaim &one, ClaimPart part)
{
	return part == ClaimPart::all || one.is_own == (part == ClaimPart::own);
}

/* Why the claim cannot be used; empty: it can. */
std::string trouble_of(
	const State &state, const Pod &pod, const PodResourceClaim &one, const ResourceClaim *claim)
{
	/* the kubelet refuses it, too */
	if (claim && !claim->deleting && one.is_own && claim->owner_uid != pod.uid.text)
		return resource_claim_not_own(one.claim);
	return trouble_of_claim(
		state, {pod.name_space, one.claim}, state.component_key_of(pod.uid));
}

/* slurmkube-node knows no claims, and refuses containers with devices of other jobs. */
constexpr char k_no_admin_access[] =
	"is hybrid, where devices of other jobs cannot be used (adminAccess)";

bool has_admin_access(const State &state, const Pod &pod)
{
	const auto claims = resource_claims_of(state, pod);
	return claims && std::ranges::any_of(*claims, [](const ResourceClaim *claim) {
		return std::ranges::any_of(claim->requests, &DeviceRequest::is_for_admin);
	});
}

/* Also for what the pod shares with others of its gang. */
std::string hybrid_trouble_of(const State &state, const Pod &pod, const std::string &node)
{
	if (!is_hybrid(state.slurm_node(node)))
		return {};
	if (has_admin_access(state, pod))
		return k_no_admin_access;
	const auto demand = device_demand(state, pod, ClaimPart::all);
	return hybrid_device_trouble(state, node, demand ? *demand : nullptr);
}

} // namespace

bool is_used_by_others(const State &state, const ResourceClaim &claim, const PodUid &key)
{
	std::set<std::string> own;
	for (const std::string &uid : claim.reserved_for) {
		if (state.component_key_of({uid}) == key)
			own.insert(uid);
	}
	return is_of_others(claim, own);
}

std::string trouble_of_claim(const State &state, const ResourceClaimId &id, const PodUid &key)
{
	const ResourceClaim *claim = state.resource_claims.find(id);
	if (!claim)
		return resource_claim_missing(id.name);
	if (claim->deleting)
		return resource_claim_ends(id.name);
	if (is_used_by_others(state, *claim, key))
		return resource_claim_in_use(id.name);
	return {};
}

DeviceSources device_sources(const State &state)
{
	return {state.devices.inventory(), state.devices.classes(), state.settings.devices,
		state.resource_claims.selectors()};
}

bool are_devices_listed(const State &state)
{
	return state.resource_claims.is_listed() && state.devices.inventory().is_listed() &&
		state.devices.are_classes_listed() && state.devices.are_taint_rules_listed();
}

const std::string &unreadable_devices(const State &state)
{
	const std::string &claims = state.resource_claims.unreadable();
	return claims.empty() ? state.devices.unreadable() : claims;
}

const ResourceClaim *claim_of(const State &state, const Pod &pod, const PodResourceClaim &one)
{
	return one.is_extended ? state.resource_claims.extended_of(pod.uid)
			       : state.resource_claims.find({pod.name_space, one.claim});
}

Result<std::vector<const ResourceClaim *>> resource_claims_of(
	const State &state, const Pod &pod, ClaimPart part)
{
	std::vector<const ResourceClaim *> out;
	if (!are_devices_listed(state))
		return Error{Errc::again, resource_claims_unread(unreadable_devices(state))};
	for (const PodResourceClaim &one : pod.resource_claims) {
		if (one.is_needless || !is_in(one, part))
			continue;
		const ResourceClaim *claim = claim_of(state, pod, one);
		if (one.is_extended ? !claim : one.claim.empty())
			return Error{Errc::again, resource_claim_not_made(one.name)};
		std::string trouble = one.is_extended ? extended_claim_trouble(state, pod, *claim)
						      : trouble_of(state, pod, one, claim);
		if (!trouble.empty())
			return Error{Errc::again, std::move(trouble)};
		/* two of the pod's names may stand for one claim */
		if (std::ranges::find(out, claim) == out.end())
			out.push_back(claim);
	}
	return out;
}

Result<const DeviceDemand *> device_demand(const State &state, const Pod &pod, ClaimPart part)
{
	const auto claims = resource_claims_of(state, pod, part);
	if (!claims)
		return claims.error();
	const Result<DeviceDemand> &demand =
		state.resource_claims.demand_of(*claims, device_sources(state));
	return demand ? Result<const DeviceDemand *>(&*demand)
		      : Result<const DeviceDemand *>(pod.backed.empty()
					? demand.error()
					: in_context(backed_text(pod), demand.error()));
}

namespace
{

/* Why the node cannot serve claims for CPUs; empty: it can, or its record is not known. */
std::string cores_trouble(const State &state, const std::string &node)
{
	const SlurmNode *record = state.slurm_node(node);
	const DeviceRules &rules = state.settings.devices;
	const std::vector<DeviceList> &lists = state.devices.lists_on(node, rules);
	for (std::size_t i = 0; record && i < rules.size(); i++) {
		if (rules[i].is_cores)
			return cores_trouble_on(
				record->is_hybrid, record->cpus, lists[i].devices.size());
	}
	return {};
}

} // namespace

std::optional<Refusal> devices_refuse(
	const State &state, const PodUid &uid, const Pod &pod, const std::string &node)
{
	if (pod.resource_claims.empty())
		return std::nullopt;
	if (const std::string *why = state.resource_claims.refusal_of(uid, node, state.seen_us))
		return Refusal{Cause::device, *why};
	if (auto refusal = device_plugin_refuses(state, pod, node))
		return refusal;
	if (std::string why = hybrid_trouble_of(state, pod, node); !why.empty())
		return Refusal{Cause::device, std::move(why)};
	const bool is_of_gang =
		state.gangs.contains(uid) || state.gangs.contains(state.component_key_of(uid));
	const auto demand = device_demand(state, pod, is_of_gang ? ClaimPart::own : ClaimPart::all);
	std::string why = demand && !(*demand)->cpus.empty() && (*demand)->fit.contains(node)
		? cores_trouble(state, node)
		: "";
	if (!why.empty())
		return Refusal{Cause::device, std::move(why)};
	if (!demand || (*demand)->fit.contains(node) ||
		((*demand)->fit.empty() && (*demand)->unfit.empty()))
		return std::nullopt;
	const auto unfit = (*demand)->unfit.find(node);
	return Refusal{
		Cause::device, unfit == (*demand)->unfit.end() ? k_no_devices : unfit->second};
}

} // namespace slurmkube::core
