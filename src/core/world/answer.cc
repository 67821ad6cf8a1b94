/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The answering half of World: how actions ended. */
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
constexpr std::int64_t k_refused_retry_us = 60'000'000; /* the administrator may have changed a limit or an account */
constexpr std::int64_t k_conflict_retry_us = 1'000'000; /* the other fact is on its way to us */
/* From an answer to the watch or the link showing its effect; ends early when they do. */
constexpr std::int64_t k_effect_us = 3'000'000;
constexpr std::int64_t k_late_binding_us = 5'000'000; /* a server that has stalled may carry out what its client has given up */
constexpr std::int64_t k_provisional_us = 10'000'000;
constexpr std::int64_t k_look_again_us = 5'000'000;
constexpr std::int64_t k_list_again_us = 60'000'000; /* for pods of a gang that nobody has seen: a list of their namespace */

bool is_refusal(const Error &error)
{
	return error.code == Errc::invalid || error.code == Errc::denied;
}

/* Also after a 403: an API server that has just started forbids everything until it has read its roles. */
std::int64_t retry_delay_us(const Error &error, unsigned failures)
{
	if (error.code == Errc::conflict)
		return k_conflict_retry_us;
	return std::min(k_first_retry_us << std::min(failures, 10U), k_longest_retry_us);
}

} // namespace

/* Of the pod; a gang's lead has none. */
std::string namespace_of(const Group &group)
{
	const Pod *pod = group.pod ? &*group.pod : group.last.get();
	return pod ? pod->name_space : "";
}

void World::note_answer(const PodUid &uid, const Error *error, Now now)
{
	queue_.mark(unanswered_.note(uid, error, now));
	if (unanswered_.count(uid) > 0)
		look_later(uid, unanswered_.next_us(uid));
}

bool World::is_submit_due(const PodUid &uid, const Group &group, Now now)
{
	const auto is_sending = [this](const PodUid &other) {
		const auto found = state_.groups.find(other);
		return found != state_.groups.end() && found->second.busy.slurm;
	};
	const auto wait_until = unanswered_.wait_until(uid, namespace_of(group), is_sending, now);
	if (wait_until)
		look_later(uid, *wait_until);
	return !wait_until;
}

void World::failed(Group &group, const PodUid &uid, const Error &error, Now now)
{
	group.retry_at_us = now.mono_us + retry_delay_us(error, group.failures);
	group.failures++;
	look_later(uid, group.retry_at_us);
}

void World::retry_now(Group &group)
{
	if (group.is_refused)
		return;
	group.failures = 0;
	group.retry_at_us = 0;
}

void World::note_unsubmitted(const PodUid &pod, Group &group, const Error &error, Now now)
{
	figures_.counters.submit_failed++;
	failed(group, pod, error, now);
	group.is_refused = is_refusal(error);
	if (group.is_refused) {
		group.retry_at_us = now.mono_us + k_refused_retry_us;
		look_later(pod, group.retry_at_us);
	}
	if (error.code != Errc::conflict)
		group.trouble = unanswered_.count(pod) > 0 ? unanswered_.text(pod, error, now) : submission_failed(error);
}

/* As far as the answer tells it; the plugin tells the rest in a moment. */
SlurmJob World::job_as_answered(const PodUid &pod, const Group &group, const Submitted &answer) const
{
	SlurmJob job;
	job.id = answer.job;
	job.marker.cluster = state_.settings.policy.cluster;
	job.marker.cluster_uid = state_.settings.policy.cluster_uid;
	job.marker.uid = pod.text;
	if (const Pod *p = group.pod ? &*group.pod : group.last ? &*group.last : nullptr) {
		job.marker.name_space = p->name_space;
		job.marker.name = p->name;
	}
	job.marker.attempt = group.submitted_attempt;
	job.partition = answer.partition;
	job.account = answer.account;
	job.marker.kind = k_pod_kind;
	const auto gang = state_.gangs.find(pod);
	if (gang != state_.gangs.end()) { /* the answer has no room for many nodes */
		job.marker.kind = gang->second.id.kind;
		job.marker.name_space = gang->second.id.name_space;
		job.marker.name = gang->second.id.name;
	}
	const bool is_told = gang == state_.gangs.end() && !answer.node.empty();
	job.state = is_told ? JobState::running : JobState::pending;
	job.configuring = is_told && state_.sync.plugin().has_prolog; /* the answer does not tell */
	if (is_told)
		job.nodes.push_back({.node = answer.node, .cpus = answer.cpus, .core_ids = "", .memory_mib = 0, .gres = {}});
	return job;
}

void World::submitted(const PodUid &pod, const Result<Submitted> &answer, Now now)
{
	Group &group = touch(pod);
	group.busy.slurm = false;
	note_answer(pod, answer ? nullptr : &answer.error(), now);
	wake_behind();
	if (!answer)
		return note_unsubmitted(pod, group, answer.error(), now);
	figures_.counters.submitted++;
	group.trouble.reset();
	group.is_refused = false;
	group.failures = 0;
	group.answered.push_back(answer->job);
	if (const auto known = state_.jobs.find(answer->job); known != state_.jobs.end()) {
		if (known->second.marker.uid == pod.text)
			return; /* the plugin's report was faster, and knows more */
		forget_job(answer->job); /* Slurm used the number again */
	}
	SlurmJob job = job_as_answered(pod, group, *answer);
	job.submit_time = now.wall_s;
	group.jobs.push_back(job.id);
	note_job_times(group, job, now);
	provisional_until_us_[job.id] = now.mono_us + k_provisional_us;
	look_later(pod, now.mono_us + k_provisional_us);
	state_.jobs[job.id] = std::move(job);
}

