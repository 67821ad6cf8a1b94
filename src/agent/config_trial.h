/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config_trial.h - slurmkubed --check-config: problems of a configuration that is free of syntax
 * errors.
 */
#ifndef SLURMKUBE_AGENT_CONFIG_TRIAL_H
#define SLURMKUBE_AGENT_CONFIG_TRIAL_H

#include "src/agent/config.h"

#include <string>
#include <vector>

namespace slurmkube::agent
{

/* Reads the credentials as the agent does when it starts, without connecting. Returns a sentence
 * for each problem. */
std::vector<std::string> try_credentials(const Config &config);
/* The same, and problems with which no agent could do anything, such as an empty list of rules. */
std::vector<std::string> try_config(const Config &config);

/* The configuration that a running agent may take over: fresh, but for the keys that hold after a
 * restart only. */
Config reloadable(const Config &running, const Config &fresh);
/* The keys that differ and take effect after a restart only: "cluster, nodes.cpu_unit". */
std::string keys_for_restart(const Config &running, const Config &fresh);

} // namespace slurmkube::agent

#endif
