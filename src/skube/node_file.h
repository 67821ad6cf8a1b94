/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_file.h - the file that slurm.conf includes, which is replaced atomically.
 *
 * slurmctld fails the pods on a node that is missing from the file, so any error leaves the old
 * file unchanged.
 */
#ifndef SLURMKUBE_SKUBE_NODE_FILE_H
#define SLURMKUBE_SKUBE_NODE_FILE_H

#include "src/base/result.h"

#include <set>
#include <string>

namespace slurmkube::skube
{

/* The number of node lines in the text. */
std::size_t node_lines(const std::string &text);

/* The features of Kubernetes clusters ("kube-alpha") in its node lines. */
std::set<std::string> cluster_features(const std::string &text);

/* Returns a sentence for people about what was done. invalid: the text has no node, but the file
 * has some; force permits that. io: the file cannot be read or written. */
Result<std::string> replace_node_file(const std::string &path, const std::string &text, bool force);

} // namespace slurmkube::skube

#endif
