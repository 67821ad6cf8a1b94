/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limit_writers.h - writes memory limits of cgroups.
 *
 * The kernel reclaims within the write, in version 1 until the limit is reached, and keeps the
 * cgroup from being removed meanwhile: rmdir waits for the write and holds up all work on cgroups
 * of the machine. So a child writes, for a second at most. What it has reclaimed stays reclaimed,
 * so writing again goes on from there.
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
