/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * settings.h - slurmkube-node.conf: lines of Key=Value as in slurm.conf, # begins a comment. Pure.
 */
#ifndef SLURMKUBE_NODE_SETTINGS_H
#define SLURMKUBE_NODE_SETTINGS_H

#include "src/base/result.h"

#include <string>
#include <string_view>

namespace slurmkube::node
{

inline constexpr const char *k_settings_file = "/etc/slurm-kube/slurmkube-node.conf";

struct Settings {
	std::string system_cpus;                             /* SystemCpus; required */
	std::string node_name;                               /* NodeName; empty: the host's name */
	std::string nri_socket = "/run/nri/nri.sock";        /* NriSocket */
	std::string state_directory = "/run/slurmkube-node"; /* StateDirectory */
	std::string cgroup_root = "/sys/fs/cgroup";          /* CgroupRoot */
	std::string containerd_root = "/var/lib/containerd"; /* ContainerdRoot */
	std::string pods_in_native_jobs = "no";              /* PodsInNativeJobs: yes or no */
	std::string ignored; /* what is wrong; only with Strictness::script */

	[[nodiscard]] bool allows_native_pods() const { return pods_in_native_jobs == "yes"; }
};

/* script: a wrong value of PodsInNativeJobs counts as no, because Prolog and Epilog, which run for
 * every native job, must not fail by it. */
enum class Strictness { all, script };

/* invalid: the number of the line, the key, the value, and what it should be. */
Result<Settings> parse_settings(std::string_view text, Strictness strictness = Strictness::all);
/* The file's content; not_found, io. */
Result<Settings> read_settings(const std::string &file, Strictness strictness = Strictness::all);

} // namespace slurmkube::node

#endif
