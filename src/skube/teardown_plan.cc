/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * teardown_plan.cc - the steps, and the reasons for their order. Pure.
 */
#include "src/core/model/node_names.h"
#include "src/skube/asker.h"
#include "src/skube/teardown.h"

#include <algorithm>

namespace slurmkube::skube
{

namespace
{

constexpr std::size_t k_teardown_named_most = 5;
constexpr char k_own_prefix[] = "slurm-kube.io/";

Words kubectl(const Leftovers &left, const Words &words)
{
	Words command = left.kubectl;
	command.insert(command.end(), words.begin(), words.end());
	return command;
}

/* ---- whether the cluster that kubectl sees belongs to this Slurm ---- */

bool is_about_a_pod_there(const MarkedJob &job, const Leftovers &left)
{
	const bool is_gang = job.marker.kind != core::k_pod_kind; /* its first pod may have ended */
	if (!left.cluster_uid.empty() && job.marker.cluster_uid == left.cluster_uid)
		return true;
	return left.pod_uids.contains(job.marker.uid) ||
		(is_gang && left.pod_namespaces.contains(job.marker.name_space));
}

std::string names_of(const Words &names)
{
	std::string text;
	for (std::size_t i = 0; i < std::min(names.size(), k_teardown_named_most); i++)
		text += (i == 0 ? "" : ", ") + names[i];
	return text + (names.size() > k_teardown_named_most ? ", …" : "");
}

Words ids_of(const Leftovers &left, bool are_waiting)
{
	Words ids;
	for (const MarkedJob &job : left.marked_jobs) {
		if ((job.state == "PENDING") == are_waiting)
			ids.push_back(job.id);
	}
	return ids;
}

/* Otherwise the nodes of a cluster that has no pod at present would go as well. */
Status check_which(const Leftovers &left)
{
	const bool is_wrong = !left.cluster.empty() && !left.clusters.empty() &&
		!left.clusters.contains(left.cluster) && left.marked_jobs.empty();
	if (!is_wrong && (!left.cluster.empty() || left.clusters.size() < 2))
		return Ok{};
	std::string all;
	for (const std::string &name : left.clusters)
		all += (all.empty() ? "" : ", ") + name;
	if (is_wrong)
		return Error{Errc::conflict,
			"Slurm has no node of the Kubernetes cluster " + left.cluster +
				", but of " + all + ": correct --cluster"};
	return Error{Errc::conflict,
		"Slurm has nodes of several Kubernetes clusters (" + all +
			"): say with --cluster which of them is to be removed"};
}

/* With the wrong cluster, jobs would seem to belong to pods that are gone, and that cluster would
 * lose its labels. */
Status check_cluster(const Leftovers &left)
{
	const std::string remedy =
		": give the cluster of this Slurm with --context or --kubeconfig";
	const auto is_other = [&left](const MarkedJob &job) {
		return !left.cluster_uid.empty() && !job.marker.cluster_uid.empty() &&
			job.marker.cluster_uid != left.cluster_uid;
	};
	if (const auto other = std::ranges::find_if(left.marked_jobs, is_other);
		other != left.marked_jobs.end())
		return Error{Errc::conflict,
			"job " + other->id + " is about a pod of another cluster than the one at " +
				left.server + remedy};
	const auto is_there = [&left](const MarkedJob &job) {
		return is_about_a_pod_there(job, left);
	};
	if (!left.marked_jobs.empty() && std::ranges::none_of(left.marked_jobs, is_there))
		return Error{Errc::conflict,
			"none of Slurm's jobs for pods (" +
				names_of(joined(ids_of(left, false), ids_of(left, true))) +
				") is about a pod of the cluster at " + left.server + remedy +
				"; if it is this one and their pods are gone, scancel these jobs"};
	const Words slurm = joined(left.dynamic_nodes, left.written_nodes);
	const core::NodeNames names{left.name_prefix};
	const auto is_known = [&](const std::string &name) {
		const auto label = left.named_nodes.find(name);
		return std::ranges::find(slurm,
			       label == left.named_nodes.end() ? names.in_slurm(name)
							       : label->second) != slurm.end();
	};
	if (!slurm.empty() && !left.labelled_nodes.empty() &&
		std::ranges::none_of(left.labelled_nodes, is_known))
		return Error{Errc::conflict,
			"none of the nodes with the label " + left.label + " in the cluster at " +
				left.server + " (" + names_of(left.labelled_nodes) +
				") is a node of Slurm (" + names_of(slurm) + ")" + remedy};
	return Ok{};
}

/* ---- the plan ---- */

/* Done while the agent still runs, because it ends the jobs of pods that end. */
void plan_quiet(const Leftovers &left, std::vector<Step> &plan)
{
	add(plan,
		{"No new pods are sent to Slurm: delete the policies that set and demand "
		 "schedulerName",
			commands_of(kubectl(left, {"delete"}), left.scheduler_policies)});
	add(plan,
		{"Slurm starts no more pods",
			one_each({"scontrol", "update"}, "PartitionName=", left.open_partitions,
				{"State=INACTIVE"})});
	Words running = left.pods_bound;
	for (const std::string &id : ids_of(left, false))
		running.push_back("job " + id);
	for (const std::string &id : left.other_jobs)
		running.push_back("job " + id +
			", which is not slurm-kube's: its owner may move it to another partition");
	add(plan,
		{.what = "Wait until these pods and jobs have ended, or end them (kubectl delete "
			 "pod, scancel), while slurmkubed still runs",
			.commands = {},
			.details = running,
			.stops = true});
}

/* A site with one cluster may have named it, and run its agent by either unit. */
Words units_of(const Leftovers &left)
{
	Words units;
	if (left.cluster.empty())
		units.emplace_back("slurmkubed");
	for (const std::string &name : left.clusters) {
		if (left.cluster.empty() || name == left.cluster)
			units.push_back("slurmkubed@" + name);
	}
	return units.empty() ? Words{"slurmkubed@" + left.cluster} : units;
}

void plan_stop(const Leftovers &left, std::vector<Step> &plan)
{
	if (left.agent_answers)
		plan.push_back({.what = "Stop the agent",
			.commands = {joined({"systemctl", "disable", "--now"}, units_of(left))},
			.must_help = true});
	Words others = left.controllers;
	std::erase(others, left.this_host);
	if (!left.agents_stopped)
		add(plan,
			{.what = "Stop slurmkubed on these hosts of slurmctld too (systemctl "
				 "disable --now " +
					units_of(left).front() + "), then add --agents-stopped",
				.commands = {},
				.details = others,
				.stops = true});
	add(plan,
		{"Cancel what waits in Slurm; without the agent no pod is deleted for it",
			commands_of({"scancel", "--state=PENDING"}, ids_of(left, true))});
}

/* kubectl takes no value when it removes a label. */
std::string key_of(const std::string &label)
{
	return label.substr(0, label.find('='));
}

/* By kubectl patch --subresource, which kubectl 1.24 and later have. */
std::vector<Words> without_condition(const Leftovers &left)
{
	const std::string patch = R"({"status":{"conditions":[{"type":")" +
		std::string(names::k_condition_drain) + R"(","$patch":"delete"}]}})";
	return one_each(kubectl(left, {"patch"}), "node/", left.reported_nodes,
		{"--subresource=status", "--type=strategic", "--patch", patch});
}

