/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/topology.h"

#include "src/agent/slurm/compat.h"
#include "src/agent/slurm/errors.h"
#include "src/base/owned.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace slurmkube::slurm
{

namespace
{

using Topology = Owned<topo_info_response_msg_t, slurm_free_topo_info_msg>;
using Name = Owned<char, std::free>;

bool has_switches(const slurm_conf_t &conf)
{
	const std::string_view plugin = conf.topology_plugin ? conf.topology_plugin : "";
	return plugin.ends_with("/tree") || plugin.ends_with("/block");
}

/* libslurm tells the nodes of a block only as text. */
std::string text_of(topo_info_response_msg_t *topology)
{
	char *text = nullptr;
	std::size_t size = 0;
	std::FILE *file = open_memstream(&text, &size);
	if (!file)
		return {};
	compat::print_topology(file, topology);
	(void)std::fclose(file);
	const Name owner(text);
	return {text, size};
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
	topo_info_response_msg_t *raw = nullptr;
	if (compat::load_topology(&raw) != SLURM_SUCCESS)
		return error_of(errno);
	const Topology topology(raw);
	const std::set<std::string> inside = nodes_of_topology(text_of(topology.get()));
	std::ranges::set_difference(external, inside, std::inserter(outside, outside.end()));
	return outside;
}

} // namespace slurmkube::slurm
