/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/partitions.h"

#include "src/agent/slurm/compat.h"
#include "src/agent/slurm/errors.h"
#include "src/agent/slurm/jobs.h"
#include "src/agent/slurm/power_saving.h"
#include "src/agent/slurm/topology.h"
#include "src/base/owned.h"

#include <cerrno>
#include <cstdlib>

namespace slurmkube::slurm
{

namespace
{

using PartitionTable = Owned<partition_info_msg_t, slurm_free_partition_info_msg>;
using Conf = Owned<slurm_conf_t, compat::free_conf>;
using Name = Owned<char, std::free>;

} // namespace

Partition counted(const std::string &hosts, const KubeNodes &nodes)
{
	Partition partition;
	auto *list = slurm_hostlist_create(hosts.c_str());
	for (;;) {
		const Name name(list ? slurm_hostlist_shift(list) : nullptr);
		if (!name)
			break;
		(nodes.external.contains(name.get())                ? partition.external
				: nodes.hybrid.contains(name.get()) ? partition.hybrid
								    : partition.others)++;
	}
	if (list)
		slurm_hostlist_destroy(list);
	return partition;
}

Result<Survey> survey(const KubeNodes &nodes)
{
	Survey out;
	if (const Status there = ping_controller(); !there)
		return there.error();
	slurm_conf_t *raw_conf = nullptr;
	if (slurm_load_ctl_conf(0, &raw_conf) != SLURM_SUCCESS)
		return error_of(errno);
	const Conf conf(raw_conf);
	out.slurm_user_id = conf->slurm_user_id;
	out.slurm_user = conf->slurm_user_name ? conf->slurm_user_name : "";
	partition_info_msg_t *raw = nullptr;
	if (slurm_load_partitions(0, &raw, SHOW_ALL) != SLURM_SUCCESS)
		return error_of(errno);
	const PartitionTable table(raw);
	for (std::uint32_t i = 0; i < table->record_count; i++) {
		const partition_info_t &info = table->partition_array[i];
		Partition partition = counted(info.nodes ? info.nodes : "", nodes);
		partition.name = info.name ? info.name : "";
		partition.is_up = info.state_up == PARTITION_UP;
		out.partitions.push_back(std::move(partition));
	}
	out.to_suspend = nodes_to_suspend(*conf, *table, nodes.external);
	if (!nodes.hybrid.empty())
		out.hybrid_troubles = hybrid_troubles(hybrid_settings(*conf),
			epilog_needs(nodes.grace_seconds, nodes.have_native_pods));
	auto outside = outside_topology(*conf, *table, nodes.external);
	if (outside)
		out.outside_topology = std::move(outside).value();
	else
		out.topology_trouble = outside.error().what;
	return out;
}

namespace
{

bool has_any(const std::string &hosts, const std::set<std::string> &names)
{
	auto *list = slurm_hostlist_create(hosts.c_str());
	bool found = false;
	while (list && !found) {
		const Name name(slurm_hostlist_shift(list));
		if (!name)
			break;
		found = names.contains(name.get());
	}
	if (list)
		slurm_hostlist_destroy(list);
	return found;
}

/* A partition without PreemptMode has that of the cluster. */
bool is_suspending(const partition_info_t &partition, const slurm_conf_t &conf)
{
	const std::uint16_t mode =
		partition.preempt_mode == NO_VAL16 ? conf.preempt_mode : partition.preempt_mode;
	const std::string type = conf.preempt_type ? conf.preempt_type : "";
	return !type.empty() && !type.ends_with("none") && (mode & PREEMPT_MODE_SUSPEND) != 0;
}

} // namespace

bool is_oversubscribed(std::uint16_t max_share)
{
	return (max_share & SHARED_FORCE) != 0 && (max_share & ~SHARED_FORCE) > 1;
}

Result<SharingPartitions> sharing_partitions(const std::set<std::string> &external)
{
	slurm_conf_t *conf = nullptr;
	if (slurm_load_ctl_conf(0, &conf) != SLURM_SUCCESS)
		return error_of(errno);
	const Owned<slurm_conf_t, compat::free_conf> conf_owner(conf);
	partition_info_msg_t *raw = nullptr;
	if (slurm_load_partitions(0, &raw, SHOW_ALL) != SLURM_SUCCESS)
		return error_of(errno);
	const PartitionTable table(raw);
	SharingPartitions out;
	for (std::uint32_t i = 0; i < table->record_count; i++) {
		const partition_info_t &partition = table->partition_array[i];
		if (!partition.name)
			continue;
		if (is_oversubscribed(partition.max_share))
			out.refused[partition.name] = "has OverSubscribe=FORCE:" +
				std::to_string(partition.max_share & ~SHARED_FORCE) +
				": Slurm would start and charge jobs whose CPUs the pods of others "
				"still use; an administrator must set OverSubscribe=NO";
		if (is_suspending(partition, *conf) && partition.nodes &&
			has_any(partition.nodes, external))
			out.suspending.emplace_back(partition.name);
	}
	return out;
}

} // namespace slurmkube::slurm
