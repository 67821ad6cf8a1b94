/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_planner.h - which nodes have to be looked at, when, and what to do about each of them.
 *
 * It keeps what cannot be observed at a single moment: since when a node has not been Ready by our
 * own clock (wall clocks can step), which nodes are doubted, and what was tried last. The present
 * state of a node is read from a view of World at each call. reconcile_node() makes the decisions.
 */
#ifndef SLURMKUBE_CORE_WORLD_NODE_PLANNER_H
#define SLURMKUBE_CORE_WORLD_NODE_PLANNER_H

#include "src/core/model/now.h"
#include "src/core/placement/node_doubts.h"
#include "src/core/reconcile/node_sync.h"
#include "src/core/world/drain_reports.h"
#include "src/core/world/node_namer.h"
#include "src/core/world/work_queue.h"

#include <functional>
#include <set>

namespace slurmkube::core
{

/* The present state. Borrowed for the duration of a call. */
struct NodeView {
	const std::map<std::string, KubeNode> &kube;
	const std::map<std::string, SlurmNode> &slurm;
	const PluginHello &plugin;
	const NodePolicy &policy;
	const std::map<Taint, bool> &tolerated;
	std::int64_t report_interval_us;
	/* what the rules for devices say */
	std::function<NodeDevices(const std::string &, Now)> devices;
	/* the node, with allocatable reduced by the requests of other schedulers' pods */
	std::function<KubeNode(const KubeNode &)> as_left;
	std::function<bool(const std::string &)> holds_pods;
	/* Walks over all jobs: whether one of ours is there; and whether its pod lives on a node
	 * of which Slurm has no record. */
	std::function<bool(const std::string &)> has_job, has_pod_without_record;
};

class NodePlanner
{
      public:
	/* The next take_actions() looks at the node. */
	void mark(const std::string &name) { queue_.mark(name); }
	/* The policy has changed, or what Slurm accepts: all nodes may be created again. The caller
	 * marks them. */
	void forget_resizes() { resized_to_.clear(); }

	/* ---- Kubernetes ---- */
	/* The node has changed in Kubernetes. now 0: it is not known when. */
	void kube_changed(const KubeNode &node, bool was_ready, Now now);
	void kube_gone(const std::string &name, Now now);
	/* A list of nodes did not contain the node. */
	void kube_unlisted(const std::string &name);
	/* When this agent saw the node become Ready, monotonic microseconds; 0: it has not seen
	 * that. */
	[[nodiscard]] std::int64_t ready_since_us(const std::string &name) const;
	/* Whether it has not been Ready for longer than nodes.not_ready_after, and that is to be
	 * believed: confirmed, and not of too many nodes. known: number of nodes in Slurm. */
	[[nodiscard]] bool is_lost(const std::string &name, std::size_t known,
		const NodePolicy &policy, Now now) const;
	void looked_up(const std::string &name, const Result<NodeLookup> &sight, Now now);

	/* ---- Slurm ---- */
	/* The plugin has reported the node, or its end: what was sent has taken effect. */
	void slurm_told(const std::string &name);
	/* The answer to an action. Returns the microseconds since the change in Kubernetes that led
	 * to the action; nullopt: the action failed, or there was no such change. */
	std::optional<std::int64_t> changed(const std::string &name, const Status &answer, Now now);

	/* ---- the condition SlurmDrain ---- */
	/* Kubernetes shows another one. */
	void report_seen(const std::string &name) { reports_.mark(name); }
	void reported(const std::string &name, const Status &answer, Now now)
	{
		reports_.answered(name, answer, now);
	}

	/* ---- deciding ---- */
	std::vector<NodeAction> take_actions(const NodeView &view, Now now);
	/* Advances the clocks without deciding anything, as long as decisions are not allowed. */
	void tick(const NodeView &view, Now now);
	/* Names of nodes to ask the API server for; looked_up() must follow for each. */
	std::set<std::string> take_questions(const NodeView &view, Now now);

	[[nodiscard]] NodeNamer &namer() { return namer_; }
	[[nodiscard]] const NodeNamer &namer() const { return namer_; }
	[[nodiscard]] const NodeDoubts &absent() const { return absent_; }
	[[nodiscard]] const NodeDoubts &unready() const { return unready_; }
	/* Whether more nodes are absent, or not Ready, than can be believed. known: number of
	 * external nodes in Slurm. */
	[[nodiscard]] bool holds_absent(std::size_t known, unsigned max_percent) const
	{
		return absent_.are_too_many(known, max_percent);
	}
	[[nodiscard]] bool holds_unready(std::size_t known, unsigned max_percent) const
	{
		return unready_.are_too_many(known, max_percent);
	}

      private:
	void note_readiness(const NodeView &view, Now now);
	void note_doubts(const std::string &name, bool is_managed, const NodeView &view, Now now);
	void wake_held(const NodeDoubts &doubts, bool holds, bool &held);
	[[nodiscard]] NodeFacts facts_of(const std::string &name, const KubeNode *seen,
		const NodeSpec &wanted, const NodeView &view, Now now) const;
	bool may_write(const SetNodeExtra &change, Now now);
	std::optional<NodeAction> look_at(const std::string &name, const NodeView &view, Now now);

	NodeNamer namer_;
	NodeDoubts absent_, unready_;
	bool held_absent_ = false, held_unready_ = false;
	DrainReports reports_;
	WorkQueue<std::string> queue_;
	/* monotonic microseconds, by node */
	std::map<std::string, std::int64_t> quiet_until_us_, not_ready_since_us_, ready_since_us_;
	/* since when Kubernetes has had a change that Slurm does not have yet */
	std::map<std::string, std::int64_t> changed_us_;
	/* the records for which nodes were last deleted and created again; not repeated for an
	 * equal one */
	std::map<std::string, NodeSpec> resized_to_;
	/* what was written into the record's extra last, and when */
	std::map<std::string, std::pair<std::string, std::int64_t>> extra_written_;
};

} // namespace slurmkube::core

#endif
