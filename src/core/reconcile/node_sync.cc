/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/reconcile/node_sync.h"
#include "src/base/slurm_versions.h"
#include "src/core/model/plugin.h"

#include "src/core/model/names.h"
#include "src/core/placement/placement.h"
#include "src/core/policy/label_names.h"
#include "src/core/policy/slinky_node.h"
#include "src/core/reconcile/node_features.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* Taints that must not drain a node: three by which Kubernetes repeats what the Ready condition
 * and spec.unschedulable say, and the one that keeps other schedulers off managed nodes
 * (doc/admin.md). */
constexpr std::string_view k_own_taints[] = {"node.kubernetes.io/not-ready",
	"node.kubernetes.io/unreachable", "node.kubernetes.io/unschedulable",
	names::k_managed_label};

constexpr char k_why_gone[] = "deleted from Kubernetes";
constexpr char k_why_unmanaged[] = "not a managed node of Kubernetes";

enum class Wish { up, drain, down };
struct Wanted {
	Wish wish;
	std::string why;
};

bool keeps_all_off(
	const Taint &taint, const NodeFacts &facts, const std::vector<std::string> &ignored)
{
	if (taint.effect != "NoSchedule" && taint.effect != "NoExecute")
		return false;
	if (std::find(ignored.begin(), ignored.end(), taint.key) != ignored.end())
		return false;
	const bool is_known = facts.tolerated && facts.tolerated->contains(taint);
	return !is_known || !facts.tolerated->at(taint);
}

/* Only others have jobs there: a mistake in the node's features may have given it to this
 * cluster. */
bool is_of_others(const NodeFacts &facts)
{
	return is_busy(*facts.slurm) && !facts.has_job;
}

/* A node of this name may be of another cluster under the same slurmctld. */
bool may_be_of_another_cluster(const NodeFacts &facts)
{
	return !facts.plugin->kube_cluster.empty() && is_of_others(facts);
}

Wanted wanted_state(const NodeFacts &facts, const NodePolicy &policy)
{
	const KubeNode *node = facts.kube;
	if (!node->ready) {
		const std::string why = "NotReady" +
			(node->not_ready_reason.empty() ? "" : " " + node->not_ready_reason);
		/* A node that is DOWN stays DOWN until it is Ready. The API server is not asked
		 * about it, so is_surely_unready would be false. */
		const bool is_down = facts.slurm->base == NodeBase::down;
		const bool is_lost = is_down ||
			(facts.not_ready_seconds >= policy.not_ready_after_seconds &&
				facts.is_surely_unready && !may_be_of_another_cluster(facts));
		return {is_lost ? Wish::down : Wish::drain, why};
	}
	if (node->deleting)
		return {Wish::drain, "being deleted"};
	if (node->unschedulable) {
		const std::string reason = slinky_cordon_reason(node->annotations);
		return {Wish::drain, "cordoned" + (reason.empty() ? "" : ": " + reason)};
	}
	for (const Taint &taint : node->taints) {
		if (keeps_all_off(taint, facts, ignored_taints(policy)))
			return {Wish::drain, "taint " + taint.key + ":" + taint.effect};
	}
	for (const NodeCondition &found : node->conditions) {
		if (std::ranges::find(policy.drain_conditions, found.type) !=
			policy.drain_conditions.end())
			return {Wish::drain,
				"condition " + found.type +
					(found.reason.empty() ? "" : " " + found.reason)};
	}
	return {Wish::up, ""};
}

/* The state that keeps it out of service. FAIL without a reason keeps the reason of our drain. */
bool is_ours(const SlurmNode &node)
{
	return node.reason.starts_with(names::k_reason_prefix) && !node.failing;
}

/*
 * Only RESUME leads back from DOWN, and it undoes a drain as well. So a node that an administrator
 * has drained is not set DOWN, since it is out of service already. The exception is a node whose
 * jobs must end because it is lost; it keeps the administrator's reason, which says that only the
 * administrator may resume it.
 */
