/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/options/options.h"

#include "src/core/model/names.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace slurmkube::core
{

namespace
{

using Annotations = std::map<std::string, std::string>;

constexpr std::size_t k_quoted_max = 64; /* bytes of a value that an error quotes */
constexpr std::string_view k_sbatch_name = "sbatch";

/* Another project's prefix, and the column of the table that has its names. */
struct Dialect {
	std::string_view prefix;
	std::string_view Option::*name;
	Apply Option::*apply;
	std::span<const std::string_view> outputs; /* keys that the project itself writes on pods */
};

constexpr std::string_view k_bridge_outputs[] = {
	"slurm-node", "slurm-jobid", "slurm-nodename", "managed-node"};
constexpr std::string_view k_sunk_outputs[] = {"lock"};

constexpr Dialect k_dialects[] = {
	{names::k_bridge_prefix, &Option::bridge, &Option::apply, {}},
	{names::k_old_bridge_prefix, &Option::bridge, &Option::apply, k_bridge_outputs},
	{names::k_sunk_prefix, &Option::sunk, &Option::apply_sunk, k_sunk_outputs},
};

std::string quoted(const std::string &key, const std::string &value)
{
	return "annotation " + key + "='" + value.substr(0, k_quoted_max) + "'";
}

Status in_annotation(const std::string &key, const std::string &value, const Status &done)
{
	return done ? done : Status(in_context(quoted(key, value), done.error()));
}

/* Calls visit(name, key, value) for all keys under the prefix, until it returns an error. */
template <class Visit>
Status for_each_under(std::string_view prefix, const Annotations &annotations, Visit visit)
{
	for (auto it = annotations.lower_bound(std::string(prefix));
		it != annotations.end() && it->first.starts_with(prefix); ++it) {
		const Status done = visit(
			std::string_view(it->first).substr(prefix.size()), it->first, it->second);
		if (!done)
			return done;
	}
	return Ok{};
}

Apply apply_of(const Option &option, const Dialect &dialect)
{
	return option.*(dialect.apply) ? option.*(dialect.apply) : option.apply;
}

/* The requests of aliases, at most one per option. */
struct Asked {
	const std::string *key, *value;
	Apply apply;
};
using AskedFor = std::map<const Option *, Asked>;

/* Compares results, so that 60 minutes and 3600 seconds are the same. */
bool ask_the_same(const Asked &a, const Asked &b, const OptionContext &context)
{
	JobSpec one, other;
	return a.apply(*a.value, context, one) && b.apply(*b.value, context, other) && one == other;
}

Status note_alias(
	const Option &option, const Asked &asked, const OptionContext &context, AskedFor &all)
{
	const auto [before, is_new] = all.try_emplace(&option, asked);
	if (is_new || ask_the_same(before->second, asked, context))
		return Ok{};
	return Error{Errc::invalid,
		quoted(*asked.key, *asked.value) + ": " + *before->second.key + "='" +
			before->second.value->substr(0, k_quoted_max) +
			"' asks for something else; leave one of them, or give " +
			names::k_option_prefix + std::string(option.name)};
}

Status collect_aliases(const Dialect &dialect, const Annotations &annotations,
	const OptionContext &context, AskedFor &all)
{
	return for_each_under(dialect.prefix, annotations,
		[&](std::string_view name, const std::string &key,
			const std::string &value) -> Status {
			if (std::find(dialect.outputs.begin(), dialect.outputs.end(), name) !=
				dialect.outputs.end())
				return Ok{};
			const auto all_options = options();
			const auto found = std::find_if(all_options.begin(), all_options.end(),
				[&](const Option &o) { return o.*(dialect.name) == name; });
			if (found == all_options.end())
				return Error{Errc::invalid,
					quoted(key, value) + ": unknown option; " +
						suggestions(name)};
			if (annotations.contains(names::k_option_prefix + std::string(found->name)))
				return Ok{}; /* our own form overrides */
			return note_alias(
				*found, {&key, &value, apply_of(*found, dialect)}, context, all);
		});
}

Status apply_aliases(const Annotations &annotations, const OptionContext &context, JobSpec &spec)
{
	AskedFor asked_for;
	for (const Dialect &dialect : k_dialects) {
		if (const Status collected =
				collect_aliases(dialect, annotations, context, asked_for);
			!collected)
			return collected;
	}
	for (const auto &[option, asked] : asked_for) {
		if (const Status done = asked.apply(*asked.value, context, spec); !done)
			return in_annotation(*asked.key, *asked.value, done);
		note_given(*option, spec);
	}
	return Ok{};
}

std::string why_unknown(std::string_view name)
{
	const auto refused = refused_options();
	const auto found = std::find_if(refused.begin(), refused.end(),
		[name](const RefusedOption &o) { return o.sbatch == name; });
	return found == refused.end() ? "unknown option; " + suggestions(name)
				      : "no option of pods: " + std::string(found->reason);
}

Status apply_ours(const Annotations &annotations, const OptionContext &context, JobSpec &spec)
{
	return for_each_under(names::k_option_prefix, annotations,
		[&](std::string_view name, const std::string &key,
			const std::string &value) -> Status {
			if (name == k_sbatch_name)
				return Ok{};
			const Option *option = find_option(name);
			if (!option)
				return Error{Errc::invalid,
					quoted(key, value) + ": " + why_unknown(name)};
			const Status done = option->apply(value, context, spec);
			if (done)
				note_given(*option, spec);
			return in_annotation(key, value, done);
		});
}

Status apply_sbatch(const Annotations &annotations, const OptionContext &context, JobSpec &spec)
{
	const auto found = annotations.find(names::k_option_prefix + std::string(k_sbatch_name));
	if (found == annotations.end())
		return Ok{};
	const Status done = apply_sbatch_words(found->second, context, spec);
	return done ? done : Status(in_context("annotation " + found->first, done.error()));
}

/* Checks combinations of values that are valid one by one. */
Status check_together(const JobSpec &spec)
{
	const JobOptions &o = spec.options;
	if (o.min_nodes && o.max_nodes && *o.min_nodes > *o.max_nodes)
		return Error{Errc::invalid,
			"min-nodes " + std::to_string(*o.min_nodes) + " is more than max-nodes " +
				std::to_string(*o.max_nodes)};
	if (o.core_spec && o.thread_spec)
		return Error{Errc::invalid,
			"core-spec and thread-spec exclude each other; leave one of them"};
	if (o.hold && spec.priority)
		return Error{
			Errc::invalid, "hold and priority exclude each other; leave one of them"};
	return Ok{};
}

} // namespace

bool is_option_key(std::string_view key)
{
	return key.starts_with(names::k_option_prefix) ||
		std::any_of(std::begin(k_dialects), std::end(k_dialects),
			[key](const Dialect &d) { return key.starts_with(d.prefix); });
}

Status apply_options(const Annotations &annotations, const OptionContext &context, JobSpec &spec)
{
	for (const auto step : {apply_aliases, apply_sbatch, apply_ours}) {
		if (const Status done = step(annotations, context, spec); !done)
			return done;
	}
	return check_together(spec);
}

} // namespace slurmkube::core
