/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sunk.h - skube migrate --from sunk: what CoreWeave's SUNK has left in a cluster, and the steps.
 *
 * SUNK is closed. The names are those of its public pages (docs.coreweave.com/products/sunk:
 * scheduler, node-controller, node-locking, nodeset, syncer) and of the repository
 * coreweave/sunk-anywhere. A program changes only nodes on which no slurmd of SUNK runs; the plan
 * tells a person the rest, and what is not known.
 */
#ifndef SLURMKUBE_SKUBE_SUNK_H
#define SLURMKUBE_SKUBE_SUNK_H

#include "src/base/programs.h"
#include "src/base/result.h"
#include "src/core/model/names.h"
#include "src/skube/migrate.h"
#include "src/skube/plan.h"

#include <string>
#include <vector>

namespace slurmkube::skube
{

inline constexpr char k_sunk_lock[] = "sunk.coreweave.com/lock"; /* taint of a node */

struct SunkPod {
	std::string name_space, name, node; /* node: empty while the pod waits */
};

struct SunkNode {
	std::string name;
	bool is_locked = false;
	bool is_cordoned = false;
	bool is_ours = false;    /* has our label */
	bool is_drained = false; /* in SUNK's Slurm, by its annotation */
	std::string reason;      /* of that drain, printable and not long */
};

/* What SUNK has left. Pods that have ended are not in it. */
struct SunkLeftovers {
	std::string scheduler;          /* name of its Pod Scheduler, as pods give it */
	std::vector<SunkPod> programs;  /* of the Pod Scheduler */
	Words other_names;              /* names that the programs have instead */
	std::vector<SunkPod> node_sets; /* pods with its slurmd */
	std::vector<SunkPod> pods;      /* that name its scheduler */
	Words unknown_annotations;      /* on these pods; slurm-kube would refuse such pods */
	std::vector<SunkNode> nodes;    /* with its label or lock */
	Words drained;                  /* nodes of this host's Slurm, by its Syncer */
	std::string server;
	Words kubectl{"kubectl"};
	std::string label = names::k_managed_label; /* of our nodes */
};

/* conflict: its Pod Scheduler has another name. */
Result<std::vector<Step>> sunk_plan(const SunkLeftovers &left);

/* Error: a question failed. What could not be asked for is not assumed to be gone. */
Result<SunkLeftovers> sunk_leftovers(const Migrate &wanted);

} // namespace slurmkube::skube

#endif
