/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "testsuite/sim/oracle.h"

#include "src/core/model/names.h"
#include "src/core/model/outcome.h"

#include <algorithm>
#include <charconv>

namespace slurmkube::sim
{

namespace
{

/* The longest time until news reaches a healthy agent: a slow link, and the agent's own delay. */
constexpr Micros k_news = 2500 * k_ms;
/* The longest time for a request to a stalled API server, and its answer. */
constexpr Micros k_answer = 65 * k_second;
/* NodePolicy::not_ready_after_seconds, less the delay of the news */
constexpr Micros k_not_ready_after = 38 * k_second;

std::string number_of(core::JobId job)
{
	return std::to_string(job.number);
}

bool is_on(const JobTruth &job, const std::string &node)
{
	return share_of(job, node) != nullptr;
}

} // namespace

std::string name_of(const PodTruth &pod)
{
	return pod.api.name_space + "/" + pod.api.name + " (" + pod.api.uid.text + ")";
}

const core::NodeAllocation *share_of(const JobTruth &job, const std::string &node)
{
	const auto found = std::ranges::find(job.facts.nodes, node, &core::NodeAllocation::node);
	return core::job_side(&job.facts) != core::JobSide::allocated ||
			found == job.facts.nodes.end()
		? nullptr
		: &*found;
}

std::uint32_t bound_attempt(const PodTruth &pod)
{
	const auto found = pod.api.annotations.find(names::k_allocation_attempt);
	std::uint32_t attempt = 0;
	if (found != pod.api.annotations.end())
		(void)std::from_chars(
			found->second.data(), found->second.data() + found->second.size(), attempt);
	return attempt;
}

Oracle::Oracle(Stage &stage, Kube &kube, Devices &devices, Gangs &gangs, Slurm &slurm)
    : stage_(stage), kube_(kube), devices_(devices), gangs_(gangs), slurm_(slurm)
{
	devices_.on_prepared = [this](const PodTruth &pod) { prepared(pod); };
	kube_.on_load = [this](const std::string &node) { load_changed(node); };
	kube_.on_bound = [this](const PodTruth &pod) { pod_bound(pod); };
	slurm_.on_created = [this](const JobTruth &job) { job_created(job); };
}

std::vector<const JobTruth *> Oracle::live_jobs_for(const PodTruth &pod) const
{
	auto own = slurm_.live_jobs_of(pod.api.uid.text);
	const GangTruth *gang = gangs_.find(pod.gang);
	const bool has_rank = pod.api.annotations.contains(names::k_allocation_rank) ||
		(pod.binder == Binder::foreigner && gang && gang->sort != GangSort::pod_group);
	const bool runs_alone = !pod.api.node_name.empty() && !has_rank;
	return own.empty() && !runs_alone ? slurm_.live_jobs_of(pod.job_key) : own;
}

/* A pod names its PodGroup, and another PodGroup may have that name by now. */
bool Oracle::is_gang_of(const PodTruth &pod, const std::string &uid) const
{
	const GangTruth *made_by = gangs_.find(pod.gang), *gang = gangs_.find(uid);
	const bool is_same_name = made_by && gang && made_by->sort == GangSort::pod_group &&
		made_by->name == gang->name && made_by->name_space == gang->name_space;
	return uid == pod.job_key || is_same_name;
}

std::vector<EndRecord> Oracle::ends_for(const PodTruth &pod) const
{
	std::vector<EndRecord> out;
	for (const std::string &key : {pod.api.uid.text, pod.job_key}) {
		const auto found = slurm_.ends.find(key);
		if (found != slurm_.ends.end())
			out.insert(out.end(), found->second.begin(), found->second.end());
	}
	return out;
}

/* ---- news ---- */

void Oracle::pod_told(unsigned agent, std::uint64_t life, const core::Pod &pod)
{
	pods_told_.insert({agent, life, pod.uid.text});
}

void Oracle::end_told(unsigned agent, std::uint64_t life, const core::Pod &pod)
{
	if (!pod.deleting)
		ends_told_.insert({agent, life, pod.uid.text});
}

bool Oracle::knows_end(unsigned agent, std::uint64_t life, const std::string &uid) const
{
	return ends_told_.contains({agent, life, uid});
}

void Oracle::node_told(unsigned agent, std::uint64_t life, const std::string &node, NodeNews news)
{
	Told &told = nodes_told_[{agent, node}];
	if (told.life != life)
		told = {.life = life, .news = news, .not_ready_since = 0};
	told.news = news;
	if (news == NodeNews::ready)
		told.not_ready_since = 0;
	else if (told.not_ready_since == 0)
		told.not_ready_since = stage_.now();
}

/* ---- actions ---- */

void Oracle::acts(unsigned agent, bool has_snapshot, const char *what)
{
	if (!has_snapshot)
		stage_.violated(
			"L", "agent " + std::to_string(agent) + " " + what + " without a link");
}

void Oracle::binds(const std::string &uid, const core::Bind &bind)
{
	const JobTruth *job = slurm_.find(bind.job.number);
	const auto found = kube_.pods.find(uid);
	const PodTruth none, &pod = found == kube_.pods.end() ? none : found->second;
	const bool is_its_own =
		job && (job->facts.marker.uid == uid || is_gang_of(pod, job->facts.marker.uid));
	if (bind.rank)
		check_together(pod);
	if (pod.rank && bind.rank && *bind.rank != *pod.rank)
		stage_.violated("G rank",
			"pod " + name_of(pod) + " is rank " + std::to_string(*pod.rank) +
				", and is bound as rank " + std::to_string(*bind.rank));
	if (is_its_own && is_on(*job, bind.node))
		return check_claim(pod, *job, bind.node);
	const auto ended = ends_for(pod);
	const bool just_ended = std::ranges::any_of(
		ended, [&](const EndRecord &end) { return stage_.now() - end.at < k_news; });
	const bool just_restored = !slurm_.is_up() ||
		(slurm_.restored_at >= 0 && stage_.now() - slurm_.restored_at < k_news);
	if (!just_ended && !just_restored && stage_.now() >= excused_until_)
		stage_.violated("2 binding",
			"pod " + uid + " is bound to " + bind.node + " under job " +
				number_of(bind.job) + ", which is not allocated there");
}

/* The job must be over already, or the pod must have no use for it. */
void Oracle::ends(const std::string &uid, core::JobId id, std::optional<std::uint32_t> wait_status,
	bool knows_end)
{
	const auto pod = kube_.pods.find(uid);
	const JobTruth *job = slurm_.find(id.number);
	if (pod == kube_.pods.end() || !job || !core::is_live(job->facts) ||
		job->facts.marker.uid != uid)
		return;
	if (sim::is_live(pod->second) && wait_status == core::k_status_given_back &&
		pod->second.api.node_name.empty())
		/* the pod only loses its place in the queue; the final check verifies that it
		 * has a job again */
		return;
	if (sim::is_live(pod->second))
		check_needed(pod->second, *job);
	else
		check_result(pod->second, *job, wait_status, knows_end);
}

void Oracle::check_needed(const PodTruth &pod, const JobTruth &job)
{
	const auto live = slurm_.live_jobs_of(pod.api.uid.text);
	const bool is_bound = !pod.api.node_name.empty();
	if (job.started_at > stage_.now() - k_news)
		return; /* a pending job is cancelled, and it has just started */
	if (!is_bound && (pod.api.gated || pod.api.deleting || live.size() > 1))
		return;
	const bool holds = is_on(job, pod.api.node_name);
	const auto holders = std::count_if(live.begin(), live.end(),
		[&](const JobTruth *j) { return is_on(*j, pod.api.node_name); });
	if (is_bound && (!holds || holders > 1))
		return;
	stage_.violated("5 job",
		"job " + number_of(job.facts.id) + " is ended, but pod " + name_of(pod) +
			" needs it");
}

std::uint32_t Oracle::expected_status(const PodTruth &pod)
{
	if (!pod.end)
		return core::k_status_cancelled;
	const End &end = *pod.end;
	if (end.phase == core::PodPhase::succeeded)
		return 0;
	if (pod.was_deleting_at_end)
		return core::k_status_cancelled;
	if (end.status_reason == "DeadlineExceeded")
		return core::k_status_deadline;
	if (end.container_reason.empty())
		return 1U << 8;
	if (end.container_reason == "OOMKilled")
		return 253;
	if (end.signal > 0)
		return static_cast<std::uint32_t>(end.signal);
	return end.exit_code > 128 ? static_cast<std::uint32_t>(end.exit_code - 128)
				   : static_cast<std::uint32_t>(end.exit_code) << 8;
}

/* The agent cannot know the pod's result if it never saw the end before the deletion. */
void Oracle::check_result(const PodTruth &pod, const JobTruth &job,
	std::optional<std::uint32_t> wait_status, bool knows_end)
{
	const std::uint32_t told = wait_status.value_or(core::k_status_cancelled);
	/* the attempt had ended, then slurmctld restored an older state: the agent may have
	 * forgotten the pod since */
	const auto ended = slurm_.ends.find(pod.api.uid.text);
	const bool is_again = ended != slurm_.ends.end() &&
		std::any_of(ended->second.begin(), ended->second.end(),
			[&](const EndRecord &e) { return e.attempt == job.facts.marker.attempt; });
	if (is_again && !pod.exists)
		return;
	if (!is_on(job, pod.api.node_name) || told == expected_status(pod) ||
		job.started_at > stage_.now() - k_news)
		return;
	/* nor that of a pod which another client bound */
	const bool may_not_know = pod.binder == Binder::foreigner ||
		(!knows_end && (pod.api.deleting || !pod.exists));
	if (told == core::k_status_cancelled && may_not_know)
		return;
	if (slurm_.live_jobs_of(pod.api.uid.text).size() > 1)
		return;
	stage_.violated("4",
		"job " + number_of(job.facts.id) + " is to end with status " +
			std::to_string(static_cast<std::int32_t>(told)) + ", but pod " +
			name_of(pod) + " has " +
			std::to_string(static_cast<std::int32_t>(expected_status(pod))));
}

/* If the job of one component ends, all components end. */
bool Oracle::may_go_with_others(const PodTruth &pod) const
{
	const GangTruth *gang = gangs_.find(pod.gang);
	if (!gang)
		return false;
	const bool is_bound = !pod.api.node_name.empty();
	for (const std::string &key : job_keys_of(*gang)) {
		const auto found = slurm_.ends.find(key);
		if (key == pod.job_key || found == slurm_.ends.end())
			continue;
		const auto is_it = [&](const EndRecord &end) {
			const bool is_such = end.cause <= Cause::time_limit ||
				(is_bound && end.cause <= Cause::node_fail);
			/* the agent compares the end with the pod's creation by the host's
			 * clock, in seconds */
			return is_such &&
				(stage_.wall_step_s != 0 || end.at + k_second >= pod.created_at);
		};
		if (std::ranges::any_of(found->second, is_it))
			return true;
	}
	return false;
}

/* A user or the cluster has ended the job that the pod has or will have. */
bool Oracle::may_be_removed(const PodTruth &pod) const
{
	if (may_go_with_others(pod))
		return true;
	const bool is_bound = !pod.api.node_name.empty();
	return std::ranges::any_of(ends_for(pod), [&](const EndRecord &end) {
		const bool never_came =
			!pod.gang.empty() && end.status == core::k_status_never_came;
		if (is_bound)
			return (never_came || end.cause <= Cause::node_fail) &&
				end.attempt >= bound_attempt(pod);
		return end.cause == Cause::user || end.cause == Cause::time_limit;
	});
}

void Oracle::removes(const std::string &uid)
{
	const auto found = kube_.pods.find(uid);
	if (found == kube_.pods.end() || !sim::is_live(found->second) || found->second.api.deleting)
		return;
	const PodTruth &pod = found->second;
	/* decision 5: the agent recognises a lost answer by the host's clock, which has stepped
	 * in between */
	const auto ended = ends_for(pod);
	/* the same holds for a gang's job that ended for lack of pods: the agent compares its
	 * end with the creation of later pods by the same clock */
	const bool is_price = stage_.wall_step_s != 0 && !ended.empty() &&
		(ended.back().cause == Cause::lost_answer ||
			(!pod.gang.empty() && ended.back().cause >= Cause::agent_complete));
	if (!may_be_removed(pod) && !is_price)
		stage_.violated("5 delete",
			"pod " + name_of(pod) +
				" is deleted, but nobody wanted the end of its job");
	const auto live = live_jobs_for(pod);
	const Micros settled = stage_.now() - k_news;
	const bool is_held = std::any_of(live.begin(), live.end(), [&](const JobTruth *j) {
		return is_on(*j, pod.api.node_name) && j->started_at < settled;
	});
	if (is_held && !may_go_with_others(pod) && slurm_.is_up() && slurm_.restored_at < settled &&
		stage_.now() >= excused_until_)
		stage_.violated(
			"5 held", "pod " + name_of(pod) + " is deleted, but its job is allocated");
}

void Oracle::takes_node_down(unsigned agent, const std::string &name)
{
	const auto node = kube_.nodes.find(name);
	if (node == kube_.nodes.end() || !node->second.exists || stage_.now() < excused_until_)
		return;
	const Told &told = nodes_told_[{agent, name}];
	const Micros truth = node->second.not_ready_since;
	const bool was_told = told.not_ready_since > 0 &&
		stage_.now() - told.not_ready_since >= k_not_ready_after;
	const bool is_true = truth > 0 && stage_.now() - truth >= k_not_ready_after;
	if (!was_told && !is_true && !was_just_gone(agent, node->second))
		stage_.violated("5 node",
			"node " + name +
				" is set DOWN, but it exists and is not NotReady for long enough");
}

/* The API server's answer may describe the time before the node was created again. The API server
 * of another cluster has none of our nodes: then only running pods show that the node exists. */
bool Oracle::was_just_gone(unsigned agent, const NodeTruth &node) const
{
	if (stage_.now() - node.made_at < k_answer)
		return true;
	/* without a live job of ours the agent cannot know that this is another cluster */
	if (strangers_.contains(agent) && !slurm_.has_live_placeholder())
		return true;
	const auto has_pods = [&] {
		return std::ranges::any_of(kube_.pods, [&](const auto &one) {
			return one.second.binder == Binder::agent && sim::is_live(one.second) &&
				one.second.api.node_name == node.api.name;
		});
	};
	return blind_.contains(agent) && !has_pods();
}

/* Allowed if the node's size has changed: the agent deletes such a node and creates it again. */
void Oracle::deletes_node(unsigned agent, const std::string &name)
{
	const auto node = kube_.nodes.find(name);
	if (node == kube_.nodes.end() || !node->second.exists || stage_.now() < excused_until_ ||
		was_just_gone(agent, node->second))
		return;
	if (nodes_told_[{agent, name}].news == NodeNews::gone)
		stage_.violated("5 node", "node " + name + " is deleted from Slurm, but it exists");
}

/* ---- effects ---- */

void Oracle::end_arrives(const std::string &uid, core::JobId id)
{
	const JobTruth *job = slurm_.find(id.number);
	if (!job || !core::is_live(job->facts))
		return;
	if (!job->has_marker || job->facts.marker.cluster != slurm_.cluster)
		stage_.violated(
			"3 foreign", "job " + number_of(id) + " is ended, but it is not ours");
	else if (job->facts.marker.uid != uid)
		stage_.violated("3 other",
			"job " + number_of(id) + " is ended for pod " + uid + ", but it is pod " +
				job->facts.marker.uid + "'s");
}

void Oracle::delete_arrives(const std::string &uid, const PodTruth &hit)
{
	if (hit.api.uid.text != uid)
		stage_.violated("5 uid", "pod " + name_of(hit) + " is deleted in place of " + uid);
}

/* After slurmctld restored an older state, an attempt known to be over may be live again. */
void Oracle::job_created(const JobTruth &job)
{
	constexpr std::size_t k_live_most = 4; /* the maximum, whatever was lost or restored */
	const auto live = slurm_.live_jobs_of(job.facts.marker.uid);
	if (live.size() > k_live_most)
		stage_.violated("1 bound",
			std::to_string(live.size()) + " jobs are live for pod " +
				job.facts.marker.uid);
	for (const JobTruth *other : live) {
		if (other == &job)
			continue;
		const bool is_same = other->facts.marker.attempt == job.facts.marker.attempt;
		if (is_same || slurm_.restored_at < 0)
			stage_.violated("1",
				"jobs " + number_of(other->facts.id) + " and " +
					number_of(job.facts.id) + " are live for pod " +
					job.facts.marker.uid);
	}
}

void Oracle::load_changed(const std::string &node)
{
	const auto found = kube_.nodes.find(node);
	if (found == kube_.nodes.end() || !found->second.exists)
		return;
	bool has_foreign = false;
	const core::Resources load = kube_.load_of(node, &has_foreign);
	const core::Resources &limit = found->second.api.allocatable;
	const bool is_overfull = !has_foreign &&
		(load.milli_cpu > limit.milli_cpu || load.memory_bytes > limit.memory_bytes);
	if (is_overfull)
		stage_.violated("2 load",
			"pods hold " + std::to_string(load.milli_cpu) + "m on " + node +
				", which has " + std::to_string(limit.milli_cpu) + "m");
}

} // namespace slurmkube::sim
