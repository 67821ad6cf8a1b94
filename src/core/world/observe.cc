/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The observing half of World: facts in, groups marked dirty. */
#include "src/core/model/natural_order.h"
#include "src/core/model/outcome.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

Group &World::touch(const PodUid &uid)
{
	queue_.mark(uid);
	return state_.groups[uid];
}

void World::look_later(const PodUid &uid, std::int64_t at_us)
{
	queue_.later(at_us, uid);
}

/* ---- pods ---- */

void World::note_pod_times(Group &group, const Pod &pod, Now now)
{
	const bool runs = pod.phase == PodPhase::running || pod.container_runs || is_terminal(pod);
	if (group.bound_us > 0 && runs) {
		figures_.edges.bound_to_running.add(static_cast<std::uint64_t>(now.mono_us - group.bound_us));
		group.bound_us = 0;
	}
	if (group.deleted_us == 0 && pod.deleting)
		group.deleted_us = now.mono_us;
}

void World::pod_seen(Pod pod, Now now)
{
	const PodUid uid = pod.uid;
	Group &group = touch(uid);
	seen_again(uid, group);
	if (group.first_seen_us == 0 && !pod.gated)
		group.first_seen_us = now.mono_us;
	note_end(group, pod, now);
	if (!pod.node_name.empty())
		group.assumed_node.clear();
	note_pod_times(group, pod, now);
	select_namespaces(pod);
	note_demands(pod);
	if (group.pod && !group.held_node.empty() && (group.pod->deleting != pod.deleting || group.pod->labels != pod.labels))
		company_changed();
	/* somebody else's words, those of an agent before us: ours are said again */
	if (group.pod && group.pod->not_scheduled != pod.not_scheduled && pod.not_scheduled != group.reported)
		group.reported = {};
	group.inherited_keys.clear();
	group.pod = std::move(pod);
	group.own_deadline_seconds = group.pod->active_deadline_seconds;
	note_marks(group);
	inherit(group, std::move(group.inherited));
	if (!group.is_placed)
		assign(uid, group, now);
	for (const JobId id : group.jobs) {
		if (is_live(state_.jobs.at(id)))
			note_stray(group, state_.jobs.at(id));
	}
	settle_share(uid, group, now);
}

void World::note_end(Group &group, const Pod &pod, Now now)
{
	if (group.terminal_us != 0 || !is_terminal(pod))
		return;
	group.terminal_us = now.mono_us;
	group.end_status = wait_status_of(pod);
	group.is_refused = false; /* whatever failed was about the life before */
	retry_now(group);
}

void World::pod_gone(const PodUid &uid, std::optional<Pod> last, Now now)
{
	const auto found = state_.groups.find(uid);
	if (found == state_.groups.end())
		return;
	Group &group = touch(uid);
	seen_again(uid, group);
	group.saw_deletion = last.has_value();
	if (last)
		note_end(group, *last, now);
	if (group.deleted_us == 0)
		group.deleted_us = now.mono_us;
	group.gone_us = now.mono_us;
	if (last)
		group.last = std::make_shared<const Pod>(std::move(*last));
	else if (group.pod)
		group.last = std::make_shared<const Pod>(std::move(*group.pod));
	group.pod.reset();
	group.assumed_node.clear();
	settle_share(uid, group, now);
}

void World::pods_listed(const std::set<std::string> &live_uids, Now now)
{
	std::vector<PodUid> gone;
	for (const auto &[uid, group] : state_.groups) {
		if (group.pod && !live_uids.contains(uid.text))
			gone.push_back(uid);
	}
	for (const PodUid &uid : gone)
		note_unseen(uid, now);
	state_.sync.listed(Sync::List::pods);
	retry_all();
}

/* A side that was away is back. */
void World::retry_all()
{
	for (auto &[uid, group] : state_.groups) {
		retry_now(group);
		queue_.mark(uid);
	}
}