/* Done after the agent has stopped, because it takes a node without the label for lost. */
void plan_kubernetes(const Leftovers &left, std::vector<Step> &plan)
{
	add(plan,
		{"Delete the other policies",
			commands_of(kubectl(left, {"delete"}), left.other_policies)});
	if (left.label.starts_with(k_own_prefix))
		add(plan,
			{"Remove the label from nodes",
				commands_of(kubectl(left, {"label", "node"}), left.labelled_nodes,
					{key_of(left.label) + "-"})});
	else
		add(plan,
			{.what = "These nodes keep the label " + left.label +
					", which is the site's own",
				.commands = {},
				.details = left.labelled_nodes});
	Words named;
	for (const auto &[node, name] : left.named_nodes)
		named.push_back(node);
	add(plan,
		{"Remove the names in Slurm from nodes",
			commands_of(kubectl(left, {"label", "node"}), named,
				{std::string(names::k_slurm_node_label) + "-"})});
	add(plan,
		{"Remove the taint from nodes",
			commands_of(kubectl(left, {"taint", "node"}), left.tainted_nodes,
				{std::string(names::k_managed_label) + "-"})});
	add(plan, {"Remove the condition SlurmDrain from nodes", without_condition(left)});
	add(plan,
		{"Remove the label from namespaces",
			commands_of(kubectl(left, {"label", "namespace"}), left.namespaces,
				{std::string(names::k_managed_label) + "-"})});
	add(plan,
		{"Delete the agent's rights and its account",
			commands_of(kubectl(left, {"delete"}), left.roles)});
}

void plan_slurm(const Leftovers &left, std::vector<Step> &plan)
{
	add(plan,
		{"Delete the node records that the agent made",
			one_each({"scontrol", "delete"}, "NodeName=", left.dynamic_nodes, {})});
	add(plan,
		{.what = "Remove these lines from Slurm's configuration (of JobSubmitPlugins only "
			 "the word kube), then restart slurmctld",
			.commands = {},
			.details = left.conf_lines});
}

void plan_rest(const Leftovers &left, std::vector<Step> &plan)
{
	add(plan,
		{.what = "These pods wait for a scheduler that is gone: delete them, and give what "
			 "makes them another schedulerName",
			.commands = {},
			.details = left.pods_waiting});
	const bool nothing_left = plan.empty();
	if (!nothing_left && !left.cluster.empty())
		plan.push_back({.what = "Remove the files, on every controller host",
			.commands = {},
			.details = {"the line Cluster=" + left.cluster +
					" and the cluster's partitions in kube.conf beside "
					"slurm.conf; then restart slurmctld",
				"the cluster's files in /etc/slurm-kube, its node lines"}});
	else if (!nothing_left)
		plan.push_back({.what = "Remove the files, on every controller host",
			.commands = {},
			.details = {"make uninstall in the build directory",
				"/etc/slurm-kube, /var/lib/slurm-kube, kube.conf beside "
				"slurm.conf, the file of node lines",
				"job_submit_kube.so only after slurmctld has been restarted "
				"without it"}});
}

} // namespace

Result<std::vector<Step>> teardown_plan(const Leftovers &left)
{
	if (Status told = check_which(left); !told)
		return told.error();
	if (Status fits = check_cluster(left); !fits)
		return fits.error();
	std::vector<Step> plan;
	plan_quiet(left, plan);
	plan_stop(left, plan);
	plan_kubernetes(left, plan);
	plan_slurm(left, plan);
	plan_rest(left, plan);
	return plan;
}

} // namespace slurmkube::skube
