/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/config_nodes.h"

#include <algorithm>

namespace slurmkube::agent
{

namespace
{

constexpr std::string_view k_label_characters =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/";
constexpr char k_label[] = "a label's or taint's key, as in example.com/name";
constexpr std::string_view k_selector_characters =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/=";

/* The part of a label's key after its prefix, and a value: Kubernetes' reference, "Labels and
 * Selectors". */
bool is_label_name(std::string_view text)
{
	const auto is_alnum = [](char c) {
		return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
	};
	return !text.empty() && text.size() <= 63 &&
		text.find_first_of("/=") == std::string_view::npos && is_alnum(text.front()) &&
		is_alnum(text.back());
}

/* The API server refuses a list with any other selector. */
bool is_label(std::string_view key, std::string_view value)
{
	const auto slash = key.find('/');
	const bool has_prefix = slash != std::string_view::npos;
	const bool is_prefix_fine =
		!has_prefix || (slash > 0 && slash <= 253 && key[0] != '.' && key[0] != '-');
	return is_prefix_fine && is_label_name(has_prefix ? key.substr(slash + 1) : key) &&
		(value.empty() || is_label_name(value));
}

void read_selector(Reader &reader, const Yaml &value, NodesConfig &out)
{
	std::string text;
	if (!reader.text_of(value, k_selector_characters,
		    "a label, as in example.com/name or example.com/name=value", text))
		return;
	const auto equals = text.find('=');
	const std::string value_text =
		equals == std::string::npos ? std::string() : text.substr(equals + 1);
	if (!is_label(text.substr(0, equals), value_text))
		return reader.fail(value,
			"'" + text +
				"' is not one label, as in example.com/name or "
				"example.com/name=value");
	out.selector_key = text.substr(0, equals);
	out.selector_value = equals == std::string::npos ? std::nullopt : std::optional(value_text);
}

/* Only two units: a node's CPUs are rounded down to whole units, and a larger unit would waste more
 * of them. */
void read_cpu_unit(Reader &reader, const Yaml &value, NodesConfig &out)
{
	if (value.text() == "1")
		out.cpu_unit = core::k_whole_cpu;
	else if (value.text() == "100m")
		out.cpu_unit = core::k_whole_cpu / 10;
	else
		reader.fail(value, "'" + value.text() + "' is not one of 1 and 100m");
}

/* Names are at most 253 bytes in Kubernetes, and Slurm has room for more. */
void read_name_prefix(Reader &reader, const Yaml &value, std::string &out)
{
	constexpr std::size_t k_bytes_max = 63;
	std::string text;
	if (value.is_scalar() && value.text().empty())
		return; /* none, as by default */
	if (!reader.text_of(value, k_name_characters, k_name, text))
		return;
	if (text.size() > k_bytes_max)
		return reader.fail(
			value, "is longer than " + std::to_string(k_bytes_max) + " bytes");
	out = text;
}

constexpr Key<core::LabelFeature> k_feature_keys[] = {
	{"label",
		[](Reader &r, const Yaml &v, core::LabelFeature &out) {
			(void)r.text_of(v, k_label_characters, k_label, out.label);
		}},
	{"prefix",
		[](Reader &r, const Yaml &v, core::LabelFeature &out) {
			(void)r.text_of(v, k_name_characters, k_name, out.prefix);
		}},
};

void read_features(Reader &reader, const Yaml &value, NodesConfig &out)
{
	if (!value.is_sequence())
		return reader.fail(value, "must be a list (- label: ...)");
	std::size_t index = 0;
	for (const Yaml &item : value.items()) {
		reader.enter("[" + std::to_string(index++) + "]");
		core::LabelFeature rule;
		reader.mapping(item, k_feature_keys, rule);
		if (rule.label.empty())
			reader.fail(item, "has no label: which label's value shall be a feature?");
		else if (std::ranges::find(out.features, rule.label, &core::LabelFeature::label) !=
			out.features.end())
			reader.fail(item, "'" + rule.label + "' stands here already");
		reader.leave();
		out.features.push_back(std::move(rule));
	}
}

/* The agent would drain each node whose drain it reports, and never undo it. */
void read_drain_conditions(Reader &reader, const Yaml &value, NodesConfig &out)
{
	if (!reader.text_list(value, k_name_characters, "a condition's type, as in KernelDeadlock",
		    out.drain_conditions))
		return;
	if (std::ranges::find(out.drain_conditions, names::k_condition_drain) !=
		out.drain_conditions.end())
		reader.fail(value,
			"'" + std::string(names::k_condition_drain) +
				"' is the condition that the agent itself writes "
				"(nodes.report_drains): remove it from the list");
}

constexpr Key<NodesConfig> k_nodes_keys[] = {
	{"selector", read_selector},
	{"manage",
		[](Reader &r, const Yaml &v, NodesConfig &out) { (void)r.boolean(v, out.manage); }},
	{"name_prefix",
		[](Reader &r, const Yaml &v, NodesConfig &out) {
			read_name_prefix(r, v, out.names.prefix);
		}},
	{"max_gone_percent",
		[](Reader &r, const Yaml &v, NodesConfig &out) {
			(void)r.number(v, 0, 100, out.max_gone_percent);
		}},
	{"not_ready_after",
		[](Reader &r, const Yaml &v, NodesConfig &out) {
			(void)r.number(v, 0, k_day_seconds, out.not_ready_after_seconds);
		}},
	{"cpu_unit", read_cpu_unit},
	{"reserve_cpus",
		[](Reader &r, const Yaml &v, NodesConfig &out) {
			(void)r.number(v, 0, 65535, out.reserve_cpus);
		}},
	{"reserve_memory_mib",
		[](Reader &r, const Yaml &v, NodesConfig &out) {
			(void)r.number(v, 0, 1'000'000'000, out.reserve_memory_mib);
		}},
	{"features", read_features},
	{"drain_conditions", read_drain_conditions},
	{"report_drains",
		[](Reader &r, const Yaml &v, NodesConfig &out) {
			(void)r.boolean(v, out.report_drains);
		}},
	{"pods_in_native_jobs",
		[](Reader &r, const Yaml &v, NodesConfig &out) {
			(void)r.boolean(v, out.pods_in_native_jobs);
		}},
	{"tolerated_taints",
		[](Reader &r, const Yaml &v, NodesConfig &out) {
			(void)r.text_list(v, k_label_characters, k_label, out.tolerated_taints);
		}},
};

} // namespace

void read_nodes(Reader &reader, const Yaml &value, Config &out)
{
	reader.mapping(value, k_nodes_keys, out.nodes);
}

std::vector<std::string> nodes_keys()
{
	std::vector<std::string> names;
	for (const Key<NodesConfig> &key : k_nodes_keys)
		names.emplace_back(key.name);
	for (const Key<core::LabelFeature> &key : k_feature_keys)
		names.push_back(std::string("features.") + key.name);
	return names;
}

} // namespace slurmkube::agent
