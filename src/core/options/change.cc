/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/options/change.h"

#include "src/core/options/timelimit.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace slurmkube::core
{

namespace
{

constexpr std::string_view k_limit = "timelimit";

/* FNV-1a. A collision is no risk: it would only keep an author's own change from Slurm. */
class Digest
{
      public:
	void add(std::string_view text)
	{
		for (const char c : text)
			add_byte(static_cast<unsigned char>(c));
		/* separates texts, so that "ab","c" and "a","bc" differ; no UTF-8 text contains
		 * it */
		add_byte(0xff);
	}
	void add(std::uint64_t number) { add(std::to_string(number)); }

	[[nodiscard]] std::string text() const
	{
		std::string out;
		for (int shift = 60; shift >= 0; shift -= 4)
			out += "0123456789abcdef"[(state_ >> shift) & 0xf];
		return out;
	}

      private:
	void add_byte(unsigned char byte) { state_ = (state_ ^ byte) * 0x100000001b3ULL; }

	std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

void add_number(Digest &digest, std::optional<std::uint32_t> number)
{
	digest.add(number ? *number + std::uint64_t{1} : 0);
}

/* Digest of what the options marked as fixed in the table set. */
std::string fixed_digest(const JobSpec &plain, const JobSpec &spec)
{
	const JobOptions &o = spec.options;
	Digest digest;
	digest.add(spec.cpus - std::uint64_t{plain.cpus});
	digest.add(spec.memory_mib - plain.memory_mib);
	for (const std::string *text : {&o.burst_buffer, &o.gres, &o.mcs_label})
		digest.add(*text);
	for (const auto &number :
		{o.cpus_per_gpu, o.segment, o.threads_per_core, o.core_spec, o.thread_spec})
		add_number(digest, number);
	for (const auto &number : {o.min_nodes, o.max_nodes, o.pods_per_node, o.delay_boot_seconds})
		add_number(digest, number);
	for (const bool flag : {o.contiguous, o.spread, o.use_min_nodes})
		digest.add(flag ? 1 : 0);
	for (const auto &choice : {o.kill_on_invalid_dependency, o.gang})
		digest.add(choice ? 1 + static_cast<unsigned>(*choice) : 0);
	if (o.ends_together) /* jobs without it keep the mark that they have */
		digest.add(1 + static_cast<unsigned>(*o.ends_together));
	if (o.native_job > 0) /* likewise; no other number is as large */
		digest.add((std::uint64_t{1} << 40) + o.native_job);
	digest.add(static_cast<unsigned>(o.sharing));
	return digest.text();
}

/* The words of a mark; missing ones are empty. */
std::array<std::string_view, 4> words_of(std::string_view mark)
{
	std::array<std::string_view, 4> words;
	for (std::string_view &word : words) {
		const std::size_t end = std::min(mark.find(' '), mark.size());
		word = mark.substr(0, end);
		mark.remove_prefix(std::min(end + 1, mark.size()));
	}
	return words;
}

std::vector<std::string> names_in(std::string_view list)
{
	std::vector<std::string> names;
	while (!list.empty()) {
		const std::size_t end = std::min(list.find(','), list.size());
		names.emplace_back(list.substr(0, end));
		list.remove_prefix(std::min(end + 1, list.size()));
	}
	return names;
}

bool contains(const std::vector<std::string> &names, std::string_view name)
{
	return std::find(names.begin(), names.end(), name) != names.end();
}

/* 0: not a number */
std::uint32_t minutes_in(std::string_view word)
{
	std::uint32_t minutes = 0;
	const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), minutes);
	return error == std::errc() && end == word.data() + word.size() ? minutes : 0;
}

std::string fixed_names()
{
	std::string out;
	for (const Option &option : options()) {
		if (option.fixed)
			out += (out.empty() ? "" : ", ") + std::string(option.name);
	}
	return out;
}

} // namespace

std::string options_hash(const Pod &pod)
{
	Digest digest;
	for (const auto &[key, value] : pod.annotations) {
		if (is_option_key(key)) {
			digest.add(key);
			digest.add(value);
		}
	}
	return digest.text();
}

std::string options_mark(const Pod &pod, const JobSpec &plain, const JobSpec &spec)
{
	std::string names;
	for (std::size_t i = 0; i < options().size(); i++) {
		if ((spec.options.given >> i & 1) != 0 && !options()[i].fixed)
			names += (names.empty() ? "" : ",") + std::string(options()[i].name);
	}
	std::string mark = options_hash(pod) + " " + fixed_digest(plain, spec) + " " + names;
	if (pod.active_deadline_seconds > 0 && !contains(names_in(names), k_limit))
		mark += " " + std::to_string(spec.time_limit_minutes);
	return mark;
}

std::string exclusions_digest(const std::vector<std::string> &excluded)
{
	Digest digest;
	for (const std::string &node : excluded)
		digest.add(node);
	return excluded.empty() ? "" : digest.text();
}

bool is_deadline_raised(std::string_view mark, std::int64_t seconds)
{
	const std::uint32_t told = minutes_in(words_of(mark)[3]);
	return told > 0 && minutes_of_deadline(seconds) > told;
}

bool has_hash(std::string_view mark, std::string_view hash)
{
	return words_of(mark)[0] == hash;
}

Result<OptionChange> option_change(std::string_view told, std::string_view wanted)
{
	const auto before = words_of(told), after = words_of(wanted);
	if (before[1] != after[1])
		return Error{Errc::invalid,
			"one of these cannot be changed while the job waits: " + fixed_names() +
				"; change it back, or make a new pod"};
	OptionChange change;
	if (const std::uint32_t minutes = minutes_in(before[3]);
		minutes > 0 && minutes_in(after[3]) > minutes)
		change.given.emplace_back(k_limit);
	if (before[0] == after[0])
		return change; /* changes by administrators remain */
	for (std::string &name : names_in(after[2]))
		change.given.push_back(std::move(name));
	for (std::string &name : names_in(before[2])) {
		if (!contains(change.given, name))
			change.removed.push_back(std::move(name));
	}
	return change;
}

} // namespace slurmkube::core
