/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The acting half of World: dirty groups in, actions out, each marked as under way. */
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/reconcile/report.h"
#include "src/core/world/world.h"
#include "src/core/world/parts.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_give_way_us = 3'000'000;
constexpr std::int64_t k_believed_us = 1'000'000; /* what the API server said of a pod, until something is done about it */
/* A pod that runs within a second needs no condition that says it waits. */
constexpr std::int64_t k_first_report_us = 1'000'000;
/* slurmctld tries to answer as soon as it has made a job; a busy one takes a moment over it. */
constexpr std::int64_t k_unheard_job_seconds = 5;
constexpr std::int64_t k_second_us = 1'000'000;
/* A restart of slurmctld takes less, and a connected agent elsewhere has said something of a pod by then. */
constexpr std::int64_t k_unlinked_us = 10'000'000;
/* Between the jobs of one pod that keep ending before it runs: 0 after the first, then 2 s, 4 s, ... */
constexpr std::int64_t k_next_job_us = 1'000'000;
constexpr std::uint32_t k_next_job_doublings = 6;

bool contains(const std::vector<JobId> &list, JobId id)
{
	return std::find(list.begin(), list.end(), id) != list.end();
}

} // namespace

std::int64_t pause_before(std::uint32_t attempt)
{
	return attempt <= 2 ? 0 : k_next_job_us << std::min(attempt - 2, k_next_job_doublings);
}

std::uint32_t bound_attempt(const Pod &pod)
{
	const auto found = pod.annotations.find(names::k_allocation_attempt);
	std::uint32_t attempt = 0;
	if (found != pod.annotations.end())
		(void)std::from_chars(found->second.data(), found->second.data() + found->second.size(), attempt); /* anything else counts as 0 */
	return attempt;
}

bool World::has_bound_pods(const Group &group)
{
	if (!group.member_nodes.empty())
		return true;
	return group.pod && !is_terminal(*group.pod) && !bound_node_of(group).empty();
}

/* A stray is cancelled only when its successor lives: an agent that starts in between must not take its end for the pod's. */
std::vector<JobId> World::surplus_of(const Group &group, const SlurmJob *current) const
{
	std::vector<JobId> out;
	const bool has_other = current && job_side(current) == JobSide::allocated && !provisional_until_us_.contains(current->id);
	if (!has_bound_pods(group) || has_other) /* else they may run under it */
		out = group.unheard_of;
	for (const JobId id : group.jobs) {
		const auto found = state_.jobs.find(id);
		if (found == state_.jobs.end() || &found->second == current || !is_live(found->second))
			continue;
		if (stands_for_pod(group, found->second) || (current && is_live(*current)))
			out.push_back(id);
	}
	return out;
}

std::uint32_t World::next_attempt(const Group &group) const
{
	std::uint32_t highest = group.pod ? bound_attempt(*group.pod) : 0;
	for (const JobId id : group.jobs) {
		const auto found = state_.jobs.find(id);
		if (found != state_.jobs.end())
			highest = std::max(highest, found->second.marker.attempt);
	}
	return highest + 1;
}

/*
 * A job whose submitter has gone away is ended by slurmctld at once: a running one FAILED, a pending one CANCELLED, which looks as after scancel. Who really
 * cancels a job within seconds of its submission, while no agent is there to hear of it, gets the pod queued again: a small price.
 */
bool World::is_answer_lost(const Group &group, const SlurmJob &job)
{
	const bool is_such_end = job.state == JobState::failed || job.state == JobState::cancelled;
	return is_such_end && !contains(group.answered, job.id) && job.end_time > 0 && job.end_time - job.submit_time <= k_unheard_job_seconds;
}

/* By us, for want of a pod: one that is there after all has nothing to do with it. */
bool World::is_given_up(const Group &group, const SlurmJob &ended)
{
	return contains(group.given_up, ended.id) || (ended.state == JobState::cancelled && ended.marker.given_up);
}

/* A bound pod goes with a job that people or the cluster ended, if it was its own; on doubt it stays and gets a new job. */
bool World::is_about_pod(const Pod &pod, const Group &lead, const SlurmJob &ended)
{
	if (is_given_up(lead, ended))
		return false;
	const bool is_of_pods = ended.state == JobState::failed || ended.state == JobState::complete || ended.state == JobState::oom; /* those only pods bring about */
	const bool is_wish = !is_of_pods || ended.exit_status == k_status_never_came;
	const std::uint32_t bound = bound_attempt(pod);
	const auto named = pod.annotations.find(names::k_allocation_job_id);
	/* who bound the pod to it had been told of it */
	const bool is_named = named != pod.annotations.end() && named->second == std::to_string(ended.id.number) && ended.marker.attempt == bound;
	return is_wish && ended.marker.attempt >= bound && (is_named || !is_answer_lost(lead, ended));
}

