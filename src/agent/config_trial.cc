/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/config_trial.h"

#include "src/agent/kube/access.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <unistd.h>

namespace slurmkube::agent
{

namespace
{

/* libcurl reads these files at each connection, so a missing file would be noticed only then. */
void try_files(const kube::Access &access, std::vector<std::string> &troubles)
{
	for (const std::string &file : {access.ca_file, access.certificate_file, access.key_file}) {
		if (!file.empty() && ::access(file.c_str(), R_OK) != 0)
			troubles.push_back(access.source + ": '" + file +
				"' cannot be read: " + std::generic_category().message(errno));
	}
}

} // namespace

std::vector<std::string> try_credentials(const Config &config)
{
	std::vector<std::string> troubles;
	const auto access = config.kubeconfig.empty()
		? kube::access_in_cluster()
		: kube::access_from_kubeconfig(config.kubeconfig);
	if (access)
		try_files(*access, troubles);
	else
		troubles.push_back(config.kubeconfig.empty()
				? "kubeconfig: none is named, and this is no pod with a service "
				  "account: " +
					access.error().what
				: access.error().what);
	return troubles;
}

std::vector<std::string> try_config(const Config &config)
{
	std::vector<std::string> troubles = try_credentials(config);
	if (config.identity.rules.empty())
		troubles.push_back(
			"identity.rules: there is none, so no namespace may submit pods to Slurm");
	if (config.nodes.cpu_unit != core::k_whole_cpu &&
		std::ranges::any_of(config.devices, &core::DeviceRule::is_cores))
		troubles.push_back("devices: a rule with 'cores' needs nodes.cpu_unit 1, so that "
				   "each core in Slurm is a CPU");
	return troubles;
}

/*
 * These are fixed while the agent runs: names in the markers of live jobs (cluster), sizes that
 * jobs and nodes were given in a unit (nodes.cpu_unit), names of nodes in Slurm
 * (nodes.name_prefix), the pods that are watched (scheduler_name and scheduler_aliases),
 * connections that are open, and what other threads use (log_format). Other credentials of the same
 * kubeconfig are taken by Credentials.
 */
Config reloadable(const Config &running, const Config &fresh)
{
	Config taken = fresh;
	taken.cluster = running.cluster;
	taken.scheduler_name = running.scheduler_name;
	taken.scheduler_aliases = running.scheduler_aliases;
	taken.kubeconfig = running.kubeconfig;
	taken.slurm = running.slurm;
	taken.plugin_socket = running.plugin_socket;
	taken.control_socket = running.control_socket;
	taken.nodes.cpu_unit = running.nodes.cpu_unit;
	taken.nodes.names = running.nodes.names;
	taken.limits.writes_in_flight = running.limits.writes_in_flight;
	taken.log_format = running.log_format;
	return taken;
}

std::string keys_for_restart(const Config &running, const Config &fresh)
{
	const std::pair<const char *, bool> keys[] = {
		{"cluster", running.cluster != fresh.cluster},
		{"scheduler_name", running.scheduler_name != fresh.scheduler_name},
		{"scheduler_aliases", running.scheduler_aliases != fresh.scheduler_aliases},
		{"kubeconfig", running.kubeconfig != fresh.kubeconfig},
		{"slurm", running.slurm != fresh.slurm},
		{"plugin_socket", running.plugin_socket != fresh.plugin_socket},
		{"control_socket", running.control_socket != fresh.control_socket},
		{"nodes.cpu_unit", running.nodes.cpu_unit != fresh.nodes.cpu_unit},
		{"nodes.name_prefix", running.nodes.names != fresh.nodes.names},
		{"limits.writes_in_flight",
			running.limits.writes_in_flight != fresh.limits.writes_in_flight},
		{"log_format", running.log_format != fresh.log_format},
	};
	std::string names;
	for (const auto &[name, differs] : keys) {
		if (differs)
			names += (names.empty() ? "" : ", ") + std::string(name);
	}
	return names;
}

} // namespace slurmkube::agent
