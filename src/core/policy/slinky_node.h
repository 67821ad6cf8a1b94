/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slinky_node.h - annotations on Kubernetes nodes that slurm-bridge and slurm-operator document:
 * features of the node in Slurm, its place in topologies, and why it is cordoned.
 *
 * Pure. Other programs write these texts, so what Slurm could misread is left out, and their length
 * and number are limited.
 */
#ifndef SLURMKUBE_CORE_POLICY_SLINKY_NODE_H
#define SLURMKUBE_CORE_POLICY_SLINKY_NODE_H

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::core
{

inline constexpr char k_external_partitions[] =
	"scheduler.slinky.slurm.net/external-node-partitions";
inline constexpr char k_features_spec[] = "features.slinky.slurm.net/spec";
inline constexpr char k_topology_spec[] = "topology.slinky.slurm.net/spec";
inline constexpr char k_cordon_reason[] = "nodeset.slinky.slurm.net/node-cordon-reason";

using NodeAnnotations = std::map<std::string, std::string>;

/* Whether it is one of those above. */
bool is_of_slinky(std::string_view annotation);

struct SlinkyFeatures {
	std::vector<std::string> features; /* each once */
	std::vector<std::string> refused;  /* for a message: printable, short and few */
};

/*
 * The names of partitions as they are, and those of features.slinky.slurm.net/spec with the prefix
 * k8s/. node_feature: that of external nodes; neither it nor what begins with it and '-' may be
 * given, because these features say to which cluster a node belongs.
 */
SlinkyFeatures slinky_features(const NodeAnnotations &annotations, const std::string &node_feature);

/* As in "topo-switch:s2,topo-block:b2"; empty: none was given, or one of more than 1024 bytes. */
std::string slinky_topology(const NodeAnnotations &annotations);

/* Printable and short; empty: none was given. */
std::string slinky_cordon_reason(const NodeAnnotations &annotations);

} // namespace slurmkube::core

#endif
