/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about one pod with a rank, and about the node that it was given. */
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/world/facts_reader.h"
#include "src/core/world/parts.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* A binding that fails once or twice is not worth a write to the API server. */
constexpr unsigned k_told_failures = 4;

/* slurmkube-node's own words: any other failure passes, or is for the kubelet to repeat. */
bool is_refused_for_job(const std::string &waiting_reason)
{
	const auto has = [&](const char *words) {
		return waiting_reason.find(words) != std::string::npos;
	};
	return waiting_reason.starts_with("CreateContainerError") && has("slurm-kube: ") &&
		(has(names::k_refused_ended) || has(names::k_refused_no_processors));
}

/* Since the pod was bound, so its job has no processors there any more, and slurmkube-node refuses
 * its containers. Slurm itself may not end a job without steps then (job_mgr.c,
 * _purge_missing_jobs()). The refusal must be seen: where slurmd is up before the kubelet, a pod
 * can be bound in the new boot while the node still shows the old one. */
bool has_rebooted(const KubeNode &node, const Pod &pod)
{
	const auto bound = pod.annotations.find(names::k_allocation_boot_id);
	return bound != pod.annotations.end() && !node.boot_id.empty() &&
		bound->second != node.boot_id && !pod.container_runs &&
		is_refused_for_job(pod.waiting_reason);
}

} // namespace

InFlight in_flight_of(const PodEntry &entry, Now now)
{
	InFlight busy = entry.busy;
	busy.remove = busy.remove || now.mono_us < entry.remove_quiet_until_us;
	busy.look = busy.look || now.mono_us < entry.look_quiet_until_us;
	return busy;
}

InFlight in_flight_of(const Component &component, const PodEntry *entry, Now now)
{
	InFlight busy = entry ? in_flight_of(*entry, now) : InFlight{};
	busy.slurm = component.busy.slurm || now.mono_us < component.slurm_quiet_until_us;
	busy.look = busy.look || component.busy.look || now.mono_us < component.look_quiet_until_us;
	return busy;
}

bool FactsReader::is_deletion_slow(const Pod &pod) const
{
	return pod.deleting && state_.settings.grace_most_seconds > 0 &&
		pod.deletion_grace_seconds > state_.settings.grace_most_seconds;
}

/*
 * The clock runs only while the wait is charged and the node's kubelet could report that the pod
 * has started. A restarted agent starts again, because it does not know what happened before.
 */
bool FactsReader::is_start_expired(
	const PodUid &uid, const PodEntry &entry, const SlurmJob *job) const
{
	const KubeNode *home =
		entry.pod->node_name.empty() ? nullptr : state_.kube_node(entry.pod->node_name);
	const bool is_due = home && home->ready && side_of(entry) == PodSide::running &&
		job_side(job) == JobSide::allocated && is_starting(*entry.pod);
	const std::int64_t limit_us = state_.settings.start_limit_us;
	const std::int64_t started_us = found_.since(uid, Clock::starting, is_due && limit_us > 0);
	if (started_us == 0)
		return false;
	const std::int64_t since =
		std::max(started_us, nodes_.ready_since_us(entry.pod->node_name));
	if (now_.mono_us < since + limit_us)
		found_.look_later(uid, since + limit_us);
	return now_.mono_us >= since + limit_us;
}

/* No event tells when the API server has confirmed it. */
bool FactsReader::is_on_lost_node(const PodUid &uid, const PodEntry &entry) const
{
	constexpr std::int64_t k_look_us = 1'000'000;
	const std::string node = bound_node_of(entry);
	const SlurmNode *record = is_bound_side(side_of(entry)) ? state_.slurm_node(node) : nullptr;
	const KubeNode *home = record && record->is_hybrid ? state_.kube_node(node) : nullptr;
	if (home && has_rebooted(*home, *entry.pod))
		return true;
	if (!home || home->ready)
		return false;
	found_.look_later(uid, now_.mono_us + k_look_us);
	return nodes_.is_lost(node, state_.slurm_nodes.size(), state_.settings.nodes, now_);
}

/* Nothing if the pod has another job since, or if Slurm runs the ended job again: then it lives. */
std::optional<DeletePod> FactsReader::eviction_of(const PodEntry &entry, const SlurmJob *job) const
{
	if (!entry.eviction || (job && is_live(*job) && job->id != entry.eviction->own_job))
		return std::nullopt;
	const auto ended = state_.jobs.find(entry.eviction->ended_job);
	if (ended != state_.jobs.end() && is_live(ended->second))
		return std::nullopt;
	return entry.eviction;
}

