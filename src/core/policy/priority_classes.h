/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * priority_classes.h - what the PriorityClass of a pod means in Slurm, and which pods are told that
 * theirs means nothing there.
 *
 * Pure. Slurm orders its queue by its own priorities. A class counts only if priority_classes of
 * slurmkubed.yaml has a rule for it, whichever class it is: system-node-critical is no exception.
 */
#ifndef SLURMKUBE_CORE_POLICY_PRIORITY_CLASSES_H
#define SLURMKUBE_CORE_POLICY_PRIORITY_CLASSES_H

#include "src/core/model/pod.h"
#include "src/core/policy/policy.h"

#include <set>
#include <utility>

namespace slurmkube::core
{

/* nullptr: the class has no rule, or the pod no class. */
const PriorityClassRule *rule_of_class(const Pod &pod, const Policy &policy);

/* Classes without a rule, of which a pod has been told. */
class UnusedClasses
{
      public:
	static constexpr std::size_t k_most = 1000; /* classes, counted in each namespace */

	/* Whether the pod is the first of its namespace with this class, and the class has no rule.
	 * After k_most such pods it is false for all others. */
	bool is_news(const Pod &pod, const Policy &policy);

      private:
	std::set<std::pair<std::string, std::string>> told_; /* namespace and class */
};

} // namespace slurmkube::core

#endif
