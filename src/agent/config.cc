/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/config.h"

#include "src/agent/config_devices.h"
#include "src/agent/config_gres.h"
#include "src/agent/config_identity.h"
#include "src/agent/config_metrics.h"
#include "src/agent/config_nodes.h"
#include "src/agent/config_reader.h"
#include "src/agent/kube/files.h"

#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <unistd.h>

namespace slurmkube::agent
{

namespace
{

constexpr std::size_t k_file_max = std::size_t{1024} * 1024;
constexpr std::int64_t k_ten_years_minutes = std::int64_t{10} * 366 * 24 * 60;

void read_name(Reader &reader, const Yaml &value, std::string &out)
{
	(void)reader.text_of(value, k_name_characters, k_name, out);
}

/* Each alias needs a list and a watch of its own (kube/watch_group.h). */
constexpr std::size_t k_aliases_most = 7;

void read_aliases(Reader &reader, const Yaml &value, Config &out)
{
	if (!reader.text_list(value, k_name_characters, k_name, out.scheduler_aliases))
		return;
	if (out.scheduler_aliases.size() > k_aliases_most)
		reader.fail(value,
			"has more than " + std::to_string(k_aliases_most) +
				" names: each costs the API server a watch");
	if (std::ranges::find(out.scheduler_aliases, "default-scheduler") !=
		out.scheduler_aliases.end())
		reader.fail(value,
			"'default-scheduler': kube-scheduler would bind these pods too. The policy "
			"'skube manifests --only scheduler-name-policy' gives pods without a name "
			"scheduler_name instead");
}

/* A pod would be watched twice. */
void check_names(Reader &reader, const Yaml &root, const Config &config)
{
	std::set<std::string> seen;
	for (const std::string &name : config.scheduler_names()) {
		if (!seen.insert(name).second)
			reader.fail(root.get("scheduler_aliases"),
				"'" + name +
					"' stands twice in scheduler_name and scheduler_aliases: "
					"remove one");
	}
}

/* ---- slurm ---- */

/* libslurm ends the process if it cannot read its configuration, so check the file here. */
void read_slurm_conf(Reader &reader, const Yaml &value, SlurmConfig &out)
{
	if (reader.path(value, out.conf) && access(out.conf.c_str(), R_OK) != 0)
		reader.fail(value,
			"'" + out.conf +
				"' cannot be read: " + std::generic_category().message(errno));
}

constexpr Key<SlurmConfig> k_slurm_keys[] = {
	{"conf", read_slurm_conf},
	{"workers",
		[](Reader &r, const Yaml &v, SlurmConfig &out) {
			(void)r.number(v, 1, 8, out.workers);
		}},
};

/* ---- limits ---- */

constexpr Key<LimitsConfig> k_limits_keys[] = {
	{"writes_in_flight",
		[](Reader &r, const Yaml &v, LimitsConfig &out) {
			(void)r.number(v, 1, 64, out.writes_in_flight);
		}},
	{"forced_delete_hold_seconds",
		[](Reader &r, const Yaml &v, LimitsConfig &out) {
			(void)r.number(v, 0, 3600, out.forced_delete_hold_seconds);
		}},
	{"condition_interval_seconds",
		[](Reader &r, const Yaml &v, LimitsConfig &out) {
			(void)r.number(v, 1, 3600, out.condition_interval_seconds);
		}},
	{"gang_hold_seconds",
		[](Reader &r, const Yaml &v, LimitsConfig &out) {
			(void)r.number(v, 1, k_day_seconds, out.gang_hold_seconds);
		}},
	{"gang_wait_seconds",
		[](Reader &r, const Yaml &v, LimitsConfig &out) {
			(void)r.number(v, 0, k_day_seconds, out.gang_wait_seconds);
		}},
	{"late_pods_seconds",
		[](Reader &r, const Yaml &v, LimitsConfig &out) {
			(void)r.number(v, 0, k_day_seconds, out.late_pods_seconds);
		}},
	{"components_wait_seconds",
		[](Reader &r, const Yaml &v, LimitsConfig &out) {
			(void)r.number(v, 5, k_day_seconds, out.components_wait_seconds);
		}},
	{"claim_wait_seconds",
		[](Reader &r, const Yaml &v, LimitsConfig &out) {
			(void)r.number(v, 0, k_day_seconds, out.claim_wait_seconds);
		}},
	{"prolog_wait_seconds",
		[](Reader &r, const Yaml &v, LimitsConfig &out) {
			(void)r.number(v, 0, k_day_seconds, out.prolog_wait_seconds);
		}},
	{"max_gone_pods_percent",
		[](Reader &r, const Yaml &v, LimitsConfig &out) {
			(void)r.number(v, 0, 100, out.max_gone_pods_percent);
		}},
	{"grace_seconds",
		[](Reader &r, const Yaml &v, LimitsConfig &out) {
			(void)r.number(v, 0, k_day_seconds, out.grace_seconds);
		}},
	{"start_seconds",
		[](Reader &r, const Yaml &v, LimitsConfig &out) {
			(void)r.number(v, 0, k_day_seconds, out.start_seconds);
		}},
};

/* ---- priority classes ---- */

constexpr std::int64_t k_nice_most = 2147483645; /* the limit of sbatch */

constexpr Key<core::PriorityClassRule> k_priority_class_keys[] = {
	{"name",
		[](Reader &r, const Yaml &v, core::PriorityClassRule &out) {
			read_name(r, v, out.name);
		}},
	{"qos",
		[](Reader &r, const Yaml &v, core::PriorityClassRule &out) {
			read_name(r, v, out.qos);
		}},
	{"nice",
		[](Reader &r, const Yaml &v, core::PriorityClassRule &out) {
			(void)r.number(v, -k_nice_most, k_nice_most, out.nice);
		}},
};

void read_priority_classes(Reader &reader, const Yaml &value, Config &out)
{
	if (!value.is_sequence())
		return reader.fail(value, "must be a list (- name: ...)");
	std::set<std::string> seen;
	std::size_t index = 0;
	for (const Yaml &item : value.items()) {
		reader.enter("[" + std::to_string(index++) + "]");
		core::PriorityClassRule rule;
		reader.mapping(item, k_priority_class_keys, rule);
		if (rule.name.empty())
			reader.fail(item, "has no name: which PriorityClass?");
		else if (!seen.insert(rule.name).second)
			reader.fail(item, "'" + rule.name + "' stands here already");
		else if (rule.qos.empty() && rule.nice == 0)
			reader.fail(item, "has neither qos nor nice: give one");
		reader.leave();
		out.priority_classes.push_back(std::move(rule));
	}
}

/* ---- the whole ---- */

void read_socket(Reader &reader, const Yaml &value, std::string &out)
{
	constexpr std::size_t most = sizeof(sockaddr_un::sun_path) - 1;
	std::string path;
	if (!reader.path(value, path))
		return;
	if (path.size() > most)
		return reader.fail(value,
			"is longer than a socket's path may be, " + std::to_string(most) +
				" bytes");
	out = path;
}

void read_log_level(Reader &reader, const Yaml &value, Config &out)
{
	const std::pair<std::string_view, LogLevel> levels[] = {{"error", LogLevel::error},
		{"warning", LogLevel::warning}, {"info", LogLevel::info},
		{"debug", LogLevel::debug}};
	for (const auto &[name, level] : levels) {
		if (value.text() == name) {
			out.log_level = level;
			return;
		}
	}
	reader.fail(value, "'" + value.text() + "' is not one of error, warning, info, debug");
}

void read_log_format(Reader &reader, const Yaml &value, Config &out)
{
	const std::pair<std::string_view, LogFormat> formats[] = {{"auto", LogFormat::automatic},
		{"text", LogFormat::text}, {"json", LogFormat::json},
		{"journal", LogFormat::journal}};
	for (const auto &[name, format] : formats) {
		if (value.text() == name) {
			out.log_format = format;
			return;
		}
	}
	reader.fail(value, "'" + value.text() + "' is not one of auto, text, json, journal");
}

constexpr Key<Config> k_keys[] = {
	{"cluster", [](Reader &r, const Yaml &v, Config &out) { read_name(r, v, out.cluster); }},
	{"scheduler_name",
		[](Reader &r, const Yaml &v, Config &out) { read_name(r, v, out.scheduler_name); }},
	{"scheduler_aliases", read_aliases},
	{"kubeconfig",
		[](Reader &r, const Yaml &v, Config &out) { (void)r.path(v, out.kubeconfig); }},
	{"slurm",
		[](Reader &r, const Yaml &v, Config &out) {
			r.mapping(v, k_slurm_keys, out.slurm);
		}},
	{"partition",
		[](Reader &r, const Yaml &v, Config &out) { read_name(r, v, out.partition); }},
	{"plugin_socket",
		[](Reader &r, const Yaml &v, Config &out) {
			read_socket(r, v, out.plugin_socket);
		}},
	{"control_socket",
		[](Reader &r, const Yaml &v, Config &out) {
			read_socket(r, v, out.control_socket);
		}},
	{"nodes", read_nodes},
	{"gres", read_gres},
	{"devices", read_devices},
	{"identity", read_identity},
	{"priority_classes", read_priority_classes},
	{"limits",
		[](Reader &r, const Yaml &v, Config &out) {
			r.mapping(v, k_limits_keys, out.limits);
		}},
	{"metrics", read_metrics},
	{"default_time_limit_minutes",
		[](Reader &r, const Yaml &v, Config &out) {
			(void)r.number(v, 0, k_ten_years_minutes, out.default_time_limit_minutes);
		}},
	{"log_level", read_log_level},
	{"log_format", read_log_format},
	{"audit_log",
		[](Reader &r, const Yaml &v, Config &out) { (void)r.path(v, out.audit_log); }},
};

template <class T, std::size_t N>
void list_keys(const Key<T> (&keys)[N], const std::string &prefix, std::vector<std::string> &out)
{
	for (const Key<T> &key : keys)
		out.push_back(prefix + key.name);
}

LoadedConfig only_error(const std::string &text)
{
	LoadedConfig loaded;
	loaded.errors.push_back(text);
	return loaded;
}

} // namespace

std::vector<std::string> config_keys()
{
	std::vector<std::string> names;
	list_keys(k_keys, "", names);
	list_keys(k_slurm_keys, "slurm.", names);
	for (const std::string &name : nodes_keys())
		names.push_back("nodes." + name);
	for (const std::string &name : identity_keys())
		names.push_back("identity." + name);
	for (const std::string &key : gres_keys())
		names.push_back("gres." + key);
	for (const std::string &key : devices_keys())
		names.push_back("devices." + key);
	list_keys(k_limits_keys, "limits.", names);
	for (const std::string &key : metrics_keys())
		names.push_back("metrics." + key);
	list_keys(k_priority_class_keys, "priority_classes.", names);
	return names;
}

std::vector<std::string> Config::scheduler_names() const
{
	std::vector<std::string> names{scheduler_name};
	names.insert(names.end(), scheduler_aliases.begin(), scheduler_aliases.end());
	return names;
}

std::string Config::scheduler_names_text() const
{
	std::string text = scheduler_name;
	for (const std::string &alias : scheduler_aliases)
		text += " or " + alias;
	return text;
}

LoadedConfig parse_config(std::string_view text, const std::string &file_name)
{
	if (text.size() > k_file_max)
		return only_error(file_name + ":1: longer than 1 MiB");
	const auto document = kube::YamlText::parse(text);
	if (!document)
		return only_error(file_name + ":" + document.error().what);
	LoadedConfig loaded;
	Reader reader(file_name);
	const Yaml root = document->root();
	const bool nothing = !root || (root.is_scalar() && root.text().empty()); /* all defaults */
	if (!nothing)
		reader.mapping(root, k_keys, loaded.config);
	if (root.get("namespaces"))
		reader.fail(root.get("namespaces"),
			"the rules of 'namespaces' stand under identity.rules now, with "
			"'namespace' for 'name'");
	check_names(reader, root, loaded.config);
	if (loaded.config.plugin_socket == loaded.config.control_socket)
		reader.fail(root.get("control_socket") ? root.get("control_socket").line() : 1,
			"plugin_socket and control_socket are the same");
	loaded.may_pass = reader.failed_for_now();
	loaded.errors = reader.take_errors();
	loaded.notes = reader.take_notes();
	return loaded;
}

LoadedConfig load_config(const std::string &path)
{
	const auto text = kube::read_small_file(path);
	if (!text)
		return only_error(text.error().what);
	return parse_config(*text, path);
}

} // namespace slurmkube::agent
