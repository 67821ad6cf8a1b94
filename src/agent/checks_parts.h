/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checks_parts.h - the checks that checks_slurm.cc and checks_kube.cc contribute to checks.cc, and
 * helpers for all three.
 */
#ifndef SLURMKUBE_AGENT_CHECKS_PARTS_H
#define SLURMKUBE_AGENT_CHECKS_PARTS_H

#include "src/agent/app.h"
#include "src/agent/checks.h"

namespace slurmkube::agent::check
{

inline Check passed(const char *name, std::string text)
{
	return {name, true, std::move(text), ""};
}

inline Check failed(const char *name, std::string text, std::string remedy)
{
	return {name, false, std::move(text), std::move(remedy)};
}

/* Appends to a comma-separated list. */
inline void add_name(std::string &list, const std::string &name)
{
	list += (list.empty() ? "" : ", ") + name;
}

inline std::string seconds_ago(std::int64_t seconds)
{
	return std::to_string(seconds) + " s ago";
}

/* checks_slurm.cc */
Check slurmctld(const Findings &found);
Check slurm_user(const Findings &found);
Check plugin(const App &app);
Check release(const App &app);
Check plugin_config(const App &app, const Findings &found);
Check partitions(const App &app, const Findings &found);
Check mixed_partitions(const App &app, const Findings &found);
Check power_saving(const Findings &found);
Check topology(const Findings &found);
Check unmarked_jobs(const App &app);

/* checks_hybrid.cc. With node_names(), and nothing else if there are no hybrid nodes. */
std::vector<Check> hybrid(const App &app, const Findings &found);

/* checks_kube.cc */
Check api_server(const Findings &found);
Check token(const App &app);
Check certificates(const App &app);
Check files(const App &app);
Check rights(const Findings &found);
Check bindings(const App &app);
Check cluster(const App &app);
Check lease(const App &app);
Check clock(const Findings &found);
/* Empty: no label gives a node another name in Slurm. */
std::vector<Check> node_names(const App &app);
/* kind must have a check_name (sources.h). */
Check watch(const App &app, Kind kind, const Findings &found);

} // namespace slurmkube::agent::check

#endif
