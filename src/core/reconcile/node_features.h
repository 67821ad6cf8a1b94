/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_features.h - the features of an external node in Slurm: that of all such nodes, that of its
 * cluster, and those that its labels and annotations name.
 *
 * Pure.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_NODE_FEATURES_H
#define SLURMKUBE_CORE_RECONCILE_NODE_FEATURES_H

#include "src/core/model/node.h"
#include "src/core/model/plugin.h"
#include "src/core/policy/label_features.h"

#include <string>

namespace slurmkube::core
{

/* Separated by commas; each once. */
std::string features_in_slurm(
	const KubeNode &node, const LabelFeatures &rules, const PluginHello &plugin);

/* Whether labels or annotations can name features; otherwise an administrator may have set them in
 * Slurm. */
bool has_own_features(const KubeNode &node, const LabelFeatures &rules);

/* The features of its annotations that Slurm cannot have, for a message, unless the node had the
 * same annotations before. before: nullptr if it is new. Empty: nothing to tell. */
std::string newly_refused_features(
	const KubeNode *before, const KubeNode &node, const PluginHello &plugin);

/* Its feature names another cluster. An agent hears of such a node if kube.conf does not name the
 * clusters any more, or not yet. */
bool is_of_another_cluster(
	const SlurmNode &node, const PluginHello &plugin, const std::string &cluster);

} // namespace slurmkube::core

#endif
