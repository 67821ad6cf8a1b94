/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The answering half of World: notes how actions ended. */
#include "src/core/model/outcome.h"
#include "src/core/reconcile/report.h"
#include "src/core/world/parts.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_first_retry_us = 250'000;
constexpr std::int64_t k_longest_retry_us = 30'000'000;
constexpr unsigned k_doublings_most = 10;
/* An administrator may have changed a limit or an account by then. */
constexpr std::int64_t k_refused_retry_us = 60'000'000;
/* the change that we conflicted with is on its way to us */
constexpr std::int64_t k_conflict_retry_us = 1'000'000;
/* How long it takes from an answer until the watch or the link shows the effect. Ends early when
 * they do. */
constexpr std::int64_t k_effect_us = 3'000'000;
/* How long an API server that has stalled may take to carry out a request that its client has given
 * up. */
constexpr std::int64_t k_late_binding_us = 5'000'000;
constexpr std::int64_t k_provisional_us = 10'000'000;
/* To cancel a job that the plugin has never reported, although it reports all with our marker. */
constexpr unsigned k_unheard_tries_most = 6;
constexpr std::int64_t k_look_again_us = 5'000'000;
/* For pods of a gang that this agent has not seen: each look-up lists their namespace. */
constexpr std::int64_t k_list_again_us = 60'000'000;

/* Back-off also after a 403: an API server that has just started forbids everything until it has
 * read its roles. */
std::int64_t retry_delay_us(const Error &error, unsigned failures)
{
	if (error.code == Errc::conflict)
		return k_conflict_retry_us;
	return std::min(
		k_first_retry_us << std::min(failures, k_doublings_most), k_longest_retry_us);
}

} // namespace

std::string namespace_of(const PodEntry *entry)
{
	const Pod *pod = !entry ? nullptr : entry->pod ? &*entry->pod : entry->last.get();
	return pod ? pod->name_space : "";
}

std::string namespace_of(const State &state, const PodUid &key)
{
	const auto gang = state.gangs.find(key);
	return gang == state.gangs.end() ? namespace_of(state.entry(key))
					 : gang->second.id.name_space;
}

void World::note_answer(const PodUid &uid, const Error *error, Now now)
{
	queue_.mark(unanswered_.note(uid, error, now));
	if (unanswered_.count(uid) > 0)
		look_later(uid, unanswered_.next_us(uid));
}

void World::failed(Retries &retries, const PodUid &uid, const Error &error, Now now)
{
	retries.retry_at_us = now.mono_us + retry_delay_us(error, retries.failures);
	retries.failures++;
	look_later(uid, retries.retry_at_us);
}

void World::retry_now(const PodUid &key)
{
	if (const auto entry = state_.pods.find(key); entry != state_.pods.end()) {
		entry->second.retries = {};
		if (std::exchange(entry->second.look_failures, 0) > 0)
			entry->second.look_quiet_until_us = 0;
	}
	clocks_.stop(key, Clock::unbindable);
	if (const auto component = state_.components.find(key);
		component != state_.components.end() && !component->second.is_refused)
		component->second.retries = {};
}

void World::note_unsubmitted(const PodUid &pod, Component &component, const Error &error, Now now)
{
	figures_.counters.submit_failed++;
	failed(component.retries, pod, error, now);
	component.is_refused = is_refusal(error);
	if (component.is_refused) {
		component.retries.retry_at_us = now.mono_us + k_refused_retry_us;
		look_later(pod, component.retries.retry_at_us);
	}
	if (error.code == Errc::not_found)
		state_.recordless_nodes.clear(); /* Slurm may have deleted a node since */
	if (error.code != Errc::conflict)
		component.trouble = unanswered_.count(pod) > 0 ? unanswered_.text(pod, error, now)
							       : submission_failed(error);
}

/* The job as far as the answer describes it. The plugin reports the rest within moments. */
SlurmJob World::job_as_answered(
	const PodUid &pod, const Component &component, const Submitted &answer) const
{
	SlurmJob job;
	job.id = answer.job;
	job.marker.cluster = state_.settings.policy.cluster;
	job.marker.cluster_uid = state_.settings.policy.cluster_uid;
	job.marker.uid = pod.text;
	const PodEntry *alone = state_.entry(pod);
	if (const Pod *p = !alone ? nullptr : alone->pod ? &*alone->pod : alone->last.get()) {
		job.marker.name_space = p->name_space;
		job.marker.name = p->name;
	}
	job.marker.attempt = component.submitted_attempt;
	job.partition = answer.partition;
	job.account = answer.account;
	job.user_id = answer.user_id;
	job.marker.kind = k_pod_kind;
	const auto gang = state_.gangs.find(pod);
	if (gang != state_.gangs.end()) { /* the answer has room for one node only */
		job.marker.kind = gang->second.id.kind;
		job.marker.name_space = gang->second.id.name_space;
		job.marker.name = gang->second.id.name;
	}
	const bool is_told = gang == state_.gangs.end() && !answer.node.empty();
	job.state = is_told ? JobState::running : JobState::pending;
	/* the answer does not say whether the job is configuring */
	job.configuring = is_told &&
		(state_.sync.plugin().has_prolog || is_hybrid(state_.slurm_node(answer.node)));
	if (is_told)
		job.nodes.push_back({.node = answer.node,
			.cpus = answer.cpus,
			.core_ids = "",
			.memory_mib = 0,
			.gres = {}});
	return job;
}

