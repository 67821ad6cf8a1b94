/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clocks.h - since when conditions have lasted that are tolerated for a limited time only.
 *
 * A clock starts when a condition is first found true, and stops when it is first found false.
 * Clocks are not stored anywhere: after a restart or takeover, the agent starts its own.
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
	/* ---- of a component ---- */
	job_missing, /* its pods run, but Slurm has no job for them */
	/* it has an allocation whose node cannot take its pods, and none is bound */
	room,
	prolog,     /* it has an allocation on a hybrid node whose Prolog is not over */
	unbindable, /* it has an allocation, none is bound, and the binding of one fails */
	in_the_way, /* its allocation is needed by a running pod without a job */
	/* Its allocation is wrong; it is given back when the API server confirms that no pod is
	 * bound. */
	letting_go,
	absent, /* it has a job, but none of its pods lives */
	late,   /* it has an allocation, nothing runs, and some of its pods have not come */
	/* it is one of several components, has an allocation, and none of its pods is bound */
	held,
	unlinked, /* it has no pods, and no link over which its job could be ended */
	/* ---- of a pod ---- */
	placeless, /* other pods of its component are bound, and its own node cannot take it */
	claims,    /* it has an allocation, but a volume claim is not bound */
	devices,   /* it has an allocation, but no devices for its resource claims */
	starting,  /* it is bound, its node is Ready, but no container has started */
};
inline constexpr std::size_t k_clocks = 14;

/* Text for users: "no room on its node". */
const char *clock_text(Clock clock);

class Clocks
{
      public:
	/* When the clock started, monotonic microseconds; 0: it does not run. */
	[[nodiscard]] std::int64_t since(const PodUid &uid, Clock clock) const;
	/* Starts the clock if it does not run, or stops it if is_so is false. Returns since(). */
	std::int64_t set(const PodUid &uid, Clock clock, bool is_so, Now now);
	void stop(const PodUid &uid, Clock clock);
	/* Stops a clock that started before that moment: what was seen then must be seen again. */
	void stop_before(const PodUid &uid, Clock clock, std::int64_t moment_us);
	void forget(const PodUid &uid) { since_.erase(uid); }
	/* The clocks that run, each with its start. */
	[[nodiscard]] std::vector<std::pair<Clock, std::int64_t>> running(const PodUid &uid) const;
	[[nodiscard]] bool is_empty() const { return since_.empty(); }

      private:
	/* has an entry only while a clock of that uid runs */
	std::map<PodUid, std::array<std::int64_t, k_clocks>> since_;
};

} // namespace slurmkube::core

#endif
