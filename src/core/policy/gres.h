/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gres.h - extended resources of Kubernetes as Slurm's generic resources, by a table.
 *
 * Pure. A node that has four of "nvidia.com/gpu" is Gres=gpu:4 in Slurm, and a pod that asks for
 * one is a job with gpu:1. What no rule names is refused: Slurm would give the node's devices to
 * others.
 */
#ifndef SLURMKUBE_CORE_POLICY_GRES_H
#define SLURMKUBE_CORE_POLICY_GRES_H

#include "src/base/result.h"
#include "src/core/model/job.h"
#include "src/core/model/node.h"
#include "src/core/model/pod.h"

namespace slurmkube::core
{

/* resource may end with '*', which stands for any rest; a '*' in type is that rest. */
struct GresRule {
	std::string resource;
	std::string name = "gpu"; /* in Slurm's GresTypes */
	std::string type;         /* empty: none */
	/* of nodes: its value is their type. Jobs ask for any type; a pod chooses by
	 * nodeSelector */
	std::string type_label;
	bool operator==(const GresRule &) const = default;
};

using GresTable = std::vector<GresRule>;

/* GPUs of NVIDIA, AMD and Intel, and NVIDIA's MIG. */
GresTable default_gres_table();

/* "gpu:2,gpu:mig-1g.5gb:1", or empty. invalid: names the resource that no rule names. */
Result<std::string> gres_of_pod(const Resources &requests, const GresTable &table);

/* The same of what a node offers, with its types. */
std::string gres_of_node(const KubeNode &node, const GresTable &table);

/* The first rule for the resource; nullptr: none. */
const GresRule *gres_rule(const std::string &resource, const GresTable &table);

/* Whether a list as in slurm.conf ("gpu:a100:4,fpga:1") has something of that name. */
bool lists_gres(const std::string &list, const std::string &name);

/* "gpu:a100:4(S:0-1),fpga" as its parts; a part without a count has one. */
std::vector<Gres> gres_from_text(const std::string &list);

/* How much of the list is of that name, and of that type if one is wanted and the list tells
 * types. */
std::uint64_t gres_count(const std::vector<Gres> &list, const Gres &wanted);

/* What Kubernetes counts and Slurm does not need to: the binding waits for it. */
bool is_counted_by_kubernetes(const std::string &resource);

/* Whether a node of this list ("gpu:a100:4,shard:8") has what a job of the other asks for ("gpu:2",
 * "gpu:a100:1"). */
bool has_gres(const std::string &node, const std::string &wanted);

/* Those items of the list whose names some node has. */
std::string gres_among(const std::string &wanted, const std::map<std::string, SlurmNode> &nodes);

} // namespace slurmkube::core

#endif
