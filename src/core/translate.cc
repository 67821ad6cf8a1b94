/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/translate.h"

#include "src/core/names.h"
#include "src/core/timelimit.h"

#include <algorithm>
#include <charconv>

namespace slurmkube::core
{

namespace
{

constexpr std::size_t k_text_max = 256; /* of a job name or comment */

/* One option: its name after the prefix, and what its value does to the job. */
struct Option {
	std::string_view name;
	Status (*apply)(const std::string &value, const NamespaceRule &rule, JobSpec &spec);
};

std::string joined(const std::vector<std::string> &list)
{
	std::string out;
	for (const std::string &item : list)
		out += (out.empty() ? "" : ", ") + item;
	return out.empty() ? "none" : out;
}

Status choose(const std::string &value, const std::vector<std::string> &allowed, std::string &target)
{
	if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
		return Error{Errc::denied, "not allowed in this namespace; allowed: " + joined(allowed)};
	target = value;
	return Ok{};
}

Status set_text(const std::string &value, std::string &target)
{
	const bool printable = std::all_of(value.begin(), value.end(), [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
	if (value.empty() || value.size() > k_text_max || !printable)
		return Error{Errc::invalid, "must be 1 to " + std::to_string(k_text_max) + " printable bytes"};
	target = value;
	return Ok{};
}

Status set_time_limit(const std::string &value, const NamespaceRule &, JobSpec &spec)
{
	const auto minutes = parse_time_limit(value);
	if (!minutes)
		return minutes.error();
	spec.time_limit_minutes = *minutes;
	return Ok{};
}

Status set_priority(const std::string &value, const NamespaceRule &, JobSpec &spec)
{
	std::uint32_t number = 0;
	const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
	/* the two highest numbers are Slurm's INFINITE and NO_VAL; 0 would hold the job */
	if (error != std::errc() || end != value.data() + value.size() || number == 0 || number >= 0xfffffffeU)
		return Error{Errc::invalid, "must be a whole number from 1 to 4294967293"};
	spec.priority = number;
	return Ok{};
}

constexpr Option k_options[] = {
    {"account", [](const std::string &v, const NamespaceRule &r, JobSpec &s) { return choose(v, r.accounts, s.account); }},
    {"comment", [](const std::string &v, const NamespaceRule &, JobSpec &s) { return set_text(v, s.comment); }},
    {"job-name", [](const std::string &v, const NamespaceRule &, JobSpec &s) { return set_text(v, s.name); }},
    {"partition", [](const std::string &v, const NamespaceRule &r, JobSpec &s) { return choose(v, r.partitions, s.partition); }},
    {"priority", set_priority},
    {"qos", [](const std::string &v, const NamespaceRule &r, JobSpec &s) { return choose(v, r.qos, s.qos); }},
    {"timelimit", set_time_limit},
};

std::string known_options()
{
	std::string out;
	for (const Option &option : k_options)
		out += (out.empty() ? "" : ", ") + std::string(option.name);
	return out;
}

Status apply_annotation(const std::string &key, const std::string &value, const NamespaceRule &rule, JobSpec &spec)
{
	const std::string_view name = std::string_view(key).substr(std::string_view(names::k_option_prefix).size());
	const auto *option = std::find_if(std::begin(k_options), std::end(k_options), [&](const Option &o) { return o.name == name; });
	const std::string what = "annotation " + key + "='" + value.substr(0, 64) + "'";
	if (option == std::end(k_options))
		return Error{Errc::invalid, what + ": unknown option; known: " + known_options()};
	const Status done = option->apply(value, rule, spec);
	return done ? done : Status(in_context(what, done.error()));
}

Status check_supported(const Pod &pod)
{
	if (!pod.unsupported_fields.empty())
		return Error{Errc::invalid, pod.unsupported_fields.front() + " is not supported yet: remove it, or use another schedulerName"};
	for (const auto &[name, amount] : pod.requests.extended) {
		if (amount > 0 && name != "ephemeral-storage")
			return Error{Errc::invalid, "resource " + name + " is not supported yet: remove the request, or use another schedulerName"};
	}
	return Ok{};
}

std::string first_or_empty(const std::vector<std::string> &list)
{
	return list.empty() ? std::string() : list.front();
}

JobSpec with_defaults(const Pod &pod, const Policy &policy, const NamespaceRule &rule, std::uint32_t attempt)
{
	JobSpec spec;
	spec.marker = Marker{.cluster = policy.cluster, .name_space = pod.name_space, .name = pod.name, .kind = "Pod", .uid = pod.uid.text, .attempt = attempt};
	spec.name = pod.name;
	spec.comment = pod.name_space + "/" + pod.name;
	spec.partition = rule.partitions.empty() ? policy.default_partition : rule.partitions.front();
	spec.account = first_or_empty(rule.accounts);
	spec.qos = first_or_empty(rule.qos);
	spec.as_whom = as_whom(rule);
	spec.user_id = rule.user_id;
	spec.group_id = rule.group_id;
	spec.cpus = cpus_of(pod.requests);
	spec.memory_mib = memory_mib_of(pod.requests, policy.least_memory_mib);
	spec.time_limit_minutes = policy.default_time_limit_minutes;
	if (pod.active_deadline_seconds > 0)
		spec.time_limit_minutes = static_cast<std::uint32_t>(std::min<std::int64_t>((pod.active_deadline_seconds - 1) / 60 + 1, k_unlimited_minutes));
	return spec;
}

} // namespace

std::uint32_t cpus_of(const Resources &requests)
{
	const std::int64_t whole = requests.milli_cpu / 1000 + (requests.milli_cpu % 1000 > 0 ? 1 : 0);
	return static_cast<std::uint32_t>(std::clamp<std::int64_t>(whole, 1, 0xfffffff0));
}

std::uint64_t memory_mib_of(const Resources &requests, std::uint64_t least_mib)
{
	constexpr std::int64_t k_mib = 1 << 20;
	const std::int64_t whole = requests.memory_bytes / k_mib + (requests.memory_bytes % k_mib > 0 ? 1 : 0);
	return std::max<std::uint64_t>(whole > 0 ? static_cast<std::uint64_t>(whole) : 0, std::max<std::uint64_t>(least_mib, 1));
}

Result<JobSpec> translate(const Pod &pod, const Policy &policy, std::uint32_t attempt)
{
	const Result<NamespaceRule> rule = policy.rule_of(pod.name_space);
	if (!rule)
		return rule.error();
	const Status supported = check_supported(pod);
	if (!supported)
		return supported.error();
	JobSpec spec = with_defaults(pod, policy, *rule, attempt);
	const std::string_view prefix = names::k_option_prefix;
	for (auto it = pod.annotations.lower_bound(std::string(prefix)); it != pod.annotations.end() && it->first.starts_with(prefix); ++it) {
		const Status applied = apply_annotation(it->first, it->second, *rule, spec);
		if (!applied)
			return applied.error();
	}
	return spec;
}

} // namespace slurmkube::core
