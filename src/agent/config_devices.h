/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config_devices.h - the section devices of slurmkubed.yaml: which devices of a driver for dynamic
 * resource allocation are which GRES of Slurm. Without the section no device is looked at.
 */
#ifndef SLURMKUBE_AGENT_CONFIG_DEVICES_H
#define SLURMKUBE_AGENT_CONFIG_DEVICES_H

#include "src/agent/config.h"
#include "src/agent/config_reader.h"

#include <string>
#include <vector>

namespace slurmkube::agent
{

void read_devices(Reader &reader, const Yaml &value, Config &out);

/* "driver", "gres", ... */
std::vector<std::string> devices_keys();

} // namespace slurmkube::agent

#endif
