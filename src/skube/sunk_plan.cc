/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sunk_plan.cc - the steps away from SUNK, and the reasons for their order. Pure.
 *
 * No step ends a pod or a job. What happens to a running pod of SUNK when its Pod Scheduler or the
 * slurmd of its node goes is not documented, so these steps are a person's, after the pods.
 */
#include "src/skube/asker.h"
#include "src/skube/sunk.h"

#include <algorithm>

namespace slurmkube::skube
{

namespace
{

constexpr std::size_t k_sunk_named_most = 20;

Words shortened(Words all)
{
	if (all.size() <= k_sunk_named_most)
		return all;
	const std::size_t more = all.size() - k_sunk_named_most;
	all.resize(k_sunk_named_most);
	all.push_back("… and " + std::to_string(more) + " more");
	return all;
}

/* The command does not take a node that has a slurmd, because it may have jobs. */
bool is_free(const SunkLeftovers &left, const SunkNode &node)
{
	return std::ranges::none_of(
		left.node_sets, [&node](const SunkPod &pod) { return pod.node == node.name; });
}

Words free_nodes(const SunkLeftovers &left, bool (*is_wanted)(const SunkNode &))
{
	Words names;
	for (const SunkNode &node : left.nodes) {
		if (is_free(left, node) && is_wanted(node))
			names.push_back(node.name);
	}
	return names;
}

Words kubectl(const SunkLeftovers &left, const Words &words)
{
	return joined(left.kubectl, words);
}

/* Cordoned first, so that no pod gets a broken node. A NodeSet respects taints that its pods do not
 * tolerate. The lock evicts pods: if SUNK sets it again, the node must not become ours. */
void plan_free_nodes(const SunkLeftovers &left, std::vector<Step> &plan)
{
	add(plan,
		{"Cordon the nodes that are drained in SUNK's Slurm, so that they stay out of "
		 "service",
			commands_of(kubectl(left, {"cordon"}),
				free_nodes(left, [](const SunkNode &node) {
					return node.is_drained && !node.is_cordoned &&
						!node.is_ours;
				}))});
	add(plan,
		{"Keep new slurmd of SUNK and pods of other schedulers off the nodes that have "
		 "no slurmd now",
			commands_of(kubectl(left, {"taint", "node", "--overwrite"}),
				free_nodes(left,
					[](const SunkNode &node) {
						return node.is_locked || !node.is_ours;
					}),
				{std::string(names::k_managed_label) + ":NoSchedule"})});
	add(plan,
		{.what = "Remove SUNK's lock from these nodes, a taint that evicts pods",
			.commands = commands_of(kubectl(left, {"taint", "node"}),
				free_nodes(
					left, [](const SunkNode &node) { return node.is_locked; }),
				{std::string(k_sunk_lock) + "-"}),
			.must_help = true});
	const bool has_value = left.label.find('=') != std::string::npos;
	add(plan,
		{"Give these nodes to slurm-kube",
			commands_of(kubectl(left, {"label", "node", "--overwrite"}),
				free_nodes(
					left, [](const SunkNode &node) { return !node.is_ours; }),
				{left.label + (has_value ? "" : "=true")})});
}

/* The drain may have been for the move, or for a fault: only a person knows. */
void plan_cordoned(const SunkLeftovers &left, std::vector<Step> &plan)
{
	Words names;
	for (const SunkNode &node : left.nodes) {
		if (is_free(left, node) && node.is_drained && (node.is_cordoned || !node.is_ours))
			names.push_back(
				node.name + (node.reason.empty() ? "" : ": " + node.reason));
	}
	add(plan,
		{.what = "kubectl uncordon the nodes that were drained in SUNK's Slurm for the "
			 "move only",
			.commands = {},
			.details = shortened(names)});
}

Words lines_of_pods(const std::vector<SunkPod> &pods, bool have_node)
{
	Words lines;
	for (const SunkPod &pod : pods) {
		if (pod.node.empty() != have_node)
			lines.push_back(pod.name_space + "/" + pod.name +
				(have_node ? " on " + pod.node : ""));
	}
	return shortened(lines);
}

void plan_busy_nodes(const SunkLeftovers &left, std::vector<Step> &plan)
{
	add(plan,
		{.what = "SUNK's slurmd runs on these nodes, and slurm-kube schedules pods on "
			 "nodes without slurmd only. Drain the node in SUNK's Slurm, wait until "
			 "its "
			 "jobs and pods have ended, take it out of its NodeSet, and run this "
			 "command "
			 "again",
			.commands = {},
			.details = lines_of_pods(left.node_sets, true)});
	add(plan,
		{.what = "These pods run under SUNK: wait until they have ended, or let their "
			 "owners replace them by pods of the scheduler of slurm-kube. What happens "
			 "to them when SUNK goes first is not known",
			.commands = {},
			.details = lines_of_pods(left.pods, true)});
	add(plan,
		{.what = "These pods wait under SUNK. After its Pod Scheduler has stopped, they "
			 "get jobs by scheduler_aliases",
			.commands = {},
			.details = lines_of_pods(left.pods, false)});
	add(plan,
		{.what = "These annotations are not known to slurm-kube, which refuses pods with "
			 "them: see skube explain options, and remove or replace them",
			.commands = {},
			.details = left.unknown_annotations});
}

/* What only a person can do, when no pod runs under SUNK. */
void plan_rest(const SunkLeftovers &left, std::vector<Step> &plan)
{
	if (!left.programs.empty())
		plan.push_back({.what = "When none of its pods runs any more, stop its Pod "
					"Scheduler (scheduler.enabled: false in the values of the "
					"slurm chart), and only then let slurm-kube take its pods",
			.commands = {},
			.details = joined(lines_of_pods(left.programs, false),
				{"scheduler_aliases: [" + left.scheduler +
					"] in slurmkubed.yaml, then restart slurmkubed"})});
	add(plan,
		{.what = "SUNK's Syncer has drained these nodes of Slurm, and nothing else "
			 "resumes them: examine them, then scontrol update NodeName=… State=RESUME",
			.commands = {},
			.details = shortened(left.drained)});
	if (!left.pods.empty() || !left.programs.empty())
		plan.push_back({.what = "Know what differs",
			.commands = {},
			.details = {
				"placeholder jobs belong to root in SUNK; with slurm-kube, jobs "
				"belong to the user of the namespace (identity.rules)",
				"terminationGracePeriodSeconds need not be less than KillWait",
				"sunk.coreweave.com/exclusive is read; without it, slurm-kube "
				"shares nodes. What SUNK does without it is not known",
				"which jobs in SUNK's Slurm are placeholders is not known to "
				"this command: it cancels none"}});
}

} // namespace

Result<std::vector<Step>> sunk_plan(const SunkLeftovers &left)
{
	if (!left.other_names.empty())
		return Error{Errc::conflict,
			"the Pod Scheduler in the cluster at " + left.server + " is named '" +
				left.other_names.front() + "', not '" + left.scheduler +
				"': give its name with --sunk-scheduler, or its cluster with "
				"--context or --kubeconfig"};
	std::vector<Step> plan;
	plan_free_nodes(left, plan);
	plan_cordoned(left, plan);
	plan_busy_nodes(left, plan);
	plan_rest(left, plan);
	return plan;
}

} // namespace slurmkube::skube
