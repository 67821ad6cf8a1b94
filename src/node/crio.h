/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crio.h - whether CRI-O's configuration keeps containers off jobs' processors when slurmkube-node
 * does not run.
 *
 * Pure. Sources: crio.conf(5), oci-hooks(5), the README of NRI's default validator.
 */
#ifndef SLURMKUBE_NODE_CRIO_H
#define SLURMKUBE_NODE_CRIO_H

#include "src/node/oci_hook.h"

#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::node
{

/* What the configuration (crio status config) lacks, each with its remedy; empty: nothing. read:
 * for the hook's file. */
std::vector<std::string> crio_lacks(std::string_view configuration, const ReadFile &read);

} // namespace slurmkube::node

#endif
