/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node.h - a node as the Kubernetes API shows it, and as slurmctld reports it.
 *
 * Observed facts only, as plain values: no behaviour, and no pointers into other data. Times are
 * seconds since the epoch (0: unknown); names of sizes contain the unit.
 */
#ifndef SLURMKUBE_CORE_MODEL_NODE_H
#define SLURMKUBE_CORE_MODEL_NODE_H

#include "src/core/model/pod.h"

#include <compare>

namespace slurmkube::core
{

struct Taint {
	std::string key, value, effect;
	auto operator<=>(const Taint &) const = default;
};

/* Of a node, with status True. */
struct NodeCondition {
	std::string type, reason;
	auto operator<=>(const NodeCondition &) const = default;
};

/* The node's condition SlurmDrain, which the agent itself writes (reconcile/drain_report.h). It
 * drains no node. */
struct DrainCondition {
	std::string status, reason, message;
	auto operator<=>(const DrainCondition &) const = default;
};

/* Problems that node-problem-detector reports as conditions with its own defaults, and that only a
 * reboot or a repair ends. */
inline std::vector<std::string> default_drain_conditions()
{
	return {"KernelDeadlock", "ReadonlyFilesystem"};
}

/* What a GET of a Node object has found. */
enum class NodeLookup { none, not_ready, ready };

struct KubeNode {
	std::string name, uid;
	std::string internal_ip; /* first address of type InternalIP; may be empty */
	std::string boot_id;     /* the kernel's; empty: not known */
	bool unschedulable = false;
	bool ready = false;           /* condition Ready is True */
	std::int64_t ready_since = 0; /* lastTransitionTime of that condition */
	std::string not_ready_reason;
	bool deleting = false;
	Resources allocatable;
	std::map<std::string, std::string> labels;
	std::map<std::string, std::string> annotations; /* those of slinky_node.h only */
	std::vector<Taint> taints;
	std::vector<NodeCondition> conditions; /* without Ready and SlurmDrain */
	std::optional<DrainCondition> slurm_drain;
	bool operator==(const KubeNode &) const = default;
};

enum class NodeBase { unknown, down, idle, allocated, mixed, error, future };

struct SlurmNode {
	std::string name;
	NodeBase base = NodeBase::unknown;
	bool drain = false;   /* or FAIL */
	bool failing = false; /* an administrator has set FAIL; UNDRAIN does not end it */
	bool not_responding = false;
	bool completing = false;
	std::string reason;
	std::string features; /* comma separated, as configured */
	std::string address;
	bool dynamic = false;
	/* The node has a slurmd, which native jobs use. Its record is the site's: we never create,
	 * delete, drain, resume or resize it. */
	bool is_hybrid = false;
	std::uint32_t cpus = 0;
	std::uint64_t memory_mib = 0;
	std::string gres; /* as configured */
	/* nullopt: the plugin does not say it, because it is older than the agent, or because the
	 * text is too long */
	std::optional<std::string> extra = {};
	bool operator==(const SlurmNode &) const = default;
};

inline bool is_hybrid(const SlurmNode *node)
{
	return node && node->is_hybrid;
}

inline bool is_busy(const SlurmNode &node)
{
	return node.base == NodeBase::allocated || node.base == NodeBase::mixed || node.completing;
}

} // namespace slurmkube::core

#endif
