/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow_control.h - the share of the API server's concurrency that the agent's requests have.
 */
#ifndef SLURMKUBE_MANIFESTS_FLOW_CONTROL_H
#define SLURMKUBE_MANIFESTS_FLOW_CONTROL_H

#include "src/manifests/site.h"

#include <string>

namespace slurmkube::manifests
{

/* PriorityLevelConfiguration and FlowSchema, as YAML. */
std::string flow_control(const Site &site);

} // namespace slurmkube::manifests

#endif
