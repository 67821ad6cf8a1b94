/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/eviction.h"

namespace slurmkube::core
{

Eviction eviction_of(JobState state)
{
	switch (state) {
	case JobState::cancelled:
		return Eviction::cancelled;
	case JobState::complete:
		return Eviction::completed;
	case JobState::failed:
		return Eviction::failed;
	case JobState::timeout:
		return Eviction::timeout;
	case JobState::node_fail:
		return Eviction::node_fail;
	case JobState::preempted:
		return Eviction::preempted;
	case JobState::boot_fail:
		return Eviction::boot_fail;
	case JobState::deadline:
		return Eviction::deadline;
	case JobState::oom:
		return Eviction::out_of_memory;
	case JobState::pending:
	case JobState::running:
	case JobState::suspended:
	case JobState::unknown:
		break;
	}
	return Eviction::unknown;
}

const char *name_of(Eviction cause)
{
	static constexpr std::array<const char *, k_eviction_causes> k_names = {"cancelled",
		"completed", "failed", "timeout", "node_fail", "preempted", "boot_fail", "deadline",
		"out_of_memory", "unknown", "start_limit"};
	return k_names[static_cast<std::size_t>(cause)];
}

} // namespace slurmkube::core
