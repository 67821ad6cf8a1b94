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

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace slurmkube::node
{

/* How long the child may take: it stops in a frozen cgroup, and the runtime waits for 2 s. */
inline constexpr std::chrono::milliseconds k_answer_limit{500};

/* The first device that the cgroup denies; nullptr: none. scratch: a directory for device files,
 * which need not be usable there (nodev). io: that cannot be found out, and why. Takes about a
 * millisecond, and at most k_answer_limit and 0.1 s. */
Result<const Device *> denied_device(const std::filesystem::path &cgroup,
	const std::vector<Device> &devices, const std::filesystem::path &scratch);

/* io: no device file can be made there, so denied_device() fails. */
Result<Ok> try_device_file(const std::filesystem::path &scratch);

/* What the child has found. */
struct DeviceAnswer {
	bool is_joined = false;   /* it was in the cgroup */
	std::uint32_t usable = 0; /* devices before the first that is not */
	int error = 0;            /* errno of that one, or of joining */
};

/* Only EPERM is a denial; all else is io. */
Result<const Device *> denied_by(const DeviceAnswer &answer, const std::filesystem::path &cgroup,
	const std::vector<Device> &devices);

} // namespace slurmkube::node

#endif
