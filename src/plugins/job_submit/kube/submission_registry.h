/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * submission_registry.h - exactly-once submission: at most one live job per (cluster, uid,
 * attempt).
 *
 * The hook claims a marker before Slurm creates the job, so the job id is not known then. The claim
 * is a ticket until the keeper has found the job among the new ids. A ticket is dropped only if its
 * submission cannot become a job any more: its thread has ended, has entered a hook again, or has
 * had enough time and opportunities; and if the keeper has looked at all new ids after that.
 *
 * The registry has its own mutex, which is never held while waiting for a lock of Slurm. The caller
 * holds the locks that are needed to ask Slurm about jobs.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_SUBMISSION_REGISTRY_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_SUBMISSION_REGISTRY_H

#include "src/core/model/job.h"

#include <map>
#include <mutex>
#include <tuple>

namespace slurmkube::plugin
{

/* unknown: the jobs that slurmctld has may not have been read yet. */
enum class Claim { granted, live, under_way, unknown };

struct ClaimAnswer {
	Claim claim = Claim::granted;
	core::JobId live;
};

class SubmissionRegistry
{
      public:
	/* Whether the job with that id still stands for the marker. Called with the mutex held. */
	using IsLive = bool (*)(core::JobId id, const core::Marker &marker);
	using IsAlive = bool (*)(int thread);

	/* thread: the calling thread, which will create the job. */
	ClaimAnswer claim(const core::Marker &marker, int thread, std::int64_t now, IsLive is_live);
	/* The thread is in a hook again: its earlier submissions are over. */
	void came_back(int thread);

	void found(core::JobId id, const core::Marker &marker);
	void forget(core::JobId id, const core::Marker &marker);

	/* Whether found() was called for every job that slurmctld had when it took control. Nothing
	 * is granted before. */
	void set_built(bool is_built);

	/* ---- keeper ---- */
	[[nodiscard]] bool has_tickets() const;
	/* Whether a ticket waits for the write lock: the keeper should then take that lock now and
	 * then. */
	[[nodiscard]] bool wants_write_lock(std::int64_t now) const;
	/* The keeper has had the write lock, so submissions that wait for it will get it too. */
	void write_lock_passed();
	/* Serial numbers of tickets whose submission is over. The caller must look at all new ids
	 * after this call and then call drop(). */
	std::vector<std::uint64_t> settled(std::int64_t now, IsAlive is_alive);
	void drop(const std::vector<std::uint64_t> &serials);
	/* Whether one of the tickets still has no job. */
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
