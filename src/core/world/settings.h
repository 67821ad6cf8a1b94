/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * settings.h - what the administrator says of how World decides.
 */
#ifndef SLURMKUBE_CORE_WORLD_SETTINGS_H
#define SLURMKUBE_CORE_WORLD_SETTINGS_H

#include "src/core/policy/policy.h"
#include "src/core/reconcile/node_sync.h"

#include <cstdint>
#include <optional>

namespace slurmkube::core
{

struct Settings {
	Policy policy;
	NodePolicy nodes;
	std::int64_t forced_delete_hold_us = 3'000'000;
	std::int64_t report_interval_us = 30'000'000;
	std::int64_t start_limit_us = 0; /* 0: a bound pod may take any time to start */
	/* that a pod may take to end after its job; 0: as long as it says */
	std::int64_t grace_most_seconds = 3600;
	/* after a takeover nothing is done before pods and nodes have been listed anew */
	bool needs_fresh_lists = false;
	bool needs_cluster = false; /* nothing is done before it is known which cluster this is */
	/* of jobs of unknown clusters may be without pods at once */
	unsigned max_gone_percent = 50;
	/* they are told of, and nothing is done before their list is complete */
	bool sees_foreign_pods = false;
	std::optional<std::uint32_t> own_uid = {}; /* as whom slurmctld knows this agent */
	/* an allocation without a live pod is kept so long: a JobSet that restarts takes its nodes
	 * again */
	std::int64_t gang_hold_us = 10'000'000;
	/* a pod with an allocation waits so long for a node that can take it, which is charged */
	std::int64_t room_wait_us = 60'000'000;
	/* a pod with an allocation waits so long for its volume claims; 0: for ever */
	std::int64_t claim_wait_us = 600'000'000;
	/* pods of an allocated gang may take so long to come, and to get a place; 0: for ever */
	std::int64_t gang_wait_us = 600'000'000;
	/* an allocation is held so long for the other components of its workload */
	std::int64_t components_wait_seconds = 60;
};

} // namespace slurmkube::core

#endif
