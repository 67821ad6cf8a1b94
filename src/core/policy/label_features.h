/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * label_features.h - maps labels of Kubernetes nodes to features of Slurm nodes, and preferences of
 * pods to Slurm's --prefer.
 *
 * Pure. nodes.features of slurmkubed.yaml says which labels are used. A feature is the prefix of
 * the rule followed by the value of the label: zone_a. Preferences are optional: those that Slurm
 * cannot express are left out, and only one of the others is used, because Slurm takes one.
 */
#ifndef SLURMKUBE_CORE_POLICY_LABEL_FEATURES_H
#define SLURMKUBE_CORE_POLICY_LABEL_FEATURES_H

#include "src/core/model/pod.h"

#include <set>

namespace slurmkube::core
{

struct LabelFeature {
	std::string label;
	std::string prefix; /* empty: the part of the label after its last '/', followed by "_" */
	bool operator==(const LabelFeature &) const = default;
};
using LabelFeatures = std::vector<LabelFeature>;

/* The feature for a label's value; empty: Slurm could not read it as one word. */
std::string feature_of(const LabelFeature &rule, const std::string &value);

/* The features of a node, in the order of the rules, separated by commas. */
std::string features_of(
	const std::map<std::string, std::string> &labels, const LabelFeatures &rules);

/* Whether the comma-separated list contains the feature. */
bool has_feature(const std::string &list, const std::string &feature);

/*
 * The value of --prefer for the preference with the highest weight that Slurm can express. All its
 * requirements must use In with labels that have a rule, and a requirement with several values must
 * be the only one. known: features of all nodes; Slurm refuses jobs that name others. Empty: no
 * preference can be expressed.
 */
std::string prefer_of(const std::vector<Preference> &preferences, const LabelFeatures &rules,
	const std::set<std::string> &known);

} // namespace slurmkube::core

#endif
