/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reconcile.h - decides what to do about pods and the external job that they share, from what is
 * observed at present.
 *
 * Pure and total: every pair of pod side and job side has a row in
 * testsuite/unit/test_reconcile.cc. World calls it whenever something about the workload has
 * changed, and again after every action. Every action may be repeated, because the agent may die at
 * any moment while it carries one out.
 *
 * The job is requested for all ranks at once. Pods are bound as they come, because controllers
 * create some pods only after others are Ready. The allocation stays while a pod lives, and for
 * limits.gang_hold_seconds longer, so that a replacement for a failed pod can take its rank.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_RECONCILE_H
#define SLURMKUBE_CORE_RECONCILE_RECONCILE_H

#include "src/core/reconcile/facts.h"

namespace slurmkube::core
{

struct RankAction {
	PodUid pod; /* empty uid: the action is for the component as a whole */
	Action action;
};

/* What to do next. Empty: nothing at present. */
std::vector<RankAction> reconcile(const ComponentFacts &facts);

/* An Update of the waiting job; or, where that is not needed or not possible, a Report that the job
 * waits and why it stays unchanged. spec: must be set if change says that something differs. */
Action change_of(const SlurmJob &job, const JobChange &change, const Result<JobSpec> *spec);

/* Maximum number of pods that are told what they wait for, by rank: a write for every pod of a
 * large gang would delay other writes to the API server. Refusals are reported to all pods. */
inline constexpr std::size_t k_reported_ranks = 16;

/* How many pods of a component are looked up at a time: an eighth, so that the first answer still
 * counts when the last one comes, within these bounds. */
inline constexpr std::size_t k_looked_up_least = 16, k_looked_up_most = 256;

/* FAILED 124:0, the status that timeout(1) uses: pods of the gang never came. */
inline constexpr std::uint32_t k_status_never_came = 124U << 8;

} // namespace slurmkube::core

#endif
