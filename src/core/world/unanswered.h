/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unanswered.h - requests that were sent to slurmctld and not answered.
 *
 * An unanswered submission or update may itself be what keeps slurmctld busy. To send it again
 * would then stop Slurm for everybody. So the pod waits longer after each failure; of one
 * namespace, only one such pod is tried at a time (call_order.h treats namespaces as a whole); and
 * none is tried before slurmctld has answered some request, or has had time to. Other pods are not
 * affected. A slurmctld that is down refuses connections, which is another error and does not count
 * here.
 *
 * This class knows no store: pods are uids.
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
	/* slurmctld has carried out or refused a request, whoever sent it. */
	void slurm_answered(Now now) { answered_us_ = now.mono_us; }
	/* How a request for the pod ended; error nullptr: it succeeded. Returns the pods that have
	 * to be looked at again, because they may be tried. */
	std::set<PodUid> note(const PodUid &pod, const Error *error, Now now);
	/* A request for the pod is about to be sent. */
	void sent(const PodUid &pod, const std::string &name_space);
	void forget(const PodUid &pod) { pods_.erase(pod); }

	/* Unanswered requests for the pod in a row. */
	[[nodiscard]] unsigned count(const PodUid &pod) const;
	/* The earliest time of the next request, monotonic microseconds; 0: at once. */
	[[nodiscard]] std::int64_t next_us(const PodUid &pod) const;
	/* nullopt: the next request may be sent. Otherwise when to look again, monotonic
	 * microseconds. is_sending: tells whether a request for a pod is under way. */
	[[nodiscard]] std::optional<std::int64_t> wait_until(const PodUid &pod,
		const std::string &name_space,
		const std::function<bool(const PodUid &)> &is_sending, Now now) const;
	/* The condition for such an error: how often it has happened, and when the next try is. */
	[[nodiscard]] Condition text(const PodUid &pod, const Error &error, Now now) const;

      private:
	struct Entry {
		unsigned count = 0;
		std::int64_t last_us = 0, next_us = 0;
	};
	std::int64_t answered_us_ = 0, given_up_us_ = 0; /* for requests of all pods */
	std::map<PodUid, Entry> pods_;
	/* by namespace: the pod that is being tried again */
	std::map<std::string, PodUid> trying_;
};

} // namespace slurmkube::core

#endif
