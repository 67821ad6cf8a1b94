/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/policy/evictions.h"

#include "src/core/model/names.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

bool is_karpenters(const std::string &key)
{
	return key.starts_with("karpenter.sh/");
}

bool may_be_karpenters(const KubeNode *node)
{
	return !node || std::ranges::any_of(node->labels, [](const auto &label) {
		return is_karpenters(label.first);
	}) || std::ranges::any_of(node->taints, [](const Taint &taint) {
		return is_karpenters(taint.key);
	});
}

} // namespace

std::map<std::string, std::string> not_to_evict(const KubeNode *node)
{
	std::map<std::string, std::string> out;
	for (const auto &[key, value] : names::k_not_to_evict) {
		if (!is_karpenters(std::string(key)) || may_be_karpenters(node))
			out.emplace(key, value);
	}
	return out;
}

} // namespace slurmkube::core
