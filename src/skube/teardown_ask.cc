/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * teardown_ask.cc - asks kubectl what is left of slurm-kube; teardown_ask_slurm.cc asks Slurm.
 */
#include "src/skube/teardown.h"

#include "src/core/model/names.h"
#include "src/skube/request.h"
#include "src/skube/teardown_parts.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <unistd.h>
#include <utility>

namespace slurmkube::skube
{

namespace
{

void append(Words &to, const Words &more)
{
	to.insert(to.end(), more.begin(), more.end());
}

/* ---- Kubernetes ---- */

/* The names in etc/policies.yaml, etc/policy-options.yaml and etc/policy-scheduler-name.yaml. */
constexpr std::array k_other_policies{"agent", "allocation", "options", "resize"};

bool is_policy(const std::string &name, const std::string &which)
{
	return name.ends_with("/slurm-kube-" + which);
}

/* Bindings first: a policy without a binding has no effect, but a binding without a policy is an
 * error. */
void ask_policies(Asker &ask, Leftovers &left)
{
	const Words kinds = ask.lines(joined(left.kubectl,
		{"api-resources", "--api-group", "admissionregistration.k8s.io", "--output",
			"name"}));
	for (const char *kind : {"mutatingadmissionpolicybindings", "mutatingadmissionpolicies",
		     "validatingadmissionpolicybindings", "validatingadmissionpolicies"}) {
		const std::string full = std::string(kind) + ".admissionregistration.k8s.io";
		if (std::find(kinds.begin(), kinds.end(), full) == kinds.end())
			continue;
		for (const std::string &name :
			ask.lines(joined(left.kubectl, {"get", full, "--output", "name"}))) {
			const auto is_it = [&name](const char *which) {
				return is_policy(name, which);
			};
			if (is_it("scheduler"))
				left.scheduler_policies.push_back(name);
			else if (std::any_of(
					 k_other_policies.begin(), k_other_policies.end(), is_it))
				left.other_policies.push_back(name);
		}
	}
}

void ask_pods(Asker &ask, const std::string &scheduler, Leftovers &left)
{
	const std::string selector =
		"spec.schedulerName=" + scheduler + ",status.phase!=Succeeded,status.phase!=Failed";
	const Words rows = ask.lines(joined(left.kubectl,
		{"get", "pods", "--all-namespaces", "--field-selector", selector, "--output",
			"jsonpath={range .items[*]}{.metadata.uid} {.metadata.namespace} "
			"{.metadata.name} {.spec.nodeName}{\"\\n\"}{end}"}));
	for (const std::string &row : rows) {
		std::istringstream words(row);
		std::string uid, name_space, name, node;
		words >> uid >> name_space >> name >> node;
		(node.empty() ? left.pods_waiting : left.pods_bound)
			.push_back("pod " + name_space + "/" + name);
		left.pod_uids.insert(uid);
		left.pod_namespaces.insert(name_space);
	}
}

Words names_with_label(
	Asker &ask, const Leftovers &left, const char *kind, const std::string &label)
{
	return ask.lines(joined(left.kubectl,
		{"get", kind, "--selector", label, "--output",
			"jsonpath={range .items[*]}{.metadata.name}{\"\\n\"}{end}"}));
}

void ask_labels(Asker &ask, Leftovers &left)
{
	left.labelled_nodes = names_with_label(ask, left, "nodes", left.label);
	for (const std::string &row : ask.lines(joined(left.kubectl,
		     {"get", "nodes", "--selector", names::k_slurm_node_label, "--output",
			     "jsonpath={range .items[*]}{.metadata.name} "
			     "{.metadata.labels.slurm-kube\\.io/slurm-node}{\"\\n\"}{end}"}))) {
		std::istringstream words(row);
		std::string name, in_slurm;
		words >> name >> in_slurm;
		left.named_nodes.emplace(name, in_slurm);
	}
	left.namespaces = names_with_label(ask, left, "namespaces", names::k_managed_label);
	const Words rows = ask.lines(joined(left.kubectl,
		{"get", "nodes", "--output",
			"jsonpath={range .items[*]}{.metadata.name} "
			"{.spec.taints[*].key} {.status.conditions[*].type}{\"\\n\"}{end}"}));
	for (const std::string &row : rows) {
		std::istringstream words(row);
		std::string name, key;
		for (words >> name; words >> key;) {
			if (key == names::k_managed_label)
				left.tainted_nodes.push_back(name);
			if (key == names::k_condition_drain)
				left.reported_nodes.push_back(name);
		}
	}
}

void ask_roles(Asker &ask, Leftovers &left)
{
	append(left.roles,
		ask.lines(joined(left.kubectl,
			{"get", "clusterrolebinding/slurm-kube", "clusterrole/slurm-kube",
				"flowschema/slurm-kube", "prioritylevelconfiguration/slurm-kube",
				"namespace/slurm-kube", "--ignore-not-found", "--output",
				"name"})));
}

void ask_server(Asker &ask, Leftovers &left)
{
	left.server = server_of(ask, left.kubectl);
	const Words uid = ask.lines(joined(left.kubectl,
		{"get", "namespace", "kube-system", "--output", "jsonpath={.metadata.uid}"}));
	left.cluster_uid = uid.empty() ? "" : uid.front();
}

/* ---- this host, and its agent ---- */

std::string short_host_name()
{
	std::array<char, 256> name{};
	if (gethostname(name.data(), name.size() - 1) != 0)
		return "";
	const std::string full = name.data();
	return full.substr(0, full.find('.'));
}

/* An agent that is busy, or that this user may not ask, has not stopped. */
bool may_run(const Teardown &wanted)
{

	const auto ping = skube::ask(wanted.socket, "ping");
	if (ping || ping.error().code == Errc::denied)
		return true;
	/* fails if no such service is active */
	const auto state = output_of({"systemctl", "is-active", "slurmkubed",
		"slurmkubed@" + (wanted.cluster.empty() ? "*" : wanted.cluster)});
	return state && ("\n" + *state).find("\nactive") != std::string::npos;
}

} // namespace

Result<Leftovers> leftovers(const Teardown &wanted)
{
	Asker ask;
	Leftovers left;
	left.label = wanted.label;
	left.kubectl = kubectl_with(wanted.kubeconfig, wanted.context);
	left.agent_answers = may_run(wanted);
	left.agents_stopped = wanted.agents_stopped;
	left.cluster = wanted.cluster;
	left.name_prefix = wanted.name_prefix;
	ask_server(ask, left);
	ask_policies(ask, left);
	ask_pods(ask, wanted.scheduler_name, left);
	ask_labels(ask, left);
	ask_roles(ask, left);
	ask_slurm(ask, left);
	if (!ask.status())
		return ask.status().error();
	left.this_host = short_host_name();
	return left;
}

} // namespace slurmkube::skube
