/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/views.h"

#include "src/base/text.h"
#include "src/codec/json.h"
#include "src/skube/printed.h"
#include "src/skube/table.h"

#include <algorithm>
#include <cstdio>
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

std::string section(const std::string &title, const Table &table)
{
	return table.size() ? title + "\n" + table.text() + "\n" : "";
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

} // namespace

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

std::string ping_view(json_object *reply)
{
	const std::string controller = printed(reply, "controller");
	return "slurmkubed " + printed(reply, "version") + " is up for " +
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
		all += (ok ? "ok    " : "FAIL  ") + printed(check, "name") + ": " +
			printed(check, "text") + "\n";
		if (!ok)
			all += "      -> " + printed(check, "remedy") + "\n";
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

std::string why_view(json_object *reply)
{
	constexpr std::size_t k_column = 11; /* "waits for: " */
	std::string text;
	json_object *lines = get(reply, "lines");
	for (std::size_t i = 0; i < array_size(lines); i++) {
		std::string about = printed(array_at(lines, i), "about") + ":";
		about.resize(std::max(about.size() + 1, k_column), ' ');
		text += about + printed(array_at(lines, i), "text") + "\n";
	}
	return text;
}

namespace
{

std::string lines_of(json_object *reply)
{
	json_object *lines = get(reply, "lines");
	std::string all;
	for (std::size_t i = 0; i < array_size(lines); i++) {
		json_object *line = array_at(lines, i);
		if (json_object_is_type(line, json_type_string))
			all += printable(json_object_get_string(line)) + "\n";
	}
	return all;
}

} // namespace

std::string slurm_conf_view(json_object *reply)
{
	return "# Made by 'skube nodes --slurm-conf' for an Include of slurm.conf; "
	       "after a change " +
		printed(reply, "apply", "restart slurmctld") + ".\n" + lines_of(reply);
}

std::string topology_conf_view(json_object *reply)
{
	return "# Made by 'skube nodes --topology-conf' for topology.conf (topology/tree).\n" +
		lines_of(reply);
}

std::string devices_view(json_object *reply)
{
	if (get_int(reply, "rules") == 0)
		return "slurmkubed.yaml has no rules for devices (section 'devices')\n";
	Table table({{"NODE"}, {"GRES"}, {"INDEX", true}, {"TYPE"}, {"DEVICE"}, {"POOL"},
		{"STATE", false, true}, {"JOBID", true}, {"POD"}});
	json_object *rows = get(reply, "devices"), *troubles = get(reply, "troubles");
	for (std::size_t i = 0; i < array_size(rows); i++) {
		json_object *row = array_at(rows, i);
		const std::string pod = printed(row, "pod");
		table.add({printed(row, "node"), printed(row, "gres"),
			get(row, "index") ? number(row, "index") : "", printed(row, "type"),
			printed(row, "device"), printed(row, "pool"), printed(row, "state"),
			get(row, "job") ? number(row, "job") : "",
			pod.empty() ? "" : printed(row, "namespace") + "/" + pod});
	}
	std::string all = table.text();
	for (std::size_t i = 0; i < array_size(troubles); i++) {
		json_object *row = array_at(troubles, i);
		all += printed(row, "node") + ", GRES " + printed(row, "gres") + ": " +
			printed(row, "why") + "\n";
	}
	return all;
}

std::string diag_view(json_object *reply)
{
	json_object *plugin = get(reply, "plugin");
	std::string all = "plugin " + printed(reply, "plugin_version", "-") + " in Slurm " +
		printed(reply, "slurm_version", "-") + " (" + printed(reply, "family", "-") +
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
