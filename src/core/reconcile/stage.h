/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stage.h - the progress of a component, in one word.
 *
 * A stage is computed from the facts and never set by an event, so another agent that sees the same
 * facts finds the same stage. World keeps it with the time at which it was entered. `skube why`
 * prints it, a debugger shows it, and the simulator asserts on it (decision 12).
 */
#ifndef SLURMKUBE_CORE_RECONCILE_STAGE_H
#define SLURMKUBE_CORE_RECONCILE_STAGE_H

#include "src/core/reconcile/facts.h"

namespace slurmkube::core
{

enum class ComponentStage {
	ungrouped, /* it is not known yet which workload the pod belongs to */
	/* Waits for pods, claims, other components, or a correction of what it requests. */
	gathering,
	due,        /* will be submitted, at once or after a pause */
	submitting, /* waits for slurmctld's answer */
	queued,     /* waits in Slurm's queue */
	/* has nodes, but waits for room, the prolog, claims or other components */
	held,
	binding, /* pods are being bound */
	running, /* pods are bound; missing ones are bound as they come */
	ending,  /* either the pods or the job have ended; the other side has not */
	/* pods run, but Slurm has no job for them, or only a pending one */
	lost,
	over, /* nothing is left to do */
};

ComponentStage stage_of(const ComponentFacts &facts);
/* The stage once that action is under way. */
ComponentStage stage_after(ComponentStage stage, const Action &action);

/* Whether the stage lasts only until an answer, or what follows from it, arrives. If everything
 * answers, no component stays in such a stage. */
bool is_passing(ComponentStage stage);

/* "queued", ...; one word, lower case */
const char *stage_text(ComponentStage stage);

} // namespace slurmkube::core

#endif
