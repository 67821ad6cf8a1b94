/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * foreign_partitions.h - remembers for a second which partitions have nodes of another Kubernetes
 * cluster.
 *
 * The answer takes a walk over the partition's nodes, under slurmctld's locks, and a burst of
 * submissions asks for the same partition. An administrator may add a node at any later time, so an
 * answer that is a second old is no worse than a new one. Any thread may call.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_FOREIGN_PARTITIONS_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_FOREIGN_PARTITIONS_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace slurmkube::plugin
{

class ForeignPartitions
{
      public:
	static constexpr std::int64_t k_for_ns = 1'000'000'000;
	static constexpr std::size_t k_known_max = 256;

	/* look: walks over the nodes; nullopt: there is no such partition, which is not remembered,
	 * because a request may name any. of_cluster: the feature of the cluster's nodes. */
	bool has_foreign(const std::string &partition, const std::string &of_cluster,
		std::int64_t now_ns, const std::function<std::optional<bool>()> &look);

      private:
	struct Known {
		std::int64_t since_ns;
		bool has_foreign;
	};
	std::mutex mutex_;
	std::map<std::pair<std::string, std::string>, Known> known_;
};

} // namespace slurmkube::plugin

#endif
