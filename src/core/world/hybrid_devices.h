/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hybrid_devices.h - which devices of a hybrid node have which indices in Slurm, as far as the
 * ResourceSlices and the node's GRES agree (device/hybrid_list.h). Pure; views of State only.
 */
#ifndef SLURMKUBE_CORE_WORLD_HYBRID_DEVICES_H
#define SLURMKUBE_CORE_WORLD_HYBRID_DEVICES_H

#include "src/core/device/demand.h"
#include "src/core/world/state.h"

#include <string>
#include <vector>

namespace slurmkube::core
{

/* By index, one list for each rule. record: of a hybrid node. Valid until the next change. */
const std::vector<DeviceList> &hybrid_device_lists(const State &state, const SlurmNode &record);

/* Why pods with claims get no devices of this node, as a predicate; empty: they do, or the node is
 * not hybrid. demand: what they ask for; nullptr: not known, so all GRES of the node count. */
std::string hybrid_device_trouble(
	const State &state, const std::string &node, const DeviceDemand *demand);

/* What counts of the job's GRES on a node for the claims of its pods: only what they may ask for.
 * Other GRES, as of a job of a whole node, may have devices that are not known. */
NodeAllocation claimed_part(const State &state, const NodeAllocation &slot,
	const std::vector<const ResourceClaim *> &claims);

/* The lists of the node that the job has, as given_to() reads them: an external node has them in
 * its record. Errors: those of a hybrid node are not known at present (again), or contradict what
 * Slurm gave; the text is for users. */
Result<std::string> device_record(const State &state, const NodeAllocation &slot);

} // namespace slurmkube::core

#endif
