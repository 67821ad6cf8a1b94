/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/foreign_partitions.h"

namespace slurmkube::plugin
{

bool ForeignPartitions::has_foreign(const std::string &partition, const std::string &of_cluster,
	std::int64_t now_ns, const std::function<std::optional<bool>()> &look)
{
	std::lock_guard lock(mutex_);
	if (known_.size() > k_known_max)
		known_.clear();
	const std::pair key{partition, of_cluster};
	const auto known = known_.find(key);
	if (known != known_.end() && now_ns - known->second.since_ns < k_for_ns)
		return known->second.has_foreign;
	const std::optional<bool> has = look();
	if (has)
		known_.insert_or_assign(key, Known{now_ns, *has});
	return has.value_or(false);
}

} // namespace slurmkube::plugin
