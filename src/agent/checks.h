/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checks.h - `skube check`: what works and what does not, in the order in which an administrator
 * would look, each with a remedy.
 *
 * found is what was asked just now (look.h); everything else is what the agent holds, with its age
 * where it could be old.
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

/* Of a file that slurm.conf includes or kube.conf: what makes slurmctld read it. Before 23.11 a
 * reconfigure ends slurmctld where the number of nodes has changed. */
std::string how_slurmctld_rereads(const core::PluginHello &plugin);

/* Why the agent cannot tell all managed nodes now, trouble being the API server's; empty: it
 * can. */
std::string why_nodes_are_unknown(const App &app, const std::string &api_trouble);

} // namespace slurmkube::agent

#endif
