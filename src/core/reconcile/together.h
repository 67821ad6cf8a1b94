/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * together.h - all or nothing over the components of a workload.
 *
 * Pure. Each component is a job of its own and is decided by reconcile(); this says what the others
 * mean for it. The component that asks for most is submitted first, the others when it has its
 * nodes; pods are bound when all have theirs. What is held meanwhile is charged, so it is given
 * back after a while. What ends one job ends all.
 *
 * Everything is found from the jobs and pods as they are, so a new agent goes on where the last one
 * was.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_TOGETHER_H
#define SLURMKUBE_CORE_RECONCILE_TOGETHER_H

#include "src/core/model/now.h"
#include "src/core/reconcile/reconcile.h"

namespace slurmkube::core
{

/* Of a workload that had nodes for some components only, and gave them back. */
struct Tries {
	unsigned count = 0;
	std::int64_t next_us = 0, next_epoch_seconds = 0; /* not before */
};

struct Holding {
	/* monotonic: the first allocation that waits for others; 0: none does */
	std::int64_t since_us = 0;
	std::int64_t submitted = 0; /* when the job of the largest component was; 0: it was not */
	std::vector<std::string> partitions; /* of the components' jobs */
};

/* What a workload holds of which nothing runs; of all its components. Slurm's word on when it began
 * counts, and this agent's, since clocks step. */
Holding holding_of(const std::vector<ComponentFacts> &components, Now now);

/*
 * Of two workloads that hold something and want the same partitions, the later one gives way:
 * whether `one` does to `other`. A total order, so that the first in it always goes on. keys:
 * workload_key() of each.
 */
bool gives_way_to(const Holding &one, const std::string &key, const Holding &other,
	const std::string &other_key);

struct HoldLimit {
	Now now;
	std::int64_t hold_seconds = 0; /* from the first allocation */
	bool gives_way = false;        /* to another workload, at once */
	/* it has given back before: nothing is asked for until that is over */
	std::optional<Condition> pause = {};
};

/* Seconds until the next try after so many in a row were for nothing: others may need the nodes,
 * and get little of them meanwhile. */
std::int64_t pause_after_tries(unsigned tries, std::int64_t hold_seconds);

/* A pod of it is bound, or about to be. */
bool has_begun(const std::vector<ComponentFacts> &components);

/* Writes `others` of each; nothing where there is one only. */
void stand_together(std::vector<ComponentFacts> &components, const HoldLimit &limit);

} // namespace slurmkube::core

#endif
