/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * natural_order.h - the order of names in Slurm's host lists: node-2 before node-10.
 *
 * Pure. Slurm keeps the nodes of an allocation in the order of its node table. For dynamic nodes
 * that is the order of their registration, until slurmctld restarts and sorts the table. The output
 * of squeue and SLURM_JOB_NODELIST are sorted by name (bitmap2node_name() in
 * src/common/node_conf.c).
 */
#ifndef SLURMKUBE_CORE_MODEL_NATURAL_ORDER_H
#define SLURMKUBE_CORE_MODEL_NATURAL_ORDER_H

#include <string_view>

namespace slurmkube::core
{

/* A strict weak order: compares bytes, but runs of decimal digits by value. Of two names that
 * differ only in leading zeros, the one with fewer is first. */
bool natural_less(std::string_view a, std::string_view b);

} // namespace slurmkube::core

#endif
