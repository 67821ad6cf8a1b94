/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * why.h - tells the story of one pod, node, job or owner in about a dozen lines: what it is, who it
 * is in Slurm, and what it waits for. For `skube why`.
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

/* Whether Slurm uses the node, why not, which pods are there, and what avoids it. Empty: neither
 * side has it. */
std::vector<WhyLine> why_node(const World &world, const std::string &name);

/* The components of an owner with their jobs, and its pods by what they wait for. kind: in any
 * case. Empty: no pod and no gang of this owner has been seen. */
std::vector<WhyLine> why_owner(const World &world, const std::string &kind,
	const std::string &name_space, const std::string &name, Now now);

/* The job, then its pod or owner. Empty: no placeholder has this number. */
std::vector<WhyLine> why_job(const World &world, JobId id, Now now);

/* ---- the same as data; nullptr and empty as above ---- */
const PodEntry *find_pod(
	const World &world, const std::string &name_space, const std::string &name);
/* The pods that exist. */
std::vector<const PodEntry *> pods_of_owner(const World &world, const std::string &kind,
	const std::string &name_space, const std::string &name);

} // namespace slurmkube::core

#endif
