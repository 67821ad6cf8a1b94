/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waits.h - what a pod waits for, at any time from the agent's first list of pods to the end of the
 * pod's job. It is one line of `skube why`.
 */
#ifndef SLURMKUBE_CORE_INSPECT_WAITS_H
#define SLURMKUBE_CORE_INSPECT_WAITS_H

#include "src/core/world/world.h"

#include <cstdint>
#include <string>

namespace slurmkube::core
{

/* Everything that why() looks at for one pod. References and pointers are borrowed from World. */
struct PodStory {
	const World &world;
	const PodEntry &entry;
	const Pod &pod;
	const SlurmJob *job;        /* of the pod's component, live or ended; nullptr: none */
	const Component &component; /* of the pod */
	const Gang *gang;           /* nullptr: the pod runs alone */
	std::string node;           /* where the pod is bound, or about to be; empty: nowhere */
	Now now;
	bool is_gone;
	/* claim_trouble_of_gang(), if the caller tells the stories of many pods of the gang: it
	 * looks at all of them */
	const std::string *claims_of_gang = nullptr;
};

/* The story of a pod that exists, or of the last sight of one that is gone. */
PodStory pod_story(const World &world, const PodEntry &entry, Now now);

/* Completes the sentence "The pod waits for ...". */
std::string waits_text(const PodStory &s);

/* "12 s", rounded up; "0 s" for negative times. */
std::string seconds_text(std::int64_t us);

} // namespace slurmkube::core

#endif
