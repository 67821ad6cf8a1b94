/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * teardown_plan.cc - what to do, in which order, and why in that one. Pure.
 */
#include "src/skube/teardown.h"

namespace slurmkube::skube
{

namespace
{

constexpr std::size_t k_names_a_command = 100; /* command lines have an end */

/* words and then names, in as many commands as it takes; last after them. */
std::vector<Words> commands_of(const Words &words, const Words &names, const Words &last = {})
{
	std::vector<Words> commands;
	for (std::size_t i = 0; i < names.size(); i++) {
		if (i % k_names_a_command == 0)
			commands.push_back(words);
		commands.back().push_back(names[i]);
		if (i + 1 == names.size() || (i + 1) % k_names_a_command == 0)
			commands.back().insert(commands.back().end(), last.begin(), last.end());
	}
	return commands;
}

std::vector<Words> one_each(const Words &before, const std::string &prefix, const Words &names, const Words &after)
{
	std::vector<Words> commands;
	for (const std::string &name : names) {
		commands.push_back(before);
		commands.back().push_back(prefix + name);
		commands.back().insert(commands.back().end(), after.begin(), after.end());
	}
	return commands;
}

void add(std::vector<Step> &plan, Step step)
{
	if (!step.commands.empty() || !step.details.empty())
		plan.push_back(std::move(step));
}

/* While the agent still runs: it ends the jobs of pods that end. */
void plan_quiet(const Leftovers &left, std::vector<Step> &plan)
{
	add(plan, {"No new pods are sent to Slurm: delete the policies that set and demand schedulerName", commands_of({"kubectl", "delete"}, left.scheduler_policies)});
	add(plan, {"Slurm starts no more pods", one_each({"scontrol", "update"}, "PartitionName=", left.open_partitions, {"State=INACTIVE"})});
	Words running = left.pods_bound;
	running.insert(running.end(), left.running_jobs.begin(), left.running_jobs.end());
	add(plan, {.what = "Wait until these pods and jobs have ended, or end them (kubectl delete pod, scancel), while slurmkubed still runs",
		   .commands = {},
		   .details = running,
		   .stops = true});
}

void plan_stop(const Leftovers &left, std::vector<Step> &plan)
{
	if (left.agent_answers)
		plan.push_back({.what = "Stop the agent; on every controller host", .commands = {{"systemctl", "disable", "--now", "slurmkubed"}}});
	add(plan, {"Cancel what waits in Slurm; without the agent no pod is deleted for it", commands_of({"scancel", "--state=PENDING"}, left.waiting_jobs)});
}

/* Not before the agent has stopped: it takes a node without the label for one that it has lost. */
void plan_kubernetes(const Leftovers &left, std::vector<Step> &plan)
{
	add(plan, {"Delete the other policies", commands_of({"kubectl", "delete"}, left.other_policies)});
	add(plan, {"Remove the label from nodes", commands_of({"kubectl", "label", "node"}, left.labelled_nodes, {left.label + "-"})});
	add(plan, {"Remove the taint from nodes", commands_of({"kubectl", "taint", "node"}, left.tainted_nodes, {std::string(names::k_managed_label) + "-"})});
	add(plan, {"Remove the label from namespaces", commands_of({"kubectl", "label", "namespace"}, left.namespaces, {std::string(names::k_managed_label) + "-"})});
	add(plan, {"Delete the agent's rights and its account", commands_of({"kubectl", "delete"}, left.roles)});
}

void plan_slurm(const Leftovers &left, std::vector<Step> &plan)
{
	add(plan, {"Delete the node records that the agent made", one_each({"scontrol", "delete"}, "NodeName=", left.dynamic_nodes, {})});
	add(plan, {.what = "Remove these lines from Slurm's configuration (of JobSubmitPlugins only the word kube), then restart slurmctld",
		   .commands = {},
		   .details = left.conf_lines});
}

void plan_rest(const Leftovers &left, std::vector<Step> &plan)
{
	add(plan, {.what = "These pods wait for a scheduler that is gone: delete them, and give what makes them another schedulerName",
		   .commands = {},
		   .details = left.pods_waiting});
	const bool nothing_left = plan.empty();
	if (!nothing_left)
		plan.push_back({.what = "Remove the files, on every controller host",
				.commands = {},
				.details = {"make uninstall in the build directory", "/etc/slurm-kube, /var/lib/slurm-kube, kube.conf beside slurm.conf, the file of node lines",
					    "job_submit_kube.so only after slurmctld has been restarted without it"}});
}

} // namespace

std::vector<Step> teardown_plan(const Leftovers &left)
{
	std::vector<Step> plan;
	plan_quiet(left, plan);
	plan_stop(left, plan);
	plan_kubernetes(left, plan);
	plan_slurm(left, plan);
	plan_rest(left, plan);
	return plan;
}

std::string plan_text(const std::vector<Step> &plan)
{
	std::string text;
	std::size_t number = 0;
	for (const Step &step : plan) {
		text += std::to_string(++number) + ". " + step.what + (step.details.empty() ? ":\n" : " (by hand):\n");
		for (const Words &command : step.commands)
			text += "   " + command_line(command) + "\n";
		for (const std::string &detail : step.details)
			text += "   " + detail + "\n";
	}
	return text;
}

} // namespace slurmkube::skube
