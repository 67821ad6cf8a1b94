/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_setup.h - the files and lines that a hybrid node needs (doc/hybrid.md). Pure.
 */
#ifndef SLURMKUBE_SKUBE_NODE_SETUP_H
#define SLURMKUBE_SKUBE_NODE_SETUP_H

#include "src/base/result.h"

#include <string>

namespace slurmkube::skube
{

/* system_cpus: a list of processors such as 0,32-33, as Linux numbers them. only: the name of one
 * part, which is printed as the file itself; empty: all, with a heading each. invalid: neither a
 * list nor a part. */
Result<std::string> node_setup_text(const std::string &system_cpus, const std::string &only);

} // namespace slurmkube::skube

#endif
