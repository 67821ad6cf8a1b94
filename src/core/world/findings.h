/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * findings.h - what World has to remember after the facts of a component were gathered.
 *
 * Facts are gathered from const stores. Whatever must outlive the look, such as a clock that
 * starts, a pod that leaves its gang, or a node whose change should wake the component, is noted
 * here. World::apply() writes it down when the facts are complete.
 *
 * Times are monotonic microseconds. Not thread-safe.
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

/* For a pod or gang without a job: whether a job can be submitted, and if not, why. */
enum class Placing : std::uint8_t {
	possible,
	unschedulable, /* no node may take the pods at present */
	/* a pod that it must not meet is submitted first */
	waiting_for_peer,
};

/* The shape of a gang's job, and the maximum number of tasks per node (0: as many as fit). */
struct GangPlan {
	std::uint32_t per_node = 0;
	GangShape shape;
	/* See gres_on_node(); nullopt: the job may have several nodes. */
	std::optional<std::string> gres_on_node = {};
};

/* A pod that leaves its gang and gets a job of its own. */
struct Leaving {
	PodUid pod;
	std::uint32_t rank = 0;
	std::string crowded_node; /* a node that this job must avoid; empty: none */
};

struct UnfitNode {
	std::string node, why;
	std::int64_t until_us = 0; /* monotonic microseconds */
};

class Findings
{
      public:
	/* clocks: borrowed for the lifetime of this object. */
	Findings(const Clocks &clocks, Now now) : clocks_(clocks), now_(now) {}

	[[nodiscard]] Now now() const { return now_; }
	/* The component is looked at again at that time, even without an event. */
	void look_later(const PodUid &key, std::int64_t at_us) { looks.emplace_back(key, at_us); }
	/*
	 * Since when the condition has lasted; 0: it is false. A clock that started before
	 * not_before_us starts again, because what was seen earlier must be seen again.
	 */
	std::int64_t since(
		const PodUid &uid, Clock clock, bool is_so, std::int64_t not_before_us = 0);
	/* Whether the condition has lasted for limit_us. If not yet, the component is looked at
	 * again when that time is over. limit_us 0: no limit, always false. */
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
	/* In order; for each clock, the last change counts. */
	std::vector<ClockChange> clock_changes;
	/* their next change wakes the component */
	std::vector<std::string> waits_for_nodes;
	/* Nodes that could not take the pods when their allocation was given back, and can at
	 * present. */
	std::vector<std::string> nodes_with_room;
	/* The devices that Slurm gave there cannot be used: the node is left out for a while. */
	std::optional<UnfitNode> unfit_node;
	/* To be asked for, unless its answer is more recent than that time. */
	std::optional<std::pair<OwnerId, std::int64_t>> owner;
	/* nullopt: the look did not try to place the pods */
	std::optional<Placing> placing;
	bool wakes_peer = false;  /* the next pod that waits for a peer is looked at */
	bool is_reviewed = false; /* the excluded nodes have been judged again */
	/* the excluded nodes must be judged once more */
	bool needs_review = false;
	std::optional<GangPlan> plan;
	std::vector<Leaving> leaving;
	/* see Gang::first_attempt; 0: unchanged */
	std::uint32_t first_attempt = 0;
	bool all_came = false; /* all pods of the gang have come */
	/* an end that was asked for long ago, and under which pods run */
	std::optional<JobId> withdrawn_end;
	/* when the check before the binding is repeated */
	std::optional<std::int64_t> admission_look_us;

      private:
	const Clocks &clocks_;
	Now now_;
};

} // namespace slurmkube::core

#endif
