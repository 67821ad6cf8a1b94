/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gres_conf.h - for which nodes may slurmctld itself read gres.conf?
 *
 * Slurm's own loader ends slurmctld when it meets AutoDetect there, and for a node that the file does not name it would damage what
 * is there. So the text is looked at first. Pure: the caller reads the file.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_GRES_CONF_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_GRES_CONF_H

#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::plugin
{

struct GresConf {
	std::vector<std::string> hosts; /* host lists of its NodeName lines */
	bool unsafe = false;		/* AutoDetect (other than off) or Include somewhere */
};

GresConf parse_gres_conf(std::string_view text);

} // namespace slurmkube::plugin

#endif
