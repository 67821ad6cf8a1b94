/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_filter.h - which nodes may take a pod, and which Slurm must therefore not choose for it.
 *
 * To judge all nodes for every pod would limit large clusters. So what pods of one template have in
 * common is computed once and kept until a node changes. What depends on other pods, on volume
 * claims, or on nodes with less room than Slurm's record says, is added for each pod.
 */
#ifndef SLURMKUBE_CORE_WORLD_NODE_FILTER_H
#define SLURMKUBE_CORE_WORLD_NODE_FILTER_H

#include "src/core/reconcile/reconcile.h"
#include "src/core/world/peers.h"

#include <deque>
#include <unordered_map>

namespace slurmkube::core
{

/* The nodes on which no pod of a template may run, whatever other pods do. Valid until a node or
 * the share of other schedulers' pods there changes. */
struct NodeExclusions {
	/* ---- the template ---- */
	std::string node_name; /* set only for a bound pod */
	std::map<std::string, std::string> node_selector;
	std::optional<std::vector<NodeTerm>> node_terms;
	std::vector<Toleration> tolerations;
	Resources requests;
	/* ---- the result, sorted by node name ---- */
	std::vector<std::string> excluded;
	std::map<std::string, std::size_t> reasons; /* and the number of nodes for each */
	/* Nodes that are not excluded, but whose record in Slurm is larger than what pods of other
	 * schedulers leave there. On these, our own pods have to be counted as well. */
	std::vector<std::string> oversized;
	std::size_t candidates = 0;
};

class NodeFilter
{
      public:
	/* ---- what has changed ---- */
	/* What is left of the node may have changed; empty: of all nodes. */
	void forget(const std::string &node = {});
	/* The nodes themselves have changed, or what keeps pods off them. */
	void forget_exclusions() { known_exclusions_.clear(); }
	/* All partitions in which no pod can run, and why. Returns false if nothing has changed. */
	bool set_refused_partitions(std::map<std::string, std::string> refused);

	/* ---- what pods of other schedulers leave of a node ---- */
	[[nodiscard]] const Resources &room_on(const State &state, const KubeNode &node) const;
	[[nodiscard]] KubeNode as_left(const State &state, const KubeNode &node) const;

	/* ---- before a submission ---- */
	/* The reference is valid until the next call. */
	const NodeExclusions &exclusions_for(const State &state, const Pod &pod) const;
	/* Adds the nodes that this pod must not get although its template may. nearby: set if the
	 * pod has constraints on other pods, or other pods may have constraints on it. */
	void exclude_more(const State &state, const PodUid &uid, const Pod &pod,
		const NearbyPods *nearby, NodeExclusions &exclusions) const;
	/* partitions: comma separated, as for sbatch. Errc::invalid: no pod can run in one of
	 * them. */
	[[nodiscard]] Status is_fit_for_pods(const std::string &partitions) const;

	/* ---- what the job requests itself: requested_nodes.cc ---- */
	/* Why no node can ever hold the job; empty: a node can. */
	[[nodiscard]] std::string too_large(
		const State &state, const JobSpec &spec, const NodeExclusions &exclusions) const;
	/* Errc::invalid: the option required-nodes names a node that Slurm does not have. */
	[[nodiscard]] Status names_known_nodes(const State &state, const JobSpec &spec) const;
	/* Moves the nodes of the option excluded-nodes that Slurm has into the list of nodes that
	 * Kubernetes forbids. If a node is added later, waiting jobs learn of it like of any other
	 * exclusion. */
	void exclude_unwanted(const State &state, JobSpec &spec) const;
	/* Translates preferred node affinity, unless the pod sets the option prefer itself. */
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

	/* with the reason, as text for users */
	std::map<std::string, std::string> refused_partitions_;
	mutable std::deque<NodeExclusions> known_exclusions_; /* the most recent first */
	/* by node; an entry that is missing has to be computed */
	mutable std::unordered_map<std::string, Resources> rooms_;
};

} // namespace slurmkube::core

#endif