void World::submitted(const PodUid &pod, const Result<Submitted> &answer, Now now)
{
	Component &component = touch_component(pod);
	component.busy.slurm = false;
	note_answer(pod, answer ? nullptr : &answer.error(), now);
	wake_waiting_for_peer();
	if (!answer)
		return note_unsubmitted(pod, component, answer.error(), now);
	figures_.counters.submitted++;
	component.trouble.reset();
	component.is_refused = false;
	component.retries.failures = 0;
	component.answered.push_back(answer->job);
	component.asked_ends.forget(answer->job);
	if (const auto known = state_.jobs.find(answer->job); known != state_.jobs.end()) {
		if (known->second.marker.uid == pod.text)
			/* the plugin's report came first, and contains more */
			return;
		forget_job(answer->job); /* Slurm has used the number again */
	}
	SlurmJob job = job_as_answered(pod, component, *answer);
	job.submit_time = now.wall_s;
	component.jobs.push_back(job.id);
	note_job_times(component, job, now);
	provisional_until_us_[job.id] = now.mono_us + k_provisional_us;
	look_later(pod, now.mono_us + k_provisional_us);
	changes_.note(job.id);
	state_.jobs[job.id] = std::move(job);
}

void World::completed(const PodUid &pod, const Status &answer, bool was_cancel, Now now)
{
	Component &component = touch_component(pod);
	component.busy.slurm = false;
	if (answer)
		unanswered_.slurm_answered(now);
	/* refused, or not even sent */
	const bool is_unheard =
		!answer && (is_refusal(answer.error()) || answer.error().code == Errc::again);
	if (!is_unheard)
		component.asked_ends.may_come(now.mono_us);
	else if (const auto goes_on = component.asked_ends.is_void(now.mono_us))
		withdraw_end(component, *goes_on);
	const bool is_over = answer || answer.error().code == Errc::not_found;
	if (was_cancel && component.asked_ends.last() &&
		(is_over || component.retries.failures >= k_unheard_tries_most))
		forget_unheard(component, *component.asked_ends.last());
	if (!is_over)
		return failed(component.retries, pod, answer.error(), now);
	(was_cancel ? figures_.counters.cancelled : figures_.counters.completed)++;
	component.retries.failures = 0;
	component.slurm_quiet_until_us = now.mono_us + k_effect_us;
	look_later(pod, component.slurm_quiet_until_us);
	const PodEntry *alone = state_.entry(pod);
	if (alone && alone->deleted_us > 0 &&
		(alone->terminal_us == 0 || alone->deleted_us <= alone->terminal_us))
		figures_.stage_latencies.pod_deleted_to_job_ended.add(
			static_cast<std::uint64_t>(now.mono_us - alone->deleted_us));
	if (alone && alone->terminal_us > 0)
		figures_.stage_latencies.pod_terminal_to_job_ended.add(
			static_cast<std::uint64_t>(now.mono_us - alone->terminal_us));
}

void World::bound(const PodUid &pod, const Status &answer, Now now)
{
	PodEntry &entry = touch_pod(pod);
	entry.busy.bind = false;
	entry.bind_attempts++;
	if (answer) {
		figures_.counters.bound++;
		figures_.bind_attempts.add(entry.bind_attempts);
		entry.retries.failures = 0;
		if (entry.first_seen_us > 0)
			figures_.stage_latencies.seen_to_bound.add(
				static_cast<std::uint64_t>(now.mono_us - entry.first_seen_us));
		entry.bind_failure.reset();
		if (const auto own = state_.components.find(entry.component.value_or(pod));
			own != state_.components.end())
			own->second.failed_bindings = 0;
		entry.late_until_us = 0;
		if (!entry.pod || is_starting(*entry.pod))
			entry.bound_us = now.mono_us; /* otherwise the watch was faster */
		if (const Component *own = state_.component(pod); own && own->allocated_us > 0)
			figures_.stage_latencies.allocated_to_bound.add(
				static_cast<std::uint64_t>(now.mono_us - own->allocated_us));
		return;
	}
	figures_.counters.bind_failed++;
	if (answer.error().code != Errc::not_found)
		entry.bind_failure = answer.error();
	/* Whatever this answer says: an earlier request that was given up may still take effect. */
	if (answer.error().code != Errc::not_found) {
		entry.late_node = entry.assumed_node;
		entry.late_until_us = now.mono_us + k_late_binding_us;
		look_later(pod, entry.late_until_us);
	}
	entry.assumed_node.clear();
	settle_share(pod, entry, now);
	failed(entry.retries, pod, answer.error(), now);
}

