/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clocks.h - since when something has been so that is borne for a limited time only.
 *
 * A clock starts with the first look that finds it so and is gone with the first that does not.
 * Another agent starts its own: none of these is remembered outside.
 */
#ifndef SLURMKUBE_CORE_WORLD_CLOCKS_H
#define SLURMKUBE_CORE_WORLD_CLOCKS_H

#include "src/core/model/now.h"
#include "src/core/model/pod.h"

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace slurmkube::core
{

enum class Clock : std::uint8_t {
	/* of a component */
	job_missing, /* its pods run, and Slurm knows no job of theirs */
	room,        /* it has an allocation whose node cannot take its pods, and none is bound */
	in_the_way,  /* a running pod without a job needs its allocation */
	/* its allocation is wrong; whether it is given back the API server's word on its pods
	 * decides */
	letting_go,
	absent,   /* it has a job, and none of its pods lives */
	late,     /* it has an allocation, nothing runs, and some of its pods have not come */
	held,     /* it is one of several, has an allocation, and none of its pods is bound */
	unlinked, /* it has no pods, and there is no link to end its job */
	/* of a pod */
	placeless, /* others of its component are bound, and its node cannot take it */
	claims,    /* it has an allocation, and a volume claim is not bound */
	starting,  /* it is bound, its node is there, and nothing of it runs */
};
inline constexpr std::size_t k_clocks = 11;

/* For people: "no room on its node". */
const char *clock_text(Clock clock);

class Clocks
{
      public:
	/* When it started, monotonic microseconds; 0: it does not run. */
	[[nodiscard]] std::int64_t since(const PodUid &uid, Clock clock) const;
	/* Starts it, if it does not run, or stops it. Returns since(). */
	std::int64_t set(const PodUid &uid, Clock clock, bool is_so, Now now);
	void stop(const PodUid &uid, Clock clock);
	/* Whatever was so before that moment: it has to be seen again. */
	void stop_before(const PodUid &uid, Clock clock, std::int64_t moment_us);
	void forget(const PodUid &uid) { since_.erase(uid); }
	/* Those that run, with their start. */
	[[nodiscard]] std::vector<std::pair<Clock, std::int64_t>> running(const PodUid &uid) const;
	[[nodiscard]] bool is_empty() const { return since_.empty(); }

      private:
	/* of those that have one that runs */
	std::map<PodUid, std::array<std::int64_t, k_clocks>> since_;
};

} // namespace slurmkube::core

#endif
