/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of World that observes jobs, nodes in Slurm, and the link to slurmctld. */
#include "src/core/model/natural_order.h"
#include "src/core/model/outcome.h"
#include "src/core/world/parts.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* Slurm has used the number again: a slurmctld that was restored does not know the first job. */
bool is_another(const SlurmJob &known, const SlurmJob &seen)
{
	return known.marker.uid != seen.marker.uid ||
		(!is_live(known) && is_live(seen) && seen.submit_time > known.submit_time);
}

} // namespace

void World::link_opened(PluginHello hello)
{
	doubt_lists(hello);
	if (!hello.has_same_state(state_.sync.plugin())) {
		/* The slurmctld before may have been killed before it had saved the jobs that it
		 * had answered with. */
		for (const auto &[id, until] : std::exchange(provisional_until_us_, {}))
			forget_job(id);
		/* The numbers may belong to other jobs. Ends that were asked for stay: after a
		 * reconfiguration from 23.11 on, requests that wait in the listening socket reach
		 * the new process (_try_to_reconfig() in controller.c). */
		for (auto &[key, component] : state_.components)
			component.unheard_of.clear();
		state_.recordless_nodes.clear();
	}
	state_.sync.opened(std::move(hello));
	state_.clusters.forget_other_names();
	snapshot_jobs_.clear();
	snapshot_nodes_.clear();
}

void World::job_seen(SlurmJob job, Now now)
{
	if (job.marker.cluster != state_.settings.policy.cluster) {
		/* a job for another Kubernetes cluster: not ours to touch */
		state_.clusters.note_other_name(job);
		return queue_.mark(PodUid{job.marker.uid});
	}
	state_.clusters.forget_other_name(job.id);
	std::ranges::sort(job.nodes, natural_less, &NodeAllocation::node);
	if (!state_.sync.has_link()) {
		snapshot_jobs_.push_back(std::move(job));
		return;
	}
	provisional_until_us_.erase(job.id);
	const PodUid uid{job.marker.uid};
	if (const auto component = state_.components.find(uid);
		component != state_.components.end())
		forget_unheard(component->second, job.id);
	if (job.state == JobState::unknown)
		/* Slurm is newer than the plugin. What is known of the job stays, because nothing
		 * may be ended or deleted because of a state that cannot be read. */
		return;
	if (job.marker.kind != k_pod_kind)
		gang_at(uid,
			{job.marker.uid, job.marker.kind, job.marker.name_space, job.marker.name},
			now);
	remember_job(uid, std::move(job), now);
}

/* Notes a job of ours, after slurmctld has reported all its jobs. */
void World::remember_job(const PodUid &uid, SlurmJob job, Now now)
{
	const auto known = state_.jobs.find(job.id);
	if (known != state_.jobs.end() && is_another(known->second, job))
		forget_job(job.id);
	Component &component = touch_component(uid);
	if (std::ranges::find(component.jobs, job.id) == component.jobs.end())
		component.jobs.push_back(job.id);
	note_job_times(component, job, now);
	/* A restored slurmctld may run it again, or have it wait again. */
	const AskedEnd *asked = component.asked_ends.find(job.id);
	if (asked && !is_live(job))
		component.asked_ends.withdraw(job.id);
	else if (asked && !asked->is_cancel && job_side(&job) == JobSide::pending)
		withdraw_end(component, job.id);
	if (is_live(job))
		note_stray(uid, component, job);
	else if (state_.peers.is_constrained(uid))
		nearby_pods_changed();
	leave_with_job(uid, job);
	state_.clusters.note(job);
	/* A restarted slurmctld does not know that the prolog had not finished when the job
	 * ended. */
	if (const auto before = state_.jobs.find(job.id);
		before != state_.jobs.end() && job_side(&job) == JobSide::ended)
		job.configuring |= before->second.configuring;
	if (is_live(job))
		forget_evictions(uid, component, job.id);
	changes_.note(job.id);
	state_.jobs[job.id] = std::move(job);
	if (state_.peers.is_constrained(uid))
		wake_waiting_for_peer();
}

/* The pods live, because Slurm runs their job again, or because they have another one. */
void World::forget_evictions(const PodUid &key, Component &component, JobId live)
{
	const auto before = state_.jobs.find(live);
	if (before != state_.jobs.end() && !is_live(before->second)) {
		for (auto &[uid, entry] : state_.pods) /* also those of other components */
			if (entry.eviction && entry.eviction->ended_job == live)
				entry.eviction.reset();
	}
	if (!std::exchange(component.has_evictions, false))
		return;
	const auto forget = [&](PodEntry &entry) {
		if (entry.eviction &&
			(entry.eviction->ended_job == live || entry.eviction->own_job != live))
			entry.eviction.reset();
		component.has_evictions |= entry.eviction.has_value();
	};
	if (const auto gang = state_.gangs.find(key); gang != state_.gangs.end()) {
		for (const auto &[uid, rank] : gang->second.members)
			forget(state_.pods.at(uid));
	} else if (const auto alone = state_.pods.find(key); alone != state_.pods.end()) {
		forget(alone->second);
	}
}

