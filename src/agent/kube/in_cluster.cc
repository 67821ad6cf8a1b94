/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * in_cluster.cc - access with the service account of a pod.
 */
#include "src/agent/kube/access.h"
#include "src/agent/kube/files.h"

#include <cstdlib>

namespace slurmkube::kube
{

namespace
{

std::string environment(const char *name)
{
	const char *value =
		std::getenv(name); // NOLINT(concurrency-mt-unsafe): at start, before threads
	return value != nullptr ? value : "";
}

std::string bracketed(const std::string &host)
{
	return host.find(':') != std::string::npos && host[0] != '[' ? "[" + host + "]" : host;
}

Result<std::string> mounted(const std::string &directory, const char *name)
{
	const std::string file = directory + "/" + name;
	if (auto contents = read_small_file(file); !contents)
		return in_context("service account", contents.error());
	return file;
}

} // namespace

Result<Access> access_in_cluster(const std::string &directory)
{
	const std::string host = environment("KUBERNETES_SERVICE_HOST"),
			  port = environment("KUBERNETES_SERVICE_PORT");
	if (host.empty() || port.empty())
		return Error{Errc::invalid,
			"not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not "
			"set; name a kubeconfig file"};
	auto token = mounted(directory, "token");
	if (!token)
		return token.error();
	auto ca = mounted(directory, "ca.crt");
	if (!ca)
		return ca.error();
	Access access;
	access.source = "service account";
	access.server = "https://" + bracketed(host) + ":" + port;
	access.token_file = *token;
	access.ca_file = *ca;
	if (auto name_space = read_small_file(directory + "/namespace"); name_space)
		access.default_namespace = trimmed(*name_space);
	return access;
}

} // namespace slurmkube::kube
