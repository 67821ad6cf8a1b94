/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/policy/priority_classes.h"

#include <algorithm>

namespace slurmkube::core
{

const PriorityClassRule *rule_of_class(const Pod &pod, const Policy &policy)
{
	const auto &all = policy.priority_classes;
	const auto found = std::ranges::find(all, pod.priority_class, &PriorityClassRule::name);
	return pod.priority_class.empty() || found == all.end() ? nullptr : &*found;
}

bool UnusedClasses::is_news(const Pod &pod, const Policy &policy)
{
	if (pod.priority_class.empty() || rule_of_class(pod, policy) || told_.size() >= k_most)
		return false;
	return told_.emplace(pod.name_space, pod.priority_class).second;
}

} // namespace slurmkube::core
