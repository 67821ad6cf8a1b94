/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/topology.h"

#include "src/base/owned.h"
#include "src/base/programs.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace slurmkube::slurm
{

namespace
{

using Name = Owned<char, std::free>;

bool has_switches(const slurm_conf_t &conf)
{
	const std::string_view plugin = conf.topology_plugin ? conf.topology_plugin : "";
	return plugin.ends_with("/tree") || plugin.ends_with("/block");
}

} // namespace

std::set<std::string> nodes_of_topology(const std::string &text)
{
	constexpr std::string_view key = " Nodes=";
	std::set<std::string> names;
	for (auto at = text.find(key); at != std::string::npos; at = text.find(key, at)) {
		at += key.size();
		const std::string hosts = text.substr(at, text.find_first_of(" \n", at) - at);
		auto *list = slurm_hostlist_create(hosts.c_str());
		while (list) {
			const Name name(slurm_hostlist_shift(list));
			if (!name)
				break;
			names.insert(name.get());
		}
		if (list)
			slurm_hostlist_destroy(list);
	}
	return names;
}

Result<std::set<std::string>> outside_topology(
	const slurm_conf_t &conf, const std::set<std::string> &external)
{
	std::set<std::string> outside;
	if (!has_switches(conf))
		return outside;
	const auto text = output_of({"scontrol", "--oneliner", "show", "topology"});
	if (!text)
		return text.error();
	const std::set<std::string> inside = nodes_of_topology(*text);
	std::ranges::set_difference(external, inside, std::inserter(outside, outside.end()));
	return outside;
}

} // namespace slurmkube::slurm
