/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unanswered.h - requests that slurmctld was sent and did not answer.
 *
 * A submission or a change that was sent and not answered may itself be what keeps slurmctld busy:
 * then sending it again stops Slurm for everybody. So each such pod waits longer from time to time,
 * only one of a namespace is tried at a time (call_order.h is about the namespaces), and none
 * before slurmctld has answered somebody again, or has had time to. Others go on as ever. A
 * slurmctld that is away refuses connections: that is another error and means nothing here.
 *
 * Knows no store: pods are uids.
 */
#ifndef SLURMKUBE_CORE_WORLD_UNANSWERED_H
#define SLURMKUBE_CORE_WORLD_UNANSWERED_H

#include "src/base/result.h"
#include "src/core/model/now.h"
#include "src/core/model/pod.h"

#include <functional>
#include <map>
#include <set>
#include <string>

namespace slurmkube::core
{

class Unanswered
{
      public:
	/* slurmctld has carried out a request of anybody, or refused it. */
	void slurm_answered(Now now) { answered_us_ = now.mono_us; }
	/* How a request of that pod ended; nullptr: well. Returns whose turn it is now: they are
	 * looked at again. */
	std::set<PodUid> note(const PodUid &pod, const Error *error, Now now);
	/* One is about to be sent. */
	void sent(const PodUid &pod, const std::string &name_space);
	void forget(const PodUid &pod) { pods_.erase(pod); }

	/* How many in a row. */
	[[nodiscard]] unsigned count(const PodUid &pod) const;
	/* Monotonic microseconds: when the next may be sent at the earliest; 0: at once. */
	[[nodiscard]] std::int64_t next_us(const PodUid &pod) const;
	/* nullopt: the next may be sent. Else when to look again. is_sending: a request of that pod
	 * is under way. */
	[[nodiscard]] std::optional<std::int64_t> wait_until(const PodUid &pod,
		const std::string &name_space,
		const std::function<bool(const PodUid &)> &is_sending, Now now) const;
	/* Errors as these are told already; this one says how often, and when it is tried again. */
	[[nodiscard]] Condition text(const PodUid &pod, const Error &error, Now now) const;

      private:
	struct Entry {
		unsigned count = 0;
		std::int64_t last_us = 0, next_us = 0;
	};
	std::int64_t answered_us_ = 0, given_up_us_ = 0; /* anybody's request */
	std::map<PodUid, Entry> pods_;
	/* by namespace: who was not answered and is being tried */
	std::map<std::string, PodUid> trying_;
};

} // namespace slurmkube::core

#endif
