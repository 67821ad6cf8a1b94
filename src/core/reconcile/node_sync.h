/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_sync.h - managed Kubernetes nodes as Slurm's external nodes: what they are, and both
 * directions of their state.
 *
 * Pure. A state is undone only if its reason carries our prefix: what people set stays.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_NODE_SYNC_H
#define SLURMKUBE_CORE_RECONCILE_NODE_SYNC_H

#include "src/base/result.h"
#include "src/core/model/plugin.h"
#include "src/core/model/spec.h"
#include "src/core/policy/gres.h"
#include "src/core/policy/label_features.h"

#include <map>
#include <string_view>
#include <variant>

namespace slurmkube::core
{

struct NodePolicy {
	std::string label_key, label_value; /* value empty: any */
	/* create, update and delete nodes in Slurm where it can, and change their states */
	bool manage = true;
	/* of Slurm's external nodes may be gone from Kubernetes, or not Ready, at once; one always
	 * may */
	unsigned max_gone_percent = 10;
	std::int64_t not_ready_after_seconds = 40;
	std::uint32_t cpu_unit = k_whole_cpu; /* thousandths of a CPU that Slurm counts as one */
	std::uint32_t reserve_cpus = 0;       /* real ones */
	std::uint64_t reserve_memory_mib = 0;
	GresTable gres = default_gres_table();
	LabelFeatures features = {}; /* labels that are features in Slurm */
	/* keys whose NoSchedule and NoExecute do not keep Slurm's pods off */
	std::vector<std::string> tolerated_taints;
};

struct NodeFacts {
	const KubeNode *kube = nullptr; /* nullptr: not in Kubernetes, or not managed */
	/* without kube: the API server says that there is no such Node object, and it may be
	 * believed */
	bool is_gone = false;
	const SlurmNode *slurm = nullptr;    /* nullptr: not in Slurm, or no external node */
	const PluginHello *plugin = nullptr; /* never nullptr */
	bool holds_pods = false;
	bool may_resize = false; /* it has not been tried yet to make the node anew as it is now */
	/* true: by a pod of ours; such a taint is a matter of each pod. nullptr: none is */
	const std::map<Taint, bool> *tolerated = nullptr;
	/* the API server has just said so, and not of many nodes at once */
	bool is_surely_unready = false;
	std::int64_t not_ready_seconds = 0; /* how long kube has not been Ready, by our own clock */
};

struct CreateNode {
	NodeSpec spec;
};
struct DeleteNode {
	std::string name;
};
struct SetNodeState {
	std::string name;
	NodeStateChange change = NodeStateChange::drain;
	std::string reason; /* empty: the one it has stays */
};
using NodeAction = std::variant<CreateNode, DeleteNode, SetNodeState>;

/* Keys of taints that do not keep Slurm's pods off: the configured ones and those which say what
 * Ready and spec.unschedulable say already. */
std::vector<std::string> ignored_taints(const NodePolicy &policy);

bool is_managed(const KubeNode &node, const NodePolicy &policy);

/* Slurm can create and delete nodes while it runs, and we have tested it: 24.11 and later. */
bool has_dynamic_nodes(const PluginHello &plugin);

/* Whether Slurm's record says something else of its size. */
bool differs(const NodeSpec &spec, const SlurmNode &node);

NodeSpec node_spec(const KubeNode &node, const NodePolicy &policy, const PluginHello &plugin);

/*
 * The line that makes a node, as in slurm.conf. state: "CLOUD" or "EXTERNAL" for dynamic nodes,
 * "UNKNOWN" for an Include file. invalid: a value would be read as something else there (blanks,
 * quotes, brackets).
 */
Result<std::string> node_line(const NodeSpec &spec, const std::string &state);

/*
 * The reason that `scontrol reboot` leaves on a node which never registered again: an external node
 * has no slurmd that could. Only Slurm's own words: a reason that people gave is theirs.
 */
bool is_failed_reboot(std::string_view reason);

/* Of a node that Kubernetes does not show: whether to take it for gone would cost more than its
 * record. */
bool is_in_use(const SlurmNode &node);

/* Whether it would be set DOWN when it is lost: it is not yet, and nobody else has taken it out of
 * use. */
bool may_go_down(const SlurmNode &node);

std::optional<NodeAction> reconcile_node(const NodeFacts &facts, const NodePolicy &policy);

} // namespace slurmkube::core

#endif
