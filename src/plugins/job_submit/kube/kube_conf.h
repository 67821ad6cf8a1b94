/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kube_conf.h - kube.conf, an optional file beside slurm.conf (doc/design/protocol.md, section 4).
 *
 * A wrong line never stops slurmctld: the default applies, and error says what is wrong. Pure: the
 * caller reads the file.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_KUBE_CONF_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_KUBE_CONF_H

#include "src/core/model/names.h"

#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::plugin
{

struct Config {
	std::string socket = names::k_plugin_socket;
	std::string feature = names::k_node_feature;
	int sink_port = names::k_sink_port; /* 0: no sink */
	std::vector<std::string> partitions = {"kube"};
	std::string error; /* about all wrong lines; empty: the file is correct */
};

Config parse_config(std::string_view text);

/* The entries of "a,b", without blanks and empty entries. */
std::vector<std::string> split_commas(std::string_view list);

} // namespace slurmkube::plugin

#endif
