/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod_topology.h - whether a pod may run on a node as far as pods on other nodes decide it: pod
 * affinity, anti-affinity by zone, rack and the like, and topology spread.
 *
 * Pure. The rules are those of pkg/scheduler/framework/plugins/{interpodaffinity,podtopologyspread}
 * in kubernetes 1.37; testsuite/component/oracle compares the results with those of that code. An
 * object is built for one pod and then asked about each node. Anti-affinity with the topology of a
 * node is in holders_refuse() (placement.h). All differences make placement stricter: a pod on an
 * unknown node conflicts with anti-affinity everywhere and never satisfies affinity.
 */
#ifndef SLURMKUBE_CORE_PLACEMENT_POD_TOPOLOGY_H
#define SLURMKUBE_CORE_PLACEMENT_POD_TOPOLOGY_H

#include "src/core/placement/placement.h"

#include <unordered_map>

namespace slurmkube::core
{

class PodTopology
{
      public:
	/* pod: borrowed. at_once: number of such pods that are assigned to one node at the same
	 * time. */
	explicit PodTopology(const Pod &pod, std::uint32_t at_once = 1);

	/* Call first, for all nodes of Kubernetes; they are borrowed. Only needed if the pod has
	 * spread constraints. */
	void add_node(const KubeNode &node);
	/* Call next, for each pod that is bound or about to be. home: one of these nodes; nullptr:
	 * unknown. */
	void add(const Pod &other, const KubeNode *home);
	/* For pods of which only the anti-affinity matters; add() includes this. */
	void add_anti_affinity(const Pod &other, const KubeNode *home);

	[[nodiscard]] std::optional<Refusal> refuses(const KubeNode &node) const;

      private:
	using Domain = std::pair<std::string, std::string>; /* topology key and value */
	struct Count {
		bool is_own = false;             /* the pod matches its own selector */
		std::map<std::string, int> pods; /* in each domain that counts */
	};
	void note_anti_affinity(
		const PodTerm &term, const Pod &other, const KubeNode *home, const char *whose);
	[[nodiscard]] bool counts(const Spread &spread, const KubeNode &node) const;
	[[nodiscard]] std::optional<Refusal> anti_affinity_refuses(const KubeNode &node) const;
	[[nodiscard]] std::optional<Refusal> affinity_refuses(const KubeNode &node) const;
	[[nodiscard]] std::optional<Refusal> spread_refuses(const KubeNode &node) const;

	const Pod &pod_;
	int at_once_;
	std::map<Domain, std::string> anti_affinity_; /* with the reason */
	std::string anti_affinity_everywhere_;
	/* domains with a pod that matches all terms of the affinity */
	std::map<Domain, bool> matched_;
	bool is_any_matched_ = false;
	/* one per spread constraint */
	std::vector<Count> counts_;
	/* whether the node counts, per spread constraint; nodes without all topology keys are left
	 * out */
	std::unordered_map<const KubeNode *, std::vector<bool>> counts_there_;
};

/* Whether the pod's placement depends on pods on other nodes. */
bool is_topology_constrained(const Pod &pod);

/* Whether the pod's anti-affinity has a topology larger than a node. */
bool constrains_topology(const Pod &other);

/* Whether the placement of `other` may change where `pod` may run. */
bool concerns(const Pod &other, const Pod &pod);

/* Whether `other` counts in the pod's topology spread. */
bool spreads_over(const Pod &pod, const Pod &other);

/* Maximum number of such pods on one node by their spread over nodes, wherever other pods are; 0:
 * no limit. */
std::uint32_t most_on_a_node(const Pod &pod);

/* A constraint of `pod` with regard to `other` that cannot be passed to Slurm, which places both at
 * once: the field's path and why, or empty. */
std::string trouble_at_once(const Pod &pod, const Pod &other);

} // namespace slurmkube::core

#endif
