/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cores.h - the CPUs of a node as devices: which of them the cores are that Slurm has given to a
 * job, and whether the claims of a pod ask for the CPUs that its containers request.
 *
 * Pure. decision 16 has the reasons.
 */
#ifndef SLURMKUBE_CORE_DEVICE_CORES_H
#define SLURMKUBE_CORE_DEVICE_CORES_H

#include "src/base/result.h"
#include "src/core/device/demand.h"
#include "src/core/model/pod.h"

#include <cstddef>
#include <string>
#include <vector>

namespace slurmkube::core
{

/* The CPUs of the job on the node, core by core. extra: of the node's record, with the CPUs by
 * core. None: there is no rule for cores. invalid: Slurm names no cores, or others than the record
 * has; again: the record has no CPUs yet, or it is not known whether they are still there. The text
 * is for users. */
Result<std::vector<DeviceId>> cores_to(const NodeAllocation &slot, const std::string &extra,
	const DeviceRules &rules, const Inventory &inventory);

/* Whether the record of the node has its CPUs by core. */
bool has_cores_list(const std::string &extra, const DeviceRules &rules, const std::string &node);

/* Whether a request of the claims, which have no alternatives, can be met with CPUs of the node. */
bool ask_for_cores(const std::vector<const ResourceClaim *> &claims, const std::string &node,
	const DeviceSources &from);

/* What the node lacks for claims of CPUs: each of Slurm's cores there has to be one. is_hybrid,
 * cores: of the record in Slurm. cpus: that the driver publishes. Empty: it can serve them. */
std::string cores_trouble_on(bool is_hybrid, std::size_t cores, std::size_t cpus);

/* Why the CPUs that the claims ask for cannot be those of the pod's job; empty: they can, or there
 * are none. demand: of these claims. */
std::string cpu_trouble_of(const Pod &pod, const std::vector<const ResourceClaim *> &claims,
	const DeviceDemand &demand, std::uint32_t cpu_unit);

} // namespace slurmkube::core

#endif
