/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * containerd.h - whether containerd's configuration keeps containers off jobs' processors when
 * slurmkube-node does not run.
 *
 * Pure. Sources: containerd-config.toml(5), the README of NRI's default validator.
 */
#ifndef SLURMKUBE_NODE_CONTAINERD_H
#define SLURMKUBE_NODE_CONTAINERD_H

#include "src/node/oci_hook.h"

#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::node
{

/* What the effective configuration (containerd config dump) lacks, each with its remedy; empty:
 * nothing. read: for the files that base_runtime_spec names. */
std::vector<std::string> containerd_lacks(
	std::string_view configuration, const ReadFile &read, const std::string &system_cpus);

} // namespace slurmkube::node

#endif
