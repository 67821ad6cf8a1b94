/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/placement/claims.h"

#include "src/core/model/selectors.h"

#include <algorithm>
#include <string_view>

namespace slurmkube::core
{

namespace
{

constexpr char k_no_provisioner[] = "kubernetes.io/no-provisioner";
constexpr char k_one_pod[] = "ReadWriteOncePod";
/* Pairs of a label's old and present name. A volume's label may have several values, separated by
 * "__". */
constexpr const char *k_zone_labels[][2] = {
	{"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
	{"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"}};

std::string quoted(const ClaimId &id)
{
	return "volume claim " + id.name;
}

/* The terms of a volume match labels of nodes, but not their names. */
bool is_reachable(const std::optional<std::vector<NodeTerm>> &terms, const KubeNode &node)
{
	if (!terms)
		return true;
	KubeNode bare;
	bare.labels = node.labels;
	return std::ranges::any_of(
		*terms, [&](const NodeTerm &term) { return matches(term, bare); });
}

bool lists(std::string_view values, std::string_view value)
{
	while (true) {
		const std::size_t end = std::min(values.find("__"), values.size());
		if (values.substr(0, end) == value)
			return true;
		if (end == values.size())
			return false;
		values.remove_prefix(end + 2);
	}
}

/* A node without any zone or region label can reach all volumes, as in volumezone. */
bool is_in_zone(const Volume &volume, const KubeNode &node)
{
	const auto has = [&](const char *key) { return node.labels.contains(key); };
	if (std::ranges::none_of(
		    k_zone_labels, [&](const auto &pair) { return has(pair[0]) || has(pair[1]); }))
		return true;
	for (const auto &pair : k_zone_labels) {
		for (const char *key : {pair[0], pair[1]}) {
			const auto wanted = volume.labels.find(key);
			if (wanted == volume.labels.end())
				continue;
			const auto here = node.labels.find(has(key) ? key : pair[1]);
			if (here == node.labels.end() || !lists(wanted->second, here->second))
				return false;
		}
	}
	return true;
}

bool is_for(const Volume &volume, const Claim &claim)
{
	return volume.claim == claim.id &&
		(volume.claim_uid.empty() || volume.claim_uid == claim.uid);
}

bool suits(const Volume &volume, const Claim &claim)
{
	return volume.bytes >= claim.bytes && volume.volume_mode == claim.volume_mode &&
		!volume.deleting && (!volume.claim || is_for(volume, claim));
}

bool is_free_for(const Volume &volume, const Claim &claim)
{
	return volume.is_available && volume.storage_class == claim.storage_class &&
		(!claim.selector || matches(*claim.selector, volume.labels)) &&
		std::ranges::includes(volume.access_modes, claim.access_modes);
}

template <class M> void keep(M &known, const std::set<std::string> &live_uids)
{
	std::erase_if(
		known, [&](const auto &entry) { return !live_uids.contains(entry.second.uid); });
}

template <class M, class K, class V> bool take(M &known, const K &key, V value)
{
	const auto found = known.find(key);
	if (found != known.end() && found->second == value)
		return false;
	known[key] = std::move(value);
	return true;
}

} // namespace

const std::string &claim_name_of(const ClaimStep &step)
{
	return std::visit(
		[](const auto &one) -> const std::string & { return one.claim.name; }, step);
}

std::string step_text(const ClaimStep &step)
{
	struct {
		std::string operator()(const GiveVolume &s) const
		{
			return "given volume " + s.volume;
		}
		std::string operator()(const SelectNode &) const { return "told its node"; }
		std::string operator()(const CreateClaim &) const { return "created"; }
		std::string operator()(const MapRequests &) const { return "named in the pod"; }
		std::string operator()(const ProtectClaim &) const { return "given the finalizer"; }
		std::string operator()(const ReserveClaim &s) const
		{
			return "reserved for " + std::to_string(s.users.size()) + " more pods";
		}
		std::string operator()(const ReleaseDevices &) const { return "released"; }
		std::string operator()(const AllocateDevices &s) const
		{
			std::string out;
			for (const ChosenDevice &one : s.devices)
				out += (out.empty() ? "given " : ", ") + one.result.device.name;
			return out;
		}
	} to_text;
	return std::visit(to_text, step);
}

/* ---- observing ---- */

bool Claims::seen(Claim claim)
{
	const ClaimId id = claim.id;
	return take(claims_, id, std::move(claim));
}

bool Claims::seen(Volume volume)
{
	const std::string name = volume.name;
	return take(volumes_, name, std::move(volume));
}

bool Claims::seen(StorageClass storage_class)
{
	const std::string name = storage_class.name;
	return take(classes_, name, std::move(storage_class));
}

void Claims::claims_listed(const std::set<std::string> &live_uids)
{
	keep(claims_, live_uids);
	claims_listed_ = true;
}

void Claims::volumes_listed(const std::set<std::string> &live_uids)
{
	keep(volumes_, live_uids);
	volumes_listed_ = true;
}

void Claims::classes_listed(const std::set<std::string> &live_uids)
{
	keep(classes_, live_uids);
	classes_listed_ = true;
}

const Claim *Claims::find(const ClaimId &id) const
{
	const auto found = claims_.find(id);
	return found == claims_.end() ? nullptr : &found->second;
}

/* ---- the pod as a whole ---- */

bool Claims::waits_for_pod(const Claim &claim) const
{
	const auto found = classes_.find(claim.storage_class);
	return claim.volume.empty() && found != classes_.end() && found->second.waits_for_pod;
}

std::string Claims::trouble_of(const Pod &pod, const PodClaim &wanted) const
{
	const ClaimId id{pod.name_space, wanted.name};
	const Claim *claim = find(id);
	if (!claim)
		return quoted(id) +
			(wanted.is_own ? " of its ephemeral volume has not been made yet"
				       : " does not exist");
	if (claim->deleting)
		return quoted(id) + " is being deleted";
	if (claim->is_lost)
		return quoted(id) + " has lost its volume " + claim->volume;
	if (wanted.is_own && claim->owner_uid != pod.uid.text)
		return quoted(id) +
			" exists already and was not made for this pod's ephemeral volume: delete "
			"it, or name the volume otherwise";
	if (claim->is_bound || waits_for_pod(*claim))
		return "";
	return quoted(id) + " is not bound to a volume yet (storage class '" +
		claim->storage_class + "')";
}

std::string Claims::trouble_of(const Pod &pod) const
{
	for (const PodClaim &wanted : pod.constraints.claims) {
		if (std::string trouble = trouble_of(pod, wanted); !trouble.empty())
			return trouble;
	}
	return "";
}

std::vector<ClaimId> Claims::exclusive(const Pod &pod) const
{
	std::vector<ClaimId> out;
	for (const PodClaim &wanted : pod.constraints.claims) {
		const Claim *claim = find({pod.name_space, wanted.name});
		if (claim && claim->access_modes.contains(k_one_pod))
			out.push_back(claim->id);
	}
	return out;
}

/* Each claim once, from the smallest on, so that a small claim does not take the only volume that
 * is large enough for another. */
std::vector<const Claim *> Claims::claims_of(const Pod &pod, bool bound) const
{
	std::vector<const Claim *> out;
	for (const PodClaim &wanted : pod.constraints.claims) {
		const Claim *claim = find({pod.name_space, wanted.name});
		if (claim && claim->is_bound == bound && std::ranges::find(out, claim) == out.end())
			out.push_back(claim);
	}
	std::ranges::stable_sort(out, {}, [](const Claim *claim) { return claim->bytes; });
	return out;
}

/* ---- the pod on a node ---- */

std::optional<Refusal> Claims::bound_refuses(const Claim &claim, const KubeNode &node) const
{
	const auto volume = volumes_.find(claim.volume);
	if (volume == volumes_.end())
		return Refusal{Cause::volume,
			"cannot be judged: volume " + claim.volume + " of " + quoted(claim.id) +
				" does not exist"};
	if (!is_reachable(volume->second.node_terms, node) || !is_in_zone(volume->second, node))
		return Refusal{Cause::volume,
			"cannot reach volume " + claim.volume + " of " + quoted(claim.id)};
	return std::nullopt;
}

bool Claims::can_provision(const Claim &claim, const KubeNode &node) const
{
	const auto found = classes_.find(claim.storage_class);
	if (found == classes_.end() || found->second.provisioner.empty() ||
		found->second.provisioner == k_no_provisioner)
		return false;
	const auto &topologies = found->second.topologies;
	return topologies.empty() || std::ranges::any_of(topologies, [&](const NodeTerm &term) {
		return matches(term, node);
	});
}

/* The volume that is reserved for the claim, if there is one; otherwise the smallest free one.
 * nullptr: there is none that the node can reach. */
const Volume *Claims::match(
	const Claim &claim, const KubeNode &node, const std::set<std::string> &taken) const
{
	const Volume *best = nullptr;
	for (const auto &[name, volume] : volumes_) {
		if (taken.contains(name) || !suits(volume, claim))
			continue;
		const bool is_near = is_reachable(volume.node_terms, node);
		if (is_for(volume, claim))
			return is_near ? &volume : nullptr;
		if (is_near && is_free_for(volume, claim) && (!best || volume.bytes < best->bytes))
			best = &volume;
	}
	return best;
}

std::optional<Refusal> Claims::plan(const Pod &pod, const KubeNode &node, ClaimPlan &out) const
{
	std::set<std::string> taken;
	for (const Claim *claim : claims_of(pod, false)) {
		if (!claim->selected_node.empty() && claim->selected_node != node.name)
			return Refusal{Cause::volume,
				"is not the node for which " + quoted(claim->id) +
					" is being provisioned, " + claim->selected_node};
		const Volume *volume =
			claim->selected_node.empty() ? match(*claim, node, taken) : nullptr;
		const bool is_given =
			volume && is_for(*volume, *claim) && !volume->claim_uid.empty();
		if (is_given || (!claim->selected_node.empty() && can_provision(*claim, node))) {
			out.awaited.push_back(claim->id);
		} else if (volume) {
			out.steps.emplace_back(
				GiveVolume{claim->id, claim->uid, claim->resource_version,
					volume->name, volume->uid, volume->resource_version});
		} else if (claim->selected_node.empty() && can_provision(*claim, node)) {
			out.steps.emplace_back(SelectNode{
				claim->id, claim->uid, claim->resource_version, node.name});
		} else {
			return Refusal{Cause::volume,
				"has no volume for " + quoted(claim->id) +
					" and none can be made there"};
		}
		if (volume)
			taken.insert(volume->name);
	}
	return std::nullopt;
}

std::optional<Refusal> Claims::refuses(const Pod &pod, const KubeNode &node) const
{
	for (const Claim *claim : claims_of(pod, true)) {
		if (auto refusal = bound_refuses(*claim, node))
			return refusal;
	}
	ClaimPlan ignored;
	return plan(pod, node, ignored);
}

ClaimPlan Claims::plan(const Pod &pod, const KubeNode &node) const
{
	ClaimPlan out;
	(void)plan(pod, node, out); /* meaningless if the node is refused */
	return out;
}

} // namespace slurmkube::core