/* Everything but the rank and its node, which the caller adds. component: the one whose job the pod
 * has. */
RankFacts FactsReader::facts_of_rank(const PodUid &uid, const PodEntry &entry,
	const Component &component, const SlurmJob *job) const
{
	RankFacts r;
	r.uid = uid;
	r.pod = &*entry.pod;
	r.side = side_of(entry);
	r.busy = in_flight_of(entry, now_);
	r.may_retry = now_.mono_us >= entry.retries.retry_at_us;
	r.bind_failure = entry.bind_failure;
	r.tells_failure = r.bind_failure &&
		(is_refusal(*r.bind_failure) || entry.retries.failures >= k_told_failures);
	if (entry.claim_failure &&
		(is_refusal(*entry.claim_failure) || entry.retries.failures >= k_told_failures))
		r.claim_failure = entry.claim_failure;
	r.is_asked_for = entry.busy.look;
	r.look_trouble = entry.look_trouble;
	r.first_seen_us = entry.first_seen_us;
	r.is_watched = entry.is_watched;
	r.is_deletion_slow = is_deletion_slow(*r.pod);
	r.is_of_before = r.side == PodSide::ended && job && entry.pod_attempt < job->marker.attempt;
	if (r.side != PodSide::waiting || job_side(job) != JobSide::allocated)
		/* the next allocation gets the full time */
		for (const Clock clock : {Clock::claims, Clock::devices})
			(void)found_.since(uid, clock, false);
	r.eviction = eviction_of(entry, job);
	r.is_on_lost_node = state_.is_known() && is_on_lost_node(uid, entry);
	r.start_expired = state_.is_known() && is_start_expired(uid, entry, job);
	if (job_side(job) == JobSide::ended) {
		r.is_after_end = entry.component &&
			is_made_after(r, *job, component.end_seen_us_of(job->id));
		r.is_about = is_about_pod(*r.pod, component, *job);
	}
	return r;
}

/* For a pod that waits and was given that node. key: of its component. */
PlaceFacts FactsReader::facts_of_place(
	const PodUid &uid, const PodEntry &entry, const PodUid &key, std::string name) const
{
	PlaceFacts n;
	n.name = std::move(name);
	const KubeNode *node = state_.kube_node(n.name);
	const SlurmNode *record = state_.slurm_node(n.name);
	n.has_record = record;
	n.is_usable = node && node->ready && record;
	n.is_native = !n.name.empty() && !node && !record;
	if (n.is_native && is_surely_native(key, state_.components.at(key)))
		n.forbidden = k_native_node;
	if (!n.name.empty() && is_lost(n.name))
		n.forbidden = k_not_managed;
	if (!n.is_usable)
		return n;
	const Resources room = filter_.room_on(state_, *node);
	n.has_room = entry.held_node == n.name ||
		state_.occupancy.has_room(n.name, room, entry.pod->requests);
	/* If pods hold more than the node has, giving back does not help the other pod to its
	 * job. */
	n.is_in_the_way =
		!n.has_room && state_.occupancy.has_room(n.name, room, {}) && must_give_way(n.name);
	filter_.check(state_, uid, entry, *node, n);
	if (!n.has_room)
		n.room_holder = holder_text(n.name);
	else if (n.forbidden.empty())
		check_claims(uid, entry, *node, n);
	return n;
}

/* Whether a pod runs on the node whose own job waits for these very resources. */
bool FactsReader::must_give_way(const std::string &node) const
{
	for (const PodUid &uid : state_.occupancy.holders(node)) {
		const Pod *pod = state_.pod(uid);
		if (!pod || pod->deleting || pod->node_name.empty())
			continue;
		const SlurmJob *job = state_.job_of(uid);
		if (job_side(job) == JobSide::pending && !job->held)
			return true;
	}
	return false;
}

/* Whether the node is an external node that Kubernetes does not show as managed, and that Slurm
 * gives to no further job. */
bool FactsReader::is_lost(const std::string &node) const
{
	const auto slurm = state_.slurm_nodes.find(node);
	return !state_.kube_nodes.contains(node) && slurm != state_.slurm_nodes.end() &&
		(slurm->second.drain || slurm->second.base == NodeBase::down);
}

} // namespace slurmkube::core
