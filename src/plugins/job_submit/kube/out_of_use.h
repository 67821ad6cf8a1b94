/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * out_of_use.h - which nodes of slurm.conf people have drained or set down, as a small text in a file.
 *
 * Slurm 26.05 loses that of external nodes of slurm.conf at each restart and reconfigure, and only the reason stays (facts.md). The reason alone proves
 * nothing: a node that comes back while jobs run on it keeps its text. Pure.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_OUT_OF_USE_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_OUT_OF_USE_H

#include "src/core/model/node.h"

#include <map>
#include <string>
#include <string_view>

namespace slurmkube::plugin
{

struct OutOfUse {
	bool down = false;
	std::string reason;
	bool operator==(const OutOfUse &) const = default;
};

using OutOfUseMap = std::map<std::string, OutOfUse>;

/* Takes the node in or out. True: the map has changed. */
bool note_node(OutOfUseMap &map, const core::SlurmNode &node);

/* A line for each node: name, "drain" or "down", the reason with line ends and backslashes escaped. */
std::string to_text(const OutOfUseMap &map);
/* Lines that it cannot have written are left out. */
OutOfUseMap out_of_use_from(std::string_view text);

} // namespace slurmkube::plugin

#endif
