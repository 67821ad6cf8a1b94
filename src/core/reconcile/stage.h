/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stage.h - where a component is, in one word.
 *
 * Computed from what is observed, never set by an event: another agent that sees the same finds the
 * same. World keeps it with the moment it was entered, `skube why` and a debugger print it, and the
 * simulator asserts on it (decision 12).
 */
#ifndef SLURMKUBE_CORE_RECONCILE_STAGE_H
#define SLURMKUBE_CORE_RECONCILE_STAGE_H

#include "src/core/reconcile/facts.h"

namespace slurmkube::core
{

enum class ComponentStage {
	unplaced, /* it is not known yet which workload the pod belongs to */
	/* waits for pods, claims, other components, or somebody who corrects what it asks for */
	gathering,
	due,        /* is to be submitted, now or after a pause */
	submitting, /* waits for slurmctld's answer */
	queued,     /* waits in Slurm's queue */
	held,       /* has its nodes, and waits for room, the prolog, claims or other components */
	binding,    /* pods are being bound */
	running,    /* pods are bound; those that have not come are bound as they do */
	ending,     /* the pods or the job have ended, and the other side has not */
	lost,       /* pods run, and Slurm has no job for them, or one that still waits */
	over,       /* nothing is left to do */
};

ComponentStage stage_of(const ComponentFacts &facts);
/* With that action under way. */
ComponentStage stage_after(ComponentStage stage, const Action &action);

/* It waits for an answer, or for what follows from one: none stays there where all answer. */
bool is_passing(ComponentStage stage);

/* "queued", ...; one word, lower case */
const char *stage_text(ComponentStage stage);

} // namespace slurmkube::core

#endif
