/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod_topology.h - may this pod run on that node, as far as pods on other nodes decide it:
 * affinity, anti-affinity by zone, rack and the like, topology spread.
 *
 * Pure. The rules are those of pkg/scheduler/framework/plugins/{interpodaffinity,podtopologyspread}
 * in kubernetes 1.37; testsuite/component/oracle compares them with that very code. Built once for
 * a pod, then asked for each node. Anti-affinity by the node alone is holders_refuse()'s
 * (placement.h). Where we differ we refuse more: a pod on an unknown node conflicts with
 * anti-affinity everywhere and never satisfies affinity.
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
	/* pod: borrowed. at_once: so many like it come to one node together. */
	explicit PodTopology(const Pod &pod, std::uint32_t at_once = 1);

	/* First all nodes of Kubernetes, which are borrowed. Only a spread pod needs to be told. */
	void add_node(const KubeNode &node);
	/* Then who is there, or about to be. home: one of the nodes; nullptr: not known. */
	void add(const Pod &other, const KubeNode *home);
	/* Whose anti-affinity may reach the pod; add() does this too. */
	void add_anti_affinity(const Pod &other, const KubeNode *home);

	[[nodiscard]] std::optional<Refusal> refuses(const KubeNode &node) const;

      private:
	using Domain = std::pair<std::string, std::string>; /* topology key and value */
	struct Count {
		bool is_own = false;             /* the pod counts itself */
		std::map<std::string, int> pods; /* of each domain that counts */
	};
	void note_anti_affinity(
		const PodTerm &term, const Pod &other, const KubeNode *home, const char *whose);
	[[nodiscard]] bool counts(const Spread &spread, const KubeNode &node) const;
	[[nodiscard]] std::optional<Refusal> anti_affinity_refuses(const KubeNode &node) const;
	[[nodiscard]] std::optional<Refusal> affinity_refuses(const KubeNode &node) const;
	[[nodiscard]] std::optional<Refusal> spread_refuses(const KubeNode &node) const;

	const Pod &pod_;
	int at_once_;
	std::map<Domain, std::string> anti_affinity_; /* and why */
	std::string anti_affinity_everywhere_;
	std::map<Domain, bool> matched_; /* domains with a pod that all terms of affinity match */
	bool is_any_matched_ = false;
	/* one for each spread */
	std::vector<Count> counts_;
	/* the same; nodes without all keys are not in it */
	std::unordered_map<const KubeNode *, std::vector<bool>> counts_there_;
};

/* Whether the pod's place depends on pods of other nodes, whoever they are. */
bool is_topology_constrained(const Pod &pod);

/* Whether its anti-affinity may reach pods on other nodes. */
bool constrains_topology(const Pod &other);

/* Whether one that is about to get a node changes what is right for the other. */
bool concerns(const Pod &other, const Pod &pod);

/* Whether where the other is counts for the pod's topology spread. */
bool spreads_over(const Pod &pod, const Pod &other);

/* At most so many of it on one node, wherever others are: by its spread over nodes; 0: any
 * number. */
std::uint32_t most_on_a_node(const Pod &pod);

/* What pods that get their nodes all at once, from Slurm, demand of each other and nobody can tell
 * Slurm: the field; or empty. */
std::string trouble_at_once(const Pod &pod, const Pod &other);

} // namespace slurmkube::core

#endif
