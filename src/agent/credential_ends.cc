/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/credential_ends.h"

#include "src/agent/kube/access.h"
#include "src/agent/kube/certificates.h"

#include <algorithm>

namespace slurmkube::agent
{

std::vector<CredentialEnd> certificate_ends(const Config &config)
{
	std::vector<CredentialEnd> out;
	const std::string &metrics_file = config.metrics.tls_cert_file;
	if (const auto ends = kube::certificate_ends(metrics_file); !metrics_file.empty() && ends)
		out.push_back({"metrics certificate", metrics_file, ends->front()});
	const auto access = config.kubeconfig.empty()
		? kube::access_in_cluster()
		: kube::access_from_kubeconfig(config.kubeconfig);
	if (!access)
		return out;
	const auto file_text = [&](const std::string &file) {
		return file.starts_with("/proc/") ? access->source : file;
	};
	if (const auto ends = kube::certificate_ends(access->certificate_file))
		out.push_back(
			{"client certificate", file_text(access->certificate_file), ends->front()});
	if (const auto ends = kube::certificate_ends(access->ca_file))
		out.push_back({"CA", file_text(access->ca_file), *std::ranges::max_element(*ends)});
	return out;
}

} // namespace slurmkube::agent
