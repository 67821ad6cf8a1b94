/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * access.h - the address of the API server and the agent's credentials, from a kubeconfig file or
 * from the service account of a pod.
 *
 * Access is read at startup, and again when the kubeconfig file changes (credentials.h). The files
 * that it names are read by libcurl on each new connection and by Token, so that rotated
 * certificates and tokens take effect. Access holds secrets and must not be logged.
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
	std::string source;  /* for messages: the file name, or "service account" */
	std::string server;  /* "https://host:port", no slash at the end */
	std::string ca_file; /* empty: the system's authorities */
	std::string certificate_file, key_file;
	std::string token;
	std::string token_file; /* takes precedence over token */
	std::string tls_server_name;
	std::string proxy;
	std::string default_namespace;
	bool verify = true;
	/* the contents of the *-data fields, as files that only /proc/self/fd names */
	std::vector<UniqueFd> in_memory;
};

/* context empty: current-context. invalid: the contents are wrong; the text is "FILE:LINE: KEY:
 * what is wrong; remedy". not_found, denied: the file cannot be read. */
Result<Access> access_from_kubeconfig(const std::string &file, const std::string &context = {});

/* Reads KUBERNETES_SERVICE_HOST and _PORT from the environment, and token, ca.crt and namespace
 * from directory. */
Result<Access> access_in_cluster(const std::string &directory = k_service_account_directory);

} // namespace slurmkube::kube

#endif
