/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_file.h - the file that slurm.conf includes: replaced as a whole or not at all.
 *
 * slurmctld fails the pods on a node that its file no longer has, so whatever goes wrong leaves the
 * old file as it is.
 */
#ifndef SLURMKUBE_SKUBE_NODE_FILE_H
#define SLURMKUBE_SKUBE_NODE_FILE_H

#include "src/base/result.h"

#include <string>

namespace slurmkube::skube
{

/* How many node lines the text has. */
std::size_t node_lines(const std::string &text);

/* What was done, for people. invalid: the text has no node and the file has some; force overrules
 * that. io: the file cannot be read or written. */
Result<std::string> replace_node_file(const std::string &path, const std::string &text, bool force);

} // namespace slurmkube::skube

#endif
