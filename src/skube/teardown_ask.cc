/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * teardown_ask.cc - what is left of slurm-kube, asked of kubectl, scontrol and squeue.
 */
#include "src/skube/teardown.h"

#include "src/base/text.h"
#include "src/codec/marker.h"
#include "src/core/model/names.h"
#include "src/skube/request.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <unistd.h>
#include <utility>

namespace slurmkube::skube
{

namespace
{

constexpr unsigned k_include_depth_max = 8;

/* The first failure is kept; nothing is asked after it. */
class Asker
{
      public:
	Words lines(const Words &words)
	{
		if (!status_)
			return {};
		auto text = output_of(words);
		if (!text)
			status_ = text.error();
		return text ? lines_of(printable_lines(*text)) : Words();
	}
	[[nodiscard]] const Status &status() const { return status_; }

      private:
	static std::string printable_lines(const std::string &text)
	{
		std::string all;
		for (const std::string &line : lines_of(text))
			all += printable(line) + "\n";
		return all;
	}
	Status status_ = Ok{};
};

void append(Words &to, const Words &more)
{
	to.insert(to.end(), more.begin(), more.end());
}

Words joined(Words first, const Words &rest)
{
	append(first, rest);
	return first;
}

/* ---- Kubernetes ---- */

/* As in etc/policies.yaml, etc/policy-options.yaml and etc/policy-scheduler-name.yaml. */
constexpr std::array k_other_policies{"agent", "allocation", "options", "resize"};

bool is_policy(const std::string &name, const std::string &which)
{
	return name.ends_with("/slurm-kube-" + which);
}

/* Bindings first: a policy without one does nothing, a binding without a policy is an error. */
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
	left.namespaces = names_with_label(ask, left, "namespaces", names::k_managed_label);
	const Words rows = ask.lines(joined(left.kubectl,
		{"get", "nodes", "--output",
			"jsonpath={range .items[*]}{.metadata.name} "
			"{.spec.taints[*].key}{\"\\n\"}{end}"}));
	for (const std::string &row : rows) {
		std::istringstream words(row);
		std::string name, key;
		for (words >> name; words >> key;) {
			if (key == names::k_managed_label)
				left.tainted_nodes.push_back(name);
		}
	}
}

void ask_roles(Asker &ask, Leftovers &left)
{
	append(left.roles,
		ask.lines(joined(left.kubectl,
			{"get", "clusterrolebinding/slurm-kube", "clusterrole/slurm-kube",
				"namespace/slurm-kube", "--ignore-not-found", "--output",
				"name"})));
}

void ask_server(Asker &ask, Leftovers &left)
{
	const Words lines = ask.lines(joined(left.kubectl,
		{"config", "view", "--minify", "--output",
			"jsonpath={.clusters[0].cluster.server}"}));
	left.server = lines.empty() ? "" : lines.front();
	const Words uid = ask.lines(joined(left.kubectl,
		{"get", "namespace", "kube-system", "--output", "jsonpath={.metadata.uid}"}));
	left.cluster_uid = uid.empty() ? "" : uid.front();
}

/* ---- Slurm ---- */

std::string short_host_name()
{
	std::array<char, 256> name{};
	if (gethostname(name.data(), name.size() - 1) != 0)
		return "";
	const std::string full = name.data();
	return full.substr(0, full.find('.'));
}

/* "NodeName=n1 Arch=... AvailableFeatures=kube ...": the word after KEY= */
std::string value_of(const std::string &row, const std::string &key)
{
	const std::string line = " " + row + " ", wanted = " " + key + "=";
	const std::size_t at = line.find(wanted);
	if (at == std::string::npos)
		return "";
	const std::size_t begin = at + wanted.size();
	return line.substr(begin, line.find(' ', begin) - begin);
}

Words listed(const std::string &text)
{
	Words all;
	std::istringstream in(text);
	for (std::string one; std::getline(in, one, ',');) {
		if (!one.empty() && one != "(null)")
			all.push_back(one);
	}
	return all;
}

bool has(const Words &words, const std::string &one)
{
	return std::find(words.begin(), words.end(), one) != words.end();
}

/* Partitions that have other nodes as well stay as they are: native jobs may be in them. */
void ask_nodes(Asker &ask, Leftovers &left)
{
	std::set<std::string> ours, others;
	for (const std::string &row :
		ask.lines({"scontrol", "--oneliner", "--all", "show", "nodes"})) {
		const bool is_ours =
			has(listed(value_of(row, "AvailableFeatures")), names::k_node_feature);
		for (const std::string &partition : listed(value_of(row, "Partitions")))
			(is_ours ? ours : others).insert(partition);
		const bool is_dynamic = value_of(row, "State").find("DYNAMIC") != std::string::npos;
		if (is_ours)
			(is_dynamic ? left.dynamic_nodes : left.written_nodes)
				.push_back(value_of(row, "NodeName"));
	}
	for (const std::string &row :
		ask.lines({"scontrol", "--oneliner", "--all", "show", "partitions"})) {
		const std::string name = value_of(row, "PartitionName");
		if (!ours.contains(name) || others.contains(name))
			continue;
		left.partitions.push_back(name);
		if (value_of(row, "State") == "UP")
			left.open_partitions.push_back(name);
	}
}

bool is_live(const std::string &state)
{
	return state == "RUNNING" || state == "COMPLETING" || state == "SUSPENDED" ||
		state == "CONFIGURING";
}

/* The identity of a job is its marker, in whatever partition it is. */
void ask_marked_jobs(Asker &ask, Leftovers &left)
{
	const std::string format =
		"jobid:20,state:20,admin_comment:" + std::to_string(codec::k_marker_bytes_max + 1);
	for (const std::string &row : ask.lines(
		     {"squeue", "--noheader", "--all", "--states", "all", "--Format", format})) {
		std::istringstream words(row);
		MarkedJob job;
		words >> job.id >> job.state;
		std::string comment;
		std::getline(words >> std::ws, comment);
		auto marker = codec::marker_from_text(
			comment.substr(0, comment.find_last_not_of(' ') + 1));
		if (!marker || (job.state != "PENDING" && !is_live(job.state)))
			continue;
		job.marker = std::move(*marker);
		left.marked_jobs.push_back(std::move(job));
	}
}

/* Of users, in the partitions that are to go. */
void ask_other_jobs(Asker &ask, Leftovers &left)
{
	std::string partitions;
	for (const std::string &name : left.partitions)
		partitions += (partitions.empty() ? "" : ",") + name;
	if (partitions.empty())
		return;
	for (const std::string &row : ask.lines({"squeue", "--noheader", "--all", "--partition",
		     partitions, "--states", "all", "--format", "%A %T"})) {
		std::istringstream words(row);
		std::string id, state;
		words >> id >> state;
		const auto is_it = [&id](const MarkedJob &job) { return job.id == id; };
		const bool is_marked =
			std::any_of(left.marked_jobs.begin(), left.marked_jobs.end(), is_it);
		if (!is_marked && (state == "PENDING" || is_live(state)))
			left.other_jobs.push_back(id);
	}
}

bool is_of_ours(const std::string &line, const Leftovers &left)
{
	const std::string key = line.substr(0, line.find('='));
	const auto words = [&line] {
		return listed(line.substr(
			line.find('=') + 1, line.find_first_of(" \t#") - line.find('=') - 1));
	};
	if (key == "JobSubmitPlugins")
		return has(words(), "kube") || has(words(), "job_submit/kube");
	if (key == "PartitionName")
		return has(left.partitions, value_of(line, "PartitionName"));
	if (key == "NodeName" || key == "NodeSet")
		return has(listed(value_of(line, "Feature")), names::k_node_feature) ||
			has(listed(value_of(line, "Features")), names::k_node_feature);
	return false;
}

void read_conf(const std::string &file, Leftovers &left, unsigned depth)
{
	std::ifstream in(file);
	std::string line;
	for (unsigned number = 1; depth < k_include_depth_max && std::getline(in, line); number++) {
		std::istringstream words(line);
		std::string first, second;
		words >> first >> second;
		const std::size_t before = left.conf_lines.size();
		if (first == "Include" || first == "include")
			read_conf(second.starts_with('/')
					? second
					: file.substr(0, file.rfind('/') + 1) + second,
				left, depth + 1);
		if (is_of_ours(line, left) || left.conf_lines.size() > before)
			left.conf_lines.push_back(file + ":" + std::to_string(number) + ": " +
				printable(line).substr(0, 120));
	}
}

void ask_conf(Asker &ask, Leftovers &left)
{
	for (const std::string &row : ask.lines({"scontrol", "show", "config"})) {
		std::istringstream words(row);
		std::string key, equals, value;
		words >> key >> equals >> value;
		if (key == "SLURM_CONF")
			read_conf(value, left, 0);
		if (key.starts_with("SlurmctldHost["))
			left.controllers.push_back(value.substr(0, value.find('(')));
	}
}

} // namespace

