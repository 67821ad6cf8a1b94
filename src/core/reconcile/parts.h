/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reconcile/parts.h - what the files of reconcile() share. Pure.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_PARTS_H
#define SLURMKUBE_CORE_RECONCILE_PARTS_H

#include "src/core/reconcile/reconcile.h"

namespace slurmkube::core
{

using RankActions = std::vector<RankAction>;

/* Of the component: nothing while an earlier one is under way, or has just failed. */
RankActions own(const ComponentFacts &facts, Action action);
/* To so many of the pods that wait; not to those that are being deleted. */
RankActions tell(
	const ComponentFacts &facts, const Condition &why, std::size_t most = k_reported_ranks);
/* Asks the API server for those of which it holds, a few at a time. */
RankActions look_up(const ComponentFacts &facts, bool (*is_asked_for)(const RankFacts &));
RankActions submit(const ComponentFacts &facts);

/* ---- binding.cc: the job has its nodes, and pods live ---- */
RankActions hold_or_bind(const ComponentFacts &facts);
/* An agent before this one may have bound pods that no watch has shown yet: they are asked for
 * first. */
RankActions give_back(const ComponentFacts &facts);

/* ---- ends.cc ---- */
/* Of the job, with pods left. */
RankActions ended(const ComponentFacts &facts);
/* Of another component's job: this one's pods and job go with it. */
RankActions end_with_other(const ComponentFacts &facts);
/* Of the pods: not all have succeeded, and those that are missing may only be out of sight. */
RankActions end_absent(const ComponentFacts &facts);

} // namespace slurmkube::core

#endif
