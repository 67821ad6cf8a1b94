/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oci_hook.h - whether a container that CRI-O is about to start has the processors that
 * slurmkube-node has given it, and still may.
 *
 * NRI takes a plugin that dies or is late within a request as one that had nothing to say. CRI-O
 * has no default for the processors of containers, and takes the refusal of a start for a warning.
 * So a hook of its OCI runtime looks before the container's program runs. Pure. Sources: OCI
 * runtime-spec (State, createRuntime hooks).
 */
#ifndef SLURMKUBE_NODE_OCI_HOOK_H
#define SLURMKUBE_NODE_OCI_HOOK_H

#include "src/base/result.h"
#include "src/node/confine.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace slurmkube::node
{

/* The content of a file; empty if there is none. */
using ReadFile = std::function<std::string(const std::string &path)>;

struct CreatedContainer {
	std::string id, cpus; /* as in cpuset.cpus */
};

/* state: what a hook has on its standard input. Empty: it is none. */
std::string id_of_state(std::string_view state);
/* denied: the container's config.json names no
 * processors, which slurmkube-node always does. */
Result<CreatedContainer> created_container(std::string_view state, const ReadFile &read);

/* job: of which the container has a record; none: it is not of a job's pod. denied: it has other
 * processors than slurmkube-node gives, from a workload of CRI-O or the kubelet for example, or its
 * job has ended. */
Result<Ok> check_processors(const std::string &cpus, const std::optional<JobFacts> &job,
	const std::string &system_cpus);

} // namespace slurmkube::node

#endif
