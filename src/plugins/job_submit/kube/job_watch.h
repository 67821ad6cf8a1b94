/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_watch.h - sees every change of every external job, and does what their nodes' slurmd would do
 * at start and end.
 *
 * Counters that slurmctld keeps anyway say when to look; looking is by job id, in short holds, and
 * stops as soon as as many changes were found as were counted. A slow look over all live jobs,
 * gated by last_job_update, makes it level-triggered: nothing is missed for long, whatever the
 * counters did. Keeper's thread only.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_JOB_WATCH_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_JOB_WATCH_H

#include "src/plugins/job_submit/kube/feed.h"
#include "src/plugins/job_submit/kube/lock_hold.h"
#include "src/plugins/job_submit/kube/marker_copy.h"
#include "src/plugins/job_submit/kube/submission_registry.h"

#include <map>
#include <set>

namespace slurmkube::plugin
{

/* Under a lock; nothing: no such job. */
std::optional<MarkerTexts> texts_of(std::uint32_t id);
std::size_t hash_of(const MarkerTexts &texts);

class JobWatch
{
      public:
	JobWatch(const Meter &meter, SubmissionRegistry &registry, Feed &feed, std::string feature)
	    : meter_(meter), registry_(registry), feed_(feed), feature_(std::move(feature))
	{
	}

	/* All jobs that slurmctld has; call once it is in control. True when done; call again while
	 * false. */
	bool first_look();
	/* After first_look(). */
	void tick(const kube_pulse &pulse);
	void reset();
	/* After each whole look at all nodes. held: as NodeWatch counts it. Where that is more than
	 * our jobs hold, looks for the others. */
	void find_unmarked(std::uint64_t held);
	/* Their ids, "7,9"; the first ones. */
	[[nodiscard]] const std::string &unmarked() const { return unmarked_.ids; }

	[[nodiscard]] std::uint64_t live() const { return pending_.size() + active_.size(); }
	[[nodiscard]] std::uint64_t pending() const { return pending_.size(); }
	/* There may be something to place, and Slurm may not have noticed. Clears it. */
	bool take_kick() { return std::exchange(wants_kick_, false); }

      private:
	struct Known {
		core::Marker marker;
		std::size_t texts = 0;  /* where the marker stands, hashed */
		MarkerFault fault = {}; /* which of them does not say it */
		std::uint64_t fingerprint = 0, raw_state = 0;
		kube_job_state state = KUBE_JOB_UNKNOWN;
		std::uint32_t nodes = 0;  /* external ones that it holds */
		bool configuring = false; /* PrologSlurmctld runs */
		bool never_began = false; /* it ended before that was over */
	};
	/* A job that may be ours: its texts are read outside of locks. */
	struct Candidate {
		std::uint32_t id;
		std::string comment, copy;
		[[nodiscard]] MarkerTexts texts() const { return {comment, copy}; }
	};
	using Candidates = std::vector<Candidate>;
	using Met = std::pair<std::uint32_t, Known>;
	/* What is to be written over a job's texts while they are still those. Made outside of
	 * locks. */
	struct Mend {
		std::uint32_t id = 0;
		std::size_t texts = 0;
		MarkerFault fault = {};
		std::string comment = {}, copy = {};
		bool is_done = false;
	};
	/* What one hold has found, to be dealt with outside of it. */
	struct Found {
		std::vector<core::SlurmJob> changed;
		std::vector<std::uint32_t> gone;
		/* need the write lock */
		std::vector<std::uint32_t> prologs, epilogs, inactive, marred;
		std::vector<Mend> mends;
		unsigned starts = 0, ends = 0;
		bool untried = false; /* a new job waits though there may be room */
	};
	using Ids = std::vector<std::uint32_t>;
	using IdSet = std::set<std::uint32_t>;
	struct Sweep {
		Ids ids;
		std::size_t next = 0;
		std::int64_t worked_before = 0;
		/* enough when all that were counted are found; otherwise all ids */
		bool is_counted = false;
		/* Of a counted sweep: what comes into ids when all of them were looked at. */
		bool takes_pending = false, takes_active = false, pending_first = false;
		std::uint32_t pending_after = 0, active_before = UINT32_MAX;
		[[nodiscard]] bool is_done() const
		{
			return next >= ids.size() && !takes_pending && !takes_active;
		}
	};
	static constexpr unsigned k_likely_misses = 16; /* failed submissions between two looks */

	/* Under a lock. */
	bool note(std::uint32_t id, Candidates &candidates) const;
	void note(std::uint32_t id, const MarkerTexts &texts, Candidates &candidates) const;
	void enter(Met &met, Found &found, Candidates &changed);
	void look_at(std::uint32_t id, Found &found);
	[[nodiscard]] bool may_have_moved(std::uint32_t id) const;
	bool read_marker(std::uint32_t id, Known &known);
	void write_marker(Mend &mend);
	void note_configuring(std::uint32_t id, Known &known, bool is_so);
	void note_change(
		std::uint32_t id, Known &known, const kube_job_glance &glance, Found &found);
	void finish(Found &found);

	/* Not under a lock. */
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
	/* Each id of jobs_ is in one of them, by its state: a slurmctld remembers thousands of
	 * ended jobs, which nobody should walk over. */
	IdSet pending_, active_, ended_ids_;
	/* no counter of slurmctld tells when a job's PrologSlurmctld is over: they are looked at in
	 * each tick */
	struct Configuring {
		IdSet ids;
		std::uint32_t last = 0; /* looked at */
	} configuring_;
	std::uint32_t last_id_ = 0; /* the newest that was met */
	kube_pulse before_ = {};
	Sweep hot_, slow_, ended_;
	struct Looks {
		SlowLook slow{100 * k_ms, 10'000 * k_ms};
		SlowLook ended{1000 * k_ms, 30'000 * k_ms};
		SlowLook list{100 * k_ms, 3000 * k_ms};
	} looks_;
	struct Held {
		std::uint64_t now = 0;  /* sum of Known::nodes */
		std::uint64_t most = 0; /* since it was last compared */
	} held_;
	struct Unmarked {
		std::int64_t looked_at = 0; /* when all jobs were last looked through for them */
		std::string ids;
	} unmarked_;
	std::int64_t all_new_at_ = 0, write_locked_at_ = 0;
	bool wants_kick_ = false;
	Tally starts_, ends_;
};

} // namespace slurmkube::plugin

#endif
