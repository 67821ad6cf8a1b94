/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/extended_resources.h"

#include "src/core/device/deal.h"
#include "src/core/device/extended_resource.h"
#include "src/core/reconcile/report_parts.h"
#include "src/core/world/facts_reader.h"

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
