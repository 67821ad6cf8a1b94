/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * placement.h - may this pod run on that node? kube-scheduler's filters, for a pod that Slurm
 * places.
 *
 * Pure. The rules are those of pkg/scheduler/framework/plugins in kubernetes 1.37: nodename,
 * nodeunschedulable, nodeaffinity, tainttoleration, nodeports, noderesources (fit) and, for
 * anti-affinity by the node, interpodaffinity; pod_topology.h has the rest of it.
 * testsuite/component/oracle compares them with that very code. Where we differ we refuse more:
 * tolerations with Lt and Gt (an alpha feature) tolerate nothing, and a node's host is the node
 * itself, labelled or not.
 */
#ifndef SLURMKUBE_CORE_PLACEMENT_PLACEMENT_H
#define SLURMKUBE_CORE_PLACEMENT_PLACEMENT_H

#include "src/core/model/node.h"
#include "src/core/model/pod.h"

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
	volume
};

struct Refusal {
	Cause cause = Cause::node_affinity;
	std::string why; /* of the node: "has no label disk=ssd" */
	bool operator==(const Refusal &) const = default;
};

/* Pods that hold a share of a node: bound and not terminal, or about to be bound. Borrowed. */
using Holders = std::vector<const Pod *>;

std::optional<Refusal> cordon_refuses(const Pod &pod, const KubeNode &node);

/* ignored: keys that do not keep Slurm's pods off */
std::optional<Refusal> taint_refuses(
	const Pod &pod, const std::vector<Taint> &taints, const std::vector<std::string> &ignored);

/* By its name and labels. */
std::optional<Refusal> node_refuses(const Pod &pod, const KubeNode &node);

/* By who is there: host ports, and anti-affinity of either side. */
std::optional<Refusal> holders_refuse(const Pod &pod, const Holders &holders);

/* By what is left; a node that does not list a resource has none of it. */
std::optional<Refusal> room_refuses(
	const Resources &wanted, const Resources &allocatable, const Resources &taken);

/* Of all of them; pods is their number. */
Resources held_by(const Holders &holders);

bool tolerates(const std::vector<Toleration> &tolerations, const Taint &taint);

/* Of the pod's affinity to other pods, all terms. false where there are none. */
bool matches_affinity(const Pod &pod, const Pod &other);

/* Whether the two could not share a node, be it for a port or for either one's anti-affinity. */
bool are_in_conflict(const Pod &one, const Pod &other);

/* Whether anything but the node itself matters to the pod. */
bool has_pod_constraints(const Pod &pod);

} // namespace slurmkube::core

#endif
