/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/topology.h"

#include "src/agent/slurm/compat.h"
#include "src/base/owned.h"
#include "src/base/programs.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <string_view>
#include <unistd.h>

namespace slurmkube::slurm
{

namespace
{

using Name = Owned<char, std::free>;

/* skube check gives all questions to slurmctld 3 s (look.cc). */
constexpr std::chrono::seconds k_answer_time{2};

bool has_switches(const slurm_conf_t &conf)
{
	constexpr std::array<std::string_view, 4> plugins{"/tree", "/block", "/ring", "/torus3d"};
	const std::string_view plugin = conf.topology_plugin ? conf.topology_plugin : "";
	return std::ranges::any_of(plugins, [&](auto end) { return plugin.ends_with(end); });
}

void add_hosts(std::set<std::string> &names, const std::string &hosts)
{
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

/* The external nodes of all partitions that may have switches, by the partition's topology; "": the
 * default one. */
std::map<std::string, std::set<std::string>> by_topology(const slurm_conf_t &conf,
	const partition_info_msg_t &partitions, const std::set<std::string> &external)
{
	std::map<std::string, std::set<std::string>> found;
	for (std::uint32_t i = 0; i < partitions.record_count; i++) {
		const partition_info_t &info = partitions.partition_array[i];
		const auto topology = compat::topology_of(info);
		if (!topology && !has_switches(conf))
			continue;
		std::set<std::string> hosts, &nodes = found[topology.value_or("")];
		add_hosts(hosts, info.nodes ? info.nodes : "");
		std::ranges::set_intersection(hosts, external, std::inserter(nodes, nodes.end()));
	}
	return found;
}

/* Of the Slurm whose libslurm this is: a host may have several. In PATH, if libslurm is not in
 * PREFIX/lib or PREFIX/lib64. */
std::string scontrol()
{
	Dl_info library{};
	if (dladdr(dlsym(RTLD_DEFAULT, "slurm_init"), &library) != 0 && library.dli_fname) {
		const auto prefix =
			std::filesystem::path(library.dli_fname).parent_path().parent_path();
		const std::string program = prefix / "bin/scontrol";
		if (access(program.c_str(), X_OK) == 0)
			return program;
	}
	return "scontrol";
}

/* None: it has no switches. */
Result<std::optional<std::set<std::string>>> nodes_inside(const std::string &topology)
{
	Words words{scontrol(), "--oneliner", "show", "topology"};
	if (!topology.empty())
		words.push_back(topology);
	const auto text = output_of(words, k_answer_time);
	if (!text)
		return text.error();
	auto nodes = nodes_of_topology(*text);
	/* scontrol ends with 0 even if slurmctld does not answer. Before 25.05 only topologies with
	 * switches are asked for. */
	if (!nodes && !compat::topology_of(partition_info_t{}))
		return Error{Errc::io, "'" + command_line(words) + "' printed no switch"};
	return nodes;
}

} // namespace

std::optional<std::set<std::string>> nodes_of_topology(const std::string &text)
{
	constexpr std::string_view key = " Nodes=";
	if (text.find("Name=") == std::string::npos)
		return std::nullopt;
	std::set<std::string> names;
	for (auto at = text.find(key); at != std::string::npos; at = text.find(key, at)) {
		at += key.size();
		add_hosts(names, text.substr(at, text.find_first_of(" \n", at) - at));
	}
	return names;
}

Result<std::set<std::string>> outside_topology(const slurm_conf_t &conf,
	const partition_info_msg_t &partitions, const std::set<std::string> &external)
{
	std::set<std::string> outside;
	for (const auto &[topology, nodes] : by_topology(conf, partitions, external)) {
		if (nodes.empty())
			continue;
		const auto inside = nodes_inside(topology);
		if (!inside)
			return inside.error();
		if (*inside)
			std::ranges::set_difference(
				nodes, **inside, std::inserter(outside, outside.end()));
	}
	return outside;
}

} // namespace slurmkube::slurm
