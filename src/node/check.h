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

/* Prints a line for each prerequisite, with its remedy. 0: all are kept. Runs containerd or crio.
 */
int check_node(const Settings &settings, const Cgroups &cgroups);

} // namespace slurmkube::node

#endif
