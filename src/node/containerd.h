/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * containerd.h - whether containerd's configuration keeps containers off jobs' processors when
 * slurmkube-node does not run.
 *
 * Pure. Sources: containerd-config.toml(5), the README of NRI's default validator, toml.io 1.0.
 */
#ifndef SLURMKUBE_NODE_CONTAINERD_H
#define SLURMKUBE_NODE_CONTAINERD_H

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::node
{

/* The content of a file; empty if there is none. */
using ReadFile = std::function<std::string(const std::string &path)>;

/* What the effective configuration (containerd config dump) lacks, each with its remedy; empty:
 * nothing. read: for the files that base_runtime_spec names. */
std::vector<std::string> containerd_lacks(
	std::string_view configuration, const ReadFile &read, const std::string &system_cpus);

} // namespace slurmkube::node

#endif
