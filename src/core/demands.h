/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demands.h - what a pod's spec demands of the place where it runs, as plain values.
 *
 * Read by codec/demands, judged by placement.h. Only what a scheduler has to honour and we can: the rest stays in Pod::unsupported_fields.
 * Meanings are those of the API (core/v1 NodeSelectorTerm, Toleration, ContainerPort, PodAffinityTerm).
 */
#ifndef SLURMKUBE_CORE_DEMANDS_H
#define SLURMKUBE_CORE_DEMANDS_H

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

/*
 * A required term of pod affinity or anti-affinity. Of pods of ours the topology key is kubernetes.io/hostname: others are refused. Of pods that others placed it
 * may be any; what cannot be read of their selectors is taken to match.
 */
struct PodTerm {
	std::string topology_key = "kubernetes.io/hostname";
	std::optional<PodSelector> selector;  /* none: matches no pod */
	std::vector<std::string> namespaces; /* the pod's own where it names none */
	bool all_namespaces = false;
	bool operator==(const PodTerm &) const = default;
};

/* A PersistentVolumeClaim that the pod mounts. */
struct PodClaim {
	std::string name;
	bool is_own = false; /* of an ephemeral volume: made for this pod, and controlled by it */
	bool operator==(const PodClaim &) const = default;
};

struct Demands {
	std::map<std::string, std::string> node_selector;
	std::optional<std::vector<NodeTerm>> node_terms; /* one of them must hold; none: no demand */
	std::vector<Preference> preferences;
	std::vector<Toleration> tolerations;
	std::vector<HostPort> host_ports;
	std::vector<PodTerm> affinity, anti_affinity;
	std::vector<PodClaim> claims;
	bool operator==(const Demands &) const = default;
};

} // namespace slurmkube::core

#endif
