/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_sync.h - managed Kubernetes nodes as Slurm's external nodes: what their records say, and how
 * the state of a node follows Kubernetes in both directions.
 *
 * Pure. A state is undone only if its reason carries our prefix: states that an administrator set
 * stay.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_NODE_SYNC_H
#define SLURMKUBE_CORE_RECONCILE_NODE_SYNC_H

#include "src/base/result.h"
#include "src/core/model/node_names.h"
#include "src/core/model/plugin.h"
#include "src/core/model/spec.h"
#include "src/core/policy/gres.h"
#include "src/core/policy/label_features.h"
#include "src/core/reconcile/node_devices.h"

#include <map>
#include <string_view>
#include <variant>

namespace slurmkube::core
{

struct NodePolicy {
	std::string label_key, label_value; /* value empty: any value */
	/* Create and delete nodes in Slurm where Slurm can do that, and change their states. */
	bool manage = true;
	/* Percentage of Slurm's external nodes that may be gone from Kubernetes, or not Ready, at
	 * once and still be believed; one node always is. */
	unsigned max_gone_percent = 10;
	std::int64_t not_ready_after_seconds = 40;
	std::uint32_t cpu_unit = k_whole_cpu; /* thousandths of a CPU that Slurm counts as one */
	std::uint32_t reserve_cpus = 0;       /* whole CPUs of the node, not units */
	std::uint64_t reserve_memory_mib = 0;
	GresTable gres = default_gres_table();
	LabelFeatures features = {}; /* node labels that become features in Slurm */
	/* Keys of taints whose effects NoSchedule and NoExecute do not drain a node. */
	std::vector<std::string> tolerated_taints;
	NodeNames names = {};     /* in Slurm */
	std::string cluster = {}; /* name of this Kubernetes cluster */
	/* Conditions that drain a node while their status is True. */
	std::vector<std::string> drain_conditions = default_drain_conditions();
	/* Write the condition SlurmDrain on nodes. */
	bool report_drains = false;
};

struct NodeFacts {
	const KubeNode *kube = nullptr; /* nullptr: not in Kubernetes, or not managed */
	/* kube is nullptr, the API server has said that the Node object does not exist, and not so
	 * many nodes are gone that this is doubtful. */
	bool is_gone = false;
	const SlurmNode *slurm = nullptr;    /* nullptr: not an external node in Slurm */
	const PluginHello *plugin = nullptr; /* never nullptr */
	bool holds_pods = false;
	/* a job of ours is allocated there, or is completing */
	bool has_job = true;
	/* no attempt has been made to re-create the node with its present size */
	bool may_resize = false;
	/* Whether a pod of ours tolerates each taint. Such a taint does not drain the node: it is
	 * judged for each pod. nullptr: no taint is tolerated. */
	const std::map<Taint, bool> *tolerated = nullptr;
	/* The API server has confirmed it recently, and not so many nodes are affected that this is
	 * doubtful. */
	bool is_surely_unready = false;
	/* for how long kube has not been Ready, by our monotonic clock */
	std::int64_t not_ready_seconds = 0;
	const NodeDevices *devices = nullptr; /* nullptr: there are no rules for devices */
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
	std::string reason; /* empty: the node keeps its reason */
};
/* The list of devices in the record. */
struct SetNodeExtra {
	std::string name, extra;
};
/* In Kubernetes. */
struct ReportDrain {
	std::string name, uid;
	DrainCondition condition;
	bool changes_status = false;
};
using NodeAction = std::variant<CreateNode, DeleteNode, SetNodeState, ReportDrain, SetNodeExtra>;

/* Keys of taints that do not drain a node: the configured ones, and those that repeat what the
 * Ready condition and spec.unschedulable say. */
std::vector<std::string> ignored_taints(const NodePolicy &policy);

/* The node has the label that NodePolicy names, with that value if one is given, and a name in
 * Slurm. */
bool is_managed(const KubeNode &node, const NodePolicy &policy);

/* Whether this Slurm can create and delete nodes at run time: 24.11 and later, as far as we have
 * tested. */
bool has_dynamic_nodes(const PluginHello &plugin);

/* Whether Slurm's record has other CPUs, memory or GRES. */
bool differs(const NodeSpec &spec, const SlurmNode &node);

/* The record that the node should have in Slurm. node.allocatable must already be reduced by the
 * requests of other schedulers' pods. */
NodeSpec node_spec(const KubeNode &node, const NodePolicy &policy, const PluginHello &plugin,
	const NodeDevices &devices = {});

/*
 * The line that defines a node, in the syntax of slurm.conf. state: "CLOUD" or "EXTERNAL" for
 * dynamic nodes, "UNKNOWN" for an Include file. Errc::invalid: Slurm would misread a value, for
 * example one with blanks, quotes or brackets.
 */
Result<std::string> node_line(const NodeSpec &spec, const std::string &state);

/*
 * Whether this is the reason that `scontrol reboot` leaves on a node that did not register again:
 * an external node has no slurmd that could register. Only Slurm's own words count: a reason that
 * an administrator has written stays.
 */
bool is_failed_reboot(std::string_view reason);

/* For a node that Kubernetes does not show: whether declaring it gone would cost more than its
 * record in Slurm. */
bool is_in_use(const SlurmNode &node);

/* Whether the node would be set DOWN if it were lost: it is not DOWN yet, and nobody else has taken
 * it out of service. */
bool may_go_down(const SlurmNode &node);

/*
 * Why a hybrid node takes no pods, as a predicate; empty: it does. An external node would be
 * drained; a hybrid one goes on with native jobs, so jobs of pods exclude it. Cordon and taints are
 * judged for each pod. node: nullptr: not in Kubernetes.
 */
std::string hybrid_trouble(const KubeNode *node, const SlurmNode &record, const PluginHello &plugin,
	const NodePolicy &policy);

/* The next step that brings the node's record and state in Slurm in line with Kubernetes; nullopt:
 * none is needed, or policy.manage is false. */
std::optional<NodeAction> reconcile_node(const NodeFacts &facts, const NodePolicy &policy);

} // namespace slurmkube::core

#endif