void World::completed(const PodUid &pod, const Status &answer, bool was_cancel, Now now)
{
	Group &group = touch(pod);
	group.busy.slurm = false;
	if (answer)
		unanswered_.slurm_answered(now);
	if (!answer && answer.error().code != Errc::not_found) {
		failed(group, pod, answer.error(), now);
		return;
	}
	if (was_cancel && group.cancelling)
		std::erase(group.unheard_of, *group.cancelling);
	(was_cancel ? figures_.counters.cancelled : figures_.counters.completed)++;
	group.failures = 0;
	group.slurm_quiet_until_us = now.mono_us + k_effect_us;
	look_later(pod, group.slurm_quiet_until_us);
	if (group.deleted_us > 0 && (group.terminal_us == 0 || group.deleted_us <= group.terminal_us))
		figures_.edges.pod_deleted_to_job_ended.add(static_cast<std::uint64_t>(now.mono_us - group.deleted_us));
	if (group.terminal_us > 0)
		figures_.edges.pod_terminal_to_job_ended.add(static_cast<std::uint64_t>(now.mono_us - group.terminal_us));
}

void World::bound(const PodUid &pod, const Status &answer, Now now)
{
	Group &group = touch(pod);
	group.busy.bind = false;
	if (answer) {
		figures_.counters.bound++;
		group.failures = 0;
		group.late_until_us = 0;
		if (!group.pod || is_starting(*group.pod))
			group.bound_us = now.mono_us; /* else the watch was faster */
		if (group.allocated_us > 0)
			figures_.edges.allocated_to_bound.add(static_cast<std::uint64_t>(now.mono_us - group.allocated_us));
		return;
	}
	figures_.counters.bind_failed++;
	if (answer.error().code != Errc::not_found) { /* whatever the last try was told: an earlier one may have been given up */
		group.late_node = group.assumed_node;
		group.late_until_us = now.mono_us + k_late_binding_us;
		look_later(pod, group.late_until_us);
	}
	group.assumed_node.clear();
	settle_share(pod, group, now);
	failed(group, pod, answer.error(), now);
}

void World::removed(const PodUid &pod, const Status &answer, Now now)
{
	Group &group = touch(pod);
	group.busy.remove = false;
	if (!answer) {
		failed(group, pod, answer.error(), now);
		return;
	}
	figures_.counters.removed++;
	if (group.starting_since_us > 0)
		figures_.counters.not_started++;
	group.remove_quiet_until_us = now.mono_us + k_effect_us;
	look_later(pod, group.remove_quiet_until_us);
	if (group.job_ended_us > 0)
		figures_.edges.ended_to_pod_deleted.add(static_cast<std::uint64_t>(now.mono_us - group.job_ended_us));
}

void World::reported(const PodUid &pod, const Status &answer, Now now)
{
	Group &group = touch(pod);
	group.busy.report = false;
	if (answer) {
		figures_.counters.reported++;
		return;
	}
	group.reported = {};
	if (answer.error().code == Errc::conflict) { /* the pod has changed: the watch shows how, and what it is to be told is decided anew */
		group.last_report_us = 0;
		look_later(pod, now.mono_us + k_conflict_retry_us);
		return;
	}
	look_later(pod, now.mono_us + state_.settings.report_interval_us);
}

void World::looked_up(const PodUid &pod, const Result<Sight> &sight, Now now)
{
	Group &group = touch(pod);
	group.busy.look = false;
	group.is_gone = sight && *sight == Sight::absent;
	if (!group.is_gone || group.gone_since_us == 0)
		group.gone_since_us = group.is_gone ? now.mono_us : 0;
	if (group.is_gone && group.is_unseen && !is_held(state_.job_of(group)))
		pod_gone(pod, std::nullopt, now);
	group.unbound_at_us = sight && *sight == Sight::unbound ? now.mono_us : 0;
	if (group.unbound_at_us > 0 && now.mono_us >= group.late_until_us) {
		group.late_until_us = 0;
		settle_share(pod, group, now);
	}
	/* if there is one, the watch will show it soon */
	const bool is_gang = state_.gangs.contains(pod);
	const std::int64_t again_us = is_gang ? k_list_again_us : k_look_again_us, soon_us = is_gang ? k_look_again_us : k_conflict_retry_us;
	group.look_quiet_until_us = now.mono_us + (sight ? again_us : soon_us);
	look_later(pod, group.look_quiet_until_us);
}

void World::node_changed(const std::string &name, const Status &answer, Now now)
{
	if (answer)
		unanswered_.slurm_answered(now);
	if (const auto took = nodes_.changed(name, answer, now))
		figures_.edges.node_change_to_slurm.add(static_cast<std::uint64_t>(*took));
}

void World::node_looked_up(const std::string &name, const Result<NodeSight> &sight, Now now)
{
	nodes_.looked_up(name, sight, now);
}

} // namespace slurmkube::core
