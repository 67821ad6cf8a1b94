/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kubeconfig.h - skube kubeconfig: creates files for the agent with an administrator's access, as
 * kubectl has it: a kubeconfig with the server and its certificate authority, and beside it a token
 * of the agent's service account, which the agent renews.
 */
#ifndef SLURMKUBE_SKUBE_KUBECONFIG_H
#define SLURMKUBE_SKUBE_KUBECONFIG_H

#include "src/base/result.h"
#include "src/core/model/names.h"

#include <json-c/json.h>

#include <string>

namespace slurmkube::skube
{

struct KubeconfigFiles {
	std::string kubeconfig = "/etc/slurm-kube/kubeconfig", token = "/var/lib/slurm-kube/token";
	std::string owner = "slurm"; /* owner of both files if root runs the command */
	std::string duration = "168h";
	std::string account_namespace = names::k_agent_namespace, account = names::k_agent_account;
};

/* view: the output of kubectl config view --raw --minify --flatten --output json. */
Result<std::string> kubeconfig_text(json_object *view, const std::string &token_file);

/* Prints the names of the files that it has written. */
Status write_kubeconfig(const KubeconfigFiles &files);

} // namespace slurmkube::skube

#endif
