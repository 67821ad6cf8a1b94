/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gres_conf.h - for which nodes may slurmctld itself read gres.conf?
 *
 * Slurm's loader (gres_g_node_config_load) was written for slurmd: it ends the process at a dozen
 * mistakes that slurmctld alone tolerates, and for a node that the file does not name it would
 * damage what is there. So only what is known to be harmless is allowed: a file of plain lines, and
 * for the node Name, Type, File, Count and Cores that agree with each other. Pure: the caller reads
 * the file.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_GRES_CONF_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_GRES_CONF_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::plugin
{

struct GresLine {
	std::size_t number = 0; /* in the file, from 1 */
	std::string hosts;      /* host list; empty: any node */
	std::map<std::string, std::string> keys;
};

struct GresConf {
	std::vector<GresLine> lines;
	/* why Slurm must not be let near this file; empty: every line is plain */
	std::string trouble;
};

GresConf parse_gres_conf(std::string_view text);

/* What is asked of Slurm, since only its own answer counts. */
struct HostLists {
	std::function<bool(const std::string &hosts, const std::string &name)> has;
	/* Empty: not a host list, or of more than `most` names. */
	std::function<std::vector<std::string>(const std::string &hosts, std::size_t most)> names;
};

struct GresNode {
	std::string name;
	std::uint32_t cpus = 0; /* as slurm.conf has them */
};

/* Does a line name this node? Only then the plugin wants the file loaded for it. */
bool names_node(const GresConf &conf, const std::string &node, const HostLists &lists);
/* Why Slurm must not load the file for this node, or empty: it may. */
std::string why_not_to_load(const GresConf &conf, const GresNode &node, const HostLists &lists);

} // namespace slurmkube::plugin

#endif
