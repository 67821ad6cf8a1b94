/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scheduling_constraints.h - what a pod's spec constraints of the place where it runs, as plain
 * values.
 *
 * Read by codec/scheduling_constraints.h, judged by placement.h. Only what a scheduler has to
 * honour and we can: the rest stays in Pod::unsupported_fields. Who keeps or compares only some of
 * them names all (core/placement/foreign.cc, core/world/node_filter.cc): a new one does not compile
 * before it is judged there. Meanings are those of the API (core/v1 NodeSelectorTerm, Toleration,
 * ContainerPort, PodAffinityTerm).
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

/* All of it must hold. Without any requirement it matches no node. */
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
	std::string ip = "0.0.0.0"; /* which stands for every address */
	std::string protocol = "TCP";
	int port = 0;
	bool operator==(const HostPort &) const = default;
};

/* Of pods. The empty one matches every pod. */
struct PodSelector {
	std::map<std::string, std::string> labels;
	std::vector<Requirement> requirements;
	bool operator==(const PodSelector &) const = default;
};

/* A required term of pod affinity or anti-affinity. What cannot be read of the selectors of pods
 * that others placed is taken to match. */
struct PodTerm {
	std::string topology_key = "kubernetes.io/hostname";
	std::optional<PodSelector> selector; /* none: matches no pod */
	/* the pod's own where it names none, and has no namespace_selector */
	std::vector<std::string> namespaces;
	bool all_namespaces = false;
	/* by labels of namespaces; the empty one is all_namespaces */
	std::optional<PodSelector> namespace_selector = {};
	/* those that it selects now: World writes them */
	std::vector<std::string> selected_namespaces = {};
	bool operator==(const PodTerm &) const = default;
};

/* A topologySpreadConstraint with DoNotSchedule. */
struct Spread {
	std::string topology_key;
	std::int32_t max_skew = 1, min_domains = 1;
	/* none: counts no pod; matchLabelKeys are in it */
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
	/* one of them must hold; none: no demand */
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
