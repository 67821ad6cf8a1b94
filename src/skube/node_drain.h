/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_drain.h - skube drain and skube resume: take a node out of service on both sides, with one
 * reason, and undo that.
 *
 * kubectl and scontrol run with the caller's own rights; the agent is not asked. Slurm has the
 * reason "skube: TEXT", the Kubernetes node a cordon and the annotation
 * slurm-kube.io/drain-reason. The agent leaves both alone, because the reason does not begin with
 * its own prefix. What others have drained or cordoned is refused: to undo it is theirs.
 */
#ifndef SLURMKUBE_SKUBE_NODE_DRAIN_H
#define SLURMKUBE_SKUBE_NODE_DRAIN_H

#include "src/base/programs.h"
#include "src/base/result.h"

#include <string>
#include <vector>

namespace slurmkube::skube
{

inline constexpr char k_drain_prefix[] = "skube: ";
inline constexpr std::size_t k_drain_reason_max = 200;

struct DrainState {
	std::string node;
	bool in_kubernetes = false, cordoned = false;
	std::string annotation = {}; /* the reason that skube wrote; empty: none */
	bool in_slurm = false, drained = false;
	std::string reason = {};     /* of Slurm, without user and time */
	std::string features = {};   /* in Slurm */
	std::string cluster = {};    /* name in the agent's configuration; empty: not known */
	Words kubectl{"kubectl"};    /* with its options */
	std::string slurm_name = {}; /* empty: the same name */
	std::string label = {};      /* that names it in Slurm; empty: none does */

	[[nodiscard]] const std::string &in_slurm_as() const
	{
		return slurm_name.empty() ? node : slurm_name;
	}
};

/* What is left to do, in this order; empty: nothing. conflict: it is drained or cordoned by others;
 * not_found: one side does not have the node; invalid: the reason is empty, too long or not
 * printable. The texts say what helps. */
Result<std::vector<Words>> drain_commands(const DrainState &state, const std::string &reason);
Result<std::vector<Words>> resume_commands(const DrainState &state);

struct DrainRequest {
	std::string node, reason;
	bool resumes = false;
	bool verbose = false;                      /* print each command */
	std::string kubeconfig = {}, context = {}; /* for kubectl; empty: its defaults */
	std::string config = {}; /* the agent's file that --config names; empty: none */
	std::string socket = {}; /* the agent's */
};

/* Asks both sides, does what is left, and prints what was done. After a failure the same command
 * goes on where it stopped. */
Status drain_or_resume(const DrainRequest &wanted);

} // namespace slurmkube::skube

#endif