std::optional<NodeAction> down_change(const SlurmNode &node, const std::string &reason)
{
	if (node.base == NodeBase::down)
		return std::nullopt;
	if (!node.drain || is_ours(node))
		return SetNodeState{node.name, NodeStateChange::down, reason};
	return is_busy(node)
		? std::optional<NodeAction>(SetNodeState{node.name, NodeStateChange::down, ""})
		: std::nullopt;
}

/*
 * A lost label or a wrong selector must not end jobs. So the node is only drained, which is undone
 * when the node is back, and what runs there continues. Only a node that is certainly gone,
 * together with its pods, is set DOWN or deleted. A node on which only others have jobs is theirs:
 * a mistake in its features may have given it to this cluster.
 */
std::optional<NodeAction> absent_change(const NodeFacts &facts, bool may_delete)
{
	const SlurmNode &node = *facts.slurm;
	const bool is_out_of_service = node.drain || node.base == NodeBase::down;
	const bool is_over = facts.is_gone && !facts.holds_pods && !is_of_others(facts);
	if (is_over && may_delete && node.dynamic && is_out_of_service && !is_busy(node))
		return DeleteNode{node.name};
	if (is_over)
		return down_change(node, names::k_reason_prefix + std::string(k_why_gone));
	if (is_out_of_service)
		return std::nullopt;
	return SetNodeState{node.name, NodeStateChange::drain,
		names::k_reason_prefix + std::string(k_why_unmanaged)};
}

std::optional<NodeAction> state_change(const SlurmNode &node, const Wanted &wanted)
{
	const std::string reason = names::k_reason_prefix + wanted.why;
	const bool is_down = node.base == NodeBase::down;
	if (wanted.wish == Wish::down)
		return down_change(node, reason);
	if (is_down)
		return is_ours(node) || is_failed_reboot(node.reason)
			? std::optional<NodeAction>(
				  SetNodeState{node.name, NodeStateChange::up, ""})
			: std::nullopt;
	if (wanted.wish == Wish::drain && !node.drain)
		return SetNodeState{node.name, NodeStateChange::drain, reason};
	if (wanted.wish == Wish::up && node.drain && is_ours(node))
		return SetNodeState{node.name, NodeStateChange::undrain, ""};
	return std::nullopt;
}

bool undoes(const std::optional<NodeAction> &action)
{
	const auto *set = action ? std::get_if<SetNodeState>(&*action) : nullptr;
	return set &&
		(set->change == NodeStateChange::up || set->change == NodeStateChange::undrain);
}

} // namespace

std::string hybrid_trouble(const KubeNode *node, const SlurmNode &record, const PluginHello &plugin,
	const NodePolicy &policy)
{
	if (!plugin.node_feature.empty() && has_feature(record.features, plugin.node_feature))
		return "is hybrid, and has the feature " + plugin.node_feature +
			" of external nodes in Slurm";
	if (!node || !is_managed(*node, policy))
		return "is not a managed node of Kubernetes";
	if (policy.cpu_unit != k_whole_cpu)
		return "is hybrid, and slurmkubed counts CPUs in parts (nodes.cpu_unit)";
	if (!node->ready)
		return "is not Ready in Kubernetes";
	if (node->deleting)
		return "is being deleted in Kubernetes";
	for (const NodeCondition &found : node->conditions) {
		if (std::ranges::find(policy.drain_conditions, found.type) !=
			policy.drain_conditions.end())
			return "has the condition " + found.type;
	}
	return {};
}

std::vector<std::string> ignored_taints(const NodePolicy &policy)
{
	std::vector<std::string> keys = policy.tolerated_taints;
	keys.insert(keys.end(), std::begin(k_own_taints), std::end(k_own_taints));
	return keys;
}

bool is_managed(const KubeNode &node, const NodePolicy &policy)
{
	const auto label = node.labels.find(policy.label_key);
	return label != node.labels.end() && has_name_in_slurm(node, policy.names) &&
		(policy.label_value.empty() || label->second == policy.label_value);
}

bool has_dynamic_nodes(const PluginHello &plugin)
{
	return KUBE_SLURM_HAS_DYNAMIC_NODES(plugin.slurm_version_number);
}

