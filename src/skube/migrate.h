/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * migrate.h - skube migrate --from slurm-bridge: takes a cluster over from SchedMD's slurm-bridge,
 * in an order in which no running pod ends.
 *
 * The names are those of slurm-bridge 1.2 (internal/wellknown, helm/slurm-bridge). Before each step
 * the command asks kubectl, scontrol and squeue what is left; the plan that follows from the
 * answers is pure.
 */
#ifndef SLURMKUBE_SKUBE_MIGRATE_H
#define SLURMKUBE_SKUBE_MIGRATE_H

#include "src/base/programs.h"
#include "src/base/result.h"
#include "src/core/model/names.h"
#include "src/skube/plan.h"

#include <set>
#include <string>
#include <vector>

namespace slurmkube::skube
{

inline constexpr char k_bridge_finalizer[] = "scheduler.slinky.slurm.net/finalizer";
inline constexpr char k_bridge_taint[] = "slinky.slurm.net/managed-node";

struct BridgePod {
	std::string name_space, name, node; /* node: empty while the pod waits */
	bool has_ended = false;
};

struct BridgeNode {
	std::string name;
	std::string slurm_name;   /* name or label slinky.slurm.net/slurm-nodename */
	bool is_external = false; /* by its label; others have a slurmd as well */
	bool is_tainted = false;
	bool is_ours = false; /* has our label */
};

struct BridgeProgram {
	std::string name_space, name;
	bool is_running = false; /* of a deployment: replicas are wanted */
};

struct BridgeJob {
	std::string id;
	bool is_waiting = false;
	Words pods; /* NAMESPACE/NAME */
};

/* What slurm-bridge has left. */
struct BridgeLeftovers {
	/* "mutatingwebhookconfiguration/NAME"; those that have webhooks of others too */
	Words webhooks, shared_webhooks;
	std::vector<BridgeProgram> deployments, program_pods;
	/* with its finalizer, which it gives to pods that have a job */
	std::vector<BridgePod> pods;
	std::set<std::string> pod_jobs; /* NAMESPACE/NAME:ID of all pods with its label of a job */
	std::vector<BridgeNode> nodes;
	std::vector<BridgeJob> jobs; /* that have not ended */
	/* Slurm's records of its external nodes; those that an administrator drained */
	Words slurm_nodes, drained_nodes;
	Words open_partitions;   /* only of these nodes; jobs may start there */
	bool is_stopped = false; /* the user says that slurm-bridge runs nowhere */
	std::string server;
	Words kubectl{"kubectl"};
	std::string label = names::k_managed_label; /* of our nodes */
};

/* conflict: Kubernetes and Slurm seem not to belong together. */
Result<std::vector<Step>> migrate_plan(const BridgeLeftovers &left);

struct Migrate {
	std::string from;      /* "slurm-bridge" or "sunk" */
	std::string scheduler; /* of SUNK */
	std::string kubeconfig, context;
	std::string label = names::k_managed_label;
	bool apply = false;
	bool is_stopped = false; /* the user says that slurm-bridge runs nowhere */
};

/* Error: a question failed. What could not be asked for is not assumed to be gone. */
Result<BridgeLeftovers> bridge_leftovers(const Migrate &wanted);

/* What is wrong with the options; empty: nothing. */
std::string migrate_usage(const Migrate &wanted);

/* again: a person must do something first. */
Status migrate(const Migrate &wanted);

} // namespace slurmkube::skube

#endif
