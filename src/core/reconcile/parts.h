/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reconcile/parts.h - functions that the files of reconcile() share. Pure.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_PARTS_H
#define SLURMKUBE_CORE_RECONCILE_PARTS_H

#include "src/core/reconcile/reconcile.h"

namespace slurmkube::core
{

using RankActions = std::vector<RankAction>;

/* The action, for the component as a whole. Empty while an earlier one is under way, and during the
 * back-off after a failure. */
RankActions own(const ComponentFacts &facts, Action action);
/* Reports why to at most `most` of the waiting pods, except those that are being deleted. */
RankActions tell(
	const ComponentFacts &facts, const Condition &why, std::size_t most = k_reported_ranks);
/* Asks the API server for the pods that the predicate selects, an eighth of all at a time. */
RankActions look_up(const ComponentFacts &facts, bool (*is_wanted)(const RankFacts &));
/* Submits a job, or reports what that waits for. */
RankActions submit(const ComponentFacts &facts);

/* ---- hold.cc: of several components ---- */
/* Of two times that may be unknown (0). */
std::int64_t earlier(std::int64_t one, std::int64_t other);
bool is_allocated(const ComponentFacts &facts);
/* All its ranks have succeeded. */
bool is_over(const ComponentFacts &facts);
/* It needs nothing before the others may start. */
bool is_settled(const ComponentFacts &facts);
bool is_gated(const ComponentFacts &facts);

/* ---- binding.cc: the job has its nodes, and pods live ---- */
RankActions hold_or_bind(const ComponentFacts &facts);
/* Ends the job with k_status_given_back. An agent before this one may have bound pods that no watch
 * has shown yet, so the API server is asked for unconfirmed pods first. */
RankActions give_back(const ComponentFacts &facts);
/* The same with that end. */
RankActions end_unbound(const ComponentFacts &facts, const Complete &end);

/* ---- ends.cc ---- */
/* The job has ended, and pods are left. */
RankActions ended(const ComponentFacts &facts);
/* Slurm has forgotten the job whose end meant that pods go, and they are still there. */
RankActions evict_again(const ComponentFacts &facts);
/* A job of another component has ended: the pods and the job of this component end with it. */
RankActions end_with_other(const ComponentFacts &facts);
/* The pods have ended, and not all have succeeded; missing pods may only be out of sight. */
RankActions end_absent(const ComponentFacts &facts);

} // namespace slurmkube::core

#endif
