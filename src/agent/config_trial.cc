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

/* libcurl reads these at each connection: what is missing shows only then. */
void try_files(const kube::Access &access, std::vector<std::string> &troubles)
{
	for (const std::string &file : {access.ca_file, access.certificate_file, access.key_file}) {
		if (!file.empty() && ::access(file.c_str(), R_OK) != 0)
			troubles.push_back(access.source + ": '" + file + "' cannot be read: " + std::generic_category().message(errno));
	}
}

} // namespace

std::vector<std::string> try_credentials(const Config &config)
{
	std::vector<std::string> troubles;
	const auto access = config.kubeconfig.empty() ? kube::access_in_cluster() : kube::access_from_kubeconfig(config.kubeconfig);
	if (access)
		try_files(*access, troubles);
	else
		troubles.push_back(config.kubeconfig.empty() ? "kubeconfig: none is named, and this is no pod with a service account: " + access.error().what : access.error().what);
	return troubles;
}

std::vector<std::string> try_config(const Config &config)
{
	std::vector<std::string> troubles = try_credentials(config);
	if (config.identity.rules.empty())
		troubles.push_back("identity.rules: there is none, so no namespace may submit pods to Slurm");
	return troubles;
}

} // namespace slurmkube::agent
