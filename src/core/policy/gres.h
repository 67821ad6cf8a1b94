/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gres.h - maps extended resources of Kubernetes to generic resources of Slurm, by a table of
 * rules.
 *
 * Pure. A node with four of "nvidia.com/gpu" has Gres=gpu:4 in Slurm, and a pod that requests one
 * becomes a job with gpu:1. Resources without a rule are refused, because Slurm would give the same
 * devices to other jobs.
 */
#ifndef SLURMKUBE_CORE_POLICY_GRES_H
#define SLURMKUBE_CORE_POLICY_GRES_H

#include "src/base/result.h"
#include "src/core/model/job.h"
#include "src/core/model/node.h"
#include "src/core/model/pod.h"

#include <set>
#include <string>

namespace slurmkube::core
{

/* resource may end with '*', which matches any rest; a '*' in type is replaced by that rest. */
struct GresRule {
	std::string resource;
	std::string name = "gpu"; /* in Slurm's GresTypes */
	std::string type;         /* empty: no type */
	/* Label of nodes whose value is the type of their devices. Jobs request any type; a pod
	 * selects one with nodeSelector. */
	std::string type_label;
	bool operator==(const GresRule &) const = default;
};

using GresTable = std::vector<GresRule>;

/* Rules for GPUs of NVIDIA, AMD and Intel, and for NVIDIA's MIG. */
GresTable default_gres_table();

/* Devices that claims ask for, as a resource: "/gpu:a100", a name that no resource of Kubernetes
 * has. With it, claims count like extended resources in the shape of a gang. */
std::string claimed_resource(const Gres &gres);
bool is_claimed_resource(const std::string &resource);

/* What the pod requests, for example "gpu:2,gpu:mig-1g.5gb:1", or empty. invalid: a resource has no
 * rule; the error names the resource. */
Result<std::string> gres_of_pod(const Resources &requests, const GresTable &table);

/* What a node offers, in the same form, with types. Resources without a rule are left out. */
std::string gres_of_node(const KubeNode &node, const GresTable &table);

/* The first rule for the resource; nullptr: none. */
const GresRule *gres_rule(const std::string &resource, const GresTable &table);

/* The list without where the devices are, as in "gpu:2(S:0)"; Slurm appends that. */
std::string without_places(const std::string &list);

/* The items of the list whose names are not among these. */
std::string gres_without(const std::string &list, const std::set<std::string> &names);

/* Whether a list in the syntax of slurm.conf ("gpu:a100:4,fpga:1") contains this name. */
bool lists_gres(const std::string &list, const std::string &name);

/* Splits a list such as "gpu:a100:4(S:0-1),fpga". An item without a count has count 1. */
std::vector<Gres> gres_from_text(const std::string &list);

/* Total count in the list of the wanted name, and of the wanted type unless `wanted` or the item
 * has none. */
std::uint64_t gres_count(const std::vector<Gres> &list, const Gres &wanted);

/* Whether the resource is left to Kubernetes and not passed to Slurm: the binding waits until the
 * node has enough of it. */
bool is_counted_by_kubernetes(const std::string &resource);

/* Whether a node with the first list ("gpu:a100:4,shard:8") has what a job requests with the other
 * ("gpu:2", "gpu:a100:1"). */
bool has_gres(const std::string &node, const std::string &wanted);

/* The items of the list whose names occur on at least one node. */
std::string gres_among(const std::string &wanted, const std::map<std::string, SlurmNode> &nodes);

} // namespace slurmkube::core

#endif
