/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_filter.h - which nodes may take a pod, and which Slurm must not choose for it.
 *
 * A look at all nodes for each pod would be what limits a large cluster. So what pods of one
 * template have in common is worked out once, and after that only when a node has changed; what
 * depends on other pods, on claims, or on nodes that are fuller than Slurm knows, is added for
 * each.
 */
#ifndef SLURMKUBE_CORE_WORLD_NODE_FILTER_H
#define SLURMKUBE_CORE_WORLD_NODE_FILTER_H

#include "src/core/reconcile/reconcile.h"
#include "src/core/world/peers.h"

#include <deque>
#include <unordered_map>

namespace slurmkube::core
{

/* What pods of one template have in common: where they may not run, whoever else does. Valid while
 * the nodes and what others hold of them stay as they are. */
struct NodeExclusions {
	/* of the pod */
	std::string node_name; /* of one that is bound */
	std::map<std::string, std::string> node_selector;
	std::optional<std::vector<NodeTerm>> node_terms;
	std::vector<Toleration> tolerations;
	Resources requests;
	/* the answer, in the order of names */
	std::vector<std::string> excluded;
	std::map<std::string, std::size_t> reasons; /* and of how many nodes */
	/* the others' Slurm records that are larger than what is left there: our own pods count as
	 * well */
	std::vector<std::string> oversized;
	std::size_t candidates = 0;
};

class NodeFilter
{
      public:
	/* ---- what has changed ---- */
	/* What is left of that node may be other than it was; empty: of all nodes. */
	void forget(const std::string &node = {});
	/* The nodes themselves are others, or what keeps pods off them. */
	void forget_exclusions() { known_exclusions_.clear(); }
	/* Partitions in which no pod can run, and why; as a whole. false: nothing has changed. */
	bool set_refused_partitions(std::map<std::string, std::string> refused);

	/* ---- what is left of a node by pods of others ---- */
	[[nodiscard]] const Resources &room_on(const State &state, const KubeNode &node) const;
	[[nodiscard]] KubeNode as_left(const State &state, const KubeNode &node) const;

	/* ---- before a submission ---- */
	/* Valid until the next call. */
	const NodeExclusions &exclusions_for(const State &state, const Pod &pod) const;
	/* Of what the template may have. nearby: of a pod that has constraints on other pods, or is
	 * the object of theirs. */
	void exclude_more(const State &state, const PodUid &uid, const Pod &pod,
		const NearbyPods *nearby, NodeExclusions &exclusions) const;
	/* partitions: as for sbatch, with commas */
	[[nodiscard]] Status is_fit_for_pods(const std::string &partitions) const;

	/* ---- what the job requests itself: requested_nodes.cc ---- */
	/* Why no node will ever hold it; empty: one does. */
	[[nodiscard]] std::string too_large(
		const State &state, const JobSpec &spec, const NodeExclusions &exclusions) const;
	[[nodiscard]] Status names_known_nodes(const State &state, const JobSpec &spec) const;
	/* What the user does not want joins what Kubernetes forbids: a node that comes later is
	 * then kept off waiting jobs like any other. */
	void exclude_unwanted(const State &state, JobSpec &spec) const;
	/* Preferred node affinity, unless the pod says itself what Slurm shall prefer. */
	void wish(const State &state, const Pod &pod, JobSpec &spec) const;

	/* ---- before a binding ---- */
	void check(const State &state, const PodUid &uid, const PodEntry &entry,
		const KubeNode &node, PlaceFacts &facts) const;

      private:
	[[nodiscard]] NodeExclusions work_out_exclusions(const State &state, const Pod &pod) const;
	[[nodiscard]] bool is_oversized(
		const State &state, const KubeNode &node, const SlurmNode &record) const;
	[[nodiscard]] Resources taken_on(
		const State &state, const std::string &node, const PodUid &except) const;
	[[nodiscard]] std::optional<Refusal> node_refuses_in_queue(const State &state,
		const Pod &pod, const KubeNode &node, const SlurmNode &record,
		const std::vector<std::string> &ignored) const;
	[[nodiscard]] std::optional<Refusal> others_refuse_in_queue(const State &state,
		const PodUid &uid, const Pod &pod, const KubeNode &node,
		const NearbyPods *nearby) const;
	[[nodiscard]] std::optional<Refusal> room_refuses_for_good(const State &state,
		const Pod &pod, const KubeNode &node, const SlurmNode *record,
		const Resources &taken) const;

	std::map<std::string, std::string> refused_partitions_; /* and why */
	mutable std::deque<NodeExclusions> known_exclusions_;   /* the latest first */
	/* by node; what is not there has to be worked out */
	mutable std::unordered_map<std::string, Resources> rooms_;
};

} // namespace slurmkube::core

#endif
