/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config_trial.h - slurmkubed --check-config: what a configuration without an error would still
 * fail on.
 */
#ifndef SLURMKUBE_AGENT_CONFIG_TRIAL_H
#define SLURMKUBE_AGENT_CONFIG_TRIAL_H

#include "src/agent/config.h"

#include <string>
#include <vector>

namespace slurmkube::agent
{

/* Reads the credentials as the agent does at its start. Nothing is connected to. Empty: fine. */
std::vector<std::string> try_credentials(const Config &config);
/* The same, and what no agent can do anything with. */
std::vector<std::string> try_config(const Config &config);

/* "cluster, nodes": keys of the first level that differ. */
std::string changed_keys(const Config &before, const Config &after);

} // namespace slurmkube::agent

#endif
