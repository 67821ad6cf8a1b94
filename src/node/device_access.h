/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * device_access.h - whether a job may use the devices of a container.
 *
 * slurmd denies a job the files of gres.conf that Slurm has given to others (ConstrainDevices).
 * What a cgroup denies cannot be read, so a child process asks the kernel from within it.
 */
#ifndef SLURMKUBE_NODE_DEVICE_ACCESS_H
#define SLURMKUBE_NODE_DEVICE_ACCESS_H

#include "src/base/result.h"
#include "src/node/nri.h"

#include <filesystem>
#include <optional>
#include <vector>

namespace slurmkube::node
{

/* The first device that the cgroup denies; nullptr: none. scratch: a directory for device files,
 * which need not be usable there (nodev). io: that cannot be found out. Waits for the child, for
 * about a millisecond. */
Result<const Device *> denied_device(const std::filesystem::path &cgroup,
	const std::vector<Device> &devices, const std::filesystem::path &scratch);

} // namespace slurmkube::node

#endif
