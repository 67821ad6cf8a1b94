/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/power_saving.h"

#include "src/base/owned.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string_view>
#include <vector>

namespace slurmkube::slurm
{

namespace
{

using Name = Owned<char, std::free>;

bool is_set(const char *text)
{
	return text && *text;
}

/* "n[1-2],m" as n1, n2, m. */
std::vector<std::string> names_of(const char *hosts)
{
	std::vector<std::string> names;
	auto *list = slurm_hostlist_create(hosts ? hosts : "");
	while (list) {
		const Name name(slurm_hostlist_shift(list));
		if (!name)
			break;
		names.emplace_back(name.get());
	}
	if (list)
		slurm_hostlist_destroy(list);
	return names;
}

/* Splits at commas outside of brackets. */
std::vector<std::string> parts_of(std::string_view list)
{
	std::vector<std::string> parts(1);
	int depth = 0;
	for (const char c : list) {
		depth += c == '[' ? 1 : c == ']' ? -1 : 0;
		if (c == ',' && depth == 0)
			parts.emplace_back();
		else
			parts.back() += c;
	}
	return parts;
}

std::set<std::string> excepted_nodes(const char *exceptions)
{
	std::set<std::string> names;
	for (const std::string &part : parts_of(exceptions ? exceptions : "")) {
		if (part.find(':') != std::string::npos)
			continue;
		for (std::string &name : names_of(part.c_str()))
			names.insert(std::move(name));
	}
	return names;
}

bool is_excepted(const char *exceptions, const std::string &partition)
{
	const auto parts = parts_of(exceptions ? exceptions : "");
	return std::ranges::find(parts, partition) != parts.end();
}

} // namespace

std::set<std::string> nodes_to_suspend(const slurm_conf_t &conf,
	const partition_info_msg_t &partitions, const std::set<std::string> &external)
{
	if (!is_set(conf.suspend_program) || !is_set(conf.resume_program))
		return {}; /* power saving is off without both */
	std::set<std::string> excepted = excepted_nodes(conf.suspend_exc_nodes);
	/* The longest time of a node's partitions; a partition without one leaves it to the
	 * others. INFINITE is the largest number. */
	std::map<std::string, std::uint32_t> times;
	for (std::uint32_t i = 0; i < partitions.record_count; i++) {
		const partition_info_t &partition = partitions.partition_array[i];
		const bool is_exception =
			partition.name && is_excepted(conf.suspend_exc_parts, partition.name);
		for (const std::string &name : names_of(partition.nodes)) {
			if (is_exception)
				excepted.insert(name);
			if (partition.suspend_time != NO_VAL)
				times[name] = std::max(times[name], partition.suspend_time);
		}
	}
	std::set<std::string> out;
	for (const std::string &name : external) {
		const auto time = times.find(name);
		const bool is_off =
			(time == times.end() ? conf.suspend_time : time->second) == INFINITE;
		if (!is_off && !excepted.contains(name))
			out.insert(name);
	}
	return out;
}

} // namespace slurmkube::slurm
