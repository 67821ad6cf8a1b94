/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hold.h - what a workload of several components holds while none of its pods runs: since when, who
 * of two workloads gives way, and how long it pauses after it has given its nodes back.
 *
 * Pure. The rules are those of doc/design/decisions/0012-workloads-of-components.md.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_HOLD_H
#define SLURMKUBE_CORE_RECONCILE_HOLD_H

#include "src/core/model/now.h"
#include "src/core/reconcile/reconcile.h"

namespace slurmkube::core
{

/* How often a workload had nodes for some of its components only and gave them back. */
struct Tries {
	unsigned count = 0;
	/* the earliest next try, by both clocks */
	std::int64_t next_us = 0, next_epoch_seconds = 0;
};

struct Holding {
	/* Monotonic microseconds since when an allocation has waited for other components; 0: none
	 * does. */
	std::int64_t since_us = 0;
	/* Creation of the oldest live pod, or if none lives the earliest queued_since() of the
	 * jobs, seconds since the epoch; 0: there is no job. */
	std::int64_t queued_since = 0;
	std::vector<std::string> partitions; /* of the components' jobs */
};

/* What a workload holds while none of its pods runs, over all its components. Since when is the
 * earlier of Slurm's start time and of what this agent saw, because wall clocks can step. */
Holding holding_of(const std::vector<ComponentFacts> &components, Now now);

/*
 * If two workloads hold nodes and their jobs share a partition, the one that was queued later
 * gives way. Returns whether `one` gives way to `other`. keys: workload_key() of each. The order is
 * total, so that the first workload in it always makes progress.
 */
bool gives_way_to(const Holding &one, const std::string &key, const Holding &other,
	const std::string &other_key);

/* Seconds until the next try, after that many fruitless tries in a row. The pause doubles, because
 * other workloads may need the nodes and get little of them during a try. */
std::int64_t pause_after_tries(unsigned tries, std::int64_t hold_seconds);

} // namespace slurmkube::core

#endif
