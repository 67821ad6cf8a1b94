/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/node.h"

#include "src/codec/amounts.h"
#include "src/codec/time.h"
#include "src/core/model/names.h"
#include "src/core/policy/slinky_node.h"

namespace slurmkube::codec
{

namespace
{

using core::KubeNode;

/* A UUID has 36. It becomes an annotation of pods. */
constexpr std::size_t k_boot_id_max = 64;

std::string first_internal_ip(json_object *addresses)
{
	for (std::size_t i = 0; i < array_size(addresses); i++) {
		if (get_string(array_at(addresses, i), "type") == "InternalIP")
			return get_string(array_at(addresses, i), "address");
	}
	return {};
}

void take_taints(KubeNode &node, json_object *taints)
{
	for (std::size_t i = 0; i < array_size(taints); i++) {
		json_object *taint = array_at(taints, i);
		node.taints.push_back({get_string(taint, "key"), get_string(taint, "value"),
			get_string(taint, "effect")});
	}
}

void take_ready(KubeNode &node, json_object *condition)
{
	node.ready = get_string(condition, "status") == "True";
	node.not_ready_reason = node.ready ? "" : get_string(condition, "reason", "Unknown");
	/* Only a duration depends on this time, so a time that cannot be read becomes "unknown" and
	 * the node is kept. */
	const auto since = parse_time(get_string(condition, "lastTransitionTime"));
	node.ready_since = since ? *since : 0;
}

/* The messages of others are left out: they change while the condition stays. */
void take_conditions(KubeNode &node, json_object *conditions)
{
	constexpr std::size_t k_conditions_max = 64;
	node.not_ready_reason = "NeverReported"; /* while no kubelet has written the condition */
	for (std::size_t i = 0; i < array_size(conditions); i++) {
		json_object *condition = array_at(conditions, i);
		const std::string type = get_string(condition, "type");
		if (type == "Ready")
			take_ready(node, condition);
		else if (type == names::k_condition_drain)
			node.slurm_drain = {get_string(condition, "status"),
				get_string(condition, "reason"), get_string(condition, "message")};
		else if (get_string(condition, "status") == "True" &&
			node.conditions.size() < k_conditions_max)
			node.conditions.push_back({type, get_string(condition, "reason")});
	}
}

} // namespace

Result<KubeNode> node_from_json(json_object *object)
{
	KubeNode node;
	json_object *metadata = get(object, "metadata"), *spec = get(object, "spec"),
		    *status = get(object, "status");
	node.name = get_string(metadata, "name");
	node.uid = get_string(metadata, "uid");
	if (node.name.empty() || node.uid.empty())
		return Error{Errc::invalid, "not a node: without name or uid"};
	node.deleting = get(metadata, "deletionTimestamp") != nullptr;
	node.unschedulable = get_bool(spec, "unschedulable");
	node.internal_ip = first_internal_ip(get(status, "addresses"));
	node.boot_id = get_string(get(status, "nodeInfo"), "bootID");
	if (node.boot_id.size() > k_boot_id_max)
		node.boot_id.clear();
	node.labels = get_strings(get(metadata, "labels"));
	node.annotations = get_strings(get(metadata, "annotations"), core::is_of_slinky);
	take_taints(node, get(spec, "taints"));
	take_conditions(node, get(status, "conditions"));
	const auto allocatable =
		amounts_from_json(get(status, "allocatable"), core::Rounding::down);
	if (!allocatable)
		return in_context("node " + node.name + ": allocatable", allocatable.error());
	node.allocatable = resources_of(*allocatable);
	return node;
}

} // namespace slurmkube::codec
