/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check.h - whether this machine keeps what a hybrid node needs.
 */
#ifndef SLURMKUBE_NODE_CHECK_H
#define SLURMKUBE_NODE_CHECK_H

#include "src/node/cgroups.h"
#include "src/node/settings.h"

namespace slurmkube::node
{

/* What containerd's effective configuration (containerd config dump) lacks; empty: nothing.
 * spec: the content of the file that base_runtime_spec names, empty if there is none. Pure. */
std::string containerd_lacks(
	const std::string &configuration, const std::string &spec, const std::string &system_cpus);
/* The file of the last base_runtime_spec in the configuration; empty: none. Pure. */
std::string base_spec_file(const std::string &configuration);

/* Prints a line for each prerequisite, with its remedy. 0: all are kept. Runs containerd. */
int check_node(const Settings &settings, const Cgroups &cgroups);

} // namespace slurmkube::node

#endif
