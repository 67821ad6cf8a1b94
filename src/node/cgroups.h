/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroups.h - the cgroups of Slurm's jobs and of containers, versions 1 and 2.
 *
 * Reads and, for jobs that have ended, kills and removes. May block for as long as the kernel
 * takes. Sources: Slurm's cgroup_v1.c and cgroup_v2.c of the plugins cgroup/v1 and cgroup/v2;
 * cgroups(7). From 26.05 on cgroup.conf must have CgroupJobIdPaths=yes.
 */
#ifndef SLURMKUBE_NODE_CGROUPS_H
#define SLURMKUBE_NODE_CGROUPS_H

#include "src/node/confine.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slurmkube::node
{

/* A directory in a job's cgroup, see device_access.h. */
inline constexpr const char *k_probe_cgroup = "slurm-kube-probe";

class Cgroups
{
      public:
	/* root: /sys/fs/cgroup. node_name: NodeName of slurm.conf, which is part of the path if
	 * Slurm was built for several slurmd on one machine. */
	Cgroups(std::filesystem::path root, std::string node_name);

	[[nodiscard]] bool is_v2() const { return is_v2_; }
	/* The processors that slurmd has given to the job. An empty file counts as none: slurmd
	 * has not written it yet. user: of the job, if it is known (version 1 only). */
	[[nodiscard]] std::optional<CpuSet> cpuset_of(
		std::uint32_t job, std::optional<std::uint32_t> user = {}) const;
	/* Those of all jobs on this node, by the job's number. */
	[[nodiscard]] std::map<std::string, CpuSet> cpusets() const;
	/* Whether the cgroup or one below it has a process. Also true if that cannot be seen; false
	 * if there is no such cgroup. path: see cgroup_of(). */
	[[nodiscard]] bool has_processes(const std::string &path) const;
	/* Sends SIGKILL to all of them. */
	void kill_processes(const std::string &path) const;
	/* Lowers the memory limit of a cgroup to that, in bytes; a lower limit stays. If it is a
	 * slice of systemd, systemd keeps the limit. io: it is higher and cannot be changed. */
	[[nodiscard]] Result<Ok> limit_memory(const std::string &path, std::int64_t limit) const;
	/* The directory of a cgroup, or of a user's job (version 2: of a job), that has its memory;
	 * none: there is none. */
	[[nodiscard]] std::optional<std::filesystem::path> memory_cgroup(
		const std::string &path) const;
	[[nodiscard]] std::optional<std::filesystem::path> memory_cgroup_of(
		std::uint32_t job, std::uint32_t user) const;
	/* Whether slurmd has stopped processes of the job, because it is suspended. */
	[[nodiscard]] bool is_frozen(std::uint32_t job) const;
	/* Where slurmd denies devices to the job; none: it does not. With version 2 that is not
	 * known, and the cgroup may deny nothing. */
	[[nodiscard]] std::optional<std::filesystem::path> device_cgroup_of(
		std::uint32_t job) const;
	/* Those that could not be removed, or that a killed daemon has left. */
	void remove_probes() const;
	/* Kills what is left in the job's cgroups and removes them. False: something is left, so
	 * call it again. Only when slurmd has ended the job. */
	[[nodiscard]] bool remove(std::uint32_t job) const;

      private:
	[[nodiscard]] std::vector<std::filesystem::path> hierarchies() const;
	/* The directories that may have those of jobs. */
	[[nodiscard]] std::vector<std::filesystem::path> parents_in(
		const std::filesystem::path &hierarchy) const;
	[[nodiscard]] std::vector<std::filesystem::path> jobs_in(
		const std::filesystem::path &hierarchy, std::uint32_t job,
		std::optional<std::uint32_t> user = {}) const;

	std::filesystem::path root_;
	std::string node_name_;
	bool is_v2_;
};

} // namespace slurmkube::node

#endif
