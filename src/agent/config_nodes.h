/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config_nodes.h - the section nodes of slurmkubed.yaml: which nodes the agent manages, and what it
 * offers of each to Slurm.
 */
#ifndef SLURMKUBE_AGENT_CONFIG_NODES_H
#define SLURMKUBE_AGENT_CONFIG_NODES_H

#include "src/agent/config.h"
#include "src/agent/config_reader.h"

#include <string>
#include <vector>

namespace slurmkube::agent
{

void read_nodes(Reader &reader, const Yaml &value, Config &out);

/* "selector", "features.label", ... */
std::vector<std::string> nodes_keys();

} // namespace slurmkube::agent

#endif
