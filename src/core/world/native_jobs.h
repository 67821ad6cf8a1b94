/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * native_jobs.h - what slurmctld has said of native jobs within which pods run or are to run, and
 * which of these jobs to ask for next.
 *
 * One question is under way at a time, and the next one begins at least k_pause_us after its
 * answer, so slurmctld gets at most five per second, whatever pods there are. Jobs with bound pods
 * are asked for again and again, because no event tells their end; those on a node that completes
 * jobs come first, but have every second question at most. Jobs that waiting pods name and the
 * other ones take turns, so neither delays the other by more than itself. So do the namespaces of
 * waiting pods, however many jobs the pods of one of them name in a row.
 *
 * Times are monotonic microseconds; 0: never.
 */
#ifndef SLURMKUBE_CORE_WORLD_NATIVE_JOBS_H
#define SLURMKUBE_CORE_WORLD_NATIVE_JOBS_H

#include "src/core/model/now.h"
#include "src/core/reconcile/native_pods.h"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace slurmkube::core
{

/* A pod that is bound, or being bound, within a native job. */
struct NativeTenant {
	NativeMark mark;
	std::string node;
	std::int64_t milli_cpu = 0;
	std::uint64_t memory_mib = 0;
	bool operator==(const NativeTenant &) const = default;
};

class NativeJobs
{
      public:
	/* Different native jobs for which the pods of one namespace can wait, that can have pods
	 * at a time, and that those of one user can be. */
	static constexpr std::size_t k_waited_for_max = 16, k_with_pods_max = 128,
				     k_of_user_max = 32;
	/* An answer by which a pod may be bound is at most that old. */
	static constexpr std::int64_t k_fresh_us = 5'000'000;
	/* The same word about a lost job must come twice, so far apart. */
	static constexpr std::int64_t k_doubt_us = 5'000'000;
	static constexpr std::int64_t k_pause_us = 200'000;

	/* The pod waits for the job; it may be settled, too. false: pods of its namespace wait for
	 * too many others. */
	bool wait(const PodUid &pod, const std::string &name_space, JobId job, Now now);
	void settle(const PodUid &pod, const NativeTenant &tenant);
	void stop_waiting(const PodUid &pod);
	void unsettle(const PodUid &pod);
	void forget(const PodUid &pod); /* both */

	/* nullptr: not asked yet */
	[[nodiscard]] const NativeAnswer *answer(JobId job) const;
	[[nodiscard]] std::int64_t answered_us(JobId job) const;
	/* slurmctld has not answered the last question. */
	[[nodiscard]] bool has_failed(JobId job) const;
	[[nodiscard]] NativeUse use(JobId job, const PodUid &but) const;
	/* The limit that keeps pods out of this job of the user, because others have pods; 0: none.
	 */
	[[nodiscard]] std::size_t limit_of_jobs(JobId job, std::uint32_t user_id) const;
	[[nodiscard]] const NativeTenant *tenant(const PodUid &pod) const;

	/* The job is asked for at that time, if it was not asked for since. */
	void ask_at(JobId job, std::int64_t at_us);
	/* A hybrid node completes jobs, or has ceased to. */
	void note_completing(const std::string &node, bool is_completing);
	/* slurmctld describes all its nodes anew. */
	void forget_completing() { completing_.clear(); }
	/* The job to ask for now; answered() must follow. */
	std::optional<JobId> take_question(Now now);
	/* Whom to look at. described: jobs that slurmctld had to describe, if the answer does not
	 * say it. */
	std::set<PodUid> answered(
		JobId job, NativeAnswer answer, Now now, std::size_t described = 1);

	/* Another slurmctld or another agent may have changed the jobs: all are asked for anew. */
	void forget_answers(std::int64_t now_us);
	/* Since when answers count. */
	[[nodiscard]] std::int64_t known_since_us() const { return known_since_us_; }

	[[nodiscard]] bool is_empty() const { return jobs_.empty(); }

      private:
	struct Entry {
		/* that of a failed question only if no other was answered */
		std::optional<NativeAnswer> last;
		bool has_failed = false; /* the last question */
		std::int64_t asked_us = 0, answered_us = 0, wanted_us = 0;
		/* when the first pod named it; 0: a bound one did */
		std::int64_t waited_since_us = 0;
		std::set<PodUid> tenants, waiting;
		std::map<std::string, std::size_t> nodes; /* tenants there */
		std::uint32_t user_id = 0;        /* of the first tenant, for whom the job counts */
		std::set<std::string> namespaces; /* of those that wait */
		PodUid last_woken;                /* likewise */
	};
	/* What was said of a number, also if no pod names it since. The next one that does is
	 * answered with it, so that neither the time nor the text differ between users. */
	struct Heard {
		std::int64_t quiet_until_us = 0; /* it is not asked for waiting pods before */
		std::int64_t asked_us = 0, answered_us = 0;
		NativeAnswer answer;
	};
	enum Kind : std::size_t { of_completing_node, of_bound_pods, of_waiting_pods };
	/* A question whose time has come. The smallest one is asked next. */
	struct Overdue {
		std::int64_t turn_us = 0, due_us = 0;
		JobId job;
		auto operator<=>(const Overdue &) const = default;
	};
	struct Questions {
		std::array<std::optional<Overdue>, 3> first; /* by kind */
		std::int64_t next_us;                        /* of those whose time has not come */
	};
	[[nodiscard]] Kind kind_of(const Entry &entry) const;
	[[nodiscard]] std::int64_t due_us(JobId job, const Entry &entry, Kind kind) const;
	[[nodiscard]] std::int64_t turn_us(const std::string &name_space) const;
	[[nodiscard]] const std::string &next_namespace(const Entry &entry) const;
	[[nodiscard]] Questions questions(Now now) const;
	void count(Entry &entry, std::uint32_t user_id);
	void discount(const Entry &entry);
	static void leave_node(Entry &entry, const std::string &node);
	void note_turn(const Entry &entry, Now now);
	static void note_answer(Entry &entry, NativeAnswer answer, std::int64_t answered_us);
	void note_heard(JobId job, const NativeAnswer &answer, Now now, std::size_t described);
	static bool is_kept(const Heard &heard, Now now);
	void recall(JobId job, Entry &entry, Now now) const;
	void drop(const PodUid &pod, std::set<PodUid> Entry::*from, JobId job);

	std::map<JobId, Entry> jobs_;
	std::map<PodUid, NativeTenant> tenants_;
	struct Wait {
		std::string name_space;
		JobId job;
	};
	std::map<PodUid, Wait> waits_;
	/* by namespace: how many pods wait for each job */
	std::map<std::string, std::map<JobId, std::size_t>> waited_for_;
	std::size_t with_pods_ = 0;
	std::map<std::uint32_t, std::size_t> with_pods_of_user_;
	std::set<std::string> completing_;
	/* by namespace: when a question was asked for its waiting pods; not if long ago */
	std::map<std::string, std::int64_t> turns_us_;
	std::map<JobId, Heard> heard_;
	std::optional<JobId> in_flight_;
	std::int64_t in_flight_us_ = 0, known_since_us_ = 0;
	/* no question before that, and none for waiting pods */
	std::int64_t pause_until_us_ = 0, waiting_pause_until_us_ = 0;
	/* No question is due before that; 0: not known. Whatever makes one due earlier sets 0. So
	 * the jobs are not walked over in each round. */
	std::int64_t next_us_ = 0;
	/* the last question, and the last one of a job that is not hasty */
	bool was_hasty_ = false, was_for_waiting_ = false;
};

} // namespace slurmkube::core

#endif
