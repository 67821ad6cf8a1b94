/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shrink.h - looks for the shortest script that still violates the same invariant, by dropping
 * smaller and smaller runs of events.
 */
#ifndef SLURMKUBE_TESTSUITE_SIM_SHRINK_H
#define SLURMKUBE_TESTSUITE_SIM_SHRINK_H

#include "testsuite/sim/simulation.h"

namespace slurmkube::sim
{

struct Shrunk {
	Script script;
	Outcome outcome; /* with its story */
};

Shrunk shrink(std::uint64_t seed, Script script, Plant plant, const std::string &invariant);

} // namespace slurmkube::sim

#endif
