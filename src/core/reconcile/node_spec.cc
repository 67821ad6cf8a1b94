/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record of a node in Slurm, and its line in slurm.conf. */
#include "src/core/reconcile/node_features.h"
#include "src/core/reconcile/node_sync.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_cpus_most = UINT32_MAX;
constexpr char k_sink_address[] = "127.0.0.1";

/* What devices provide replaces what extended resources say under the same names. */
std::string gres_in_slurm(
	const KubeNode &node, const NodePolicy &policy, const NodeDevices &devices)
{
	if (devices.is_whole_gres)
		return devices.gres;
	const std::string others = gres_without(gres_of_node(node, policy.gres), devices.names);
	return others + (others.empty() || devices.gres.empty() ? "" : ",") + devices.gres;
}

/* The characters that we accept in node names, in IP addresses, and in lists of features or GRES.
 * Slurm could read any other character as the start of another key or of a list. */
constexpr std::string_view k_name_characters =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
constexpr std::string_view k_address_characters = "abcdefABCDEF0123456789.:";
constexpr std::string_view k_list_characters =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/:,=()";

bool consists_of(std::string_view text, std::string_view characters)
{
	return text.find_first_not_of(characters) == std::string_view::npos;
}

Status check_words(const NodeSpec &spec)
{
	if (spec.name.empty() || !consists_of(spec.name, k_name_characters))
		return Error{Errc::invalid,
			"node name '" + spec.name + "' cannot be written into a node line"};
	if (spec.address.empty() || !consists_of(spec.address, k_address_characters))
		return Error{Errc::invalid,
			"node " + spec.name + ": address '" + spec.address +
				"' is not an IP address"};
	if (!consists_of(spec.features, k_list_characters) ||
		!consists_of(spec.gres, k_list_characters))
		return Error{Errc::invalid,
			"node " + spec.name +
				": features or GRES have characters that Slurm would misread"};
	return Ok{};
}

} // namespace

bool differs(const NodeSpec &spec, const SlurmNode &node)
{
	return spec.cpus != node.cpus || spec.memory_mib != node.memory_mib ||
		spec.gres != without_places(node.gres);
}

NodeSpec node_spec(const KubeNode &node, const NodePolicy &policy, const PluginHello &plugin,
	const NodeDevices &devices)
{
	NodeSpec spec;
	spec.name = node.name;
	const bool emulated = plugin.family == Family::emulated;
	/* In the emulated family, Slurm sends RPCs to nodes without slurmd. They must reach the
	 * plugin's sink, which ends them at once. */
	spec.address = emulated || node.internal_ip.empty() ? k_sink_address : node.internal_ip;
	spec.port = emulated ? plugin.sink_port : 0;
	const std::int64_t left =
		node.allocatable.milli_cpu - std::int64_t{policy.reserve_cpus} * k_whole_cpu;
	spec.cpus = static_cast<std::uint32_t>(
		std::clamp<std::int64_t>(left / policy.cpu_unit, 1, k_cpus_most));
	/* Otherwise Slurm takes each CPU for a socket, and select/cons_tres walks over all sockets
	 * of all nodes for each job (doc/design/performance.md). */
	spec.cores_per_socket = plugin.whole_sockets ? 1 : spec.cpus;
	const auto memory = static_cast<std::uint64_t>(
		std::max<std::int64_t>(node.allocatable.memory_bytes >> 20, 0));
	spec.memory_mib = std::max<std::uint64_t>(
		memory > policy.reserve_memory_mib ? memory - policy.reserve_memory_mib : 0, 1);
	spec.gres = gres_in_slurm(node, policy, devices);
	spec.features = features_in_slurm(node, policy.features, plugin);
	return spec;
}

Result<std::string> node_line(const NodeSpec &spec, const std::string &state)
{
	if (auto checked = check_words(spec); !checked)
		return checked.error();
	std::string line = "NodeName=" + spec.name + " NodeAddr=" + spec.address;
	if (spec.port > 0)
		line += " Port=" + std::to_string(spec.port);
	line += " CPUs=" + std::to_string(spec.cpus);
	if (spec.cores_per_socket > 1)
		line += " CoresPerSocket=" + std::to_string(spec.cores_per_socket);
	line += " RealMemory=" + std::to_string(spec.memory_mib);
	if (!spec.features.empty())
		line += " Feature=" + spec.features;
	if (!spec.gres.empty())
		line += " Gres=" + spec.gres;
	return line + " State=" + state;
}

} // namespace slurmkube::core
