/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * records.h - what the daemon and the epilog know of jobs and containers, in files below a
 * directory of root on tmpfs, so that neither needs the other and a restart loses nothing.
 *
 *   closed/JOB         the job's epilog has begun; content "cleared": slurmd's cgroups are gone,
 *                      so that new ones belong to a new job with this number, which is a
 *                      pod's if its prolog has written graces/JOB again
 *   graces/JOB         the job is a pod's; its grace period as its prolog has been given it
 *   containers/JOB.ID  the container's cgroup, and whether the runtime has started it
 *
 * The daemon writes a container's record before it reads closed/, the epilog writes closed/ before
 * it reads the records: so either the daemon refuses the container or the epilog waits for it.
 * When a job is cleared, the records of its containers are removed, and some time later its own:
 * without a cgroup it has no processors anyway. Each file ends with the time of its last change in
 * seconds since boot. Files are replaced by rename(2). One daemon, and any number of epilogs.
 */
#ifndef SLURMKUBE_NODE_RECORDS_H
#define SLURMKUBE_NODE_RECORDS_H

#include "src/base/result.h"
#include "src/node/confine.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slurmkube::node
{

struct ContainerRecord {
	std::string id, cgroup;
	bool is_started = false;    /* false: the runtime is about to create or start it */
	std::chrono::seconds age{}; /* since the last change, by CLOCK_BOOTTIME */
};

class Records
{
      public:
	/* Of a directory as it is; without it there are none. */
	static Records at(const std::filesystem::path &directory) { return Records(directory); }
	/* Creates the directories. io: not writable. */
	static Result<Records> open(const std::filesystem::path &directory);

	[[nodiscard]] const std::filesystem::path &directory() const { return directory_; }

	/* io: not written, so the caller must not go on. */
	[[nodiscard]] Result<Ok> close(std::uint32_t job, bool is_cleared) const;
	enum class JobState { open, closed, cleared };
	[[nodiscard]] JobState state_of(std::uint32_t job) const;
	void reopen(std::uint32_t job) const;
	/* Forgets the jobs that were cleared at least that long ago. Reads a file for each job
	 * that has ended since. */
	void prune(std::chrono::seconds age) const;

	/* Text of a user, see epilog_limit(). */
	[[nodiscard]] Result<Ok> keep_grace(std::uint32_t job, const std::string &grace) const;
	void forget_grace(std::uint32_t job) const;
	/* none: no prolog has said that the job is a pod's. */
	[[nodiscard]] std::optional<std::string> grace_of(std::uint32_t job) const;

	/* invalid: an id that is no file name. */
	[[nodiscard]] Result<Ok> keep_container(std::uint32_t job, const std::string &id,
		const std::string &cgroup, bool is_started) const;
	void forget_container(const std::string &id) const;
	/* The ids by job; reads no file. */
	[[nodiscard]] std::map<std::uint32_t, std::vector<std::string>> containers() const;
	/* none: it has been forgotten meanwhile. */
	[[nodiscard]] std::optional<ContainerRecord> container(
		std::uint32_t job, const std::string &id) const;
	[[nodiscard]] std::vector<ContainerRecord> containers_of(std::uint32_t job) const;
	/* Jobs that have a record of any kind, in order. */
	[[nodiscard]] std::vector<std::uint32_t> jobs() const;

      private:
	explicit Records(std::filesystem::path directory) : directory_(std::move(directory)) {}

	std::filesystem::path directory_;
};

} // namespace slurmkube::node

#endif