bool World::is_deletion_slow(const Pod &pod) const
{
	return pod.deleting && state_.settings.grace_most_seconds > 0 && pod.deletion_grace_seconds > state_.settings.grace_most_seconds;
}

GroupFacts World::facts_of(const PodUid &uid, Group &group, Now now, std::optional<Result<JobSpec>> &spec)
{
	GroupFacts f;
	f.known = state_.is_known();
	f.pod = group.pod ? &*group.pod : nullptr;
	f.last_pod = group.last ? &*group.last : nullptr;
	if (f.pod)
		f.bound_node = f.pod->node_name.empty() ? group.assumed_node : f.pod->node_name;
	f.saw_deletion = group.saw_deletion;
	f.end_status = group.end_status;
	f.job = state_.current_job(group);
	f.surely_gone = is_surely_gone(uid, group, job_side(f.job), now);
	if (f.pod && job_side(f.job) == JobSide::ended &&
	    (is_given_up(group, *f.job) || (!f.bound_node.empty() && !is_about_pod(*f.pod, group, *f.job))))
		f.job = nullptr;
	f.answer_lost = f.job && is_answer_lost(group, *f.job);
	f.is_held = is_held(f.job);
	f.surplus = surplus_of(group, f.job);
	f.busy = group.busy;
	f.busy.slurm = f.busy.slurm || now.mono_us < group.slurm_quiet_until_us;
	f.busy.remove = f.busy.remove || now.mono_us < group.remove_quiet_until_us;
	f.busy.look = f.busy.look || now.mono_us < group.look_quiet_until_us;
	f.may_retry = now.mono_us >= group.retry_at_us;
	f.submit_due = is_submit_due(uid, group, now);
	if (f.job && job_side(f.job) == JobSide::ended && group.job_ended_us > 0) {
		const std::int64_t next = group.job_ended_us + pause_before(next_attempt(group));
		if (now.mono_us < next) {
			f.next_job_due = false;
			look_later(uid, next);
		}
	}
	f.trouble = group.trouble;

	const PodSide side = pod_side(f.pod, f.bound_node);
	const JobSide job = job_side(f.job);
	const bool may_submit = (side == PodSide::waiting || side == PodSide::running) && (job == JobSide::none || job == JobSide::ended);
	if (may_submit && f.known) {
		spec = group.refusal ? Result<JobSpec>(*group.refusal) : translate(*f.pod, state_.settings.policy, next_attempt(group));
		if (side == PodSide::waiting)
			hold_for_claims(uid, *f.pod, spec, f.waits_for, now);
		place(uid, *f.pod, spec);
		f.spec = spec ? &*spec : nullptr;
		if (side == PodSide::waiting && places_.is_behind(uid))
			f.waits_for = waiting_for_places();
		wait_after_vanishing(uid, group, f.waits_for, now);
	}
	if (side == PodSide::waiting && job == JobSide::pending && f.known)
		note_options(uid, group, spec, f);
	if (side == PodSide::waiting && job == JobSide::pending && f.known)
		note_places(uid, group, spec, f);
	if (side != PodSide::running || job != JobSide::none || !f.known) {
		group.missing_since_us = 0;
	} else if (group.missing_since_us == 0) {
		group.missing_since_us = now.mono_us;
		look_later(uid, now.mono_us + k_missing_job_us);
	}
	const auto home = f.known && side == PodSide::running ? state_.kube_nodes.find(f.bound_node) : state_.kube_nodes.end();
	const bool would_be_told = home != state_.kube_nodes.end() && home->second.ready;
	const bool starting = would_be_told && job == JobSide::allocated && !f.pod->node_name.empty() && is_starting(*f.pod);
	f.start_expired = is_start_expired(uid, group, starting, now);
	f.start_limit_us = state_.settings.start_limit_us;
	f.is_deletion_slow = f.pod && is_deletion_slow(*f.pod);
	/* a node that Slurm does not know has no place to take up */
	f.job_surely_missing = group.missing_since_us > 0 && now.mono_us - group.missing_since_us >= k_missing_job_us && state_.slurm_nodes.contains(f.bound_node);
	if (side == PodSide::waiting && job == JobSide::allocated && !f.job->nodes.empty()) {
		const auto node = state_.kube_nodes.find(f.job->nodes.front().node);
		f.node_usable = node != state_.kube_nodes.end() && node->second.ready;
		const Resources room = f.node_usable ? filter_.room_on(state_, node->second) : Resources{};
		f.has_room = f.node_usable && (group.held_node == node->first || state_.occupancy.has_room(node->first, room, f.pod->requests));
		/* where pods hold more than there is, letting go does not give the other one its job */
		const bool helps = group.given_back < k_give_back_most && f.node_usable && !f.has_room && state_.occupancy.has_room(node->first, room, {}) && must_give_way(node->first);
		f.gives_way = !f.has_room && has_given_way_time(uid, group, helps, now);
		if (!f.has_room)
			f.room_holder = holder_text(node == state_.kube_nodes.end() ? "" : node->first);
		f.surely_unbound = group.unbound_at_us > group.in_the_way_since_us && now.mono_us - group.unbound_at_us < k_believed_us;
		if (node == state_.kube_nodes.end() && is_lost(f.job->nodes.front().node))
			f.forbidden = k_not_managed;
		if (f.node_usable)
			filter_.check(state_, uid, group, node->second, f);
		f.gives_way = is_room_late(uid, group, f, now) || f.gives_way;
		f.is_native = node == state_.kube_nodes.end() && !state_.slurm_nodes.contains(f.job->nodes.front().node);
		if (f.is_native && is_surely_native(uid, group, now))
			f.forbidden = k_native_node;
		if (f.node_usable && f.has_room && f.forbidden.empty())
			check_claims(uid, group, node->second, f, now);
	} else {
		group.in_the_way_since_us = group.room_wait_since_us = 0;
	}
	return f;
}

