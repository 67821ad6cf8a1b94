/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checks.h - `skube check`: what works and what does not, in the order in which an administrator
 * would look, with a remedy for each failure.
 *
 * Findings has the answers that Kubernetes and Slurm have just given (look.h). Everything else is
 * what the agent knows, with its age if it may be stale.
 */
#ifndef SLURMKUBE_AGENT_CHECKS_H
#define SLURMKUBE_AGENT_CHECKS_H

#include "src/agent/look.h"
#include "src/core/model/plugin.h"

#include <string>
#include <vector>

namespace slurmkube::agent
{

class App;

struct Check {
	std::string name;
	bool ok = false;
	std::string text, remedy; /* remedy is empty when ok */
};

std::vector<Check> checks_of(const App &app, const Findings &found);

/* The command that makes slurmctld read kube.conf, or a file that slurm.conf includes, again.
 * Before 23.11 the command is a restart, because a reconfigure ends slurmctld if the number of
 * nodes has changed. */
std::string how_slurmctld_rereads(const core::PluginHello &plugin);

/* Why the agent cannot name all managed nodes at present; empty: it can. api_trouble: the error of
 * the API server, empty if the API server has answered. */
std::string why_nodes_are_unknown(const App &app, const std::string &api_trouble);

} // namespace slurmkube::agent

#endif
