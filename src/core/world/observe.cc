/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The observing half of World: notes facts, and marks what they concern to be looked at. */
#include "src/core/model/names.h"
#include "src/core/model/natural_order.h"
#include "src/core/model/outcome.h"
#include "src/core/world/extended_resources.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

PodEntry &World::touch_pod(const PodUid &uid)
{
	queue_.mark(uid);
	changes_.note(uid);
	return state_.pods[uid];
}

Component &World::touch_component(const PodUid &key)
{
	queue_.mark(key);
	changes_.note(key);
	return state_.components[key];
}

void World::look_later(const PodUid &uid, std::int64_t at_us)
{
	queue_.later(at_us, uid);
}

/* ---- pods ---- */

void World::note_pod_times(PodEntry &entry, const Pod &pod, Now now)
{
	const bool runs = pod.phase == PodPhase::running || pod.container_runs || is_terminal(pod);
	if (entry.bound_us > 0 && runs) {
		figures_.stage_latencies.bound_to_running.add(
			static_cast<std::uint64_t>(now.mono_us - entry.bound_us));
		entry.bound_us = 0;
	}
	if (entry.deleted_us == 0 && pod.deleting)
		entry.deleted_us = now.mono_us;
}

void World::pod_seen(Pod pod, Now now)
{
	const PodUid uid = pod.uid;
	PodEntry &entry = touch_pod(uid);
	seen_again(uid, entry);
	if (entry.first_seen_us == 0 && !pod.gated) {
		entry.first_seen_us = now.mono_us;
		entry.is_watched = !entry.pod && state_.sync.is_listed() && state_.sync.is_fresh();
	}
	note_end(uid, entry, pod, now);
	if (!pod.node_name.empty())
		entry.assumed_node.clear();
	note_pod_times(entry, pod, now);
	note_backed_by_classes(state_, pod);
	select_namespaces(pod);
	note_constraints(pod);
	if (pod.annotations.contains(names::k_allocation_slurm_node))
		nodes_.namer().named_pod_seen();
	if (entry.pod && !entry.held_node.empty() &&
		(entry.pod->deleting != pod.deleting || entry.pod->labels != pod.labels))
		nearby_pods_changed();
	/* Another client, such as an earlier agent, has changed the condition: ours is written
	 * again. */
	if (entry.pod && entry.pod->not_scheduled != pod.not_scheduled &&
		pod.not_scheduled != entry.reported)
		entry.reported = {};
	entry.inherited_keys.clear();
	entry.pod = std::move(pod);
	entry.own_deadline_seconds = entry.pod->active_deadline_seconds;
	note_marks(entry);
	inherit(entry, std::move(entry.inherited));
	if (!entry.grouping_known)
		assign(uid, entry, now);
	note_strays(uid);
	settle_share(uid, entry, now);
}

void World::note_end(const PodUid &uid, PodEntry &entry, const Pod &pod, Now now)
{
	if (entry.terminal_us != 0 || !is_terminal(pod))
		return;
	entry.terminal_us = now.mono_us;
	entry.end_status = wait_status_of(pod);
	if (const auto own = state_.components.find(uid); own != state_.components.end())
		/* failures so far were about the life of the pod */
		own->second.is_refused = false;
	retry_now(uid);
}

void World::pod_gone(const PodUid &uid, std::optional<Pod> last, Now now)
{
	const auto found = state_.pods.find(uid);
	if (found == state_.pods.end())
		return;
	PodEntry &entry = touch_pod(uid);
	seen_again(uid, entry);
	entry.saw_deletion = last.has_value();
	if (last)
		note_end(uid, entry, *last, now);
	if (entry.deleted_us == 0)
		entry.deleted_us = now.mono_us;
	entry.gone_us = now.mono_us;
	if (last)
		entry.last = std::make_shared<const Pod>(std::move(*last));
	else if (entry.pod)
		entry.last = std::make_shared<const Pod>(std::move(*entry.pod));
	entry.pod.reset();
	entry.assumed_node.clear();
	settle_share(uid, entry, now);
}

void World::pods_listed(const std::set<std::string> &live_uids, Now now)
{
	std::vector<PodUid> gone;
	for (const auto &[uid, entry] : state_.pods) {
		if (entry.pod && !live_uids.contains(uid.text))
			gone.push_back(uid);
	}
	for (const PodUid &uid : gone)
		note_unseen(uid, now);
	state_.sync.listed(Sync::List::pods);
	retry_all();
}

/* The API server or slurmctld is back: back-offs end. */
void World::retry_all()
{
	for (auto &[uid, entry] : state_.pods) {
		entry.retries = {};
		queue_.mark(uid);
	}
	for (auto &[key, component] : state_.components) {
		component.retries = component.is_refused ? component.retries : Retries{};
		queue_.mark(key);
	}
}

/* A pod holds its share of a node from its binding to its end; after a deletion that did not wait
 * for the containers, for some time longer. */
