/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/hybrid_settings.h"

#include "src/agent/slurm/compat.h"
#include "src/base/owned.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace slurmkube::slurm
{

namespace
{

/* The Epilog must not be killed while it waits for a pod that uses all of its grace period. */
constexpr std::int64_t k_epilog_margin_seconds = 60;
/* k_end_limits of node/native_jobs.h, and some seconds to start and end. */
constexpr std::int64_t k_native_epilog_seconds = 109;

std::string text_of(const char *text)
{
	return text ? text : "";
}

std::string trimmed_word(const std::string &text)
{
	const std::size_t first = text.find_first_not_of(' ');
	return first == std::string::npos
		? std::string()
		: text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

/* The list is opaque, so libslurm prints it, as scontrol does: "ConstrainCores   = yes". */
std::map<std::string, std::string> pairs_of(void *list)
{
	std::map<std::string, std::string> pairs;
	char *raw = nullptr, title[] = "";
	std::size_t size = 0;
	Owned<FILE, fclose> out(list ? open_memstream(&raw, &size) : nullptr);
	if (!out)
		return pairs;
	slurm_print_key_pairs(out.get(), list, title);
	out.reset();
	const Owned<char, std::free> owner(raw);
	const std::string text(raw, size);
	for (std::size_t at = 0; at < text.size();) {
		const std::size_t end = std::min(text.find('\n', at), text.size());
		const std::string line = text.substr(at, end - at);
		if (const std::size_t equals = line.find(" = "); equals != std::string::npos)
			pairs[trimmed_word(line.substr(0, equals))] =
				trimmed_word(line.substr(equals + 3));
		at = end + 1;
	}
	return pairs;
}

bool is_yes(const std::map<std::string, std::string> &pairs, const char *key)
{
	const auto found = pairs.find(key);
	return found != pairs.end() && (found->second == "yes" || found->second == "true");
}

void check_cgroup(const HybridSettings &s, std::vector<SettingTrouble> &out)
{
	std::string missing;
	for (const char *key : {"ConstrainCores", "ConstrainRAMSpace", "ConstrainDevices"}) {
		if (!is_yes(s.cgroup, key))
			missing += (missing.empty() ? "" : ", ") + std::string(key);
	}
	if (!missing.empty())
		out.push_back({"cgroup.conf does not set " + missing +
				": native jobs may use what Slurm gave to pods",
			"set " + missing + " to yes in cgroup.conf and restart slurmd"});
	if (s.names_by_sluid && !is_yes(s.cgroup, "CgroupJobIdPaths"))
		out.push_back({"cgroup.conf does not set CgroupJobIdPaths: the cgroup of a job is "
			       "not found by its number",
			"set CgroupJobIdPaths=yes in cgroup.conf and restart slurmd"});
}

/* PrologEpilogTimeout is the default of EpilogTimeout, and which of them is set is not known. */
std::string timeout_key(const HybridSettings &s)
{
	return s.has_epilog_timeout ? "EpilogTimeout (or PrologEpilogTimeout)"
				    : "PrologEpilogTimeout";
}

void check_scripts(const HybridSettings &s, std::int64_t needed, std::vector<SettingTrouble> &out)
{
	if (!s.has_epilog)
		out.push_back({"no Epilog is set: Slurm gives the cores of a job to others while "
			       "its containers live",
			"set Epilog in slurm.conf to the script that waits for containers "
			"(doc/hybrid.md)"});
	if (!s.has_prolog)
		out.push_back({"no Prolog is set: after a slurmd was killed within its Epilog, a "
			       "job starts on cores that containers still use",
			"set Prolog in slurm.conf to the script that waits for containers of "
			"ended jobs (doc/hybrid.md)"});
	if (s.is_serial)
		out.push_back({"PrologFlags has Serial: while one Epilog waits for containers, no "
			       "other job starts or ends on the node",
			"remove Serial from PrologFlags in slurm.conf and restart slurmctld and "
			"slurmd"});
	if (s.epilog_seconds > 0 && s.epilog_seconds <= needed)
		out.push_back({timeout_key(s) + "=" + std::to_string(s.epilog_seconds) +
				" ends Epilog while a pod uses its grace period, and drains the "
				"node",
			"remove " + timeout_key(s) + " from slurm.conf, set it above " +
				std::to_string(needed) +
				(needed != k_native_epilog_seconds
						? ", or lower limits.grace_seconds in "
						  "slurmkubed.yaml"
						: "")});
	if (s.complete_seconds > 0)
		out.push_back({"CompleteWait=" + std::to_string(s.complete_seconds) +
				": no job of the cluster starts while a pod's job is completing",
			"set CompleteWait=0 in slurm.conf"});
}

} // namespace

HybridSettings hybrid_settings(const slurm_conf_t &conf)
{
	HybridSettings out;
	out.contains = conf.prolog_flags & PROLOG_FLAG_CONTAIN;
	out.task_plugins = text_of(conf.task_plugin);
	out.proctrack = text_of(conf.proctrack_type);
	out.is_serial = conf.prolog_flags & PROLOG_FLAG_SERIAL;
	out.has_epilog = compat::has_epilog(conf);
	out.has_prolog = compat::has_prolog(conf);
	out.epilog_seconds = compat::epilog_timeout(conf);
	out.has_epilog_timeout = KUBE_SLURM_SPLITS_SCRIPT_TIMEOUTS(SLURM_VERSION_NUMBER);
	out.complete_seconds = conf.complete_wait;
	out.cgroup = pairs_of(conf.cgroup_conf);
	out.names_by_sluid = KUBE_SLURM_NAMES_CGROUPS_BY_SLUID(SLURM_VERSION_NUMBER);
	return out;
}

std::int64_t epilog_needs(std::int64_t grace_seconds, bool has_native_pods)
{
	const std::int64_t needed = grace_seconds + k_epilog_margin_seconds;
	return has_native_pods ? std::max(needed, k_native_epilog_seconds) : needed;
}

std::vector<SettingTrouble> hybrid_troubles(const HybridSettings &s, std::int64_t epilog_seconds)
{
	std::vector<SettingTrouble> out;
	if (!s.contains)
		out.push_back({"PrologFlags lacks Contain: no cgroup is made for a pod's job",
			"set PrologFlags=Contain in slurm.conf and restart slurmctld and slurmd"});
	if (s.task_plugins.find("cgroup") == std::string::npos)
		out.push_back({"TaskPlugin=" + s.task_plugins +
				" lacks task/cgroup: jobs have no cores of their own",
			"set TaskPlugin=task/cgroup,task/affinity in slurm.conf and restart "
			"slurmctld and slurmd"});
	if (s.proctrack.find("cgroup") == std::string::npos)
		out.push_back({"ProctrackType=" + s.proctrack + " is not proctrack/cgroup",
			"set ProctrackType=proctrack/cgroup in slurm.conf and restart slurmctld "
			"and slurmd"});
	check_cgroup(s, out);
	check_scripts(s, epilog_seconds, out);
	return out;
}

} // namespace slurmkube::slurm
