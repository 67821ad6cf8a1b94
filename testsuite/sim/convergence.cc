/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The oracle's final check, when faults are over and nothing moves any more: nothing is lost,
 * nothing is left over. */
#include "src/core/gang/components.h"
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "testsuite/sim/oracle.h"

#include <algorithm>

namespace slurmkube::sim
{

namespace
{

bool is_allocated(const JobTruth &job)
{
	return core::job_side(&job.facts) == core::JobSide::allocated;
}

} // namespace

void Oracle::settled(const core::World &leader)
{
	for (const auto &[uid, pod] : kube_.pods)
		check_pod(pod);
	for (const std::string &uid : gangs_.uids_if([](const GangTruth &) { return true; }))
		check_gang(*gangs_.find(uid));
	check_jobs();
	check_nodes();
	check_devices();
	check_memory(leader);
	check_stages(leader);
}

void Oracle::check_pod(const PodTruth &pod)
{
	const auto own = slurm_.live_jobs_of(pod.api.uid.text), live = live_jobs_for(pod);
	const bool is_bound = !pod.api.node_name.empty();
	const bool wants_none =
		!sim::is_live(pod) || (!is_bound && (pod.api.gated || pod.api.deleting));
	if (wants_none && !own.empty())
		stage_.violated("end over",
			"pod " + name_of(pod) + " is over, but job " +
				std::to_string(own[0]->facts.id.number) + " is " +
				core::state_text(own[0]->facts.state));
	if (wants_none)
		return;
	if (live.size() > 1)
		stage_.violated("end two",
			"pod " + name_of(pod) + " has " + std::to_string(live.size()) +
				" live jobs");
	else if (is_bound)
		check_running(pod, live);
	else
		check_waiting(pod, live);
}

void Oracle::check_waiting(const PodTruth &pod, const std::vector<const JobTruth *> &live)
{
	const auto &told = pod.api.not_scheduled;
	if (!told) {
		stage_.violated(
			"end silent", "pod " + name_of(pod) + " waits and does not say why");
		return;
	}
	if (told->reason == names::k_reason_device && devices_.are_away())
		return;
	/* a pod that has left its gang waits until what runs of that frees their claim */
	const auto has_claim = [&](const auto &entry) {
		const PodTruth &other = entry.second;
		return sim::is_live(other) && !other.api.node_name.empty() &&
			Devices::is_common(pod, other);
	};
	if (told->reason == names::k_reason_device && std::ranges::any_of(kube_.pods, has_claim))
		return;
	if (live.empty()) {
		const GangTruth *gang = gangs_.find(pod.gang);
		if (told->reason != names::k_reason_refused &&
			told->reason != names::k_reason_no_node &&
			!(gang && is_incomplete(*gang)) && !waits_for_others(pod) &&
			!told->message.starts_with(
				"not all components of the workload had nodes at once"))
			stage_.violated("end jobless",
				"pod " + name_of(pod) + " waits without a job: " + told->message);
		return;
	}
	if (told->reason == names::k_reason_no_node && !is_allocated(*live[0]) &&
		live[0]->facts.marker.uid == pod.job_key)
		/* a pod of the gang has become larger than its template, and too large for every
		 * node */
		return;
	if (told->message.find("job " + std::to_string(live[0]->facts.id.number) + " ") ==
		std::string::npos)
		stage_.violated("end text",
			"pod " + name_of(pod) + " has job " +
				std::to_string(live[0]->facts.id.number) +
				" and says: " + told->message);
	if (!is_allocated(*live[0]) || live[0]->facts.marker.uid == pod.job_key)
		return;
	const std::string &name = live[0]->facts.nodes[0].node;
	stage_.violated("8 held",
		"pod " + name_of(pod) + " is not bound, but its job " +
			std::to_string(live[0]->facts.id.number) + " holds " + name + ": " +
			told->message);
}

/* The job of a pod that another client bound may stay pending forever beside the pod; so may a
 * job whose required node is full in Slurm. */
void Oracle::check_running(const PodTruth &pod, const std::vector<const JobTruth *> &live)
{
	const std::string &name = pod.api.node_name;
	if (pod.api.deleting)
		return; /* its kubelet is away, or it has a finalizer */
	if (pod.binder == Binder::foreigner &&
		(pod.api.name_space == "unmapped" ||
			pod.api.annotations.contains("slurm-kube.io/no-such-option")))
		return; /* the agent submits no job for it */
	const auto node = slurm_.state.nodes.find(name);
	if (node == slurm_.state.nodes.end())
		return; /* the node is not in Slurm */
	if (live.empty()) {
		if (!node->second.down)
			stage_.violated("end no job",
				"pod " + name_of(pod) + " runs on " + name + " without a job");
		return;
	}
	const JobTruth &job = *live[0];
	/* a member of a gang that another client has bound only takes up its rank */
	const bool is_guest =
		pod.binder == Binder::foreigner && job.facts.marker.uid == pod.job_key;
	if (is_allocated(job) && !share_of(job, name) && !is_guest)
		stage_.violated("end elsewhere",
			"pod " + name_of(pod) + " runs on " + name + ", its job " +
				std::to_string(job.facts.id.number) + " on " +
				job.facts.nodes[0].node);
	if (is_allocated(job))
		return;
	if (std::ranges::find(job.required_nodes, name) == job.required_nodes.end() &&
		pod.binder == Binder::agent)
		stage_.violated("end anywhere",
			"pod " + name_of(pod) + " runs on " + name + ", its job " +
				std::to_string(job.facts.id.number) + " waits for any node");
}

void Oracle::check_jobs()
{
	for (const auto &[id, job] : slurm_.state.jobs) {
		if (job.has_marker && job.facts.marker.cluster == slurm_.cluster &&
			core::is_live(job.facts) && !kube_.pods.contains(job.facts.marker.uid) &&
			!gangs_.find(core::workload_key(job.facts.marker.uid)))
			stage_.violated(
				"end no pod", "job " + std::to_string(id) + " stands for no pod");
	}
}

void Oracle::check_nodes()
{
	for (const auto &[name, kube] : kube_.nodes) {
		const auto slurm = slurm_.state.nodes.find(name);
		const bool is_managed =
			kube.exists && kube.api.labels.contains(names::k_managed_label);
		if (slurm == slurm_.state.nodes.end()) {
			if (is_managed && kube.api.ready)
				stage_.violated("end node", "node " + name + " is not in Slurm");
			continue;
		}
		const bool is_ours = slurm->second.facts.reason.starts_with(names::k_reason_prefix);
		const bool is_out = slurm->second.down || slurm->second.facts.drain;
		const bool is_well = is_managed && kube.api.ready && !kube.api.unschedulable &&
			kube.api.taints.empty();
		if (is_well && is_out && is_ours)
			stage_.violated("end node",
				"node " + name + " is well again, but Slurm does not use it: " +
					slurm->second.facts.reason);
		if (!is_well && !is_out)
			stage_.violated(
				"end node", "Slurm uses node " + name + ", which takes no pods");
	}
}

void Oracle::check_memory(const core::World &leader)
{
	const auto check = [this](const char *what, const core::PodUid &uid) {
		const auto pod = kube_.pods.find(uid.text);
		const bool has_pod = (pod != kube_.pods.end() && pod->second.exists) ||
			std::ranges::any_of(
				gangs_.members(core::workload_key(uid.text)), &PodTruth::exists);
		const bool has_job = std::any_of(slurm_.state.jobs.begin(), slurm_.state.jobs.end(),
			[&](const auto &j) { return j.second.facts.marker.uid == uid.text; });
		if (!has_pod && !has_job)
			stage_.violated(what, "World remembers something of " + uid.text);
	};
	for (const auto &[uid, entry] : leader.state().pods)
		check("leak entry", uid);
	for (const auto &[key, component] : leader.state().components)
		check("leak component", key);
	for (const auto &[id, job] : leader.state().jobs) {
		const JobTruth *truth = slurm_.find(id.number);
		if (!truth || truth->facts.state != job.state)
			stage_.violated("leak job",
				"World believes in job " + std::to_string(id.number) + ", state " +
					core::state_text(job.state));
	}
	for (const auto &[name, node] : kube_.nodes) {
		const auto held = kube_.uids_if([&name = name](const PodTruth &pod) {
			return sim::is_live(pod) && pod.api.node_name == name;
		});
		if (leader.state().occupancy.pods_on(name) != held.size())
			stage_.violated("leak pods",
				"World counts " +
					std::to_string(leader.state().occupancy.pods_on(name)) +
					" pods on " + name + ", there are " +
					std::to_string(held.size()));
	}
}

/* Compares the stage that World reports for each component with the pods and jobs themselves. */
void Oracle::check_stages(const core::World &leader)
{
	struct Count {
		std::size_t running = 0, waiting = 0, others = 0;
	};
	std::map<std::string, Count> counts; /* by the key of the component */
	for (const auto &[uid, pod] : kube_.pods) {
		if (!leader.state().entry({uid}) || !sim::is_live(pod))
			continue;
		Count &count = counts[leader.state().component_key_of({uid}).text];
		const bool is_odd =
			pod.api.deleting || pod.api.gated || pod.binder == Binder::foreigner;
		(is_odd                                     ? count.others
				: pod.api.node_name.empty() ? count.waiting
							    : count.running)++;
	}
	for (const auto &[key, count] : counts) {
		const core::Component *component = leader.state().component({key});
		if (!component || count.others > 0)
			continue;
		const core::ComponentStage stage = component->stage;
		const std::string is_at =
			"component " + key + " is said to be " + core::stage_text(stage);
		if (core::is_passing(stage))
			stage_.violated("stage", is_at + ", and nothing moves any more");
		const auto live = slurm_.live_jobs_of(key);
		if (live.size() != 1)
			continue;
		if (is_allocated(*live[0]) && count.running > 0 &&
			stage != core::ComponentStage::running)
			stage_.violated("stage", is_at + ", but its pods run");
		if (!is_allocated(*live[0]) && count.running == 0 && count.waiting > 0 &&
			stage != core::ComponentStage::queued)
			stage_.violated("stage", is_at + ", but its job waits in the queue");
	}
}

} // namespace slurmkube::sim
