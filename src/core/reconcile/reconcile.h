/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reconcile.h - what to do about pods and the external job they have together, from what is
 * observed now.
 *
 * Pure and total: every pair of sides has a row (testsuite/unit/test_reconcile.cc). Called whenever
 * something of the workload changed, and again after every action; each action may be repeated,
 * because whoever carries it out may die at any moment.
 *
 * The job is asked for with all ranks at once; pods are bound as they come, because controllers
 * make some only after others are Ready. The allocation stays while a pod lives, and for a while
 * longer where one that failed is replaced into its own rank.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_RECONCILE_H
#define SLURMKUBE_CORE_RECONCILE_RECONCILE_H

#include "src/core/reconcile/facts.h"

namespace slurmkube::core
{

struct RankAction {
	PodUid pod; /* empty text: the component's own */
	Action action;
};

std::vector<RankAction> reconcile(const ComponentFacts &facts);

/* Update of a waiting job, or the Report that it waits, and why it stays as it is. spec: set where
 * something has changed. */
Action change_of(const SlurmJob &job, const JobChange &change, const Result<JobSpec> *spec);

/* So many pods are told of what they wait for, by rank: a write for every pod of a large gang would
 * be in the way of others. Refusals are told to all. */
inline constexpr std::size_t k_reported_ranks = 16;

/* FAILED 124:0, as timeout(1) says it: pods of the gang never came */
inline constexpr std::uint32_t k_status_never_came = 124U << 8;

} // namespace slurmkube::core

#endif
