/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kube_conf.h - kube.conf, an optional file beside slurm.conf (doc/design/protocol.md, section 4).
 *
 * A wrong line never stops slurmctld: the default applies, and error says what is wrong. Pure: the
 * caller reads the file.
 *
 * Several Kubernetes clusters: each has a line "Cluster=NAME Socket=PATH", and its agent hears only
 * of its own jobs and nodes. A node belongs to the cluster whose feature it has
 * (cluster_feature()).
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_KUBE_CONF_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_KUBE_CONF_H

#include "src/core/model/names.h"

#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::plugin
{

inline constexpr std::size_t k_clusters_max = 16;

struct ClusterSocket {
	std::string cluster, socket;
	bool operator==(const ClusterSocket &) const = default;
};

struct Config {
	std::string socket = names::k_plugin_socket; /* of the only cluster */
	bool has_socket = false;                     /* a line sets it */
	/* If a line has the key Cluster, even a wrong one, no agent hears of all jobs and nodes,
	 * because it would drain the nodes of other clusters. */
	bool has_clusters = false;
	std::vector<ClusterSocket> clusters = {};
	std::string feature = names::k_node_feature;
	std::string hybrid_feature = names::k_hybrid_feature;
	int sink_port = names::k_sink_port; /* 0: no sink */
	std::vector<std::string> partitions = {"kube"};
	std::string error;          /* about the first wrong lines; empty: the file is correct */
	bool is_unreadable = false; /* the file is there, and nothing of it is known */
};

Config parse_config(std::string_view text);

/* The feature of the cluster's nodes, beside that of all external nodes: "kube-alpha". */
std::string cluster_feature(const std::string &feature, const std::string &cluster);

/* The entries of "a,b", without blanks and empty entries. */
std::vector<std::string> split_commas(std::string_view list);

} // namespace slurmkube::plugin

#endif
