/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hybrid_list.h - which device is which index on a hybrid node, whose GRES the site's gres.conf
 * describes.
 *
 * Pure. slurmctld does not know the files of gres.conf, and we write nothing into the record of
 * such a node. So the index of a device is the number at the end of its name, never its position
 * among others: when a device vanishes, no other device takes its index.
 */
#ifndef SLURMKUBE_CORE_DEVICE_HYBRID_LIST_H
#define SLURMKUBE_CORE_DEVICE_HYBRID_LIST_H

#include "src/base/result.h"
#include "src/core/device/inventory.h"
#include "src/core/model/job.h"

#include <string>
#include <vector>

namespace slurmkube::core
{

/* found: what the driver publishes (Inventory::lists_on()). gres: what Slurm has on the node.
 * Returns the devices by index. trouble: the numbers are not 0 to N-1, or the numbers of devices of
 * each type are not exactly those of Slurm; the text is for administrators. */
DeviceList hybrid_list(
	const DeviceRule &rule, const DeviceList &found, const std::vector<Gres> &gres);

/* One for each rule. */
std::vector<DeviceList> hybrid_lists(const DeviceRules &rules, const std::vector<DeviceList> &found,
	const std::vector<Gres> &gres);

/* invalid: a device whose index the job has is not of the type that Slurm gave. Then gres.conf has
 * the files in another order. lists: by index. */
Status have_types_of(
	const NodeAllocation &slot, const DeviceRules &rules, const std::vector<DeviceList> &lists);

} // namespace slurmkube::core

#endif
