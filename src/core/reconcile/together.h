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

#include "src/core/reconcile/hold.h"

namespace slurmkube::core
{

struct HoldLimit {
	Now now;
	std::int64_t hold_seconds = 0; /* from the first allocation */
	bool gives_way = false;        /* at once, to another workload */
	/* Set after nodes were given back: nothing is submitted until the pause is over. */
	std::optional<Condition> pause = {};
};

/* Whether a pod of the workload is bound, or about to be. */
bool has_begun(const std::vector<ComponentFacts> &components);

/* Writes `others` of each component; does nothing for a workload with a single one. */
void stand_together(std::vector<ComponentFacts> &components, const HoldLimit &limit);

} // namespace slurmkube::core

#endif
