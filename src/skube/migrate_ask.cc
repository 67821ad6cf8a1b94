/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * migrate_ask.cc - asks kubectl, scontrol and squeue what slurm-bridge has left.
 */
#include "src/codec/json.h"
#include "src/skube/asker.h"
#include "src/skube/migrate.h"
#include "src/skube/rows.h"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace slurmkube::skube
{

namespace
{

constexpr char k_webhook[] = "pods.slinky.slurm.net";
constexpr char k_external_label[] = "scheduler.slinky.slurm.net/external-node";
/* labels helm.sh/chart, before the version, and app.kubernetes.io/name, before the component */
constexpr char k_chart[] = "slurm-bridge-";
constexpr std::size_t k_comment_bytes_max = std::size_t{1} << 20;
constexpr std::size_t k_columns = 7; /* more than any question has, so that none has separators */

/* ---- Kubernetes ---- */

void ask_webhooks(Asker &ask, BridgeLeftovers &left)
{
	for (const char *kind :
		{"mutatingwebhookconfiguration", "validatingwebhookconfiguration"}) {
		for (const std::string &row : ask.lines(joined(left.kubectl,
			     {"get", kind, "--output",
				     "jsonpath={range .items[*]}{.metadata.name}|"
				     "{.webhooks[*].name}{\"\\n\"}{end}"}))) {
			const Words column = columns(row, k_columns);
			const Words hooks = words_of(column[1]);
			const auto theirs = std::ranges::count(hooks, k_webhook);
			if (theirs > 0)
				(theirs == std::ssize(hooks) ? left.webhooks : left.shared_webhooks)
					.push_back(std::string(kind) + "/" + column[0]);
		}
	}
}

/* Pods that have ended run no program, and their ReplicaSet does not delete them. */
std::vector<BridgeProgram> programs_of(Asker &ask, const BridgeLeftovers &left, const char *kind)
{
	std::vector<BridgeProgram> found;
	for (const std::string &row : ask.lines(joined(left.kubectl,
		     {"get", kind, "--all-namespaces", "--selector",
			     "app.kubernetes.io/component in (scheduler,controllers,admission)",
			     "--output",
			     "jsonpath={range .items[*]}{.metadata.namespace}|{.metadata.name}|"
			     "{.metadata.labels.helm\\.sh/chart}|"
			     "{.metadata.labels.app\\.kubernetes\\.io/name}|"
			     "{.spec.replicas}{.status.phase}{\"\\n\"}{end}"}))) {
		const Words column = columns(row, k_columns);
		const bool is_it = column[2].starts_with(k_chart) || column[3].starts_with(k_chart);
		if (is_it && column[4] != "Succeeded" && column[4] != "Failed")
			found.push_back({column[0], column[1], column[4] != "0"});
	}
	return found;
}

void ask_pods(Asker &ask, BridgeLeftovers &left)
{
	for (const std::string &row : ask.lines(joined(left.kubectl,
		     {"get", "pods", "--all-namespaces", "--output",
			     "jsonpath={range .items[*]}{.metadata.namespace}|{.metadata.name}|"
			     "{.spec.nodeName}|{.status.phase}|"
			     "{.metadata.labels.scheduler\\.slinky\\.slurm\\.net/slurm-jobid}|"
			     "{range .metadata.finalizers[*]}{@} {end}{\"\\n\"}{end}"}))) {
		const Words column = columns(row, k_columns);
		if (!column[4].empty())
			left.pod_jobs.insert(column[0] + "/" + column[1] + ":" + column[4]);
		if (has(words_of(column[5]), k_bridge_finalizer))
			left.pods.push_back({.name_space = column[0],
				.name = column[1],
				.node = column[2],
				.has_ended = column[3] == "Succeeded" || column[3] == "Failed"});
	}
}

Words names_with_label(Asker &ask, const BridgeLeftovers &left, const std::string &label)
{
	return ask.lines(joined(left.kubectl,
		{"get", "nodes", "--selector", label, "--output",
			"jsonpath={range .items[*]}{.metadata.name}{\"\\n\"}{end}"}));
}

void ask_nodes(Asker &ask, BridgeLeftovers &left)
{
	const Words external = names_with_label(ask, left, k_external_label),
		    ours = names_with_label(ask, left, left.label);
	for (const std::string &row : ask.lines(joined(left.kubectl,
		     {"get", "nodes", "--output",
			     "jsonpath={range .items[*]}{.metadata.name}|{.spec.taints[*].key}|"
			     "{.metadata.labels.slinky\\.slurm\\.net/slurm-nodename}"
			     "{\"\\n\"}{end}"}))) {
		const Words column = columns(row, k_columns);
		BridgeNode node{.name = column[0],
			.slurm_name = column[2].empty() ? column[0] : column[2],
			.is_external = has(external, column[0]),
			.is_tainted = has(words_of(column[1]), k_bridge_taint),
			.is_ours = has(ours, column[0])};
		if (node.is_external || node.is_tainted)
			left.nodes.push_back(std::move(node));
	}
}

/* ---- Slurm ---- */

/* A record of ours is one of a node that has our label. */
bool is_theirs(const BridgeLeftovers &left, const std::string &slurm_name)
{
	return std::ranges::any_of(left.nodes, [&](const BridgeNode &node) {
		return node.is_external && !node.is_ours && node.slurm_name == slurm_name;
	});
}

/* External nodes exist in Slurm 25.11 and later. Partitions that have other nodes too are left
 * alone, because other jobs may start there. */
void ask_slurm_nodes(Asker &ask, BridgeLeftovers &left)
{
	std::set<std::string> theirs, others;
	for (const std::string &row :
		ask.lines({"scontrol", "--oneliner", "--all", "show", "nodes"})) {
		const std::string name = scontrol_value(row, "NodeName"),
				  state = scontrol_value(row, "State");
		const bool is_record_of_theirs =
			state.find("EXTERNAL") != std::string::npos && is_theirs(left, name);
		for (const std::string &partition : listed(scontrol_value(row, "Partitions")))
			(is_record_of_theirs ? theirs : others).insert(partition);
		if (!is_record_of_theirs)
			continue;
		left.slurm_nodes.push_back(name);
		if (state.find("DRAIN") != std::string::npos)
			left.drained_nodes.push_back(name);
	}
	for (const std::string &row :
		ask.lines({"scontrol", "--oneliner", "--all", "show", "partitions"})) {
		const std::string name = scontrol_value(row, "PartitionName");
		if (theirs.contains(name) && !others.contains(name) &&
			scontrol_value(row, "State") == "UP")
			left.open_partitions.push_back(name);
	}
}

/* slurm-bridge writes {"pods":["NAMESPACE/NAME",…]} (internal/utils/externaljobinfo). */
Words pods_in(const std::string &comment)
{
	Words pods;
	const auto json = codec::parse_json(comment, k_comment_bytes_max);
	if (!json || codec::get(json->get(), "slurm-kube"))
		return pods;
	json_object *list = codec::get(json->get(), "pods");
	for (std::size_t i = 0; i < codec::array_size(list); i++) {
		json_object *pod = codec::array_at(list, i);
		if (json_object_is_type(pod, json_type_string))
			pods.emplace_back(json_object_get_string(pod));
	}
	return pods;
}

/* squeue --states compares whole states, so flags such as CONFIGURING would hide jobs. */
bool is_final_state(const std::string &state)
{
	constexpr std::string_view ended[] = {"BOOT_FAIL", "CANCELLED", "COMPLETED", "COMPLETING",
		"DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED",
		"SPECIAL_EXIT", "TIMEOUT"};
	return std::ranges::find(ended, state) != std::end(ended);
}

/* Width 0 neither pads nor cuts. */
void ask_jobs(Asker &ask, BridgeLeftovers &left)
{
	for (const std::string &row : ask.lines({"squeue", "--noheader", "--all", "--states", "all",
		     "--Format", "jobid:20,state:20,admin_comment:0"})) {
		std::istringstream words(row);
		BridgeJob job;
		std::string state, comment;
		words >> job.id >> state;
		std::getline(words >> std::ws, comment);
		job.is_waiting = state == "PENDING";
		job.pods = pods_in(comment.substr(0, comment.find_last_not_of(' ') + 1));
		if (!job.pods.empty() && !is_final_state(state))
			left.jobs.push_back(std::move(job));
	}
}

} // namespace

Result<BridgeLeftovers> bridge_leftovers(const Migrate &wanted)
{
	Asker ask;
	BridgeLeftovers left;
	left.label = wanted.label;
	left.is_stopped = wanted.is_stopped;
	left.kubectl = kubectl_with(wanted.kubeconfig, wanted.context);
	left.server = server_of(ask, left.kubectl);
	ask_webhooks(ask, left);
	left.deployments = programs_of(ask, left, "deployments");
	left.program_pods = programs_of(ask, left, "pods");
	ask_pods(ask, left);
	ask_nodes(ask, left);
	ask_slurm_nodes(ask, left);
	ask_jobs(ask, left);
	if (!ask.status())
		return ask.status().error();
	return left;
}

} // namespace slurmkube::skube
