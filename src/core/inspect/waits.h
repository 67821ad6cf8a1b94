/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waits.h - what a pod waits for, from the first list of pods to the end of its job. A line of
 * `skube why`.
 */
#ifndef SLURMKUBE_CORE_INSPECT_WAITS_H
#define SLURMKUBE_CORE_INSPECT_WAITS_H

#include "src/core/world/world.h"

#include <cstdint>
#include <string>

namespace slurmkube::core
{

/* All that why.h tells of. */
struct PodStory {
	const World &world;
	const PodEntry &entry;
	const Pod &pod;
	const SlurmJob *job;        /* of its component, live or ended; nullptr: none */
	const Component &component; /* that it is of */
	const Gang *gang;           /* nullptr: it is alone */
	std::string node;           /* where it is bound, or about to be */
	Now now;
	bool is_gone;
};

std::string waits_text(const PodStory &s);

/* "12 s", rounded up; of a moment that is over "0 s". */
std::string seconds_text(std::int64_t us);

} // namespace slurmkube::core

#endif