/* Not at first sight: who has just taken over may see this pod as it was, and it runs by now under this very job. */
bool World::has_given_way_time(const PodUid &uid, Group &group, bool is_in_the_way, Now now)
{
	if (now.mono_us >= group.gate_look_at_us) { /* nothing tells when the other pod's job is made */
		group.gate_look_at_us = now.mono_us + k_give_way_us;
		look_later(uid, group.gate_look_at_us);
	}
	if (!is_in_the_way) {
		group.in_the_way_since_us = 0;
		return false;
	}
	if (group.in_the_way_since_us < state_.sync.synced_us() || group.in_the_way_since_us == 0) {
		group.in_the_way_since_us = now.mono_us;
		look_later(uid, now.mono_us + k_give_way_us);
	}
	return now.mono_us - group.in_the_way_since_us >= k_give_way_us;
}

/* Whether a pod runs on the node whose job waits for these very resources. */
bool World::must_give_way(const std::string &node) const
{
	for (const PodUid &uid : state_.occupancy.holders(node)) {
		const auto found = state_.groups.find(uid);
		if (found == state_.groups.end() || !found->second.pod || found->second.pod->deleting || found->second.pod->node_name.empty())
			continue;
		const SlurmJob *job = state_.job_of(found->second);
		if (job_side(job) == JobSide::pending && !job->held)
			return true;
	}
	return false;
}

/*
 * The clock runs only while Slurm pays for the wait and the node's kubelet is there to say that the pod has started. An agent that starts begins anew: it does not
 * know what happened meanwhile.
 */
bool World::is_start_expired(const PodUid &uid, Group &group, bool is_starting, Now now)
{
	if (!is_starting || state_.settings.start_limit_us == 0) {
		group.starting_since_us = 0;
		return false;
	}
	if (group.starting_since_us == 0)
		group.starting_since_us = now.mono_us;
	const std::int64_t since = std::max(group.starting_since_us, nodes_.ready_since_us(group.pod->node_name));
	if (now.mono_us < since + state_.settings.start_limit_us)
		look_later(uid, since + state_.settings.start_limit_us);
	return now.mono_us >= since + state_.settings.start_limit_us;
}

void World::wait_for_share(const PodUid &uid, const GroupFacts &f)
{
	if (pod_side(f.pod, f.bound_node) == PodSide::running && job_side(f.job) == JobSide::none && !state_.slurm_nodes.contains(f.bound_node))
		waiters_[f.bound_node].insert(uid);
	const bool waits = pod_side(f.pod, f.bound_node) == PodSide::waiting && job_side(f.job) == JobSide::allocated && !f.job->nodes.empty() &&
			   (!f.has_room || !f.node_usable);
	if (waits && waiters_[f.job->nodes.front().node].insert(uid).second)
		counters_.gate_waits++;
}