void World::settle_share(const PodUid &uid, PodEntry &entry, Now now)
{
	std::string wanted;
	if (entry.pod && !is_terminal(*entry.pod))
		wanted = entry.pod->node_name.empty() ? entry.assumed_node : entry.pod->node_name;
	const bool is_seen =
		entry.pod ? !entry.pod->node_name.empty() : now.mono_us >= entry.late_until_us;
	if (is_seen)
		entry.late_until_us = 0;
	const bool may_be_late = entry.late_until_us > 0 && entry.held_node == entry.late_node;
	if (wanted.empty() && may_be_late && (!entry.pod || !is_terminal(*entry.pod)))
		return;
	const bool was_cut_off =
		!entry.pod && entry.last && !is_terminal(*entry.last) && !entry.held_node.empty();
	if (was_cut_off) {
		if (entry.hold_until_us == 0) {
			entry.hold_until_us = now.mono_us + state_.settings.forced_delete_hold_us;
			look_later(uid, entry.hold_until_us);
		}
		if (now.mono_us < entry.hold_until_us)
			return;
	}
	if (entry.held_node == wanted) {
		if (!wanted.empty() && state_.occupancy.take(wanted, uid, entry.pod->requests))
			wake_waiters(wanted); /* the pod was resized in place */
		return;
	}
	nearby_pods_changed();
	changes_.note(entry.held_node);
	changes_.note(wanted);
	if (!entry.held_node.empty() && state_.occupancy.release(entry.held_node, uid))
		wake_waiters(entry.held_node);
	if (!wanted.empty())
		(void)state_.occupancy.take(wanted, uid, entry.pod->requests);
	entry.held_node = wanted;
}

/*
 * An API server that was away may have carried the binding out before, and its watch may not have
 * shown it yet. So the share is freed only when a GET has said that the pod is unbound, however
 * long that takes.
 */
void World::look_for_late_binding(
	const PodUid &uid, PodEntry &entry, Now now, std::vector<PodAction> &out)
{
	const bool is_open = entry.pod && entry.late_until_us > 0 &&
		entry.held_node == entry.late_node && entry.assumed_node.empty();
	if (!is_open || now.mono_us < std::max(entry.late_until_us, entry.look_quiet_until_us) ||
		entry.busy.look)
		return;
	entry.busy.look = true;
	out.push_back({uid, LookUp{entry.pod->name_space, entry.pod->name}});
}

void World::wake_waiters(const std::string &node)
{
	nodes_.mark(node);
	const auto found = waiters_.find(node);
	if (found == waiters_.end())
		return;
	for (const PodUid &uid : found->second) {
		queue_.mark(uid);
		const Component *component = state_.component(uid);
		if (component && !component->crowded.empty())
			reviews_.add(uid); /* the pending job excludes this node */
	}
	waiters_.erase(found);
}

/* The component of a pod alone goes with the pod. Other components go with their gangs. */
void World::drop_if_empty(const PodUid &uid)
{
	const PodEntry *entry = state_.entry(uid);
	const Component *component = state_.component(uid);
	if (state_.gangs.contains(uid))
		return;
	if (entry &&
		(entry->pod || !entry->held_node.empty() || entry->busy.bind ||
			entry->busy.remove || entry->busy.report || entry->busy.claim))
		return;
	if (component &&
		(!component->jobs.empty() || !component->unheard_of.empty() ||
			component->busy.slurm))
		return;
	if (const auto others = entry ? state_.standalone.find(entry->standalone_of)
				      : state_.standalone.end();
		others != state_.standalone.end() && others->second.erase(uid) > 0 &&
		others->second.empty())
		state_.standalone.erase(others);
	state_.pods.erase(uid);
	state_.components.erase(uid);
	unanswered_.forget(uid);
	clocks_.forget(uid);
	forget_constraints(uid);
}

/* ---- nodes ---- */

void World::node_seen(KubeNode node, Now now)
{
	const std::string name = node.name;
	KubeNode &known = state_.kube_nodes[name];
	if (known == node)
		return;
	/* It is ours, and the cause of nothing. */
	known.slurm_drain = node.slurm_drain;
	if (known == node)
		return nodes_.report_seen(name);
	changes_.note(name);
	const bool was_ready = known.ready;
	if (known.uid.empty() || label_of_slurm(known) != label_of_slurm(node))
		nodes_.namer().changed();
	const bool has_rebooted = known.boot_id != node.boot_id;
	known = std::move(node);
	nodes_.kube_changed(known, was_ready, now);
	state_.taints.node_seen(
		known, [this](const Taint &taint) { return is_tolerated_by_any(taint); });
	filter_.forget(name);
	place_changed();
	wake_waiters(name);
	/* Slurm does not end the jobs of a hybrid node whose kubelet is away, or that was rebooted,
	 * so we watch them. */
	for (const PodUid &uid :
		is_hybrid(state_.slurm_node(name)) && (!known.ready || has_rebooted)
			? state_.occupancy.holders(name)
			: std::vector<PodUid>())
		queue_.mark(state_.component_key_of(uid));
}

void World::node_gone(const std::string &name, Now now)
{
	state_.kube_nodes.erase(name);
	changes_.note(name);
	nodes_.namer().changed();
	nodes_.kube_gone(name, now);
	filter_.forget(name);
	/* Slurm still gives it to jobs */
	if (is_hybrid(state_.slurm_node(name)))
		place_changed();
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
	nodes_.namer().changed();
	for (const auto &[name, node] : state_.slurm_nodes)
		nodes_.mark(name);
}

} // namespace slurmkube::core
