/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oci_hook.h - whether slurmkube-node has answered for a container that CRI-O creates.
 *
 * NRI takes a plugin that dies or is late within a request as one that had nothing to say. CRI-O
 * has no default for the processors of containers, so a hook of its OCI runtime looks before the
 * container's program runs. Pure. Sources: OCI runtime-spec (State, createRuntime hooks).
 */
#ifndef SLURMKUBE_NODE_OCI_HOOK_H
#define SLURMKUBE_NODE_OCI_HOOK_H

#include "src/base/result.h"

#include <functional>
#include <string>
#include <string_view>

namespace slurmkube::node
{

/* The content of a file; empty if there is none. */
using ReadFile = std::function<std::string(const std::string &path)>;

/* state: what a hook has on its standard input. denied: the container's config.json names no
 * processors, which slurmkube-node always does. */
Result<Ok> check_confined(std::string_view state, const ReadFile &read);

} // namespace slurmkube::node

#endif
