/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/config_trial.h"

#include "src/agent/kube/access.h"

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
	return troubles;
}

std::string changed_keys(const Config &before, const Config &after)
{
	const std::pair<const char *, bool> keys[] = {
		{"cluster", before.cluster != after.cluster},
		{"scheduler_name", before.scheduler_name != after.scheduler_name},
		{"kubeconfig", before.kubeconfig != after.kubeconfig},
		{"slurm", before.slurm != after.slurm},
		{"partition", before.partition != after.partition},
		{"plugin_socket", before.plugin_socket != after.plugin_socket},
		{"control_socket", before.control_socket != after.control_socket},
		{"nodes", before.nodes != after.nodes},
		{"identity", before.identity != after.identity},
		{"priority_classes", before.priority_classes != after.priority_classes},
		{"limits", before.limits != after.limits},
		{"gres", before.gres != after.gres},
		{"default_time_limit_minutes",
			before.default_time_limit_minutes != after.default_time_limit_minutes},
		{"log_level", before.log_level != after.log_level},
	};
	std::string names;
	for (const auto &[name, differs] : keys) {
		if (differs)
			names += (names.empty() ? "" : ", ") + std::string(name);
	}
	return names;
}

} // namespace slurmkube::agent
