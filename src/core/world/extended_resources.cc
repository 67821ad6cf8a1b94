/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/extended_resources.h"

#include "src/core/device/deal.h"
#include "src/core/device/extended_resource.h"
#include "src/core/reconcile/report_parts.h"
#include "src/core/world/facts_reader.h"
#include "src/core/world/pod_devices.h"

#include <algorithm>
#include <memory>

namespace slurmkube::core
{

void note_backed_by_classes(const State &state, Pod &pod)
{
	if (pod.container_devices.empty())
		return;
	const DeviceStore &devices = state.devices;
	if (state.settings.policy.has_device_rules)
		note_backed(pod, devices.are_classes_listed() ? &devices.classes() : nullptr);
	else
		forget_backed(pod);
}

std::set<PodUid> renew_backed(State &state)
{
	std::set<PodUid> out;
	for (auto &[uid, entry] : state.pods) {
		if (!entry.pod || entry.pod->container_devices.empty())
			continue;
		const auto before = entry.pod->backed;
		note_backed_by_classes(state, *entry.pod);
		if (entry.pod->backed == before)
			continue;
		state.resource_claims.note(*entry.pod);
		out.insert(uid);
	}
	return out;
}

namespace
{

/* nullptr: devices back none of its resources. */
std::shared_ptr<const Pod> backed_template(
	const State &state, const PodUid &key, const GangId &id, const Role &role)
{
	if (!role.pod_template || role.pod_template->container_devices.empty())
		return nullptr;
	auto pod = std::make_shared<Pod>(*role.pod_template);
	pod->uid = {key.text + "/" + role.name};
	pod->name_space = id.name_space;
	pod->name = id.name + "-" + role.name;
	note_backed_by_classes(state, *pod);
	return pod->backed.empty() ? nullptr : pod;
}

bool has_pods(const Gang &gang, const std::string &role)
{
	return std::ranges::any_of(gang.members, [&](const auto &member) {
		return member.second && *member.second < gang.ranks.size() &&
			gang.ranks[*member.second].role == role;
	});
}

} // namespace

void ResourceClaims::note_template(const Pod &pod)
{
	wanted_[pod.uid] = extended_claim_of(pod);
	is_wanted_ = is_wanted_ || !is_backing_unknown(pod);
}

void forget_backed_roles(State &state, Gang &gang)
{
	for (const auto &[role, pod] : gang.backed_roles)
		state.resource_claims.forget(pod->uid);
	gang.backed_roles.clear();
}

void note_backed_roles(State &state, const PodUid &key, Gang &gang)
{
	forget_backed_roles(state, gang);
	if (gang.stand_in && !gang.stand_in->container_devices.empty()) {
		auto pod = std::make_shared<Pod>(*gang.stand_in);
		note_backed_by_classes(state, *pod);
		gang.stand_in = std::move(pod);
	}
	for (const Role &role : gang.roles) {
		auto pod = role.pods > 0 ? backed_template(state, key, gang.id, role) : nullptr;
		if (!pod)
			continue;
		state.resource_claims.note_template(*pod);
		gang.backed_roles[role.name] = std::move(pod);
	}
}

const Pod &template_of(const Gang &gang, const Role &role)
{
	const auto found = gang.backed_roles.find(role.name);
	return found == gang.backed_roles.end() ? *role.pod_template : *found->second;
}

std::string trouble_of_backed_roles(const State &state, const Gang &gang)
{
	for (const auto &[role, pod] : gang.backed_roles) {
		/* claims of templates are not made before the pod */
		const bool has_others = std::ranges::any_of(pod->resource_claims,
			[](const PodResourceClaim &one) { return !one.is_extended; });
		if (has_others || has_pods(gang, role))
			continue;
		if (const auto demand = device_demand(state, *pod, ClaimPart::own); !demand)
			return "role " + role + ": " + demand.error().what;
	}
	return {};
}

std::string extended_claim_trouble(const State &state, const Pod &pod, const ResourceClaim &claim)
{
	const ExtendedClaim *wanted = state.resource_claims.wanted_of(pod.uid);
	if (claim.uid.empty())
		return state.resource_claims.find(claim.id) ? extended_claim_name_taken(claim.id)
							    : std::string();
	if (claim.deleting)
		return resource_claim_ends(claim.id.name);
	/* what a pod that runs has is what its claim says */
	if (pod.node_name.empty() && wanted && !asks_the_same(claim, wanted->claim))
		return extended_claim_differs(claim.id, backed_text(pod));
	return is_of_others(claim, {pod.uid.text}) ? resource_claim_in_use(claim.id.name)
						   : std::string();
}

std::optional<Refusal> device_plugin_refuses(
	const State &state, const Pod &pod, const std::string &node)
{
	const auto found = state.kube_nodes.find(node);
	if (found == state.kube_nodes.end())
		return std::nullopt;
	const auto &offered = found->second.allocatable.extended;
	for (const auto &[resource, one] : pod.backed) {
		if (one.device_class.empty())
			continue; /* it may well be for the plugin */
		const auto there = offered.find(resource);
		if (there != offered.end() && there->second > 0)
			return Refusal{Cause::device, offered_by_plugin(resource)};
	}
	return std::nullopt;
}

void forget_creations(State &state, const std::set<PodUid> &pods)
{
	for (const PodUid &uid : pods) {
		const auto found = state.pods.find(uid);
		if (found == state.pods.end() || found->second.busy.claim)
			continue;
		std::optional<ClaimStep> &step = found->second.submitted_step;
		if (step && std::holds_alternative<CreateClaim>(*step))
			step.reset();
	}
}

/* All claims are written. The kubelet goes by the pod's status, so that comes before the binding,
 * as in kube-scheduler. */
void FactsReader::map_requests(const PodUid &uid, const Pod &pod, RankFacts &rank) const
{
	const ExtendedClaim *wanted = state_.resource_claims.wanted_of(uid);
	const ResourceClaim *claim = state_.resource_claims.extended_of(uid);
	PlaceFacts &n = rank.node;
	if (!wanted || !claim || n.claim_step || !n.device_wait.empty() || rank.stale_claim)
		return;
	if (pod.extended_claim ==
		ExtendedClaimStatus{.claim = claim->id.name, .mappings = wanted->mappings})
		return;
	const ClaimStep step = MapRequests{claim->id, pod.name, uid.text, wanted->mappings};
	const PodEntry &entry = state_.pods.at(uid);
	if (entry.submitted_step != step)
		n.claim_step = step;
	else
		n.device_wait = extended_claim_being_mapped(claim->id.name);
}

} // namespace slurmkube::core
