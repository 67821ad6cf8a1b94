/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_state_file.h - which nodes of slurm.conf people have drained or set down, as a small text in
 * a file.
 *
 * Slurm 26.05 loses that of external nodes of slurm.conf at each restart and reconfigure, and only
 * the reason stays (facts.md 44). The reason alone proves nothing: a node that comes back while
 * jobs run on it keeps its text. Pure.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_OUT_OF_USE_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_OUT_OF_USE_H

#include "src/core/model/node.h"

#include <map>
#include <string>
#include <string_view>

namespace slurmkube::plugin
{

struct OutOfServiceNode {
	bool down = false;
	std::string reason;
	bool operator==(const OutOfServiceNode &) const = default;
};

using OutOfServiceNodes = std::map<std::string, OutOfServiceNode>;

/* Takes the node in or out. True: the map has changed. */
bool note_node(OutOfServiceNodes &map, const core::SlurmNode &node);

/* A line for each node: name, "drain" or "down", the reason with line ends and backslashes
 * escaped. */
std::string to_text(const OutOfServiceNodes &map);
/* Lines that it cannot have written are left out. */
OutOfServiceNodes out_of_service_from(std::string_view text);

} // namespace slurmkube::plugin

#endif
