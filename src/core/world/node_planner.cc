/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/node_planner.h"

#include "src/base/time_units.h"
#include "src/core/reconcile/node_features.h"

#include <utility>

namespace slurmkube::core
{

namespace
{

/* From a change of a node until the plugin's report of it. */
constexpr std::int64_t k_quiet_us = 2'000'000;
constexpr std::int64_t k_again_us = 3'000'000;
constexpr std::int64_t k_refused_us = 10'000'000; /* Slurm refused the change */
/* The same text was written into the record's extra, and is not there. */
constexpr std::int64_t k_extra_again_us = 60'000'000;

const SlurmNode *find(const std::map<std::string, SlurmNode> &nodes, const std::string &name)
{
	const auto found = nodes.find(name);
	return found == nodes.end() ? nullptr : &found->second;
}

} // namespace

/* ---- Kubernetes ---- */

void NodePlanner::kube_changed(const KubeNode &node, bool was_ready, Now now)
{
	if (node.ready && !was_ready)
		ready_since_us_[node.name] = now.mono_us;
	if (node.ready)
		not_ready_since_us_.erase(node.name);
	if (now.mono_us > 0)
		changed_us_.try_emplace(node.name, now.mono_us);
	mark(node.name);
}

void NodePlanner::kube_gone(const std::string &name, Now now)
{
	if (now.mono_us > 0)
		changed_us_.try_emplace(name, now.mono_us);
	not_ready_since_us_.erase(name);
	ready_since_us_.erase(name);
	mark(name);
}

void NodePlanner::kube_unlisted(const std::string &name)
{
	not_ready_since_us_.erase(name);
	mark(name);
}

std::int64_t NodePlanner::ready_since_us(const std::string &name) const
{
	const auto found = ready_since_us_.find(name);
	return found == ready_since_us_.end() ? 0 : found->second;
}

bool NodePlanner::is_lost(
	const std::string &name, std::size_t known, const NodePolicy &policy, Now now) const
{
	const auto since = not_ready_since_us_.find(name);
	return since != not_ready_since_us_.end() &&
		now.mono_us >= since->second + policy.not_ready_after_seconds * k_second_us &&
		unready_.is_confirmed(name, now.mono_us) &&
		!holds_unready(known, policy.max_gone_percent);
}

void NodePlanner::looked_up(const std::string &name, const Result<NodeLookup> &sight, Now now)
{
	const Result<bool> exists =
		sight ? Result<bool>(*sight != NodeLookup::none) : Result<bool>(sight.error());
	const Result<bool> is_ready =
		sight ? Result<bool>(*sight == NodeLookup::ready) : Result<bool>(sight.error());
	absent_.answered(name, exists, now.mono_us);
	unready_.answered(name, is_ready, now.mono_us);
	mark(name);
}

/* ---- Slurm ---- */

void NodePlanner::slurm_told(const std::string &name)
{
	quiet_until_us_.erase(name);
	mark(name);
}

std::optional<std::int64_t> NodePlanner::changed(
	const std::string &name, const Status &answer, Now now)
{
	mark(name);
	if (!answer) {
		quiet_until_us_[name] = now.mono_us + k_refused_us;
		return std::nullopt;
	}
	const auto since = changed_us_.extract(name);
	return since.empty() ? std::nullopt : std::optional(now.mono_us - since.mapped());
}

/* ---- deciding ---- */

/* Notes since when nodes have not been Ready; a restarted agent starts again. */
void NodePlanner::note_readiness(const NodeView &view, Now now)
{
	for (const std::string &name : queue_.marked()) {
		const auto node = view.kube.find(name);
		if (node == view.kube.end() || node->second.ready ||
			!not_ready_since_us_.emplace(name, now.mono_us).second)
			continue;
		queue_.later(now.mono_us + view.policy.not_ready_after_seconds * k_second_us, name);
	}
}

void NodePlanner::tick(const NodeView &view, Now now)
{
	note_readiness(view, now);
	queue_.wake(now.mono_us);
}

/* Doubts what would end jobs if it were believed. */
void NodePlanner::note_doubts(
	const std::string &name, bool is_managed, const NodeView &view, Now now)
{
	const SlurmNode *slurm = view.policy.manage ? find(view.slurm, name) : nullptr;
	if (is_managed || !slurm || NodeNames::is_of_no_node(name))
		absent_.clear(name);
	else
		absent_.doubt(name, is_in_use(*slurm),
			slurm->base != NodeBase::down ||
				(slurm->dynamic && has_dynamic_nodes(view.plugin)));
	const auto since = not_ready_since_us_.find(name);
	if (!is_managed || !slurm || since == not_ready_since_us_.end())
		return unready_.clear(name);
	const bool is_up = may_go_down(*slurm);
	const std::int64_t limit_us = view.policy.not_ready_after_seconds * k_second_us;
	const bool is_due = now.mono_us >= since->second + limit_us;
	unready_.doubt(name, is_up, is_up && is_due);
	if (!is_due) /* the limit may have changed since note_readiness() */
		queue_.later(since->second + limit_us, name);
}

/* All of them wait for the same condition: that there are few of them. */
void NodePlanner::wake_held(const NodeDoubts &doubts, bool holds, bool &held)
{
	if (!std::exchange(held, holds) || holds)
		return;
	for (const std::string &name : doubts.names())
		mark(name);
}

std::set<std::string> NodePlanner::take_questions(const NodeView &view, Now now)
{
	const auto most = view.policy.max_gone_percent;
	wake_held(absent_, holds_absent(view.slurm.size(), most), held_absent_);
	wake_held(unready_, holds_unready(view.slurm.size(), most), held_unready_);
	std::set<std::string> names;
	for (NodeDoubts *doubts : {&absent_, &unready_}) {
		for (std::string &name : doubts->take_questions(now.mono_us))
			names.insert(std::move(name));
	}
	return names;
}

NodeFacts NodePlanner::facts_of(const std::string &name, const KubeNode *seen,
	const NodeSpec &wanted, const NodeView &view, Now now) const
{
	const auto most = view.policy.max_gone_percent;
	const auto resized = resized_to_.find(name);
	const auto since = not_ready_since_us_.find(name);
	const bool is_gone = !seen && !NodeNames::is_of_no_node(name) &&
		absent_.is_confirmed(name, now.mono_us) && !holds_absent(view.slurm.size(), most);
	const bool is_unready =
		unready_.is_confirmed(name, now.mono_us) && !holds_unready(view.slurm.size(), most);
	return {.kube = seen,
		.is_gone = is_gone,
		.slurm = find(view.slurm, name),
		.plugin = &view.plugin,
		.holds_pods =
			view.holds_pods(name) || (is_gone && view.has_pod_without_record(name)),
		.has_job = !(is_gone || is_unready) || view.has_job(name),
		.may_resize = resized == resized_to_.end() || resized->second != wanted,
		.tolerated = &view.tolerated,
		.is_surely_unready = is_unready,
		.not_ready_seconds = since == not_ready_since_us_.end()
			? 0
			: (now.mono_us - since->second) / k_second_us};
}

/* Something else may write another text again and again, or Slurm may refuse ours. */
bool NodePlanner::may_write(const SetNodeExtra &change, Now now)
{
	auto &[text, at_us] = extra_written_[change.name];
	if (text == change.extra && now.mono_us < at_us + k_extra_again_us) {
		queue_.later(at_us + k_extra_again_us, change.name);
		return false;
	}
	text = change.extra;
	at_us = now.mono_us;
	return true;
}

namespace
{

/* Whether a job of ours is on another cluster's record is asked only when it matters: it takes a
 * walk over all jobs. */
std::optional<NodeAction> decide(NodeFacts facts, const std::string &name, const NodeView &view)
{
	auto action = reconcile_node(facts, view.policy);
	if (!action || !facts.slurm || !facts.has_job ||
		!is_of_another_cluster(*facts.slurm, view.plugin, view.policy.cluster))
		return action;
	facts.has_job = view.has_job(name);
	return reconcile_node(facts, view.policy);
}

} // namespace

std::optional<NodeAction> NodePlanner::look_at(
	const std::string &name, const NodeView &view, Now now)
{
	const auto kube = view.kube.find(name);
	const bool is_managed =
		kube != view.kube.end() && core::is_managed(kube->second, view.policy);
	note_doubts(name, is_managed, view, now);
	const auto quiet = quiet_until_us_.find(name);
	if (quiet != quiet_until_us_.end() && now.mono_us < quiet->second) {
		queue_.later(quiet->second, name);
		return std::nullopt;
	}
	const KubeNode seen = is_managed ? view.as_left(kube->second) : KubeNode{};
	const NodeDevices devices =
		is_managed && view.devices ? view.devices(name, now) : NodeDevices{};
	const NodeSpec wanted =
		is_managed ? node_spec(seen, view.policy, view.plugin, devices) : NodeSpec{};
	NodeFacts facts = facts_of(name, is_managed ? &seen : nullptr, wanted, view, now);
	facts.devices = &devices;
	if (!facts.slurm)
		extra_written_.erase(name);
	if (devices.again_us > 0)
		queue_.later(devices.again_us, name);
	auto action = decide(std::move(facts), name, view);
	const auto *extra = action ? std::get_if<SetNodeExtra>(&*action) : nullptr;
	if (extra && !may_write(*extra, now))
		action.reset();
	if (!action) {
		changed_us_.erase(name);
		return std::nullopt;
	}
	if (is_managed && std::holds_alternative<DeleteNode>(*action))
		resized_to_[name] = wanted;
	changed_us_.try_emplace(name, now.mono_us);
	quiet_until_us_[name] = now.mono_us + k_quiet_us;
	/* look again even if no change is reported */
	queue_.later(now.mono_us + k_again_us, name);
	return action;
}

std::vector<NodeAction> NodePlanner::take_actions(const NodeView &view, Now now)
{
	std::vector<NodeAction> out;
	for (const std::string &name : queue_.take()) {
		reports_.mark(name);
		const auto kube = view.kube.find(name);
		if (kube != view.kube.end() && !is_label_settled(kube->second, view.policy.names))
			continue; /* marked again when it has its name */
		if (auto action = look_at(name, view, now))
			out.push_back(std::move(*action));
	}
	for (ReportDrain &report : reports_.take(
		     {view.kube, view.slurm, view.plugin, view.policy, view.report_interval_us},
		     now))
		out.emplace_back(std::move(report));
	return out;
}

} // namespace slurmkube::core
