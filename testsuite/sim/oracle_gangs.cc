/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The oracle's invariants for pods that share a job. */
#include "src/core/gang/components.h"
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "testsuite/sim/oracle.h"

#include <algorithm>

namespace slurmkube::sim
{

namespace
{

constexpr Micros k_gang_news = 2500 * k_ms;
/* the maximum time to hold nodes for other components: twice the limit in Agent::settings() */
constexpr Micros k_held_most = 40 * k_second;

std::string annotation(const PodTruth &pod, const char *key)
{
	const auto found = pod.api.annotations.find(key);
	return found == pod.api.annotations.end() ? "" : found->second;
}

bool is_rank(const PodTruth &pod)
{
	return !annotation(pod, names::k_allocation_rank).empty();
}

bool is_member(const PodTruth &pod)
{
	return pod.binder == Binder::agent && sim::is_live(pod) && is_rank(pod);
}

bool is_bound_member(const PodTruth *pod)
{
	return is_member(*pod);
}

} // namespace

/* ---- each binding ---- */

void Oracle::pod_bound(const PodTruth &pod)
{
	if (pod.gang.empty() || !is_member(pod))
		return;
	const JobTruth *job = slurm_.find(static_cast<std::uint32_t>(
		std::stoul(annotation(pod, names::k_allocation_job_id))));
	/* the pod may have been bound under another allocation before slurmctld was killed */
	const bool is_news =
		(slurm_.restored_at >= 0 && stage_.now() - slurm_.restored_at < 2 * k_gang_news) ||
		stage_.now() < excused_until_;
	const core::NodeAllocation *share = job && job->facts.marker.uid == pod.job_key && !is_news
		? share_of(*job, pod.api.node_name)
		: nullptr;
	core::Resources sum;
	for (const PodTruth *other : gangs_.members(pod.gang)) {
		if (!is_member(*other))
			continue;
		if (other != &pod &&
			annotation(*other, names::k_allocation_rank) ==
				annotation(pod, names::k_allocation_rank))
			stage_.violated("G rank",
				"pods " + name_of(*other) + " and " + name_of(pod) + " have rank " +
					annotation(pod, names::k_allocation_rank));
		if (other->api.node_name != pod.api.node_name || other->job_key != pod.job_key)
			continue;
		sum.milli_cpu += other->api.requests.milli_cpu;
		sum.memory_bytes += other->api.requests.memory_bytes;
	}
	if (share &&
		(sum.milli_cpu > share->cpus * std::int64_t{1000} ||
			(sum.memory_bytes >> 20) > static_cast<std::int64_t>(share->memory_mib)))
		stage_.violated("G packing",
			"with pod " + name_of(pod) + " the gang holds " +
				std::to_string(sum.milli_cpu) + "m on " + pod.api.node_name +
				", where its job has " + std::to_string(share->cpus) + " CPUs");
}

/* The component has an allocation, or its pods run or have succeeded. */
bool Oracle::has_nodes(const GangTruth &gang, const std::string &key) const
{
	const auto live = slurm_.live_jobs_of(key);
	if (std::ranges::any_of(live, [](const JobTruth *job) {
		    return core::job_side(&job->facts) == core::JobSide::allocated;
	    }))
		return true;
	bool is_over = true;
	for (const PodTruth *pod : gangs_.members(gang.uid)) {
		if (pod->job_key == key && is_member(*pod))
			return true;
	}
	std::uint32_t rank = 0;
	for (std::size_t role = 0; role < gang.roles.size(); role++) {
		for (std::uint32_t i = 0; i < gang.roles[role].pods; i++, rank++) {
			const auto latest = gang.pods_by_rank.find(rank);
			const bool is_its_own =
				core::component_key(gang.uid, gang.component_of_role[role]) == key;
			is_over = is_over &&
				(!is_its_own ||
					(latest != gang.pods_by_rank.end() &&
						sim::has_succeeded(kube_.pods.at(latest->second))));
		}
	}
	return is_over;
}

/* No partial start: the first pod of a workload may be bound only when all components have their
 * nodes. */
void Oracle::check_together(const PodTruth &pod)
{
	const GangTruth *gang = gangs_.find(pod.gang);
	const bool is_restored = !slurm_.is_up() ||
		(slurm_.restored_at >= 0 && stage_.now() - slurm_.restored_at < 2 * k_gang_news);
	if (!gang || job_keys_of(*gang).size() < 2 || is_restored || stage_.now() < excused_until_)
		return;
	const auto members = gangs_.members(pod.gang);
	const auto is_other = [&](const PodTruth *other) {
		return other != &pod && is_member(*other);
	};
	if (std::ranges::any_of(members, is_other))
		return; /* the workload has started already */
	for (const std::string &key : job_keys_of(*gang)) {
		const auto ended = slurm_.ends.find(key);
		const bool is_news = ended != slurm_.ends.end() &&
			std::ranges::any_of(ended->second, [&](const EndRecord &end) {
				return stage_.now() - end.at < k_gang_news;
			});
		/* all its ranks have succeeded since the owner recreated all pods */
		const bool was_over = ended != slurm_.ends.end() && !ended->second.empty() &&
			ended->second.back().cause == Cause::agent_complete &&
			ended->second.back().status == 0 &&
			ended->second.back().at >= gang->restarted_at;
		if (!is_news && !was_over && !has_nodes(*gang, key))
			stage_.violated("G together",
				"pod " + name_of(pod) + " is bound, and component " + key +
					" has no nodes");
	}
}

/* True: the pod waits because another component lacks its nodes. */
bool Oracle::waits_for_others(const PodTruth &pod) const
{
	const GangTruth *gang = gangs_.find(pod.gang);
	if (!gang)
		return false;
	const auto keys = job_keys_of(*gang);
	/* the agent does not know the result of a rank whose pod another client bound */
	const auto is_foreign = [](const PodTruth *one) {
		return one->binder == Binder::foreigner;
	};
	if (keys.size() > 1 && std::ranges::any_of(gangs_.members(gang->uid), is_foreign))
		return true;
	/* A new agent does not know of a success whose pod was deleted before it started; it asks
	 * for that component once more (doc/design/outside.md). */
	return std::ranges::any_of(keys, [&](const std::string &key) {
		const auto jobs = slurm_.live_jobs_of(key);
		return key != pod.job_key && !jobs.empty() &&
			(!has_nodes(*gang, key) ||
				std::ranges::none_of(jobs, [](const JobTruth *job) {
					return core::job_side(&job->facts) ==
						core::JobSide::allocated;
				}));
	});
}

/* ---- the end of a job ---- */

void Oracle::gang_ends(unsigned agent, std::uint64_t life, const std::string &uid, core::JobId id,
	std::optional<std::uint32_t> wait_status)
{
	const GangTruth *gang = gangs_.find(core::workload_key(uid));
	const JobTruth *job = slurm_.find(id.number);
	if (!gang || !job || !core::is_live(job->facts) || job->facts.marker.uid != uid ||
		slurm_.live_jobs_of(uid).size() > 1)
		return;
	if (job->started_at > stage_.now() - k_gang_news)
		return; /* a pending job is cancelled, and it has just started */
	const std::uint32_t told = wait_status.value_or(core::k_status_cancelled);
	const bool never_came = told == core::k_status_never_came;
	/* a restarted agent knows nothing of a rank that succeeded and is gone */
	const auto is_forgotten = [&](const auto &latest) {
		const PodTruth &pod = kube_.pods.at(latest.second);
		return !pod.exists && sim::has_succeeded(pod);
	};
	if (never_came && !is_incomplete(*gang) &&
		std::ranges::none_of(gang->pods_by_rank, is_forgotten))
		stage_.violated("G end",
			"job " + std::to_string(id.number) +
				" is ended because pods never came, but all are there");
	for (const PodTruth *pod : gangs_.members(gang->uid)) {
		const bool is_its_own = pod->job_key == uid && is_member(*pod) &&
			pods_told_.contains({agent, life, pod->api.uid.text});
		if (is_its_own && !never_came)
			stage_.violated("G end",
				"job " + std::to_string(id.number) + " is ended, but pod " +
					name_of(*pod) + " is bound under it");
	}
	check_gang_result(*gang, *job, told);
}

/* Which rank's result the job gets depends on what the agent saw. The result must be that of one
 * of its pods. */
void Oracle::check_gang_result(const GangTruth &gang, const JobTruth &job, std::uint32_t told)
{
	if (told == core::k_status_cancelled || told == core::k_status_never_came ||
		told == core::k_status_given_back)
		return;
	const auto members = gangs_.members(gang.uid);
	const std::string &key = job.facts.marker.uid;
	const auto is_such = [&](const PodTruth *pod) {
		return pod->job_key == key && pod->end && expected_status(*pod) == told;
	};
	if (std::ranges::none_of(members, is_such) && !(told == 0 && gang.has_succeeded))
		stage_.violated("4 gang",
			"job " + std::to_string(job.facts.id.number) + " is to end with status " +
				std::to_string(told) + ", which no pod of the gang has");
	for (const auto &[rank, uid] : gang.pods_by_rank) {
		const PodTruth &pod = kube_.pods.at(uid);
		/* a pod too large for the allocation had a job of its own */
		const bool is_of_job =
			!pod.api.annotations.contains(names::k_allocation_job_id) || is_rank(pod);
		if (told == 0 && pod.job_key == key && !gang.has_succeeded && pod.end &&
			is_of_job && expected_status(pod) != 0)
			stage_.violated("4 gang",
				"job " + std::to_string(job.facts.id.number) +
					" is to end COMPLETED, but pod " + name_of(pod) +
					" has failed");
	}
}

/* ---- at the end ---- */

/* True: the controller has not created all pods that the gang needs to start, or some are gated. */
bool Oracle::is_incomplete(const GangTruth &gang) const
{
	std::size_t there = 0, wanted = gang.minimum;
	for (const PodTruth *pod : gangs_.members(gang.uid)) {
		if (sim::is_live(*pod) && pod->api.gated)
			return true;
		if (sim::is_live(*pod) && !pod->api.node_name.empty() && pod->api.deleting)
			return true; /* the next job waits for the end of this pod */
		there +=
			gang.sort == GangSort::pod_group && sim::is_live(*pod) && !pod->api.deleting
			? 1U
			: 0U;
	}
	for (const core::Role &role : gang.roles)
		wanted += gang.sort == GangSort::pod_group ? 0 : role.pods;
	for (const auto &[rank, uid] : gang.pods_by_rank) {
		const PodTruth &pod = kube_.pods.at(uid);
		/* a rank that has succeeded gets no other pod, even if its own is gone */
		there += sim::is_live(pod) || (pod.end && pod.exists) || sim::has_succeeded(pod)
			? 1U
			: 0U;
	}
	return there < wanted;
}

void Oracle::check_gang(const GangTruth &gang)
{
	for (const std::string &key : job_keys_of(gang))
		check_component(gang, key);
}

void Oracle::check_component(const GangTruth &gang, const std::string &key)
{
	const auto live = slurm_.live_jobs_of(key);
	const auto members = gangs_.members(gang.uid);
	if (live.size() > 1)
		stage_.violated("end two",
			"gang " + key + " has " + std::to_string(live.size()) + " live jobs");
	if (live.empty())
		return;
	const std::string number = std::to_string(live[0]->facts.id.number);
	if (std::ranges::none_of(members, [](const PodTruth *pod) { return sim::is_live(*pod); }))
		stage_.violated("end gang",
			"job " + number + " of gang " + key + " is " +
				core::state_text(live[0]->facts.state) +
				", and none of its pods lives");
	if (core::job_side(&live[0]->facts) != core::JobSide::allocated)
		return;
	const auto keys = job_keys_of(gang);
	const auto lacks_nodes = [&](const std::string &other) {
		return other != key && !has_nodes(gang, other);
	};
	if (std::ranges::any_of(keys, lacks_nodes) &&
		std::ranges::none_of(members, is_bound_member) &&
		stage_.now() - live[0]->started_at > k_held_most)
		stage_.violated("G held",
			"job " + number + " holds nodes, and another component of " + gang.uid +
				" has none");
	const bool holds_back = std::ranges::any_of(members, [](const PodTruth *pod) {
		return sim::is_live(*pod) && (pod->api.gated || pod->api.deleting);
	});
	/* on an unreachable node the agent cannot tell whether the pods that others wait for run */
	const bool is_away =
		std::ranges::any_of(live[0]->facts.nodes, [&](const core::NodeAllocation &share) {
			const auto node = kube_.nodes.find(share.node);
			return node == kube_.nodes.end() || !node->second.api.ready;
		});
	if (is_incomplete(gang) && gang.sort != GangSort::pod_group && !holds_back && !is_away)
		stage_.violated("end gang late",
			"job " + number + " of gang " + gang.uid +
				" waits for pods that do not come");
	for (const PodTruth *pod : members) {
		const bool waits = pod->job_key == key && !waits_for_others(*pod) &&
			sim::is_live(*pod) && pod->api.node_name.empty() && !pod->api.deleting &&
			!pod->api.gated;
		const auto is_usable = [&](const core::NodeAllocation &share) {
			const auto node = kube_.nodes.find(share.node);
			const bool is_well = node != kube_.nodes.end() && node->second.exists &&
				node->second.api.ready && !node->second.api.unschedulable &&
				node->second.api.taints.empty() &&
				node->second.api.labels.contains(names::k_managed_label);
			const core::Resources load =
				is_well ? kube_.load_of(share.node) : core::Resources{};
			return is_well &&
				load.milli_cpu + pod->api.requests.milli_cpu <=
				node->second.api.allocatable.milli_cpu &&
				load.memory_bytes + pod->api.requests.memory_bytes <=
				node->second.api.allocatable.memory_bytes;
		};
		const auto holds_rank = [&](const PodTruth *other) {
			return other != pod && pod->rank && other->rank == pod->rank &&
				sim::is_live(*other);
		};
		const auto &told = pod->api.not_scheduled;
		if (waits && told &&
			told->message.find("job " + number + " ") != std::string::npos &&
			std::ranges::none_of(members, holds_rank))
			stage_.violated("8 held",
				"pod " + name_of(*pod) + " is not bound, but job " + number +
					" of its gang holds a place for it: " + told->message);
		const bool is_alone = !slurm_.live_jobs_of(pod->api.uid.text).empty();
		if (waits && !is_alone && std::ranges::all_of(live[0]->facts.nodes, is_usable) &&
			std::ranges::none_of(members, holds_rank))
			stage_.violated("end unbound",
				"pod " + name_of(*pod) + " is not bound, though job " + number +
					" of its gang is allocated and there is room");
	}
}

} // namespace slurmkube::sim
