/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_watch.h - sees every change of every external job, and does what the slurmd of its nodes
 * would do at start and end.
 *
 * Counters of slurmctld tell when to look. A look finds jobs by id, holds the lock briefly, and
 * stops when it has found as many changes as were counted. In addition a slow look checks all live
 * jobs after last_job_update has changed, so that a change that the counters did not show is not
 * missed for long. Keeper's thread only.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_JOB_WATCH_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_JOB_WATCH_H

#include "src/plugins/job_submit/kube/feed.h"
#include "src/plugins/job_submit/kube/lock_hold.h"
#include "src/plugins/job_submit/kube/marker_copy.h"
#include "src/plugins/job_submit/kube/slurmd_prolog.h"
#include "src/plugins/job_submit/kube/submission_registry.h"

#include <map>
#include <set>

namespace slurmkube::plugin
{

/* The caller must hold a lock. Empty: no such job. */
std::optional<MarkerTexts> texts_of(std::uint32_t id);
std::size_t hash_of(const MarkerTexts &texts);

class JobWatch
{
      public:
	JobWatch(const Meter &meter, SubmissionRegistry &registry, Feed &feed, std::string feature)
	    : meter_(meter), registry_(registry), feed_(feed), feature_(std::move(feature))
	{
	}

	/* Reads all jobs of slurmctld. Call when it has taken control. */
	void first_look();
	/* Call after first_look(). */
	void tick(const kube_pulse &pulse);
	void reset();
	/* Call after each complete look at all nodes. held: see NodeWatch::held(). If held is more
	 * than what external jobs hold, searches for the other jobs. */
	void find_unmarked(std::uint64_t held);
	/* Ids of jobs without a marker that hold external nodes, "7,9"; the first 32. */
	[[nodiscard]] const std::string &unmarked() const { return unmarked_.ids; }

	[[nodiscard]] std::uint64_t live() const { return pending_.size() + active_.size(); }
	[[nodiscard]] std::uint64_t pending() const { return pending_.size(); }
	/* Whether there may be something to schedule that Slurm has not noticed. Clears the
	 * flag. */
	bool take_kick() { return std::exchange(wants_kick_, false); }

      private:
	struct Known {
		core::Marker marker;
		std::size_t texts = 0;  /* hash of the texts that may hold the marker */
		MarkerFault fault = {}; /* which of the texts does not hold the marker */
		std::uint64_t fingerprint = 0, raw_state = 0;
		kube_job_state state = KUBE_JOB_UNKNOWN;
		std::uint32_t nodes = 0; /* number of external nodes that the job holds */
		/* PrologSlurmctld runs, or Prolog on a hybrid node */
		bool configuring = false;
		bool never_began = false; /* the job ended before that did, or because of it */
		bool has_begun = false;   /* was seen with slurmctld's own configuration over */
		SlurmdProlog prolog = {};
	};
	/* A job that may be external. Its texts are copied under the lock and parsed without it. */
	struct Candidate {
		std::uint32_t id;
		std::string comment, copy;
		[[nodiscard]] MarkerTexts texts() const { return {comment, copy}; }
	};
	using Candidates = std::vector<Candidate>;
	using Met = std::pair<std::uint32_t, Known>;
	/* Texts to write over those of a job, if these have not changed in the meantime. Prepared
	 * without a lock. */
	struct Mend {
		std::uint32_t id = 0;
		std::size_t texts = 0;
		MarkerFault fault = {};
		std::string comment = {}, copy = {};
		bool is_done = false;
	};
	/* What one hold has found; handled when the lock is released. */
	struct Found {
		std::vector<core::SlurmJob> changed;
		std::vector<std::uint32_t> gone;
		/* these need the write lock */
		std::vector<std::uint32_t> prologs, epilogs, inactive, marred;
		std::vector<Mend> mends;
		unsigned starts = 0, ends = 0;
		bool untried = false; /* a new job waits although there may be room */
	};
	using Ids = std::vector<std::uint32_t>;
	using IdSet = std::set<std::uint32_t>;
	struct Sweep {
		Ids ids;
		std::size_t next = 0;
		std::int64_t worked_before = 0;
		/* stop when all counted changes are found; otherwise look at all ids */
		bool is_counted = false;
		/* For a counted sweep: which jobs to add when all ids were looked at. */
		bool takes_pending = false, takes_active = false, pending_first = false;
		std::uint32_t pending_after = 0, active_before = UINT32_MAX;
		[[nodiscard]] bool is_done() const
		{
			return next >= ids.size() && !takes_pending && !takes_active;
		}
	};
	static constexpr unsigned k_likely_misses = 16; /* failed submissions between looks */

