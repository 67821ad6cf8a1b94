/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/inspect/selection.h"

#include "src/core/model/host_list.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace slurmkube::core
{

namespace
{

struct ShortName {
	std::string_view shown, name;
};

/* The compact states of squeue(1). */
constexpr ShortName k_short_names[] = {
	{"PD", "PENDING"},
	{"R", "RUNNING"},
	{"S", "SUSPENDED"},
	{"CD", "COMPLETED"},
	{"CA", "CANCELLED"},
	{"F", "FAILED"},
	{"TO", "TIMEOUT"},
	{"NF", "NODE_FAIL"},
	{"PR", "PREEMPTED"},
	{"BF", "BOOT_FAIL"},
	{"DL", "DEADLINE"},
	{"OOM", "OUT_OF_MEMORY"},
	{"CG", "COMPLETING"},
};

using Names = std::vector<std::string_view>;

const Names &phase_names()
{
	static const Names all = {"PENDING", "RUNNING", "SUCCEEDED", "FAILED", "UNKNOWN"};
	return all;
}

const Names &job_state_names()
{
	static const Names all = {"PENDING", "RUNNING", "SUSPENDED", "COMPLETED", "CANCELLED",
		"FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE",
		"OUT_OF_MEMORY", "COMPLETING", "UNKNOWN"};
	return all;
}

const Names &node_state_names()
{
	static const Names all = {"READY", "NOTREADY", "ABSENT", "UNKNOWN", "CORDONED", "IDLE",
		"ALLOCATED", "MIXED", "DOWN", "ERROR", "FUTURE", "DRAIN", "NOT_RESPONDING",
		"COMPLETING"};
	return all;
}

const Names &pod_state_names()
{
	static const Names all = [] {
		Names names = phase_names();
		for (const std::string_view name : job_state_names())
			if (!is_phase_name(name))
				names.push_back(name);
		return names;
	}();
	return all;
}

bool has(const Names &names, std::string_view name)
{
	return std::ranges::find(names, name) != names.end();
}

/* The items between commas; an empty item is invalid. */
Result<std::vector<std::string>> items_of(std::string_view list, const char *what)
{
	std::vector<std::string> items;
	while (!list.empty()) {
		const std::size_t end = std::min(list.find(','), list.size());
		items.emplace_back(list.substr(0, end));
		const bool more = end < list.size();
		list.remove_prefix(end + (more ? 1 : 0));
		if (items.back().empty() || (more && list.empty()))
			return Error{
				Errc::invalid, std::string("an empty item in the list of ") + what};
	}
	return items;
}

Result<std::string> state_name(ListKind kind, const std::string &word)
{
	std::string name = upper(word);
	if (kind != ListKind::nodes)
		for (const ShortName &row : k_short_names)
			if (row.shown == name)
				name = row.name;
	if (has(state_names(kind), name))
		return name;
	std::string known;
	for (const std::string_view one : state_names(kind))
		known += (known.empty() ? "" : ", ") + std::string(one);
	return Error{Errc::invalid, "no state '" + word + "'; there are " + known};
}

Result<std::set<std::string>> states_of(ListKind kind, const std::string &text)
{
	const auto words = items_of(text, "states");
	if (!words)
		return words.error();
	std::set<std::string> names;
	for (const std::string &word : *words) {
		const auto name = state_name(kind, word);
		if (!name)
			return name.error();
		names.insert(*name);
	}
	return names;
}

Result<std::set<std::uint32_t>> users_of(const std::string &text)
{
	const auto words = items_of(text, "users");
	if (!words)
		return words.error();
	std::set<std::uint32_t> users;
	for (const std::string &word : *words) {
		std::uint32_t id = 0;
		const char *end = word.data() + word.size();
		const auto read = std::from_chars(word.data(), end, id);
		if (read.ec != std::errc() || read.ptr != end)
			return Error{Errc::invalid, "'" + word + "' is not the number of a user"};
		users.insert(id);
	}
	return users;
}

bool answers_to(const std::set<std::string> &wanted, const std::vector<std::string> &words)
{
	return wanted.empty() ||
		std::ranges::any_of(words, [&](const auto &word) { return wanted.contains(word); });
}

} // namespace

std::string upper(std::string_view text)
{
	std::string all(text);
	std::ranges::transform(all, all.begin(),
		[](unsigned char c) { return static_cast<char>(std::toupper(c)); });
	return all;
}

bool is_phase_name(std::string_view name)
{
	return has(phase_names(), name);
}

const std::vector<std::string_view> &state_names(ListKind kind)
{
	switch (kind) {
	case ListKind::jobs:
		return job_state_names();
	case ListKind::pods:
		return pod_state_names();
	case ListKind::nodes:
		break;
	}
	return node_state_names();
}

const char *slurm_state_name(JobState state)
{
	switch (state) {
	case JobState::pending:
		return "PENDING";
	case JobState::running:
		return "RUNNING";
	case JobState::suspended:
		return "SUSPENDED";
	case JobState::complete:
		return "COMPLETED";
	case JobState::cancelled:
		return "CANCELLED";
	case JobState::failed:
		return "FAILED";
	case JobState::timeout:
		return "TIMEOUT";
	case JobState::node_fail:
		return "NODE_FAIL";
	case JobState::preempted:
		return "PREEMPTED";
	case JobState::boot_fail:
		return "BOOT_FAIL";
	case JobState::deadline:
		return "DEADLINE";
	case JobState::oom:
		return "OUT_OF_MEMORY";
	case JobState::unknown:
		break;
	}
	return "UNKNOWN";
}

Result<Selection> parse_selection(ListKind kind, const SelectionText &text)
{
	Selection selection;
	const auto namespaces = items_of(text.namespaces, "namespaces");
	if (!namespaces)
		return namespaces.error();
	selection.namespaces.insert(namespaces->begin(), namespaces->end());
	if (!text.labels.empty()) {
		auto labels = parse_label_selector(text.labels);
		if (!labels)
			return labels.error();
		selection.labels = *labels;
	}
	auto states = states_of(kind, text.states);
	if (!states)
		return states.error();
	selection.states = *states;
	auto users = users_of(text.users);
	if (!users)
		return users.error();
	selection.users = *users;
	if (!text.nodes.empty()) {
		const auto nodes = expand_hosts(text.nodes);
		if (!nodes)
			return Error{nodes.error().code,
				"'" + text.nodes.substr(0, 64) + "' " + nodes.error().what};
		selection.nodes.insert(nodes->begin(), nodes->end());
	}
	selection.active = text.active;
	return selection;
}

bool selects(const Selection &selection, const Selectable &row)
{
	static const std::map<std::string, std::string> none;
	if (selection.active && row.has_ended)
		return false;
	if (!selection.namespaces.empty() && !selection.namespaces.contains(row.name_space))
		return false;
	if (!selection.users.empty() &&
		(row.user < 0 || !selection.users.contains(static_cast<std::uint32_t>(row.user))))
		return false;
	return answers_to(selection.states, row.states) && answers_to(selection.nodes, row.nodes) &&
		matches(selection.labels, row.labels ? *row.labels : none);
}

} // namespace slurmkube::core
