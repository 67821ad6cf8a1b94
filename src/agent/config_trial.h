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

/* The top-level keys that differ: "cluster, nodes". */
std::string changed_keys(const Config &before, const Config &after);

} // namespace slurmkube::agent

#endif
