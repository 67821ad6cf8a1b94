/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scheduling_constraints.h - a pod's constraints on where it may run, as plain values.
 *
 * codec/scheduling_constraints.h reads them and placement.h applies them. Constraints that a
 * scheduler must honour and slurm-kube cannot are in Pod::unsupported_fields instead. Code that
 * keeps or compares only some members (core/placement/foreign.cc, core/world/node_filter.cc) names
 * all of them, so that a new member does not compile before it is considered there. Meanings are
 * those of the API (core/v1 NodeSelectorTerm, Toleration, ContainerPort, PodAffinityTerm).
 */
#ifndef SLURMKUBE_CORE_MODEL_SCHEDULING_CONSTRAINTS_H
#define SLURMKUBE_CORE_MODEL_SCHEDULING_CONSTRAINTS_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slurmkube::core
{

enum class SelectorOp { in, not_in, exists, does_not_exist, gt, lt, unknown };

struct Requirement {
	std::string key;
	SelectorOp op = SelectorOp::unknown;
	std::vector<std::string> values;
	bool operator==(const Requirement &) const = default;
};

/* All requirements must match. A term without requirements matches no node. */
struct NodeTerm {
	std::vector<Requirement> labels;
	std::vector<Requirement> fields; /* of metadata.name */
	bool operator==(const NodeTerm &) const = default;
};

struct Preference {
	int weight = 0; /* 1 to 100 */
	NodeTerm term;
	bool operator==(const Preference &) const = default;
};

enum class TolerationOp { equal, exists, unknown };

struct Toleration {
	std::string key; /* empty: every key */
	TolerationOp op = TolerationOp::equal;
	std::string value;
	std::string effect; /* empty: every effect */
	auto operator<=>(const Toleration &) const = default;
};

struct HostPort {
	std::string ip = "0.0.0.0"; /* stands for every address */
	std::string protocol = "TCP";
	int port = 0;
	bool operator==(const HostPort &) const = default;
};

/* A label selector for pods. An empty one matches every pod. */
struct PodSelector {
	std::map<std::string, std::string> labels;
	std::vector<Requirement> requirements;
	bool operator==(const PodSelector &) const = default;
};

/* A required term of pod affinity or anti-affinity. A selector that cannot be read counts as
 * matching every pod, because the term may belong to a pod that another scheduler has placed. */
struct PodTerm {
	std::string topology_key = "kubernetes.io/hostname";
	std::optional<PodSelector> selector; /* nullopt: matches no pod */
	/* empty: the pod's own namespace, unless all_namespaces or namespace_selector is set */
	std::vector<std::string> namespaces;
	bool all_namespaces = false;
	/* selects namespaces by their labels; an empty selector is stored as all_namespaces */
	std::optional<PodSelector> namespace_selector = {};
	/* the namespaces that namespace_selector selects at present; written by World */
	std::vector<std::string> selected_namespaces = {};
	bool operator==(const PodTerm &) const = default;
};

/* A topologySpreadConstraint with DoNotSchedule. */
struct Spread {
	std::string topology_key;
	std::int32_t max_skew = 1, min_domains = 1;
	/* nullopt: counts no pod; includes matchLabelKeys */
	std::optional<PodSelector> selector = {};
	bool honors_affinity = true, honors_taints = false; /* which nodes count as domains */
	bool operator==(const Spread &) const = default;
};

/* A PersistentVolumeClaim that the pod mounts. */
struct PodClaim {
	std::string name;
	bool is_own = false; /* of an ephemeral volume: made for this pod, and controlled by it */
	bool operator==(const PodClaim &) const = default;
};

struct SchedulingConstraints {
	std::map<std::string, std::string> node_selector;
	/* one term must match; nullopt: no constraint */
	std::optional<std::vector<NodeTerm>> node_terms;
	std::vector<Preference> preferences;
	std::vector<Toleration> tolerations;
	std::vector<HostPort> host_ports;
	std::vector<PodTerm> affinity, anti_affinity;
	std::vector<Spread> spreads;
	std::vector<PodClaim> claims;
	bool operator==(const SchedulingConstraints &) const = default;
};

} // namespace slurmkube::core

#endif