/* At most one write every interval for a group, and none that says what the pod says already. */
bool World::accept_report(const PodUid &uid, Group &group, const Report &report, Now now)
{
	const Condition &wanted = report.not_scheduled;
	if (group.busy.report || group.busy.bind || !group.pod || group.pod->not_scheduled == wanted || group.reported == wanted)
		return false;
	const bool is_refusal = wanted.reason == names::k_reason_refused;
	const std::int64_t since_last = group.last_report_us == 0 ? 0 : group.last_report_us + state_.settings.report_interval_us;
	const std::int64_t due = std::max(since_last, is_refusal ? 0 : group.first_seen_us + k_first_report_us);
	if (now.mono_us < due && !(is_refusal && group.reported.reason != wanted.reason)) {
		look_later(uid, due);
		return false;
	}
	group.busy.report = true;
	group.reported = wanted;
	group.last_report_us = now.mono_us;
	return true;
}

bool World::accept(const PodUid &uid, Group &group, Action &action, Now now)
{
	if (const auto *report = std::get_if<Report>(&action))
		return accept_report(uid, group, *report, now);
	if (const auto *bind = std::get_if<Bind>(&action)) {
		group.busy.bind = true;
		group.assumed_node = bind->node;
		group.crowded.clear();
		settle_share(uid, group, now);
	} else if (std::holds_alternative<Remove>(action)) {
		group.busy.remove = true;
	} else if (const auto *provide = std::get_if<Provide>(&action)) {
		group.busy.claim = true;
		group.told_step = provide->step;
	} else if (std::holds_alternative<LookUp>(action)) {
		group.busy.look = true;
	} else {
		group.busy.slurm = true;
	}
	if (const auto *complete = std::get_if<Complete>(&action); complete && complete->wait_status == k_status_given_back && group.in_the_way_since_us > 0)
		group.given_back++;
	const auto *end = std::get_if<Complete>(&action);
	if (end && end->wait_status == k_status_given_back && !state_.gangs.contains(uid)) {
		const auto job = state_.jobs.find(end->job);
		if (job != state_.jobs.end() && !job->second.nodes.empty())
			note_crowded(group, {job->second.nodes.front().node, std::nullopt});
	}
	if (const auto *cancel = std::get_if<Cancel>(&action)) {
		group.given_up.push_back(cancel->job);
		group.cancelling = cancel->job;
	}
	if (const auto *complete = std::get_if<Complete>(&action); complete && complete->for_absence)
		group.given_up.push_back(complete->job);
	if (std::holds_alternative<Submit>(action) || std::holds_alternative<Update>(action))
		unanswered_.sent(uid, namespace_of(group));
	note_told_places(group, state_.current_job(group), action);
	if (const auto *submit = std::get_if<Submit>(&action)) {
		if (group.submitted_us == 0 && submit->spec.required_node.empty())
			edges_.watch_to_submit.add(static_cast<std::uint64_t>(now.mono_us - group.first_seen_us));
		if (!submit->spec.required_node.empty())
			counters_.readopted++;
		group.submitted_us = now.mono_us;
		group.submitted_attempt = submit->spec.marker.attempt;
		group.allocated_us = group.job_ended_us = 0;
	}
	return true;
}

void World::look_at_group(const PodUid &uid, Now now, std::vector<PodAction> &out)
{
	const auto found = state_.groups.find(uid);
	if (found == state_.groups.end())
		return;
	Group &group = found->second;
	if (const auto gang = state_.gangs.find(uid); gang != state_.gangs.end()) {
		const PodUid first = components_of_workload(uid).front(); /* all of a workload are looked at together */
		if (first != uid)
			queue_.mark(first);
		else if (is_due(uid, now))
			look_at_workload(uid, now, out);
		return;
	}
	forget_provisional(uid, now);
	settle_share(uid, group, now);
	if (group.gang) {
		look_for_late_binding(uid, group, now, out);
		queue_.mark(*group.gang);
		return;
	}
	if (group.pod && !group.is_placed)
		assign(uid, group, now);
	if (group.pod && !group.is_placed)
		return report_unplaced(uid, group, now, out);
	if (group.gang) {
		queue_.mark(*group.gang);
		return;
	}
	std::optional<Result<JobSpec>> spec;
	const GroupFacts facts = facts_of(uid, group, now, spec);
	if (facts.known)
		wait_for_share(uid, facts);
	for (Action &action : reconcile(facts)) {
		if (accept(uid, group, action, now))
			out.push_back({uid, std::move(action)});
	}
	look_for_late_binding(uid, group, now, out);
	drop_if_empty(uid);
}

