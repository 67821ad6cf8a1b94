/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/reconcile/node_features.h"

#include "src/core/model/names.h"
#include "src/core/policy/slinky_node.h"

#include <algorithm>
#include <string_view>

namespace slurmkube::core
{

namespace
{

std::string node_feature_of(const PluginHello &plugin)
{
	return plugin.node_feature.empty() ? names::k_node_feature : plugin.node_feature;
}

} // namespace

std::string features_in_slurm(
	const KubeNode &node, const LabelFeatures &rules, const PluginHello &plugin)
{
	const std::string ours = node_feature_of(plugin);
	std::string all = ours;
	if (!plugin.cluster_feature.empty())
		all += "," + plugin.cluster_feature;
	if (const std::string more = features_of(node.labels, rules); !more.empty())
		all += "," + more;
	for (const std::string &feature : slinky_features(node.annotations, ours).features) {
		if (!has_feature(all, feature))
			all += "," + feature;
	}
	return all;
}

bool has_own_features(const KubeNode &node, const LabelFeatures &rules)
{
	return !rules.empty() || node.annotations.contains(k_external_partitions) ||
		node.annotations.contains(k_features_spec);
}

std::string newly_refused_features(
	const KubeNode *before, const KubeNode &node, const PluginHello &plugin)
{
	std::string words;
	if (node.annotations.empty() || (before && before->annotations == node.annotations))
		return words;
	for (const std::string &word :
		slinky_features(node.annotations, node_feature_of(plugin)).refused)
		words += (words.empty() ? "" : ", ") + word;
	return words;
}

bool is_of_another_cluster(
	const SlurmNode &node, const PluginHello &plugin, const std::string &cluster)
{
	const std::string start = node_feature_of(plugin) + "-";
	std::string_view list = node.features;
	while (!list.empty()) {
		const std::size_t comma = std::min(list.find(','), list.size());
		const std::string_view one = list.substr(0, comma);
		if (one.starts_with(start) && one.substr(start.size()) != cluster)
			return true;
		list.remove_prefix(std::min(comma + 1, list.size()));
	}
	return false;
}

} // namespace slurmkube::core
