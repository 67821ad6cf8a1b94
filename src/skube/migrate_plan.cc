/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * migrate_plan.cc - the steps, and the reasons for their order. Pure.
 */
#include "src/skube/asker.h"
#include "src/skube/migrate.h"

#include <algorithm>

namespace slurmkube::skube
{

namespace
{

constexpr std::size_t k_pods_named_most = 5;

Words kubectl(const BridgeLeftovers &left, const Words &words)
{
	return joined(left.kubectl, words);
}

bool is_here(const BridgeLeftovers &left, const BridgeJob &job)
{
	return std::ranges::any_of(job.pods,
		[&](const std::string &pod) { return left.pod_jobs.contains(pod + ":" + job.id); });
}

/* Waiting jobs first: they could start when others end. */
Words ids_of(const BridgeLeftovers &left, bool are_here)
{
	Words ids;
	for (const bool is_waiting : {true, false}) {
		for (const BridgeJob &job : left.jobs) {
			if (job.is_waiting == is_waiting && is_here(left, job) == are_here)
				ids.push_back(job.id);
		}
	}
	return ids;
}

std::string first_of(const Words &names)
{
	std::string text;
	for (std::size_t i = 0; i < std::min(names.size(), k_pods_named_most); i++)
		text += (i == 0 ? "" : ", ") + names[i];
	return text + (names.size() > k_pods_named_most ? ", …" : "");
}

/* The wrong cluster would lose its webhooks, and the controller of the right one would go on and
 * delete pods whose jobs end. Pods have the finalizer only before their jobs are ended. */
Status check_cluster(const BridgeLeftovers &left)
{
	const bool has_live =
		std::ranges::any_of(left.pods, [](const BridgePod &pod) { return !pod.has_ended; });
	const bool is_begun = left.webhooks.empty() && left.pods.empty();
	if (!ids_of(left, true).empty() || is_begun || (left.jobs.empty() && !has_live))
		return Ok{};
	const std::string remedy =
		": give the cluster of this Slurm with --context or --kubeconfig, and run the "
		"command as a user who sees all jobs";
	if (left.jobs.empty())
		return Error{Errc::conflict,
			"slurm-bridge has pods in the cluster at " + left.server +
				", but no job in Slurm" + remedy};
	return Error{Errc::conflict,
		"none of the jobs that slurm-bridge has in Slurm (" +
			first_of(ids_of(left, false)) + ") is about a pod of the cluster at " +
			left.server + remedy +
			"; if it is this one and their pods are gone, scancel these jobs"};
}

/* ---- the plan ---- */

/* Pods on a node that has a slurmd as well would be left without a scheduler. */
void plan_hybrid(const BridgeLeftovers &left, std::vector<Step> &plan)
{
	Words busy;
	for (const BridgeNode &node : left.nodes) {
		const auto is_there = [&node](const BridgePod &pod) {
			return pod.node == node.name && !pod.has_ended;
		};
		if (!node.is_external && std::ranges::any_of(left.pods, is_there))
			busy.push_back(node.name);
	}
	add(plan,
		{.what = "These nodes run slurmd as well, and slurm-kube schedules pods on "
			 "external nodes only: wait until slurm-bridge's pods there have ended, or "
			 "end them",
			.commands = {},
			.details = busy,
			.stops = true});
}

/* If its programs are not found by their labels, they may run all the same. */
void plan_unknown(const BridgeLeftovers &left, std::vector<Step> &plan)
{
	const bool has_work = !left.jobs.empty() || !left.pods.empty();
	if (!has_work || left.is_stopped || !left.deployments.empty())
		return;
	plan.push_back(
		{.what = "No deployment has the labels of slurm-bridge's chart, but there "
			 "are jobs or pods of it. Its controller deletes pods whose jobs end",
			.commands = {},
			.details = {"stop its programs if they run, and add --bridge-stopped"},
			.stops = true});
}

/* Its controller must be gone before any job is ended. Its webhooks refuse each new and changed pod
 * when their program is gone (failurePolicy Fail). */
void plan_stop(const BridgeLeftovers &left, std::vector<Step> &plan)
{
	add(plan,
		{"Slurm starts nothing on these nodes until slurm-kube knows the running pods",
			one_each({"scontrol", "update"}, "PartitionName=", left.open_partitions,
				{"State=DOWN"})});
	add(plan,
		{.what = "These configurations have webhooks of others too: take "
			 "pods.slinky.slurm.net out of them",
			.commands = {},
			.details = left.shared_webhooks,
			.stops = true});
	add(plan,
		{.what = "Delete the webhooks of slurm-bridge: they would refuse pods when it is "
			 "stopped",
			.commands = commands_of(kubectl(left, {"delete"}), left.webhooks),
			.must_help = true});
	std::vector<Words> scale, wait;
	for (const BridgeProgram &one : left.deployments) {
		if (one.is_running)
			scale.push_back(kubectl(left,
				{"scale", "--namespace", one.name_space, "deployment/" + one.name,
					"--replicas=0"}));
	}
	for (const BridgeProgram &one : left.program_pods)
		wait.push_back(kubectl(left,
			{"wait", "--for=delete", "--timeout=180s", "--namespace", one.name_space,
				"pod/" + one.name}));
	add(plan,
		{.what = "Stop slurm-bridge, which deletes pods whose jobs end",
			.commands = scale,
			.must_help = true});
	add(plan,
		{.what = "Wait until its programs have ended",
			.commands = wait,
			.must_help = true});
}

/* The patch names the finalizer, not its place in the list, which others change. */
void plan_pods(const BridgeLeftovers &left, std::vector<Step> &plan)
{
	const std::string patch =
		"--patch={\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"" +
		std::string(k_bridge_finalizer) + "\"]}}";
	std::vector<Words> patches;
	for (const BridgePod &pod : left.pods)
		patches.push_back(kubectl(
			left, {"patch", "pod", "--namespace", pod.name_space, pod.name, patch}));
	add(plan,
		{"Remove slurm-bridge's finalizer from pods: nothing else would, and they could "
		 "not "
		 "be deleted",
			patches});
}

/* A node record can be deleted only if it has no job. */
void plan_slurm(const BridgeLeftovers &left, std::vector<Step> &plan)
{
	add(plan,
		{"End slurm-bridge's jobs in Slurm; without its controller no pod is deleted for "
		 "it",
			commands_of({"scancel"}, ids_of(left, true))});
	add(plan,
		{.what = "These jobs have the form of slurm-bridge's, but none of their pods has "
			 "their number: scancel them if they are left over, or move them to other "
			 "nodes",
			.commands = {},
			.details = left.slurm_nodes.empty() ? Words() : ids_of(left, false),
			.stops = true});
	Words cordoned;
	for (const BridgeNode &node : left.nodes) {
		if (std::ranges::find(left.drained_nodes, node.slurm_name) !=
			left.drained_nodes.end())
			cordoned.push_back(node.name);
	}
	add(plan,
		{"Keep drained nodes out of service: the agent drains the nodes that are cordoned",
			commands_of(kubectl(left, {"cordon"}), cordoned)});
	add(plan,
		{"Delete its node records; the agent makes new ones",
			one_each({"scontrol", "delete"}, "NodeName=", left.slurm_nodes, {})});
}

/* Our taint comes before theirs goes, so that pods of other schedulers stay away. Nodes with slurmd
 * keep theirs. */
void plan_nodes(const BridgeLeftovers &left, std::vector<Step> &plan)
{
	Words tainted, unlabelled;
	for (const BridgeNode &node : left.nodes) {
		if (node.is_external && node.is_tainted)
			tainted.push_back(node.name);
		if (node.is_external && !node.is_ours)
			unlabelled.push_back(node.name);
	}
	std::vector<Words> taints = commands_of(kubectl(left, {"taint", "node", "--overwrite"}),
		tainted, {std::string(names::k_managed_label) + ":NoSchedule"});
	for (Words &command : commands_of(kubectl(left, {"taint", "node"}), tainted,
		     {std::string(k_bridge_taint) + "-"}))
		taints.push_back(std::move(command));
	add(plan, {"Replace its taint, which would evict pods, by the one of slurm-kube", taints});
	const bool has_value = left.label.find('=') != std::string::npos;
	add(plan,
		{"Give its nodes to slurm-kube",
			commands_of(kubectl(left, {"label", "node", "--overwrite"}), unlabelled,
				{left.label + (has_value ? "" : "=true")})});
}

/* What only a person can do, when all else is done. */
void plan_rest(const BridgeLeftovers &left, std::vector<Step> &plan)
{
	Words programs;
	for (const BridgeProgram &one : left.deployments)
		programs.push_back("deployment " + one.name + " in namespace " + one.name_space);
	if (programs.empty())
		return;
	plan.push_back({.what = "Let slurm-kube schedule these pods",
		.commands = {},
		.details = {
			"scheduler_aliases: [slurm-bridge-scheduler] in slurmkubed.yaml, or the "
			"name that slurm-bridge had, then restart slurmkubed",
			"when skube show pods shows a job for each running pod: scontrol update "
			"PartitionName=… State=UP for the partitions that were set DOWN"}});
	plan.push_back({.what = "Uninstall slurm-bridge (helm uninstall), also where a tool would "
				"install it again",
		.commands = {},
		.details = programs});
}

} // namespace

Result<std::vector<Step>> migrate_plan(const BridgeLeftovers &left)
{
	if (Status fits = check_cluster(left); !fits)
		return fits.error();
	std::vector<Step> plan;
	plan_hybrid(left, plan);
	plan_unknown(left, plan);
	plan_stop(left, plan);
	plan_pods(left, plan);
	plan_slurm(left, plan);
	plan_nodes(left, plan);
	plan_rest(left, plan);
	return plan;
}

} // namespace slurmkube::skube