/* A pod holds its share of a node from the binding to its end; after a deletion that did not wait for the containers, some time longer. */
void World::settle_share(const PodUid &uid, Group &group, Now now)
{
	std::string wanted;
	if (group.pod && !is_terminal(*group.pod))
		wanted = group.pod->node_name.empty() ? group.assumed_node : group.pod->node_name;
	const bool is_seen = group.pod ? !group.pod->node_name.empty() : now.mono_us >= group.late_until_us;
	if (is_seen)
		group.late_until_us = 0;
	const bool may_be_late = group.late_until_us > 0 && group.held_node == group.late_node;
	if (wanted.empty() && may_be_late && (!group.pod || !is_terminal(*group.pod)))
		return;
	const bool was_cut_off = !group.pod && group.last && !is_terminal(*group.last) && !group.held_node.empty();
	if (was_cut_off) {
		if (group.hold_until_us == 0) {
			group.hold_until_us = now.mono_us + state_.settings.forced_delete_hold_us;
			look_later(uid, group.hold_until_us);
		}
		if (now.mono_us < group.hold_until_us)
			return;
	}
	if (group.held_node == wanted) {
		if (!wanted.empty() && state_.occupancy.take(wanted, uid, group.pod->requests))
			wake_waiters(wanted); /* resized in place */
		return;
	}
	company_changed();
	if (!group.held_node.empty() && state_.occupancy.release(group.held_node, uid))
		wake_waiters(group.held_node);
	if (!wanted.empty())
		(void)state_.occupancy.take(wanted, uid, group.pod->requests);
	group.held_node = wanted;
}

/*
 * An API server that was away may have carried the binding out before, and its watch need not have
 * shown it yet: the share is free when a GET says so, however long that takes.
 */
void World::look_for_late_binding(const PodUid &uid, Group &group, Now now, std::vector<PodAction> &out)
{
	const bool is_open = group.pod && group.late_until_us > 0 && group.held_node == group.late_node && group.assumed_node.empty();
	if (!is_open || now.mono_us < std::max(group.late_until_us, group.look_quiet_until_us) || group.busy.look)
		return;
	group.busy.look = true;
	out.push_back({uid, LookUp{group.pod->name_space, group.pod->name}});
}

void World::wake_waiters(const std::string &node)
{
	nodes_.mark(node);
	const auto found = waiters_.find(node);
	if (found == waiters_.end())
		return;
	for (const PodUid &uid : found->second) {
		queue_.mark(uid);
		const auto group = state_.groups.find(uid);
		if (group != state_.groups.end() && !group->second.crowded.empty())
			reviews_.add(uid); /* its waiting job is kept off this node */
	}
	waiters_.erase(found);
}

void World::drop_if_empty(const PodUid &uid)
{
	const auto found = state_.groups.find(uid);
	if (found == state_.groups.end())
		return;
	const Group &g = found->second;
	const bool is_busy = g.busy.slurm || g.busy.bind || g.busy.remove || g.busy.report || g.busy.claim;
	if (state_.gangs.contains(uid))
		return; /* it goes with its gang */
	if (!g.pod && g.jobs.empty() && g.unheard_of.empty() && g.held_node.empty() && !is_busy) {
		if (const auto others = state_.loose.find(g.loose_of); others != state_.loose.end() && others->second.erase(uid) > 0 && others->second.empty())
			state_.loose.erase(others);
		state_.groups.erase(found);
		unanswered_.forget(uid);
		forget_demands(uid);
	}
}

/* ---- nodes ---- */

void World::node_seen(KubeNode node, Now now)
{
	const std::string name = node.name;
	KubeNode &known = state_.kube_nodes[name];
	if (known == node)
		return;
	const bool was_ready = known.ready;
	known = std::move(node);
	nodes_.kube_changed(known, was_ready, now);
	state_.taints.node_seen(known, [this](const Taint &taint) { return is_tolerated_by_any(taint); });
	filter_.forget(name);
	place_changed();
	wake_waiters(name);
}

void World::node_gone(const std::string &name, Now now)
{
	state_.kube_nodes.erase(name);
	nodes_.kube_gone(name, now);
	filter_.forget(name);
	wake_waiters(name);
}

void World::nodes_listed(const std::set<std::string> &live_uids)
{
	filter_.forget();
	for (auto it = state_.kube_nodes.begin(); it != state_.kube_nodes.end();) {
		nodes_.mark(it->first);
		if (live_uids.contains(it->second.uid)) {
			it++;
			continue;
		}
		nodes_.kube_unlisted(it->first);
		wake_waiters(it->first);
		it = state_.kube_nodes.erase(it);
	}
	state_.sync.listed(Sync::List::nodes);
	for (const auto &[name, node] : state_.slurm_nodes)
		nodes_.mark(name);
}

} // namespace slurmkube::core
