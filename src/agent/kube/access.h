/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * access.h - where the API server is and who we are: from a kubeconfig file, or from the service
 * account of a pod.
 *
 * Read once at start; the files named here are read again by libcurl on each new connection and by
 * Token, so that rotated certificates and tokens are picked up. Never logged: it holds secrets.
 */
#ifndef SLURMKUBE_AGENT_KUBE_ACCESS_H
#define SLURMKUBE_AGENT_KUBE_ACCESS_H

#include "src/base/owned.h"
#include "src/base/result.h"

#include <string>
#include <vector>

namespace slurmkube::kube
{

inline constexpr char k_service_account_directory[] =
	"/var/run/secrets/kubernetes.io/serviceaccount";

struct Access {
	std::string source;  /* file name, or "service account", for messages */
	std::string server;  /* "https://host:port", no slash at the end */
	std::string ca_file; /* empty: the system's authorities */
	std::string certificate_file, key_file;
	std::string token;
	std::string token_file; /* wins over token */
	std::string tls_server_name;
	std::string proxy;
	std::string default_namespace;
	bool verify = true;
	/* what the *-data fields held: files that only /proc/self/fd names */
	std::vector<UniqueFd> in_memory;
};

/* context empty: current-context. invalid: the file's contents; "FILE:LINE: KEY: what is wrong;
 * remedy". not_found, denied: the file itself. */
Result<Access> access_from_kubeconfig(const std::string &file, const std::string &context = {});

/* KUBERNETES_SERVICE_HOST and _PORT, and token, ca.crt and namespace in directory. */
Result<Access> access_in_cluster(const std::string &directory = k_service_account_directory);

} // namespace slurmkube::kube

#endif
