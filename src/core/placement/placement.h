/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * placement.h - whether a pod may run on a node: kube-scheduler's filters for pods that Slurm
 * places.
 *
 * Pure. The rules are those of pkg/scheduler/framework/plugins in kubernetes 1.37: nodename,
 * nodeunschedulable, nodeaffinity, tainttoleration, nodeports, noderesources (fit) and
 * interpodaffinity as far as it concerns anti-affinity with the topology of a node; pod_topology.h
 * has the rest of interpodaffinity. testsuite/component/oracle compares the results with those of
 * that code. All differences make placement stricter: tolerations with Lt and Gt (an alpha feature)
 * tolerate nothing, and the hostname topology is the node itself, whether or not the node has the
 * label.
 */
#ifndef SLURMKUBE_CORE_PLACEMENT_PLACEMENT_H
#define SLURMKUBE_CORE_PLACEMENT_PLACEMENT_H

#include "src/core/model/node.h"
#include "src/core/model/pod.h"
#include "src/core/model/toleration.h"

#include <optional>
#include <string>
#include <vector>

namespace slurmkube::core
{

enum class Cause {
	node_name,
	unschedulable,
	taint,
	node_affinity,
	host_port,
	resources,
	pod_affinity,
	pod_anti_affinity,
	spread,
	volume,
	device
};

struct Refusal {
	Cause cause = Cause::node_affinity;
	std::string why; /* as a predicate of the node: "has no label disk=ssd" */
	bool operator==(const Refusal &) const = default;
};

/* Pods that hold a share of a node: bound and not terminal, or about to be bound. The pods are
 * borrowed. */
using Holders = std::vector<const Pod *>;

std::optional<Refusal> cordon_refuses(const Pod &pod, const KubeNode &node);

/* ignored: keys of taints that do not keep pods of Slurm off. */
std::optional<Refusal> taint_refuses(
	const Pod &pod, const std::vector<Taint> &taints, const std::vector<std::string> &ignored);

/* Checks nodeName, nodeSelector and node affinity. */
std::optional<Refusal> node_refuses(const Pod &pod, const KubeNode &node);

/* Checks host ports, and the anti-affinity of the pod and of the holders. */
std::optional<Refusal> holders_refuse(const Pod &pod, const Holders &holders);

/* Checks the resources that are left. A node has none of a resource that it does not list. */
std::optional<Refusal> room_refuses(
	const Resources &wanted, const Resources &allocatable, const Resources &taken);

/* The sum of their requests; `pods` is their number. */
Resources held_by(const Holders &holders);

/* Whether `other` matches all terms of the pod's pod affinity; false if there are none. */
bool matches_affinity(const Pod &pod, const Pod &other);

/* Whether the two pods cannot share a node, because of a host port or the anti-affinity of
 * either. */
bool are_in_conflict(const Pod &one, const Pod &other);

/* Whether other pods matter to the pod's placement: by host ports, affinity, anti-affinity or
 * spread constraints. */
bool has_pod_constraints(const Pod &pod);

} // namespace slurmkube::core

#endif
