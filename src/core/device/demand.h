/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demand.h - what the claims of a pod mean for its Slurm job: the GRES to request, and the nodes
 * where any choice of Slurm's is right.
 *
 * Pure. A node where a choice could be wrong is left out: where only some devices of a type meet a
 * request, or where devices that must share an attribute differ in it.
 *
 * Slurm cannot be told alternatives. So the first one is asked for that a node could serve if
 * nothing ran there.
 */
#ifndef SLURMKUBE_CORE_DEVICE_DEMAND_H
#define SLURMKUBE_CORE_DEVICE_DEMAND_H

#include "src/core/device/fit.h"
#include "src/core/model/job.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace slurmkube::core
{

struct DeviceDemand {
	std::vector<Gres> gres; /* by name, then type; each once */
	/* Names of all that any alternative of the claims may ask for; nullopt: not known now. */
	std::optional<std::set<std::string>> may_ask;
	/* CPUs that each claim asks for, in the order of the claims; empty: none asks for any.
	 * Slurm is asked for them with those that the containers request. */
	std::vector<std::int64_t> cpus;
	std::set<std::string> fit;
	std::map<std::string, std::string> unfit; /* and why; a node in neither has no devices */
};

/* Errors: as for fit_of(); a claim asks for what Slurm cannot be told. The text is for users. */
Result<DeviceDemand> demand_of(
	const std::vector<const ResourceClaim *> &claims, const DeviceSources &from);

/* "gpu:a100:2,nic:1" */
std::string gres_text(const std::vector<Gres> &gres);

} // namespace slurmkube::core

#endif
