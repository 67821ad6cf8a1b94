/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_planner.h - which nodes are to be looked at, when, and what to do about each of them.
 *
 * Keeps what is not seen at one moment: since when a node is not Ready by our own clock (wall
 * clocks step), which nodes are doubted, what was tried last. What a node is now it reads from a
 * view of World at each call. reconcile_node() decides.
 */
#ifndef SLURMKUBE_CORE_WORLD_NODE_PLANNER_H
#define SLURMKUBE_CORE_WORLD_NODE_PLANNER_H

#include "src/core/model/now.h"
#include "src/core/placement/node_doubts.h"
#include "src/core/reconcile/node_sync.h"
#include "src/core/world/work_queue.h"

#include <functional>
#include <set>

namespace slurmkube::core
{

/* What is so now. Borrowed: for the length of a call. */
struct NodeView {
	const std::map<std::string, KubeNode> &kube;
	const std::map<std::string, SlurmNode> &slurm;
	const PluginHello &plugin;
	const NodePolicy &policy;
	const std::map<Taint, bool> &tolerated;
	/* with what pods of others leave of it */
	std::function<KubeNode(const KubeNode &)> as_left;
	std::function<bool(const std::string &)> holds_pods;
};

class NodePlanner
{
      public:
	/* It is looked at with the next take_actions(). */
	void mark(const std::string &name) { queue_.mark(name); }

	/* ---- Kubernetes ---- */
	/* A node that was not like that before. now 0: when it changed is not known. */
	void kube_changed(const KubeNode &node, bool was_ready, Now now);
	void kube_gone(const std::string &name, Now now);
	/* A list did not have it. */
	void kube_unlisted(const std::string &name);
	/* When it became Ready before our eyes, monotonic microseconds; 0: it did not. */
	[[nodiscard]] std::int64_t ready_since_us(const std::string &name) const;
	void looked_up(const std::string &name, const Result<NodeLookup> &sight, Now now);

	/* ---- Slurm ---- */
	/* The plugin has told of it, or that it is gone: what was sent has had its effect. */
	void slurm_told(const std::string &name);
	/* The answer to an action. Microseconds since the change in Kubernetes that it follows
	 * from. */
	std::optional<std::int64_t> changed(const std::string &name, const Status &answer, Now now);

	/* ---- deciding ---- */
	std::vector<NodeAction> take_actions(const NodeView &view, Now now);
	/* Without deciding anything: the clocks go on. */
	void tick(const NodeView &view, Now now);
	/* Names to ask the API server for; each is answered by looked_up(). */
	std::set<std::string> take_questions(const NodeView &view, Now now);

	[[nodiscard]] const NodeDoubts &absent() const { return absent_; }
	[[nodiscard]] const NodeDoubts &unready() const { return unready_; }
	/* More are absent, or not Ready, than may be believed. */
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
	std::optional<NodeAction> look_at(const std::string &name, const NodeView &view, Now now);

	NodeDoubts absent_, unready_;
	bool held_absent_ = false, held_unready_ = false;
	WorkQueue<std::string> queue_;
	/* monotonic microseconds, by node */
	std::map<std::string, std::int64_t> quiet_until_us_, not_ready_since_us_, ready_since_us_;
	/* in Kubernetes, and Slurm does not know yet */
	std::map<std::string, std::int64_t> changed_us_;
	/* what nodes were last made anew for; not again for the same */
	std::map<std::string, NodeSpec> resized_to_;
};

} // namespace slurmkube::core

#endif