/* If a job was submitted for the pod alone, before this agent knew its owners, the pod leaves the
 * gang. */
void World::leave_with_job(const PodUid &uid, const SlurmJob &job)
{
	const PodEntry *entry = state_.entry(uid);
	if (job.marker.kind == k_pod_kind && is_live(job) && entry && entry->component &&
		entry->pod && !is_bound_member(*entry))
		leave(state_.gangs.at(*entry->component), uid);
}

/* Noted while the job lives, because an ended job does not show on which nodes it was. */
void World::note_stray(const PodUid &key, Component &component, const SlurmJob &job)
{
	if (state_.stands_for(key, component, job))
		component.strays.erase(job.id);
	else
		component.strays.insert(job.id);
}

void World::note_strays(const PodUid &key)
{
	const auto found = state_.components.find(key);
	if (found == state_.components.end())
		return;
	for (const JobId id : found->second.jobs) {
		if (is_live(state_.jobs.at(id)))
			note_stray(key, found->second, state_.jobs.at(id));
	}
}

void World::note_job_times(Component &component, const SlurmJob &job, Now now)
{
	const JobSide side = job_side(&job);
	if (side == JobSide::allocated && component.allocated_us == 0) {
		component.allocated_us = now.mono_us;
		if (component.submitted_us > 0)
			figures_.stage_latencies.submit_to_allocated.add(
				static_cast<std::uint64_t>(now.mono_us - component.submitted_us));
	}
	if (side != JobSide::ended)
		return;
	const auto before = state_.jobs.find(job.id);
	if (before != state_.jobs.end() && is_live(before->second))
		component.note_end_seen(job.id, now.mono_us);
	else if (component.job_ended_us == 0)
		component.job_ended_us = now.mono_us;
}

void World::forget_job(JobId id)
{
	const auto known = state_.jobs.find(id);
	if (known == state_.jobs.end())
		return;
	const PodUid uid{known->second.marker.uid};
	Component &component = touch_component(uid);
	/* Slurm may use the number again, even for the same pod. */
	for (auto *list : {&component.jobs, &component.answered, &component.given_up})
		std::erase(*list, id);
	forget_unheard(component, id);
	component.strays.erase(id);
	component.asked_ends.forget(id);
	state_.clusters.forget(id);
	changes_.note(id);
	state_.jobs.erase(known);
	provisional_until_us_.erase(id);
}

void World::job_gone(JobId id, Now now)
{
	queue_.mark(PodUid{state_.clusters.forget_other_name(id)});
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
	state_.native_jobs.note_completing(name, node.is_hybrid && node.completing);
	changes_.note(name);
	nodes_.slurm_told(name);
	const auto known = state_.slurm_nodes.find(name);
	const bool is_new = known == state_.slurm_nodes.end();
	const bool is_other = is_new ||
		std::tie(known->second.cpus, known->second.memory_mib, known->second.gres,
			known->second.extra, known->second.is_hybrid) !=
			std::tie(node.cpus, node.memory_mib, node.gres, node.extra, node.is_hybrid);
	if (is_other)
		filter_.forget_exclusions();
	state_.slurm_nodes.insert_or_assign(name, std::move(node));
	state_.recordless_nodes.erase(name);
	/* Pods with an allocation there give it back when the node is out of service. */
	if (is_new || !state_.kube_nodes.contains(name))
		wake_waiters(name);
	if (is_other) {
		place_changed();          /* pods that were too large may fit */
		nodes_.namer().changed(); /* it may be hybrid now */
	}
}

void World::slurm_node_gone(const std::string &name)
{
	nodes_.namer().changed();
	state_.slurm_nodes.erase(name);
	state_.native_jobs.note_completing(name, false);
	changes_.note(name);
	filter_.forget_exclusions();
	std::erase_if(snapshot_nodes_, [&](const SlurmNode &node) { return node.name == name; });
	nodes_.slurm_told(name);
}

void World::snapshot_ended(Now now)
{
	state_.sync.synced(now);
	nodes_.namer().changed();
	std::set<JobId> present;
	for (const SlurmJob &job : snapshot_jobs_)
		present.insert(job.id);
	std::vector<JobId> absent;
	for (const auto &[id, job] : state_.jobs) {
		const auto provisional = provisional_until_us_.find(id);
		if (!present.contains(id) &&
			(provisional == provisional_until_us_.end() ||
				provisional->second <= now.mono_us))
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
		nodes_.mark(name); /* it may have been deleted from Slurm */
	state_.slurm_nodes.clear();
	state_.native_jobs.forget_completing();
	state_.native_jobs.forget_answers(now.mono_us);
	filter_.forget_exclusions();
	for (SlurmNode &node : std::exchange(snapshot_nodes_, {}))
		slurm_node_seen(std::move(node));
	retry_all();
	for (const auto &[name, node] : state_.kube_nodes)
		nodes_.mark(name);
}

} // namespace slurmkube::core
