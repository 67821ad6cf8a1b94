/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * why.h - the whole story of one pod in a dozen lines at most: what it is, who it is in Slurm, its
 * job, and what is waited for. For `skube why`.
 *
 * Pure, from World alone: nobody is asked, so it costs nothing and says what the agent acts on.
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

/* Empty: no pod of that name has been seen. Where a name was used twice: the pod that is there
 * now. */
std::vector<WhyLine> why(
	const World &world, const std::string &name_space, const std::string &name, Now now);

} // namespace slurmkube::core

#endif
