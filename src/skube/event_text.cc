/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/event_text.h"

#include "src/base/text.h"
#include "src/codec/json.h"
#include "src/core/inspect/selection.h"
#include "src/skube/printed.h"
#include "src/skube/views.h"

#include <utility>

namespace slurmkube::skube
{

namespace
{

using codec::get;
using codec::get_bool;
using codec::get_int;

std::string with(const char *word, const std::string &text)
{
	return text.empty() ? "" : word + text;
}

std::vector<std::string> facts_of_pod(json_object *pod)
{
	const std::int64_t job = get_int(pod, "job");
	return {printed(pod, "phase"),
		job == 0 ? ""
			 : "job " + std::to_string(job) + " " +
				job_state_text(printed(pod, "job_state")),
		with("on ", printed(pod, "node")), printed(pod, "waiting_for")};
}

std::vector<std::string> facts_of_job(json_object *job)
{
	const std::string state = printed(job, "state");
	const bool is_pending = state == "pending";
	const bool lives = is_pending || state == "running" || state == "suspended";
	const std::int64_t more = get_int(job, "node_count") - 1;
	const std::string nodes =
		printed(job, "node") + (more > 0 ? " and " + std::to_string(more) + " more" : "");
	return {job_state_text(state) + (is_pending ? with(" ", printed(job, "reason")) : ""),
		lives ? with("on ", nodes) : "",
		lives ? "" : "exit " + exit_text(get_int(job, "exit_status"))};
}

std::vector<std::string> facts_of_node(json_object *node)
{
	return {printed(node, "kube_state") + (get_bool(node, "cordoned") ? ",cordoned" : ""),
		"Slurm " + core::upper(printed(node, "slurm_state")),
		printed(node, "slurm_reason")};
}

/* What is the same in all events of an object. */
std::string identity_of(const std::string &kind, json_object *object)
{
	if (kind == "pod")
		return "pod " + printed(object, "uid");
	return kind == "job" ? "job " + std::to_string(get_int(object, "id"))
			     : "node " + printed(object, "name");
}

std::string name_of(const std::string &kind, json_object *object)
{
	if (kind == "pod")
		return "pod " + full_name(object, "name");
	if (kind == "node")
		return "node " + printed(object, "name");
	const std::string job = "job " + std::to_string(get_int(object, "id"));
	return get(object, "pod") ? job + " " + full_name(object, "pod") : job;
}

std::vector<std::string> facts_of(const std::string &kind, json_object *object)
{
	if (kind == "pod")
		return facts_of_pod(object);
	return kind == "job" ? facts_of_job(object) : facts_of_node(object);
}

std::string line(const std::string &clock, const std::string &name, const std::string &text)
{
	return clock + " " + name + ": " + text + "\n";
}

} // namespace

std::string EventText::of(json_object *event, const std::string &clock)
{
	if (get_bool(event, "ok"))
		begin_list();
	const std::string type = printed(event, "type"), kind = printed(event, "kind");
	if (type == "synced")
		return end_list(clock);
	if (kind != "pod" && kind != "job" && kind != "node")
		return ""; /* of a later release, or no object */
	json_object *object = get(event, "object");
	const std::string key = identity_of(kind, object), name = name_of(kind, object);
	if (type == "gone")
		return gone(key, name, clock);
	if (type != "added" && type != "changed")
		return "";
	return seen(key, {.name = name, .facts = facts_of(kind, object)}, clock);
}

void EventText::begin_list()
{
	for (auto &[key, one] : shown_)
		one.is_confirmed = false;
}

std::string EventText::end_list(const std::string &clock)
{
	std::string lines;
	for (auto it = shown_.begin(); it != shown_.end();) {
		if (!it->second.is_confirmed)
			lines += line(clock, it->second.name, "gone");
		it = it->second.is_confirmed ? std::next(it) : shown_.erase(it);
	}
	return lines;
}

std::string EventText::seen(const std::string &key, Shown now, const std::string &clock)
{
	const auto before = shown_.find(key);
	std::string text;
	for (std::size_t i = 0; i < now.facts.size(); i++) {
		const bool is_new =
			before == shown_.end() || before->second.facts[i] != now.facts[i];
		if (is_new && !now.facts[i].empty())
			text += (text.empty() ? "" : ", ") + now.facts[i];
	}
	const std::string name = now.name;
	shown_.insert_or_assign(key, std::move(now));
	return text.empty() ? "" : line(clock, name, text);
}

std::string EventText::gone(
	const std::string &key, const std::string &name, const std::string &clock)
{
	const auto before = shown_.find(key);
	const std::string known = before == shown_.end() ? name : before->second.name;
	if (before != shown_.end())
		shown_.erase(before);
	return line(clock, known, "gone");
}

} // namespace slurmkube::skube