void World::pod_deleted(
	const PodUid &pod, const Status &answer, std::optional<Eviction> cause, Now now)
{
	PodEntry &entry = touch_pod(pod);
	entry.busy.remove = false;
	if (!answer) {
		failed(entry.retries, pod, answer.error(), now);
		return;
	}
	figures_.counters.removed++;
	if (cause && !std::exchange(entry.is_eviction_counted, true))
		figures_.counters.evictions[static_cast<std::size_t>(*cause)]++;
	if (clocks_.since(pod, Clock::starting) > 0)
		figures_.counters.not_started++;
	entry.remove_quiet_until_us = now.mono_us + k_effect_us;
	look_later(pod, entry.remove_quiet_until_us);
	if (const Component *own = state_.component(pod); own && own->end_seen_us > 0)
		figures_.stage_latencies.ended_to_pod_deleted.add(
			static_cast<std::uint64_t>(now.mono_us - own->end_seen_us));
}

void World::reported(const PodUid &pod, const Status &answer, Now now)
{
	PodEntry &entry = touch_pod(pod);
	entry.busy.report = false;
	if (answer) {
		figures_.counters.reported++;
		return;
	}
	entry.reported = {};
	/* The pod has changed. The watch will show how, and then its condition is decided again. */
	if (answer.error().code == Errc::conflict) {
		entry.last_report_us = 0;
		look_later(pod, now.mono_us + k_conflict_retry_us);
		return;
	}
	look_later(pod, now.mono_us + state_.settings.report_interval_us);
}

void World::pods_looked_up(const PodUid &key, const Result<PodLookup> &sight, Now now)
{
	Component &component = touch_component(key);
	component.busy.look = false;
	component.is_gone = sight && *sight == PodLookup::absent;
	component.look_quiet_until_us = now.mono_us + (sight ? k_list_again_us : k_look_again_us);
	look_later(key, component.look_quiet_until_us);
}

/* An API server that answers no look-up says nothing about the pods: their bindings are tried for
 * another while before their allocation is given back. */
void World::note_look(const PodUid &pod, PodEntry &entry, const Error *error, Now now)
{
	entry.look_failures = error ? entry.look_failures + 1 : 0;
	entry.look_trouble = error ? error->what : std::string();
	const PodUid &key = entry.component.value_or(pod);
	const auto own = state_.components.find(key);
	if (own == state_.components.end())
		return;
	if (!error)
		own->second.looked_up_us = now.mono_us;
	else if (!is_refusal(*error) &&
		own->second.looked_up_us <= clocks_.since(key, Clock::unbindable))
		clocks_.stop(key, Clock::unbindable);
}

void World::looked_up(const PodUid &pod, const Result<PodLookup> &sight, Now now)
{
	if (state_.gangs.contains(pod))
		return pods_looked_up(pod, sight, now);
	PodEntry &entry = touch_pod(pod);
	entry.busy.look = false;
	note_look(pod, entry, sight ? nullptr : &sight.error(), now);
	entry.is_gone = sight && *sight == PodLookup::absent;
	if (!entry.is_gone || entry.gone_since_us == 0)
		entry.gone_since_us = entry.is_gone ? now.mono_us : 0;
	if (entry.is_gone && entry.is_unseen &&
		!is_held(state_, held_absent_pods_, state_.job_of(pod)))
		pod_gone(pod, std::nullopt, now);
	entry.unbound_at_us = sight && *sight == PodLookup::unbound ? now.mono_us : 0;
	if (entry.unbound_at_us > 0 && now.mono_us >= entry.late_until_us) {
		entry.late_until_us = 0;
		settle_share(pod, entry, now);
	}
	/* if the pod exists, the watch will show it soon */
	entry.look_quiet_until_us = now.mono_us +
		(sight ? k_look_again_us
		       : std::min(k_conflict_retry_us
					 << std::min(entry.look_failures - 1, k_doublings_most),
				 k_longest_retry_us));
	look_later(pod, entry.look_quiet_until_us);
}

void World::node_changed(const std::string &name, const Status &answer, Now now)
{
	if (answer)
		unanswered_.slurm_answered(now);
	if (const auto took = nodes_.changed(name, answer, now))
		figures_.stage_latencies.node_change_to_slurm.add(
			static_cast<std::uint64_t>(*took));
}

void World::node_looked_up(const std::string &name, const Result<NodeLookup> &sight, Now now)
{
	nodes_.looked_up(name, sight, now);
}

} // namespace slurmkube::core