/*
 * Without slurmctld nothing is done for pods, but new ones are told why. Not those of which anybody has said something: where slurmctld has moved to another
 * machine, the agent there has told them within this time what they wait for.
 */
void World::report_unlinked(Now now, std::vector<PodAction> &out)
{
	if (!is_listed() || state_.sync.has_link() || now.mono_us < state_.sync.unlinked_since_us() + k_unlinked_us)
		return;
	const Report report{waiting_for_slurm()};
	for (auto &[uid, group] : state_.groups) {
		const bool waits = side_of(group) == PodSide::waiting;
		if (!waits || group.pod->not_scheduled || state_.job_of(group) || now.mono_us < group.first_seen_us + k_unlinked_us)
			continue;
		if (accept_report(uid, group, report, now))
			out.push_back({uid, report});
	}
}

/* The oldest first, as they would have come to Slurm one by one: after an outage all are there at once. */
std::vector<PodUid> World::by_age(const std::set<PodUid> &uids) const
{
	std::vector<std::pair<std::pair<std::int64_t, std::string_view>, const PodUid *>> sorted;
	sorted.reserve(uids.size());
	for (const PodUid &uid : uids) {
		const Pod *pod = state_.pod(uid);
		if (const auto gang = state_.gangs.find(uid); gang != state_.gangs.end() && !gang->second.members.empty())
			pod = state_.pod(gang->second.members.begin()->first); /* any: they are of one age, and may be thousands */
		sorted.emplace_back(pod ? std::pair(pod->created, std::string_view(pod->name)) : std::pair(std::int64_t{0}, std::string_view()), &uid);
	}
	std::ranges::stable_sort(sorted, {}, [](const auto &entry) { return entry.first; });
	std::vector<PodUid> out;
	out.reserve(sorted.size());
	for (const auto &[age, uid] : sorted)
		out.push_back(*uid);
	return out;
}

std::vector<World::PodAction> World::take_actions(Now now)
{
	queue_.wake(now.mono_us);
	queue_.mark(places_.take(now));
	review_taints(now);
	review_places(now);
	state_.seen_us = now.mono_us;
	std::vector<PodAction> out;
	state_.sync.wanted(now);
	look_for_unseen(now, out);
	if (!state_.is_known()) {
		report_unlinked(now, out);
		if (!state_.sync.has_link() && state_.sync.is_listed(Sync::List::pods))
			forget_on_standby(now);
		return out; /* everything is marked dirty again when the snapshot is merged */
	}
	count_absent_pods();
	while (!queue_.marked().empty()) { /* a share that is freed on the way wakes others; each is freed once */
		for (const PodUid &uid : by_age(queue_.take()))
			look_at_group(uid, now, out);
	}
	return out;
}

/* Whether it is an external node that Kubernetes does not show as managed, and that Slurm does not give out again. */
bool World::is_lost(const std::string &node) const
{
	const auto slurm = state_.slurm_nodes.find(node);
	return !state_.kube_nodes.contains(node) && slurm != state_.slurm_nodes.end() && (slurm->second.drain || slurm->second.base == NodeBase::down);
}

NodeView World::node_view() const
{
	return {.kube = state_.kube_nodes,
		.slurm = state_.slurm_nodes,
		.plugin = state_.sync.plugin(),
		.policy = state_.settings.nodes,
		.tolerated = state_.taints.all(),
		.as_left = [this](const KubeNode &node) { return filter_.as_left(state_, node); },
		.holds_pods = [this](const std::string &name) { return state_.occupancy.pods_on(name) > 0; }};
}

std::set<std::string> World::take_node_questions(Now now)
{
	return state_.is_known() ? nodes_.take_questions(node_view(), now) : std::set<std::string>();
}

std::vector<NodeAction> World::take_node_actions(Now now)
{
	nodes_.tick(node_view(), now);
	return state_.is_known() ? nodes_.take_actions(node_view(), now) : std::vector<NodeAction>();
}

} // namespace slurmkube::core
