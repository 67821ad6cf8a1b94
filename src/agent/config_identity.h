/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config_identity.h - the section identity of slurmkubed.yaml. Each rule is checked by itself and
 * against the rules before it, which may hide it.
 */
#ifndef SLURMKUBE_AGENT_CONFIG_IDENTITY_H
#define SLURMKUBE_AGENT_CONFIG_IDENTITY_H

#include "src/agent/config.h"
#include "src/agent/config_reader.h"

#include <string>
#include <vector>

namespace slurmkube::agent
{

void read_identity(Reader &reader, const Yaml &value, Config &out);

/* "min_uid", "rules.user", ... */
std::vector<std::string> identity_keys();

} // namespace slurmkube::agent

#endif
