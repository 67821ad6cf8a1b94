/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sunk_ask.cc - asks kubectl and scontrol what SUNK has left.
 *
 * Columns that users may fill, such as annotations, come last and as JSON, which has no line ends.
 */
#include "src/codec/json.h"
#include "src/core/options/options.h"
#include "src/skube/asker.h"
#include "src/skube/rows.h"
#include "src/skube/sunk.h"

#include <algorithm>
#include <map>
#include <set>

namespace slurmkube::skube
{

namespace
{

constexpr char k_scheduler_label[] = "app.kubernetes.io/name=sunk-scheduler";
constexpr char k_scheduler_argument[] = "--scheduler-name=";
constexpr char k_drain_annotation[] = "sunk.coreweave.com/drain";
constexpr char k_lock_annotation[] = "lock"; /* SUNK's own, on pods */
constexpr std::size_t k_json_bytes_max = std::size_t{1} << 20;
constexpr std::size_t k_reason_max = 80;
constexpr std::size_t k_unknown_most = 10, k_key_max = 80;

std::string shortened(const std::string &text, std::size_t most)
{
	const std::string word = printable(text.substr(0, most));
	return word + (text.size() > most ? "…" : "");
}

bool is_final_phase(const std::string &phase)
{
	return phase == "Succeeded" || phase == "Failed";
}

std::map<std::string, std::string> annotations_in(const std::string &text)
{
	const auto json = codec::parse_json(text, k_json_bytes_max);
	return json ? codec::get_strings(json->get()) : std::map<std::string, std::string>();
}

Words rows_of(Asker &ask, const SunkLeftovers &left, const Words &what, const std::string &path)
{
	return ask.lines(joined(joined(left.kubectl, joined({"get"}, what)),
		{"--output", "jsonpath={range .items[*]}" + path + "{\"\\n\"}{end}"}));
}

/* The names in the arguments of the containers. */
Words names_in(const std::string &containers)
{
	Words names;
	const auto json = codec::parse_json(containers, k_json_bytes_max);
	json_object *list = json ? json->get() : nullptr;
	for (std::size_t i = 0; i < codec::array_size(list); i++) {
		json_object *words = codec::get(codec::array_at(list, i), "args");
		for (std::size_t j = 0; j < codec::array_size(words); j++) {
			json_object *word = codec::array_at(words, j);
			const std::string text = json_object_is_type(word, json_type_string)
				? json_object_get_string(word)
				: "";
			if (text.starts_with(k_scheduler_argument))
				names.push_back(text.substr(sizeof(k_scheduler_argument) - 1));
		}
	}
	return names;
}

void ask_programs(Asker &ask, SunkLeftovers &left)
{
	Words names;
	for (const std::string &row : rows_of(ask, left,
		     {"pods", "--all-namespaces", "--selector", k_scheduler_label},
		     "{.metadata.namespace}|{.metadata.name}|{.status.phase}|{.spec.containers}")) {
		const Words column = columns(row, 4);
		if (is_final_phase(column[2]))
			continue;
		left.programs.push_back({column[0], column[1], ""});
		names = joined(names, names_in(column[3]));
	}
	if (has(names, left.scheduler))
		return;
	for (const std::string &name : names)
		left.other_names.push_back(shortened(name, k_key_max));
}

/* Any of the three marks is enough: a node counts as free only if it has none. */
void ask_node_sets(Asker &ask, SunkLeftovers &left)
{
	for (const std::string &row : rows_of(ask, left, {"pods", "--all-namespaces"},
		     "{.metadata.namespace}|{.metadata.name}|{.spec.nodeName}|{.status.phase}|"
		     "{.metadata.labels.sunk\\.coreweave\\.com/nodeset}|{.spec.containers[*].name}|"
		     "{.metadata.ownerReferences[*].kind}")) {
		const Words column = columns(row, 7);
		const bool is_one = !column[4].empty() || has(words_of(column[5]), "slurmd") ||
			has(words_of(column[6]), "NodeSet");
		if (is_one && !is_final_phase(column[3]))
			left.node_sets.push_back({column[0], column[1], column[2]});
	}
}

bool is_known(const std::string &name)
{
	return name == k_lock_annotation ||
		std::ranges::any_of(core::options(),
			[&](const core::Option &option) { return option.sunk == name; });
}

void ask_pods(Asker &ask, SunkLeftovers &left)
{
	std::set<std::string> unknown;
	for (const std::string &row : rows_of(ask, left,
		     {"pods", "--all-namespaces", "--field-selector",
			     "spec.schedulerName=" + left.scheduler},
		     "{.metadata.namespace}|{.metadata.name}|{.spec.nodeName}|{.status.phase}|"
		     "{.metadata.annotations}")) {
		const Words column = columns(row, 5);
		if (is_final_phase(column[3]))
			continue;
		left.pods.push_back({column[0], column[1], column[2]});
		for (const auto &[key, value] : annotations_in(column[4])) {
			if (key.starts_with(names::k_sunk_prefix) &&
				!is_known(key.substr(sizeof(names::k_sunk_prefix) - 1)) &&
				unknown.size() < k_unknown_most)
				unknown.insert(shortened(key, k_key_max));
		}
	}
	left.unknown_annotations.assign(unknown.begin(), unknown.end());
}

void ask_nodes(Asker &ask, SunkLeftovers &left)
{
	const Words ours = ask.lines(joined(left.kubectl,
		{"get", "nodes", "--selector", left.label, "--output",
			"jsonpath={range .items[*]}{.metadata.name}{\"\\n\"}{end}"}));
	for (const std::string &row : rows_of(ask, left, {"nodes"},
		     "{.metadata.name}|{.metadata.labels.sunk\\.coreweave\\.com/nodeset}|"
		     "{.spec.unschedulable}|{.spec.taints[*].key}|{.metadata.annotations}")) {
		const Words column = columns(row, 5);
		const auto annotations = annotations_in(column[4]);
		const auto drain = annotations.find(k_drain_annotation);
		SunkNode node{.name = column[0],
			.is_locked = has(words_of(column[3]), k_sunk_lock),
			.is_cordoned = column[2] == "true",
			.is_ours = has(ours, column[0]),
			.is_drained = drain != annotations.end(),
			.reason = drain == annotations.end()
				? ""
				: shortened(drain->second, k_reason_max)};
		if (node.is_locked || !column[1].empty())
			left.nodes.push_back(std::move(node));
	}
}

/* Its Syncer begins its reasons with "k8s:". */
void ask_slurm_nodes(Asker &ask, SunkLeftovers &left)
{
	for (const std::string &row :
		ask.lines({"scontrol", "--oneliner", "--all", "show", "nodes"})) {
		if (scontrol_value(row, "State").find("DRAIN") != std::string::npos &&
			scontrol_value(row, "Reason").starts_with("k8s:"))
			left.drained.push_back(scontrol_value(row, "NodeName"));
	}
}

} // namespace

Result<SunkLeftovers> sunk_leftovers(const Migrate &wanted)
{
	Asker ask;
	SunkLeftovers left;
	left.scheduler = wanted.scheduler;
	left.label = wanted.label;
	left.kubectl = kubectl_with(wanted.kubeconfig, wanted.context);
	left.server = server_of(ask, left.kubectl);
	ask_programs(ask, left);
	ask_node_sets(ask, left);
	ask_pods(ask, left);
	ask_nodes(ask, left);
	ask_slurm_nodes(ask, left);
	if (!ask.status())
		return ask.status().error();
	return left;
}

} // namespace slurmkube::skube
