/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * why.h - tells the story of one pod in about a dozen lines: what it is, who it is in Slurm, its
 * job, and what it waits for. For `skube why`.
 *
 * Pure. The answer comes from World alone: no request is sent, so it is cheap and shows what the
 * agent acts on.
 */
#ifndef SLURMKUBE_CORE_INSPECT_WHY_H
#define SLURMKUBE_CORE_INSPECT_WHY_H

#include "src/core/world/world.h"

#include <string>
#include <vector>

namespace slurmkube::core
{

struct WhyLine {
	std::string about; /* "pod", "rule", "asks for", "job", "node", "waits for", ... */
	std::string text;
};

/* Empty: no pod of that name has been seen. If several pods had the name, the one that exists is
 * described. */
std::vector<WhyLine> why(
	const World &world, const std::string &name_space, const std::string &name, Now now);

} // namespace slurmkube::core

#endif
