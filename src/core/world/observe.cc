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
		edges_.bound_to_running.add(static_cast<std::uint64_t>(now.mono_us - group.bound_us));
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

/* ---- Slurm ---- */

void World::link_opened(PluginHello hello)
{
	doubt_lists(hello);
	if (hello.pid != state_.sync.plugin().pid) {
		/* another slurmctld: it may have been killed before it saved what it had answered */
		for (const auto &[id, until] : std::exchange(provisional_until_us_, {}))
			forget_job(id);
		for (auto &[uid, group] : state_.groups)
			group.unheard_of.clear(); /* their numbers may be other jobs' now */
	}
	state_.sync.opened(std::move(hello));
	state_.clusters.forget_other_names();
	snapshot_jobs_.clear();
	snapshot_nodes_.clear();
}

void World::link_lost()
{
	state_.sync.lost();
}

void World::job_seen(SlurmJob job, Now now)
{
	if (job.marker.cluster != state_.settings.policy.cluster)
		return state_.clusters.note_other_name(job); /* of another Kubernetes cluster: not ours to touch */
	state_.clusters.forget_other_name(job.id);
	std::ranges::sort(job.nodes, natural_less, &NodeAllocation::node);
	if (!state_.sync.has_link()) {
		snapshot_jobs_.push_back(std::move(job));
		return;
	}
	provisional_until_us_.erase(job.id);
	const PodUid uid{job.marker.uid};
	if (const auto group = state_.groups.find(uid); group != state_.groups.end())
		std::erase(group->second.unheard_of, job.id);
	if (job.state == JobState::unknown)
		return; /* of a Slurm that is newer than the plugin: what is known of the job stays, since nothing may be ended or deleted for a word that cannot be read */
	if (job.marker.kind != k_pod_kind)
		gang_at(uid, {job.marker.uid, job.marker.kind, job.marker.name_space, job.marker.name}, now);
	const auto known = state_.jobs.find(job.id);
	if (known != state_.jobs.end() && known->second.marker.uid != job.marker.uid)
		forget_job(job.id); /* Slurm used the number again */
	Group &group = touch(uid);
	if (std::find(group.jobs.begin(), group.jobs.end(), job.id) == group.jobs.end())
		group.jobs.push_back(job.id);
	note_job_times(group, job, now);
	if (is_live(job))
		note_stray(group, job);
	else if (state_.peers.is_choosy(uid))
		company_changed();
	/* it was asked for alone before this agent knew whose it is */
	if (job.marker.kind == k_pod_kind && is_live(job) && group.gang && group.pod && !is_bound_member(group))
		leave(state_.gangs.at(*group.gang), uid);
	state_.clusters.note(job);
	/* a slurmctld that has restarted does not know that the prolog of a job was not over when it ended */
	if (const auto before = state_.jobs.find(job.id); before != state_.jobs.end() && job_side(&job) == JobSide::ended)
		job.configuring |= before->second.configuring;
	state_.jobs[job.id] = std::move(job);
	if (state_.peers.is_choosy(uid))
		wake_behind();
}

/* Its end will not show where it was. */
void World::note_stray(Group &group, const SlurmJob &job)
{
	if (stands_for_pod(group, job))
		group.strays.erase(job.id);
	else
		group.strays.insert(job.id);
}

void World::note_job_times(Group &group, const SlurmJob &job, Now now)
{
	const JobSide side = job_side(&job);
	if (side == JobSide::allocated && group.allocated_us == 0) {
		group.allocated_us = now.mono_us;
		if (group.submitted_us > 0)
			edges_.submit_to_allocated.add(static_cast<std::uint64_t>(now.mono_us - group.submitted_us));
	}
	if (side == JobSide::ended && group.job_ended_us == 0)
		group.job_ended_us = now.mono_us;
}

void World::forget_job(JobId id)
{
	const auto known = state_.jobs.find(id);
	if (known == state_.jobs.end())
		return;
	const PodUid uid{known->second.marker.uid};
	Group &group = touch(uid);
	for (auto *list : {&group.jobs, &group.answered, &group.given_up, &group.unheard_of}) /* Slurm may use the number again, for the same pod even */
		std::erase(*list, id);
	group.strays.erase(id);
	state_.clusters.forget(id);
	state_.jobs.erase(known);
	provisional_until_us_.erase(id);
}

void World::job_gone(JobId id, Now now)
{
	state_.clusters.forget_other_name(id);
	const auto known = state_.jobs.find(id);
	if (state_.sync.has_link() && known != state_.jobs.end() && is_live(known->second))
		note_vanished({known->second.marker.uid}, id, now);
	if (state_.sync.has_link())
		forget_job(id);
	else
		std::erase_if(snapshot_jobs_, [&](const SlurmJob &job) { return job.id == id; });
}

void World::slurm_node_seen(SlurmNode node)
{
	if (!state_.sync.has_link()) {
		snapshot_nodes_.push_back(std::move(node));
		return;
	}
	const std::string name = node.name;
	nodes_.slurm_told(name);
	const auto known = state_.slurm_nodes.find(name);
	const bool is_new = known == state_.slurm_nodes.end();
	const bool is_other = is_new || std::tie(known->second.cpus, known->second.memory_mib, known->second.gres) != std::tie(node.cpus, node.memory_mib, node.gres);
	if (is_other)
		filter_.forget_places();
	state_.slurm_nodes.insert_or_assign(name, std::move(node));
	if (is_new || !state_.kube_nodes.contains(name)) /* who has an allocation there gives it back once the node is out of use */
		wake_waiters(name);
	if (is_other)
		place_changed(); /* pods that were too large may fit */
}

void World::slurm_node_gone(const std::string &name)
{
	state_.slurm_nodes.erase(name);
	filter_.forget_places();
	std::erase_if(snapshot_nodes_, [&](const SlurmNode &node) { return node.name == name; });
	nodes_.slurm_told(name);
}

void World::snapshot_ended(Now now)
{
	state_.sync.synced(now);
	std::set<JobId> present;
	for (const SlurmJob &job : snapshot_jobs_)
		present.insert(job.id);
	std::vector<JobId> absent;
	for (const auto &[id, job] : state_.jobs) {
		const auto provisional = provisional_until_us_.find(id);
		if (!present.contains(id) && (provisional == provisional_until_us_.end() || provisional->second <= now.mono_us))
			absent.push_back(id);
	}
	for (const JobId id : absent) {
		if (is_live(state_.jobs.at(id)))
			note_vanished({state_.jobs.at(id).marker.uid}, id, now);
		forget_job(id);
	}
	for (SlurmJob &job : std::exchange(snapshot_jobs_, {}))
		job_seen(std::move(job), now);
	for (const auto &[name, node] : state_.slurm_nodes)
		nodes_.mark(name); /* it may be none of Slurm's any more */
	state_.slurm_nodes.clear();
	filter_.forget_places();
	for (SlurmNode &node : std::exchange(snapshot_nodes_, {}))
		slurm_node_seen(std::move(node));
	retry_all();
	for (const auto &[name, node] : state_.kube_nodes)
		nodes_.mark(name);
}

} // namespace slurmkube::core
