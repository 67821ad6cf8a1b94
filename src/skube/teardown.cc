/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * teardown.cc - what is left of slurm-kube, asked of kubectl, scontrol and squeue; and the plan, carried out.
 */
#include "src/skube/teardown.h"

#include "src/base/text.h"
#include "src/core/names.h"
#include "src/skube/request.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <unistd.h>

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

/* ---- Kubernetes ---- */

/* Bindings first: a policy without one does nothing, a binding without a policy is an error. */
void ask_policies(Asker &ask, Leftovers &left)
{
	const Words kinds = ask.lines({"kubectl", "api-resources", "--api-group", "admissionregistration.k8s.io", "--output", "name"});
	for (const char *kind : {"mutatingadmissionpolicybindings", "mutatingadmissionpolicies", "validatingadmissionpolicybindings", "validatingadmissionpolicies"}) {
		const std::string full = std::string(kind) + ".admissionregistration.k8s.io";
		if (std::find(kinds.begin(), kinds.end(), full) == kinds.end())
			continue;
		for (const std::string &name : ask.lines({"kubectl", "get", full, "--output", "name"})) {
			if (name.ends_with("/slurm-kube-scheduler"))
				left.scheduler_policies.push_back(name);
			else if (name.find("/slurm-kube-") != std::string::npos)
				left.other_policies.push_back(name);
		}
	}
}

void ask_pods(Asker &ask, const std::string &scheduler, Leftovers &left)
{
	const std::string selector = "spec.schedulerName=" + scheduler + ",status.phase!=Succeeded,status.phase!=Failed";
	const Words rows = ask.lines({"kubectl", "get", "pods", "--all-namespaces", "--field-selector", selector, "--output",
				      "jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name} {.spec.nodeName}{\"\\n\"}{end}"});
	for (const std::string &row : rows) {
		const std::size_t blank = row.find(' ');
		const bool bound = blank != std::string::npos && blank + 1 < row.size();
		(bound ? left.pods_bound : left.pods_waiting).push_back("pod " + row.substr(0, blank));
	}
}

Words names_with_label(Asker &ask, const char *kind, const std::string &label)
{
	return ask.lines({"kubectl", "get", kind, "--selector", label, "--output", "jsonpath={range .items[*]}{.metadata.name}{\"\\n\"}{end}"});
}

void ask_labels(Asker &ask, const std::string &label, Leftovers &left)
{
	left.labelled_nodes = names_with_label(ask, "nodes", label);
	left.namespaces = names_with_label(ask, "namespaces", names::k_managed_label);
	for (const std::string &row : ask.lines({"kubectl", "get", "nodes", "--output", "jsonpath={range .items[*]}{.metadata.name} {.spec.taints[*].key}{\"\\n\"}{end}"})) {
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
	append(left.roles, ask.lines({"kubectl", "get", "clusterrolebinding/slurm-kube", "clusterrole/slurm-kube", "namespace/slurm-kube", "--ignore-not-found", "--output", "name"}));
}

/* ---- Slurm ---- */

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
	for (const std::string &row : ask.lines({"scontrol", "--oneliner", "--all", "show", "nodes"})) {
		const bool is_ours = has(listed(value_of(row, "AvailableFeatures")), names::k_node_feature);
		for (const std::string &partition : listed(value_of(row, "Partitions")))
			(is_ours ? ours : others).insert(partition);
		const bool is_dynamic = value_of(row, "State").find("DYNAMIC") != std::string::npos;
		if (is_ours)
			(is_dynamic ? left.dynamic_nodes : left.written_nodes).push_back(value_of(row, "NodeName"));
	}
	for (const std::string &row : ask.lines({"scontrol", "--oneliner", "--all", "show", "partitions"})) {
		const std::string name = value_of(row, "PartitionName");
		if (!ours.contains(name) || others.contains(name))
			continue;
		left.partitions.push_back(name);
		if (value_of(row, "State") == "UP")
			left.open_partitions.push_back(name);
	}
}

void ask_jobs(Asker &ask, Leftovers &left)
{
	std::string partitions;
	for (const std::string &name : left.partitions)
		partitions += (partitions.empty() ? "" : ",") + name;
	if (partitions.empty())
		return;
	for (const std::string &row : ask.lines({"squeue", "--noheader", "--all", "--partition", partitions, "--states", "all", "--format", "%i %T"})) {
		std::istringstream words(row);
		std::string id, state;
		words >> id >> state;
		if (state == "PENDING")
			left.waiting_jobs.push_back(id);
		else if (state == "RUNNING" || state == "COMPLETING" || state == "SUSPENDED")
			left.running_jobs.push_back("job " + id);
	}
}

bool is_of_ours(const std::string &line, const Leftovers &left)
{
	const std::string key = line.substr(0, line.find('='));
	const auto words = [&line] { return listed(line.substr(line.find('=') + 1, line.find_first_of(" \t#") - line.find('=') - 1)); };
	if (key == "JobSubmitPlugins")
		return has(words(), "kube") || has(words(), "job_submit/kube");
	if (key == "PartitionName")
		return has(left.partitions, value_of(line, "PartitionName"));
	if (key == "NodeName" || key == "NodeSet")
		return has(listed(value_of(line, "Feature")), names::k_node_feature) || has(listed(value_of(line, "Features")), names::k_node_feature);
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
			read_conf(second.starts_with('/') ? second : file.substr(0, file.rfind('/') + 1) + second, left, depth + 1);
		if (is_of_ours(line, left) || left.conf_lines.size() > before)
			left.conf_lines.push_back(file + ":" + std::to_string(number) + ": " + printable(line).substr(0, 120));
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
	}
}

Result<Leftovers> ask_all(const Teardown &wanted)
{
	Asker ask;
	Leftovers left;
	left.label = wanted.label;
	left.agent_answers = skube::ask(wanted.socket, "ping").ok();
	ask_policies(ask, left);
	ask_pods(ask, wanted.scheduler_name, left);
	ask_labels(ask, wanted.label, left);
	ask_roles(ask, left);
	ask_nodes(ask, left);
	ask_jobs(ask, left);
	ask_conf(ask, left);
	if (!ask.status())
		return ask.status().error();
	return left;
}

/* ---- carrying it out ---- */

Status carry_out(const Step &step)
{
	for (const Words &command : step.commands) {
		(void)printf("   %s\n", command_line(command).c_str());
		(void)fflush(stdout);
		if (auto done = run_program(command); !done)
			return done;
	}
	return Ok{};
}

Status carry_out(const std::vector<Step> &plan)
{
	for (const Step &step : plan) {
		(void)printf("%s", step.commands.empty() ? plan_text({step}).substr(3).c_str() : (step.what + ":\n").c_str());
		if (auto done = carry_out(step); !done)
			return Error{done.error().code, done.error().what + "\nNothing after it was done. Mend that and run skube teardown --apply again."};
		if (step.stops)
			return Error{Errc::again, "nothing after it was done; then run skube teardown --apply again"};
	}
	return Ok{};
}

} // namespace

Status teardown(const Teardown &wanted)
{
	const auto left = ask_all(wanted);
	if (!left)
		return left.error();
	const auto plan = teardown_plan(*left);
	if (plan.empty()) {
		(void)puts("Nothing is left of slurm-kube in Kubernetes and in Slurm.");
		return Ok{};
	}
	if (wanted.apply)
		return carry_out(plan);
	(void)printf("This is what skube teardown --apply would do, in this order:\n%s", plan_text(plan).c_str());
	return Ok{};
}

} // namespace slurmkube::skube
