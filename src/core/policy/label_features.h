/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * label_features.h - labels of Kubernetes' nodes as features of Slurm's, and pods' preferences as
 * Slurm's --prefer.
 *
 * Pure. Which labels: nodes.features of slurmkubed.yaml. A feature is the rule's prefix and the
 * label's value: zone_a. Preferences are wishes: what cannot be expressed is left out, and what is
 * left is one wish, since Slurm takes one.
 */
#ifndef SLURMKUBE_CORE_POLICY_LABEL_FEATURES_H
#define SLURMKUBE_CORE_POLICY_LABEL_FEATURES_H

#include "src/core/model/pod.h"

#include <set>

namespace slurmkube::core
{

struct LabelFeature {
	std::string label;
	std::string prefix; /* empty: the label after its last '/', and "_" */
	bool operator==(const LabelFeature &) const = default;
};
using LabelFeatures = std::vector<LabelFeature>;

/* Of one label's value; empty: Slurm could not read it as a word. */
std::string feature_of(const LabelFeature &rule, const std::string &value);

/* Of a node, in the order of the rules, with commas. */
std::string features_of(
	const std::map<std::string, std::string> &labels, const LabelFeatures &rules);

/* In the list? */
bool has_feature(const std::string &list, const std::string &feature);

/*
 * Of the preference with the highest weight that can be expressed: every requirement says In of
 * labels with a rule, and has several values only where it stands alone. known: features of any
 * node; Slurm refuses the job for others. Empty: none can.
 */
std::string prefer_of(const std::vector<Preference> &preferences, const LabelFeatures &rules,
	const std::set<std::string> &known);

} // namespace slurmkube::core

#endif
