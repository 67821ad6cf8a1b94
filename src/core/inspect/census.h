/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * census.h - how many pods and placeholders are in which state, for metrics and `skube top`.
 *
 * Each number belongs to a fixed name, whatever users call their objects. One pass over pods and
 * one over jobs, without a search for the other side: the loop waits for it.
 */
#ifndef SLURMKUBE_CORE_INSPECT_CENSUS_H
#define SLURMKUBE_CORE_INSPECT_CENSUS_H

#include "src/core/world/state.h"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace slurmkube::core
{

enum class PodPlace {
	gated,   /* has scheduling gates */
	waiting, /* not bound, and no binding is under way */
	starting,
	running,
	ended, /* Succeeded or Failed, and the object still exists */
};

struct Census {
	/* The reason of a waiting pod is that of its condition PodScheduled; "None": it has no
	 * condition yet; "other": another scheduler wrote it. That of other pods is empty. */
	std::map<std::pair<PodPlace, std::string_view>, std::size_t> pods;
	/* The reason of a pending job is folded_reason(), that of other jobs is empty. */
	std::map<std::pair<JobState, std::string_view>, std::size_t> jobs;
};

Census census_of(const State &state);

/* "gated", "waiting" and so on */
const char *place_text(PodPlace place);

struct NodeCensus {
	std::size_t in_service = 0, drained = 0, down = 0;
	std::size_t not_ready = 0; /* in Kubernetes, whatever Slurm says */
	bool operator==(const NodeCensus &) const = default;
};

/* Of Slurm's external nodes; not_ready of Kubernetes' managed nodes. */
NodeCensus nodes_of(const State &state);

/* The waiting pod that was created first; nullptr: no pod waits. Of pods of one second, the first
 * by namespace and name. */
const PodEntry *oldest_waiting(const State &state);

/* Slurm's reason as squeue prints it, reduced to a name of a fixed list: "Resources", "QOS" for all
 * limits of a QOS, "Association" for those of associations, "Partition" for those of partitions;
 * "other". */
std::string_view folded_reason(std::string_view slurm_reason);

} // namespace slurmkube::core

#endif
