/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * asked_ends.h - the ends of a component's jobs that were asked for and have not been seen.
 *
 * slurmctld may carry out a request whose answer was lost. So an end is remembered, with the number
 * of its job, until it is seen, refused, or overtaken by a pod that runs.
 *
 * Times are monotonic microseconds. Not thread-safe.
 */
#ifndef SLURMKUBE_CORE_WORLD_ASKED_ENDS_H
#define SLURMKUBE_CORE_WORLD_ASKED_ENDS_H

#include "src/core/reconcile/action.h"

#include <map>
#include <optional>
#include <set>

namespace slurmkube::core
{

/* For how long slurmctld may have a request in its queue that it has not answered. */
inline constexpr std::int64_t k_request_lives_us = 60'000'000;

struct AskedEnd {
	Complete end;
	bool is_cancel = false; /* then end.wait_status is k_status_cancelled */
	/* Until then slurmctld may carry out a request for it: it has accepted one, or has not
	 * answered it. 0: there is none. */
	std::int64_t lives_until_us = 0;
};

class AskedEnds
{
      public:
	/* Asked for, perhaps once more. */
	void ask(const Complete &end);
	void ask(const Cancel &cancel);
	/* slurmctld has accepted the request that was sent last, or has not answered it. */
	void may_come(std::int64_t now_us);
	/* The request that was sent last was refused, or could not be sent. The job whose end has
	 * become void thereby; nullopt: an earlier request may still be carried out. */
	[[nodiscard]] std::optional<JobId> is_void(std::int64_t now_us) const;
	/* nullptr: no end of that job was asked for. Valid until the next change. */
	[[nodiscard]] const AskedEnd *find(JobId job) const;
	/* The job of the request that was sent last. */
	[[nodiscard]] std::optional<JobId> last() const { return last_; }
	/* The end has been seen or refused, or has become void. */
	void withdraw(JobId job) { ends_.erase(job); }
	/* Slurm does not know the job any more, and may use its number again. */
	void forget(JobId job);
	/* Whether the request that was sent last was the first one for its job: a repetition, also
	 * after a refusal, does not count again. */
	[[nodiscard]] bool is_first() const { return is_first_; }

      private:
	void note(AskedEnd end);

	std::map<JobId, AskedEnd> ends_;
	std::set<JobId> counted_;
	std::optional<JobId> last_;
	bool is_first_ = false;
};

} // namespace slurmkube::core

#endif
