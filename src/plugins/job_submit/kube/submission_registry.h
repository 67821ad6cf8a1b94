/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * submission_registry.h - exactly once: at most one live job for a (cluster, uid, attempt).
 *
 * The hook asks before Slurm creates the job, so the id is not known when it ends: the claim is a
 * ticket until the keeper has found the job among the new ids. A ticket is never taken for dead
 * while its submission may still become a job: its thread must be gone, must have come back to the
 * hook, or must have had time and chances enough; and then the keeper must have looked at all new
 * ids since.
 *
 * Own mutex, never held while waiting for a lock of Slurm. Slurm is asked through Slurm's own locks
 * by the caller, who holds them.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_SUBMISSION_REGISTRY_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_SUBMISSION_REGISTRY_H

#include "src/core/model/job.h"

#include <map>
#include <mutex>
#include <tuple>

namespace slurmkube::plugin
{

/* unknown: jobs that slurmctld has may not have been read yet. */
enum class Claim { granted, live, under_way, unknown };

struct ClaimAnswer {
	Claim claim = Claim::granted;
	core::JobId live;
};

class SubmissionRegistry
{
      public:
	/* Does the job of that id still stand for the marker? Asked with the mutex held. */
	using IsLive = bool (*)(core::JobId id, const core::Marker &marker);
	using IsAlive = bool (*)(int thread);

	/* thread: of the caller, which will create the job. */
	ClaimAnswer claim(const core::Marker &marker, int thread, std::int64_t now, IsLive is_live);
	/* Any hook on this thread: what it submitted before is settled. */
	void came_back(int thread);

	void found(core::JobId id, const core::Marker &marker);
	void forget(core::JobId id, const core::Marker &marker);

	/* Was found() called for every job that slurmctld had when it came into control? Nothing is
	 * granted before. */
	void set_built(bool is_built);

	/* ---- keeper ---- */
	[[nodiscard]] bool has_tickets() const;
	/* A ticket waits for that: the keeper should take the write lock now and then. */
	[[nodiscard]] bool wants_write_lock(std::int64_t now) const;
	/* The keeper got the write lock: submissions that wait for it get it too, sooner or
	 * later. */
	void write_lock_passed();
	/* Serial numbers of tickets whose submission is over. Look at all new ids after this call,
	 * then drop() them. */
	std::vector<std::uint64_t> settled(std::int64_t now, IsAlive is_alive);
	void drop(const std::vector<std::uint64_t> &serials);
	/* Is one of them still without a job? */
	[[nodiscard]] bool waits_for(const std::vector<std::uint64_t> &serials) const;

      private:
	using Key = std::tuple<std::string, std::string, std::uint32_t>;
	struct Ticket {
		std::uint64_t serial;
		int thread;
		std::int64_t since;
		std::uint64_t write_locks;
		bool over;
	};
	static Key key_of(const core::Marker &marker)
	{
		return {marker.uid, marker.cluster, marker.attempt};
	}

	mutable std::mutex mutex_;
	std::map<Key, core::JobId> live_;
	std::map<Key, Ticket> tickets_;
	std::uint64_t serial_ = 0, write_locks_ = 0;
	bool built_ = false;
};

} // namespace slurmkube::plugin

#endif
