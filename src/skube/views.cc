/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/views.h"

#include "src/base/text.h"
#include "src/codec/json.h"
#include "src/skube/table.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <pwd.h>
#include <tuple>
#include <vector>

namespace slurmkube::skube
{

namespace
{

using codec::array_at;
using codec::array_size;
using codec::get;
using codec::get_bool;
using codec::get_double;
using codec::get_int;

/* Without control characters and line breaks. */
std::string get_string(json_object *object, const char *key, std::string_view fallback = {})
{
	return printable(codec::get_string(object, key, fallback));
}

std::string number(json_object *object, const char *key)
{
	return std::to_string(get_int(object, key));
}

std::string fixed(double value, const char *unit)
{
	char text[64];
	(void)snprintf(text, sizeof(text), "%.1f%s", value, unit);
	return text;
}

std::string upper(std::string text)
{
	std::transform(text.begin(), text.end(), text.begin(),
		[](unsigned char c) { return static_cast<char>(std::toupper(c)); });
	return text;
}

std::string user_name(std::int64_t id)
{
	std::vector<char> buffer(16384);
	passwd entry{}, *found = nullptr;
	if (getpwuid_r(static_cast<uid_t>(id), &entry, buffer.data(), buffer.size(), &found) == 0 &&
		found)
		return found->pw_name;
	return std::to_string(id);
}

/* In the form of squeue and sacct. */
std::string job_state(const std::string &state)
{
	return state == "complete" ? "COMPLETED" : upper(state);
}

/* How long the job has run so far, or ran. */
std::string elapsed(json_object *job, std::int64_t now)
{
	const std::int64_t start = get_int(job, "start_time"), end = get_int(job, "end_time");
	const std::string state = get_string(job, "state");
	if (state == "pending" || start == 0)
		return "0:00";
	/* a live job's end_time is only expected */
	const bool lives = state == "running" || state == "suspended";
	const std::int64_t until = lives || end == 0 ? now : end;
	return duration_text(start > 0 && until > start ? until - start : 0);
}

bool has_ended(const std::string &state)
{
	return state != "pending" && state != "running" && state != "suspended" &&
		state != "unknown";
}

/* The number in the member, or "" if it is 0 or false. */
std::string if_any(json_object *object, const char *key)
{
	return get_int(object, key) ? number(object, key) : "";
}

template <class Row> std::string listed(Table table, json_object *array, Row row)
{
	for (std::size_t i = 0; i < array_size(array); i++)
		table.add(row(array_at(array, i)));
	return table.text();
}

std::string section(const std::string &title, const Table &table)
{
	return table.size() ? title + "\n" + table.text() + "\n" : "";
}

Table latencies_table(json_object *latencies)
{
	Table table(
		{{"STAGE"}, {"COUNT", true}, {"P50_MS", true}, {"P99_MS", true}, {"MAX_MS", true}});
	if (!json_object_is_type(latencies, json_type_object))
		return table;
	json_object_object_foreach(latencies, name, stage)
	{
		table.add({name, number(stage, "count"), fixed(get_double(stage, "p50_ms"), ""),
			fixed(get_double(stage, "p99_ms"), ""),
			fixed(get_double(stage, "max_ms"), "")});
	}
	return table;
}

Table costs_table(json_object *plugin)
{
	Table table({{"PLUGIN"}, {"COUNT", true}, {"MEAN_US", true}, {"P99_US", true},
		{"MAX_US", true}});
	for (const char *name : {"hook", "hook_cpu", "lock_hold", "lock_cpu", "lock_wait"}) {
		json_object *cost = get(plugin, name);
		if (cost)
			table.add({name, number(cost, "count"),
				fixed(get_double(cost, "mean_us"), ""),
				fixed(get_double(cost, "p99_us"), ""),
				fixed(get_double(cost, "max_us"), "")});
	}
	return table;
}

/* All plain numbers of an object, whatever their names, because counters differ by release. */
Table numbers_table(const char *title, json_object *object)
{
	Table table({{title}, {"VALUE", true}});
	if (!json_object_is_type(object, json_type_object))
		return table;
	json_object_object_foreach(object, name, value)
	{
		if (json_object_is_type(value, json_type_int))
			table.add({name, std::to_string(json_object_get_int64(value))});
		else if (json_object_is_type(value, json_type_double))
			table.add({name, fixed(json_object_get_double(value), "")});
	}
	return table;
}

bool is_over(json_object *pod)
{
	const std::string phase = get_string(pod, "phase");
	return phase == "Succeeded" || phase == "Failed";
}

std::string pods_table(json_object *reply, bool with_ended)
{
	json_object *array = get(reply, "pods");
	std::vector<json_object *> pods;
	for (std::size_t i = 0; i < array_size(array); i++) {
		if (with_ended || !is_over(array_at(array, i)))
			pods.push_back(array_at(array, i));
	}
	std::ranges::sort(pods, {}, [](json_object *pod) {
		return std::tuple(
			is_over(pod), get_string(pod, "namespace"), get_string(pod, "name"));
	});
	Table table({{"POD"}, {"PHASE"}, {"NODE"}, {"JOBID", true}, {"JOB"}, {"WAITING_FOR"}});
	for (json_object *pod : pods)
		table.add({get_string(pod, "namespace") + "/" + get_string(pod, "name"),
			get_string(pod, "phase"), get_string(pod, "node"), if_any(pod, "job"),
			get_int(pod, "job") != 0 ? job_state(get_string(pod, "job_state")) : "",
			get_string(pod, "waiting_for")});
	return table.text();
}

} // namespace

std::string exit_text(std::int64_t wait_status)
{
	return std::to_string((wait_status >> 8) & 0xff) + ":" + std::to_string(wait_status & 0x7f);
}

std::string ping_view(json_object *reply)
{
	const std::string controller = get_string(reply, "controller");
	return "slurmkubed " + get_string(reply, "version") + " is up for " +
		duration_text(get_int(reply, "uptime_seconds")) +
		(get_bool(reply, "ready") ? ", ready" : ", not ready yet") +
		(get_bool(reply, "link") ? ", connected with slurmctld" +
					(controller.empty() ? "" : " on " + controller) + "\n"
					 : ", not connected with slurmctld (see skube check)\n");
}

std::string check_view(json_object *reply)
{
	json_object *checks = get(reply, "checks");
	std::string all;
	for (std::size_t i = 0; i < array_size(checks); i++) {
		json_object *check = array_at(checks, i);
		const bool ok = get_bool(check, "ok");
		all += (ok ? "ok    " : "FAIL  ") + get_string(check, "name") + ": " +
			get_string(check, "text") + "\n";
		if (!ok)
			all += "      -> " + get_string(check, "remedy") + "\n";
	}
	return all;
}

bool all_checks_passed(json_object *reply)
{
	json_object *checks = get(reply, "checks");
	for (std::size_t i = 0; i < array_size(checks); i++) {
		if (!get_bool(array_at(checks, i), "ok"))
			return false;
	}
	return array_size(checks) > 0;
}

std::string jobs_view(json_object *reply, std::int64_t now)
{
	Table table({{"JOBID", true}, {"POD"}, {"STATE"}, {"USER"}, {"PARTITION"}, {"TIME", true},
		{"EXIT", true}, {"NODE"}, {"REASON"}});
	return listed(std::move(table), get(reply, "jobs"),
		[now](json_object *job) -> std::vector<std::string> {
			const std::string state = get_string(job, "state");
			return {number(job, "id"),
				get_string(job, "namespace") + "/" + get_string(job, "pod"),
				job_state(state), user_name(get_int(job, "user_id")),
				get_string(job, "partition"), elapsed(job, now),
				has_ended(state) ? exit_text(get_int(job, "exit_status")) : "",
				get_string(job, "node"),
				state == "pending" ? get_string(job, "reason") : ""};
		});
}

std::string pods_view(json_object *reply)
{
	return pods_table(reply, true);
}

std::string active_pods_view(json_object *reply)
{
	return pods_table(reply, false);
}

std::string nodes_view(json_object *reply)
{
	Table table({{"NODE"}, {"KUBERNETES"}, {"SLURM"}, {"CPUS", true}, {"MEMORY_MIB", true},
		{"PODS", true}, {"ADDRESS"}, {"REASON"}});
	return listed(std::move(table), get(reply, "nodes"),
		[](json_object *node) -> std::vector<std::string> {
			const std::string kube = get_string(node, "kube_state",
				get_bool(node, "kube_ready") ? "Ready" : "NotReady");
			return {get_string(node, "name"),
				kube + (get_bool(node, "cordoned") ? ",cordoned" : ""),
				upper(get_string(node, "slurm_state")), number(node, "cpus"),
				number(node, "memory_mib"), number(node, "pods"),
				get_string(node, "address"), get_string(node, "slurm_reason")};
		});
}

std::string why_view(json_object *reply)
{
	constexpr std::size_t k_column = 11; /* "waits for: " */
	std::string text;
	json_object *lines = get(reply, "lines");
	for (std::size_t i = 0; i < array_size(lines); i++) {
		std::string about = get_string(array_at(lines, i), "about") + ":";
		about.resize(std::max(about.size() + 1, k_column), ' ');
		text += about + get_string(array_at(lines, i), "text") + "\n";
	}
	return text;
}

std::string slurm_conf_view(json_object *reply)
{
	json_object *lines = get(reply, "lines");
	std::string all = "# Made by 'skube nodes --slurm-conf' for an Include of slurm.conf; "
			  "after a change " +
		get_string(reply, "apply", "restart slurmctld") + ".\n";
	for (std::size_t i = 0; i < array_size(lines); i++) {
		json_object *line = array_at(lines, i);
		if (json_object_is_type(line, json_type_string))
			all += printable(json_object_get_string(line)) + "\n";
	}
	return all;
}

std::string diag_view(json_object *reply)
{
	json_object *plugin = get(reply, "plugin");
	std::string all = "plugin " + get_string(reply, "plugin_version", "-") + " in Slurm " +
		get_string(reply, "slurm_version", "-") + " (" + get_string(reply, "family", "-") +
		")\n\n";
	all += section("From event to event, by the agent's clock",
		latencies_table(get(reply, "stage_latencies")));
	all += section("Cost in slurmctld, by the plugin's clock", costs_table(plugin));
	all += section("Counts of the plugin", numbers_table("NAME", plugin));
	all += section("Counts of the agent", numbers_table("NAME", get(reply, "counters")));
	all.pop_back(); /* removes the blank line after the last section */
	return all;
}

} // namespace slurmkube::skube