bool is_failed_reboot(std::string_view reason)
{
	constexpr std::string_view k_words[] = {"Reboot ASAP", "reboot requested", "reboot issued",
		"reboot timed out"},
				   k_between = " : ";
	std::string_view last;
	while (!reason.empty()) {
		const std::size_t end = std::min(reason.find(k_between), reason.size());
		last = reason.substr(0, end);
		if (std::ranges::find(k_words, last) == std::end(k_words))
			return false;
		reason.remove_prefix(std::min(end + k_between.size(), reason.size()));
	}
	return last == k_words[3];
}

bool is_in_use(const SlurmNode &node)
{
	if (node.base == NodeBase::down)
		return false;
	return !node.drain || is_busy(node) ||
		node.reason == names::k_reason_prefix + std::string(k_why_unmanaged);
}

bool may_go_down(const SlurmNode &node)
{
	return down_change(node, "").has_value();
}

namespace
{

/*
 * The list of devices belongs to the GRES that the record has, so it is written when the two agree.
 * A list that is there may be in use: it is replaced while the node is empty.
 */
std::optional<NodeAction> extra_change(
	const NodeFacts &facts, const NodeDevices &devices, const NodeSpec &wanted)
{
	const SlurmNode &slurm = *facts.slurm;
	const bool is_empty = !is_busy(slurm) && !slurm.completing && !facts.holds_pods;
	if (!devices.extra || wanted.gres != without_places(slurm.gres) ||
		(devices.replaces_list && !is_empty))
		return std::nullopt;
	return SetNodeExtra{slurm.name, *devices.extra};
}

} // namespace

std::optional<NodeAction> reconcile_node(const NodeFacts &facts, const NodePolicy &policy)
{
	if (!policy.manage || (facts.slurm && facts.slurm->is_hybrid))
		return std::nullopt;
	const bool creates = has_dynamic_nodes(*facts.plugin);
	const NodeDevices devices = facts.devices ? *facts.devices : NodeDevices{};
	if (!facts.slurm) {
		const bool wanted = facts.kube && creates && facts.kube->ready &&
			!facts.kube->deleting && devices.trouble.empty() &&
			policy.names.has_own_name(facts.kube->name); /* else it is hybrid */
		return wanted ? std::optional<NodeAction>(CreateNode{
					node_spec(*facts.kube, policy, *facts.plugin, devices)})
			      : std::nullopt;
	}
	const SlurmNode &slurm = *facts.slurm;
	const bool is_of_another = is_of_another_cluster(slurm, *facts.plugin, policy.cluster);
	if (is_of_another && (!facts.kube || !facts.plugin->kube_cluster.empty()))
		return std::nullopt;
	if (!facts.kube)
		return absent_change(facts, creates);
	/* Slurm cannot change the size of a node. So a node that nothing uses is deleted, and
	 * created again with its present size. */
	const bool is_free = slurm.base == NodeBase::idle && !is_busy(slurm) && !facts.holds_pods &&
		(!slurm.drain || is_ours(slurm));
	const NodeSpec wanted = node_spec(*facts.kube, policy, *facts.plugin, devices);
	const bool is_other = differs(wanted, slurm) ||
		(has_own_features(*facts.kube, policy.features) &&
			wanted.features != slurm.features);
	if (facts.kube->ready && creates && slurm.dynamic && facts.may_resize && is_free &&
		is_other && devices.trouble.empty() && !is_of_another)
		return DeleteNode{slurm.name};
	/* Where kube.conf names no clusters, a feature of the site may look like that of one, or
	 * kube.conf is an old one. The node is this cluster's while it has jobs of this cluster. */
	const bool is_foreign = is_of_another && !facts.has_job;
	if (auto change = state_change(slurm, wanted_state(facts, policy)))
		return is_foreign && !undoes(change) ? std::nullopt : change;
	return is_of_another ? std::nullopt : extra_change(facts, devices, wanted);
}

} // namespace slurmkube::core
