/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/partitions.h"

#include "src/agent/slurm/compat.h"
#include "src/agent/slurm/errors.h"
#include "src/base/owned.h"

#include <cerrno>
#include <cstdlib>

namespace slurmkube::slurm
{

namespace
{

using PartitionTable = Owned<partition_info_msg_t, slurm_free_partition_info_msg>;
using Name = Owned<char, std::free>;

} // namespace

bool is_mixed(const std::string &hosts, const std::set<std::string> &external)
{
	auto *list = slurm_hostlist_create(hosts.c_str());
	bool ours = false, theirs = false;
	for (;;) {
		const Name name(list ? slurm_hostlist_shift(list) : nullptr);
		if (!name)
			break;
		(external.contains(name.get()) ? ours : theirs) = true;
	}
	if (list)
		slurm_hostlist_destroy(list);
	return ours && theirs;
}

Result<std::vector<std::string>> mixed_partitions(const std::set<std::string> &external)
{
	partition_info_msg_t *raw = nullptr;
	if (slurm_load_partitions(0, &raw, SHOW_ALL) != SLURM_SUCCESS)
		return error_of(errno);
	const PartitionTable table(raw);
	std::vector<std::string> mixed;
	for (std::uint32_t i = 0; i < table->record_count; i++) {
		const partition_info_t &partition = table->partition_array[i];
		if (partition.name && partition.nodes && is_mixed(partition.nodes, external))
			mixed.emplace_back(partition.name);
	}
	return mixed;
}

} // namespace slurmkube::slurm
