/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hybrid_settings.h - what slurm.conf and cgroup.conf must say if there are hybrid nodes: slurmd
 * makes the job's cgroup at its start, native jobs stay in theirs, and Epilog waits for containers.
 */
#ifndef SLURMKUBE_AGENT_SLURM_HYBRID_SETTINGS_H
#define SLURMKUBE_AGENT_SLURM_HYBRID_SETTINGS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <slurm/slurm.h>

namespace slurmkube::slurm
{

struct HybridSettings {
	bool contains = false; /* PrologFlags has Contain */
	std::string task_plugins, proctrack;
	bool has_epilog = false, has_prolog = false;
	bool is_serial = false; /* PrologFlags has Serial: one Prolog or Epilog at a time */
	std::uint16_t epilog_seconds = 0;               /* how long it may take; 0: no limit */
	bool has_epilog_timeout = false;                /* EpilogTimeout is a key of its own */
	std::uint16_t complete_seconds = 0;             /* CompleteWait */
	std::map<std::string, std::string> cgroup = {}; /* cgroup.conf, keys as Slurm writes them */
	bool names_by_sluid = false; /* this Slurm names cgroups of jobs otherwise by default */
};

struct SettingTrouble {
	std::string text, remedy;
};

HybridSettings hybrid_settings(const slurm_conf_t &conf);
/* Pure. In the order of the manual; empty: all is well. epilog_seconds: what Epilog may need. */
std::vector<SettingTrouble> hybrid_troubles(
	const HybridSettings &settings, std::int64_t epilog_seconds);
/* What Epilog may need for pods with such a grace period, and for pods within native jobs. */
std::int64_t epilog_needs(std::int64_t grace_seconds, bool has_native_pods);

} // namespace slurmkube::slurm

#endif
