/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_state_file.h - the plugin's list of external nodes of slurm.conf that an administrator has
 * drained or set DOWN, as the text of the file kube_out_of_use in StateSaveLocation. Pure.
 *
 * Slurm 26.05 restores only the reasons of these nodes after a restart or reconfigure, not DRAIN
 * and DOWN (facts.md 44). A reason alone does not prove that the node was out of service, because
 * a node that is resumed while jobs run on it keeps its reason.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_NODE_STATE_FILE_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_NODE_STATE_FILE_H

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

/* Adds the node to the map or removes it, by its present state. Returns whether the map changed. */
bool note_node(OutOfServiceNodes &map, const core::SlurmNode &node);

/* One line per node: its name, "drain" or "down", and its reason with line ends and backslashes
 * escaped. */
std::string to_text(const OutOfServiceNodes &map);
/* Ignores lines that to_text() cannot have written. */
OutOfServiceNodes out_of_service_from(std::string_view text);

} // namespace slurmkube::plugin

#endif
