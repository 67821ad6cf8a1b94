/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin.h - what the plugin in slurmctld reports about itself.
 *
 * Observed facts only, as plain values: no behaviour, and no pointers into other data. Times are
 * seconds since the epoch (0: unknown); names of sizes contain the unit.
 */
#ifndef SLURMKUBE_CORE_MODEL_PLUGIN_H
#define SLURMKUBE_CORE_MODEL_PLUGIN_H

#include <cstdint>
#include <string>

namespace slurmkube::core
{

/* Whether Slurm has external nodes itself (native), or the plugin does their work (emulated). */
enum class Family { emulated, native };

/* What the plugin sends when it connects. */
struct PluginHello {
	int protocol = 0;
	std::string plugin_version;
	std::string slurm_version;              /* "22.05.8" */
	std::uint32_t slurm_version_number = 0; /* SLURM_VERSION_NUMBER */
	std::string cluster_name;               /* Slurm's ClusterName */
	Family family = Family::emulated;
	int sink_port = 0;
	std::string node_feature;
	std::string hybrid_feature = {}; /* empty: older plugin, or there are no hybrid nodes */
	/* the Kubernetes cluster whose jobs and nodes this link has, where kube.conf names several;
	 * empty: the link has all */
	std::string kube_cluster;
	std::string cluster_feature; /* of that cluster's nodes, beside node_feature */
	std::string config_error;    /* of kube.conf; empty: none */
	int pid = 0;                 /* of slurmctld */
	/* when that process started, in clock ticks since the host's start: in a container each
	 * slurmctld may have the same pid; 0: older plugin */
	std::int64_t process_start = 0;
	/* When this slurmctld took control, in microseconds since the epoch: a backup may take it
	 * several times in one process, and `slurmctld -D` of 23.11 and later reads its state again
	 * by execve(). 0: older plugin. */
	std::int64_t control_since_us = 0;
	std::string host;           /* host of the slurmctld in control; empty: older plugin */
	bool whole_sockets = false; /* SelectTypeParameters=CR_Socket */
	/* the partitions that kube.conf reserves for pods: "kube,gpu"; empty: older plugin */
	std::string partitions;
	/* PrologSlurmctld is set, so jobs that start may be in CONFIGURING for a while */
	bool has_prolog = false;
	bool operator==(const PluginHello &) const = default;
	/* A slurmctld that has read its state anew may have lost the last jobs. */
	[[nodiscard]] bool has_same_state(const PluginHello &other) const
	{
		return pid == other.pid && process_start == other.process_start &&
			control_since_us == other.control_since_us;
	}
};

/* Microseconds. */
struct Cost {
	std::uint64_t count = 0;
	double mean_us = 0, p99_us = 0, max_us = 0;
	bool operator==(const Cost &) const = default;
};

struct PluginStats {
	Cost hook, lock_hold, lock_wait;
	/* CPU time of the same hooks and lock holds. Elapsed time beyond that is time in which the
	 * machine did not run the thread. */
	Cost hook_cpu, lock_cpu;
	double duty_percent = 0; /* share of the last period in which the plugin held a lock */
	std::uint64_t placeholders = 0, external_nodes = 0;
	std::uint64_t refused = 0, duplicates_refused = 0, sink_contacts = 0, reconnects = 0,
		      queue_drops = 0;
	/* those of sink_contacts that came neither from root nor from slurmctld and were closed
	 * unread */
	std::uint64_t sink_refused = 0;
	/* ids of the first jobs without a marker on external nodes: "7,9" */
	std::string unmarked;
	bool operator==(const PluginStats &) const = default;
};

} // namespace slurmkube::core

#endif
