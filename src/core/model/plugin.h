/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin.h - what the plugin in slurmctld says of itself.
 *
 * Observed facts only, as plain values: no behaviour, no pointers into anybody's tables. Times are
 * seconds since the epoch (0: unknown), sizes say their unit.
 */
#ifndef SLURMKUBE_CORE_MODEL_PLUGIN_H
#define SLURMKUBE_CORE_MODEL_PLUGIN_H

#include <cstdint>
#include <string>

namespace slurmkube::core
{

/* What the plugin says of itself when it connects. */
enum class Family { emulated, native };

struct PluginHello {
	int protocol = 0;
	std::string plugin_version;
	std::string slurm_version;              /* "22.05.8" */
	std::uint32_t slurm_version_number = 0; /* SLURM_VERSION_NUMBER */
	std::string cluster_name;               /* Slurm's ClusterName */
	Family family = Family::emulated;
	int sink_port = 0;
	std::string node_feature;
	std::string config_error;   /* of kube.conf; empty when it is fine */
	int pid = 0;                /* of slurmctld */
	std::string host;           /* where slurmctld is in control; empty: an older plugin */
	bool whole_sockets = false; /* SelectTypeParameters=CR_Socket */
	/* of kube.conf, for pods only: "kube,gpu"; empty: an older plugin */
	std::string partitions;
	/* jobs that start may be configuring for a while: PrologSlurmctld */
	bool has_prolog = false;
	bool operator==(const PluginHello &) const = default;
};

/* Microseconds. */
struct Cost {
	std::uint64_t count = 0;
	double mean_us = 0, p99_us = 0, max_us = 0;
	bool operator==(const Cost &) const = default;
};

struct PluginStats {
	Cost hook, lock_hold, lock_wait;
	/* processor time of the same hooks and holds: what is missing to the clock is the machine's
	 * doing */
	Cost hook_cpu, lock_cpu;
	double duty_percent = 0; /* share of the last period in which the plugin held a lock */
	std::uint64_t placeholders = 0, external_nodes = 0;
	std::uint64_t refused = 0, duplicates_refused = 0, sink_contacts = 0, reconnects = 0,
		      queue_drops = 0;
	/* of sink_contacts: neither root's nor slurmctld's, closed unread */
	std::uint64_t sink_refused = 0;
	/* ids of jobs without a marker on external nodes, "7,9"; the first ones */
	std::string unmarked;
	bool operator==(const PluginStats &) const = default;
};

} // namespace slurmkube::core

#endif
