/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * settings.h - what the administrator has configured about World's decisions. Times whose name ends
 * in _us are microseconds; man page: slurmkubed.yaml(5).
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
	DeviceRules devices = {}; /* none: no device is reported */
	std::int64_t forced_delete_hold_us = 3'000'000;
	std::int64_t report_interval_us = 30'000'000;
	std::int64_t start_limit_us = 0; /* 0: no limit (limits.start_seconds) */
	/* Maximum grace period of a pod whose job has ended; 0: as long as the pod says. */
	std::int64_t grace_most_seconds = 3600;
	/* After a takeover, nothing is done before pods and nodes have been listed again, and
	 * nothing with devices before their claims have. */
	bool needs_fresh_lists = false;
	/* nothing is done before the uid of the cluster is known */
	bool needs_cluster = false;
	/* nothing is done before LeaseSeen has said that it may be */
	bool needs_lease = false;
	/* Percentage that may be without pods at once, of the jobs whose markers have no cluster
	 * uid. */
	unsigned max_gone_percent = 50;
	/* Pods of other schedulers are reported, and nothing is done before their list is
	 * complete. */
	bool sees_foreign_pods = false;
	/* the uid under which slurmctld knows this agent */
	std::optional<std::uint32_t> own_uid = {};
	/* How long an allocation without a live pod is kept, for example for a JobSet that restarts
	 * and takes its nodes again. */
	std::int64_t gang_hold_us = 10'000'000;
	/* How long a pod with an allocation waits for a node that can take it. The wait is
	 * charged. */
	std::int64_t room_wait_us = 60'000'000;
	/* How long a pod waits for Prolog on hybrid nodes, the end of which may be lost when a
	 * daemon is killed; 0: for ever. */
	std::int64_t prolog_wait_us = 600'000'000;
	/* How long a pod with an allocation waits for its volume claims; 0: for ever. */
	std::int64_t claim_wait_us = 600'000'000;
	/* How long pods of an allocated gang may take to come, and to get a place; 0: for ever. */
	std::int64_t gang_wait_us = 600'000'000;
	/* The same for pods to come while pods of other components run; 0: for ever. */
	std::int64_t late_pods_us = 3'600'000'000;
	/* How long an allocation is held for the other components of its workload. */
	std::int64_t components_wait_seconds = 60;
};

} // namespace slurmkube::core

#endif
