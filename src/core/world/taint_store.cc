/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/taint_store.h"

#include "src/core/placement/placement.h"

#include <algorithm>
#include <set>
#include <utility>

namespace slurmkube::core
{

namespace
{

/* How long a taint may count as tolerated after the last pod that tolerated it, so that short-lived
 * pods do not make their node drain and undrain each time. */
constexpr std::int64_t k_taint_review_us = 600'000'000, k_soon_us = 1'000'000;

} // namespace

void TaintStore::node_seen(const KubeNode &node, const IsTolerated &by_any)
{
	for (const Taint &taint : node.taints) {
		const bool keeps_off = taint.effect == "NoSchedule" || taint.effect == "NoExecute";
		if (keeps_off && !taints_.contains(taint))
			taints_[taint] = by_any(taint);
	}
}

std::vector<Taint> TaintStore::tolerated_by(const std::vector<Toleration> &tolerations)
{
	std::vector<Taint> changed;
	for (auto &[taint, is_tolerated] : taints_) {
		if (is_tolerated || !tolerates(tolerations, taint))
			continue;
		is_tolerated = true;
		changed.push_back(taint);
	}
	return changed;
}

std::vector<Taint> TaintStore::review(
	const std::map<std::string, KubeNode> &nodes, const IsTolerated &by_any, Now now)
{
	if (now.mono_us < review_us_)
		return {};
	review_us_ = now.mono_us + k_taint_review_us;
	std::set<Taint> there;
	for (const auto &[name, node] : nodes)
		there.insert(node.taints.begin(), node.taints.end());
	std::erase_if(taints_, [&there](const auto &each) { return !there.contains(each.first); });
	std::vector<Taint> changed;
	for (auto &[taint, was_tolerated] : taints_) {
		const bool is_tolerated = by_any(taint);
		if (std::exchange(was_tolerated, is_tolerated) != is_tolerated)
			changed.push_back(taint);
	}
	return changed;
}

void TaintStore::review_soon(std::int64_t seen_us)
{
	review_us_ = std::min(review_us_, seen_us + k_soon_us);
}

bool TaintStore::is_tolerated(const Taint &taint) const
{
	const auto found = taints_.find(taint);
	return found != taints_.end() && found->second;
}

} // namespace slurmkube::core