namespace
{

/* An agent that is busy, or that we may not ask, is no stopped one. */
bool may_run(const std::string &socket)
{
	const auto ping = skube::ask(socket, "ping");
	if (ping || ping.error().code == Errc::denied)
		return true;
	/* fails for one that is not */
	const auto state = output_of({"systemctl", "is-active", "slurmkubed"});
	return state && state->starts_with("active");
}

} // namespace

Result<Leftovers> leftovers(const Teardown &wanted)
{
	Asker ask;
	Leftovers left;
	left.label = wanted.label;
	for (const auto &[option, value] : {std::pair("--kubeconfig", &wanted.kubeconfig),
		     std::pair("--context", &wanted.context)}) {
		if (!value->empty())
			append(left.kubectl, {option, *value});
	}
	left.agent_answers = may_run(wanted.socket);
	left.agents_stopped = wanted.agents_stopped;
	ask_server(ask, left);
	ask_policies(ask, left);
	ask_pods(ask, wanted.scheduler_name, left);
	ask_labels(ask, left);
	ask_roles(ask, left);
	ask_nodes(ask, left);
	ask_marked_jobs(ask, left);
	ask_other_jobs(ask, left);
	ask_conf(ask, left);
	if (!ask.status())
		return ask.status().error();
	left.this_host = short_host_name();
	return left;
}

} // namespace slurmkube::skube