	/* The caller holds a lock. */
	bool note(std::uint32_t id, Candidates &candidates) const;
	void note(std::uint32_t id, const MarkerTexts &texts, Candidates &candidates) const;
	void enter(Met &met, Found &found, Candidates &changed);
	void look_at(std::uint32_t id, Found &found);
	[[nodiscard]] static bool has_settled(const Known &known);
	[[nodiscard]] bool may_have_moved(std::uint32_t id) const;
	bool read_marker(std::uint32_t id, Known &known);
	void write_marker(Mend &mend);
	void note_configuring(std::uint32_t id, Known &known, const kube_job_glance &glance,
		std::int64_t started);
	[[nodiscard]] static bool never_began(std::uint32_t id, const Known &known,
		const kube_job_glance &glance, const core::SlurmJob &job);
	void note_change(
		std::uint32_t id, Known &known, const kube_job_glance &glance, Found &found);
	void finish(Found &found);

	/* The caller holds no lock. */
	void refill(Sweep &sweep);
	void look_on(Sweep &sweep, Found &found);
	void go_on(Sweep &sweep);
	void go_on_slowly(Sweep &sweep, SlowLook &look);
	void look_at_configuring();
	void meet(Candidates candidates);
	void enter_all(std::vector<Met> &met, Candidates &changed);
	void find_new(unsigned misses_max);
	void find_by_list();
	[[nodiscard]] std::string list_unmarked() const;
	void settle_tickets();
	void deal_with(Found &found);
	[[nodiscard]] std::vector<Mend> prepare_mends(const Ids &ids) const;
	void tell_mends(const std::vector<Mend> &mends) const;
	void write_pass(Found &found);
	void deliver(Found &found);
	void count(const kube_pulse &pulse);
	void start_slow(const kube_pulse &pulse);
	IdSet &set_of(kube_job_state state);
	void erase(std::map<std::uint32_t, Known>::iterator known);

	const Meter &meter_;
	SubmissionRegistry &registry_;
	Feed &feed_;
	std::string feature_;

	std::map<std::uint32_t, Known> jobs_;
	/* Each id in jobs_ is in exactly one of these sets, by its state, because a slurmctld
	 * remembers thousands of ended jobs that a look should not visit. */
	IdSet pending_, active_, ended_ids_;
	/* No counter of slurmctld tells when a job's PrologSlurmctld ends, so these jobs are looked
	 * at in each tick. */
	struct Configuring {
		IdSet ids;
		std::uint32_t last = 0; /* the id that was looked at last */
	} configuring_;
	std::uint32_t last_id_ = 0; /* id of the newest job seen */
	kube_pulse before_ = {};
	Sweep hot_, slow_, ended_;
	struct Looks {
		SlowLook slow{100 * k_ms, 10'000 * k_ms};
		SlowLook ended{1000 * k_ms, 30'000 * k_ms};
		SlowLook list{100 * k_ms, 3000 * k_ms};
	} looks_;
	struct Held {
		std::uint64_t now = 0;  /* sum of Known::nodes */
		std::uint64_t most = 0; /* maximum since the last comparison */
	} held_;
	struct Unmarked {
		std::int64_t looked_at = 0; /* time of the last search through all jobs */
		std::string ids;
	} unmarked_;
	std::int64_t all_new_at_ = 0, write_locked_at_ = 0;
	bool wants_kick_ = false;
	Tally starts_, ends_;
};

} // namespace slurmkube::plugin

#endif
