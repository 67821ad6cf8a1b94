/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * findings.h - what World has to remember once it has gathered the facts of a component.
 *
 * Facts are gathered from const stores. Whatever must outlive the look (a clock that starts, a pod
 * that leaves its gang, a node to be woken by) is noted here and written down by World::apply()
 * when the facts are complete.
 *
 * Times are monotonic microseconds. Not for several threads.
 */
#ifndef SLURMKUBE_CORE_WORLD_FINDINGS_H
#define SLURMKUBE_CORE_WORLD_FINDINGS_H

#include "src/core/gang/shape.h"
#include "src/core/model/owner.h"
#include "src/core/world/clocks.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace slurmkube::core
{

/* Of a pod or gang without a job: why it has none. */
enum class Placing : std::uint8_t {
	possible,
	unschedulable,    /* no node may take it */
	waiting_for_peer, /* for the node of another that it must not meet */
};

/* The job of a gang: how many tasks, of which size, and at most how many per node (0: as many as
 * fit). */
struct GangPlan {
	std::uint32_t per_node = 0;
	GangShape shape;
};

/* A pod that gets a job of its own. */
struct Leaving {
	PodUid pod;
	std::uint32_t rank = 0;
	std::string crowded_node; /* which its own job must avoid; empty: none */
};

class Findings
{
      public:
	/* clocks: must outlive this. */
	Findings(const Clocks &clocks, Now now) : clocks_(clocks), now_(now) {}

	[[nodiscard]] Now now() const { return now_; }
	/* The component is looked at again by then, even without an event. */
	void look_later(const PodUid &key, std::int64_t at_us) { looks.emplace_back(key, at_us); }
	/*
	 * Since when it has been so; 0: it is not. A clock that started before not_before_us starts
	 * anew: what was seen then has to be seen again.
	 */
	std::int64_t since(
		const PodUid &uid, Clock clock, bool is_so, std::int64_t not_before_us = 0);
	/* Whether it has been so for that long; looked at again by then. limit_us 0: never. */
	bool is_over(const PodUid &uid, Clock clock, bool is_so, std::int64_t limit_us,
		std::int64_t not_before_us = 0);
	void stop(const PodUid &uid, Clock clock) { clock_changes.push_back({uid, clock, false}); }

	struct ClockChange {
		PodUid uid;
		Clock clock;
		bool runs;
		std::int64_t not_before_us = 0;
	};
	std::vector<std::pair<PodUid, std::int64_t>> looks;
	/* in order; the last one of a clock counts */
	std::vector<ClockChange> clock_changes;
	std::vector<std::string> waits_for_nodes; /* whose next change is of interest */
	/* that had none when the allocation was given back */
	std::vector<std::string> nodes_with_room;
	/* to be asked, unless it has answered since then */
	std::optional<std::pair<OwnerId, std::int64_t>> owner;
	/* none: nobody has asked for a node */
	std::optional<Placing> placing;
	bool wakes_peer = false;  /* the next that waits for a peer */
	bool is_reviewed = false; /* its exclusions are those of now */
	/* and have to be looked at once more */
	bool needs_review = false;
	std::optional<GangPlan> plan;
	std::vector<Leaving> leaving;
	/* see Gang::first_attempt; 0: as it is */
	std::uint32_t first_attempt = 0;
	bool all_came = false; /* every pod of the gang */
	/* when the check before binding is next repeated */
	std::optional<std::int64_t> admission_look_us;

      private:
	const Clocks &clocks_;
	Now now_;
};

} // namespace slurmkube::core

#endif
