/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * given.h - which devices the indices mean that Slurm has given to a job.
 *
 * Pure.
 */
#ifndef SLURMKUBE_CORE_DEVICE_GIVEN_H
#define SLURMKUBE_CORE_DEVICE_GIVEN_H

#include "src/base/result.h"
#include "src/core/device/inventory.h"
#include "src/core/model/job.h"

#include <string>
#include <vector>

namespace slurmkube::core
{

/* The devices of all rules that the job has on the node. extra: of the node's record, with the
 * devices by index. invalid: Slurm names no indices, or indices that the record does not have;
 * again: the record has no devices yet. The text is for users. */
Result<std::vector<DeviceId>> given_to(
	const NodeAllocation &slot, const std::string &extra, const DeviceRules &rules);

/* The same. again: also while it is not known whether they are still there. */
Result<std::vector<DeviceId>> published_to(const NodeAllocation &slot, const std::string &extra,
	const DeviceRules &rules, const Inventory &inventory);

} // namespace slurmkube::core

#endif
