/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config_metrics.h - the section metrics of slurmkubed.yaml: where the agent serves metrics and
 * health, and to whom.
 */
#ifndef SLURMKUBE_AGENT_CONFIG_METRICS_H
#define SLURMKUBE_AGENT_CONFIG_METRICS_H

#include "src/agent/config.h"
#include "src/agent/config_reader.h"

#include <string>
#include <vector>

namespace slurmkube::agent
{

void read_metrics(Reader &reader, const Yaml &value, Config &out);

/* "listen", ... */
std::vector<std::string> metrics_keys();

} // namespace slurmkube::agent

#endif
