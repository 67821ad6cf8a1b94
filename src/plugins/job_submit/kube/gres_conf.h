/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gres_conf.h - for which nodes slurmctld itself may read gres.conf.
 *
 * Slurm's loader (gres_g_node_config_load) was written for slurmd. It ends the process at a dozen
 * mistakes that slurmctld otherwise tolerates, and damages the data of a node that the file does
 * not name. So only what is known to be harmless is allowed: a file of plain lines, and for the
 * node only Name, Type, File, Count and Cores that agree with each other. Pure: the caller reads
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
	std::size_t number = 0; /* the line's number in the file, from 1 */
	std::string hosts;      /* host list; empty: any node */
	std::map<std::string, std::string> keys;
};

struct GresConf {
	std::vector<GresLine> lines;
	/* why Slurm must not load this file; empty: all lines are plain */
	std::string trouble;
};

GresConf parse_gres_conf(std::string_view text);

/* Questions to Slurm, because only its own interpretation of host lists counts. */
struct HostLists {
	std::function<bool(const std::string &hosts, const std::string &name)> has;
	/* Empty: hosts is not a host list, or has more than `most` names. */
	std::function<std::vector<std::string>(const std::string &hosts, std::size_t most)> names;
};

struct GresNode {
	std::string name;
	std::uint32_t cpus = 0; /* as in slurm.conf */
};

/* Whether a line names this node; only then the plugin loads the file for the node. */
bool names_node(const GresConf &conf, const std::string &node, const HostLists &lists);
/* Why Slurm must not load the file for this node; empty: it may. */
std::string why_not_to_load(const GresConf &conf, const GresNode &node, const HostLists &lists);

} // namespace slurmkube::plugin

#endif
