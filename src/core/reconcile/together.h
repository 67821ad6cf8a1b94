/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * together.h - starts all components of a workload together, or none.
 *
 * Pure. Each component is a job of its own and reconcile() decides about it; this file determines
 * what the other components mean for it. The component with the largest request is submitted first,
 * the others when it has its nodes. Pods are bound when all components have their nodes. Nodes that
 * are held meanwhile are charged, so they are given back after a while. The end of one job can end
 * all; see ends_all() in together.cc.
 *
 * Everything except the pauses and the component that goes first is derived from the present jobs
 * and pods, so a new agent continues where the previous one stopped.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_TOGETHER_H
#define SLURMKUBE_CORE_RECONCILE_TOGETHER_H

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
	/* the earliest queued_since() of the jobs, seconds since the epoch; 0: there is no job */
	std::int64_t submitted = 0;
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

struct HoldLimit {
	Now now;
	std::int64_t hold_seconds = 0; /* from the first allocation */
	bool gives_way = false;        /* at once, to another workload */
	/* Set after nodes were given back: nothing is submitted until the pause is over. */
	std::optional<Condition> pause = {};
};

/* Seconds until the next try, after that many fruitless tries in a row. The pause doubles, because
 * other workloads may need the nodes and get little of them during a try. */
std::int64_t pause_after_tries(unsigned tries, std::int64_t hold_seconds);

/* Whether a pod of the workload is bound, or about to be. */
bool has_begun(const std::vector<ComponentFacts> &components);

/* Writes `others` of each component; does nothing for a workload with a single one. */
void stand_together(std::vector<ComponentFacts> &components, const HoldLimit &limit);

} // namespace slurmkube::core

#endif
