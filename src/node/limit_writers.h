/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limit_writers.h - writes memory limits of cgroups.
 *
 * The kernel reclaims within the write, in version 1 until the limit is reached, and keeps the
 * cgroup from being removed meanwhile: rmdir waits for the write and holds up all work on cgroups
 * of the machine. So a child writes, for a second at most. What it has reclaimed stays reclaimed,
 * so writing again goes on from there.
 *
 * Version 2 kills processes where it cannot reclaim (cgroup-v2.rst, memory.max). So there the child
 * writes a limit only if the cgroup uses less, and otherwise reclaims by memory.reclaim, which
 * kills nothing and is missing before Linux 5.19.
 */
#ifndef SLURMKUBE_NODE_LIMIT_WRITERS_H
#define SLURMKUBE_NODE_LIMIT_WRITERS_H

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include <sys/types.h>

namespace slurmkube::node
{

/* Names of files. */
struct MemoryFiles {
	const char *limit, *usage;
	const char *shmem; /* the line of memory.stat, with the cgroups below */
};
inline constexpr MemoryFiles k_memory_files_v2 = {"memory.max", "memory.current", "shmem"};
constexpr MemoryFiles memory_files(bool is_v2)
{
	return is_v2 ? k_memory_files_v2
		     : MemoryFiles{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_shmem"};
}

class LimitWriters
{
      public:
	/* Waits a moment: a write is done at once unless memory has to be reclaimed. Does nothing
	 * while the last write to the file goes on. */
	void write(const std::filesystem::path &file, std::int64_t limit);
	[[nodiscard]] bool is_writing(const std::filesystem::path &file);
	/* Kills the one that writes to the file. */
	void stop(const std::filesystem::path &file);
	/* Those that have ended, also of files that are gone. */
	void reap();

      private:
	std::map<std::string, pid_t> children_;
};

} // namespace slurmkube::node

#endif
