/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config_gres.h - the section gres of slurmkubed.yaml: rules that map resources of Kubernetes to
 * GRES of Slurm. The section replaces the default rules.
 */
#ifndef SLURMKUBE_AGENT_CONFIG_GRES_H
#define SLURMKUBE_AGENT_CONFIG_GRES_H

#include "src/agent/config.h"
#include "src/agent/config_reader.h"

#include <string>
#include <vector>

namespace slurmkube::agent
{

void read_gres(Reader &reader, const Yaml &value, Config &out);

/* "resource", "name", ... */
std::vector<std::string> gres_keys();

} // namespace slurmkube::agent

#endif
