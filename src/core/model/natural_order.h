/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * natural_order.h - names in the order in which people and Slurm's host lists count: node-2 before
 * node-10.
 *
 * Pure. Slurm keeps the nodes of an allocation by its table of nodes. For dynamic nodes that is the
 * order in which they happened to register, and slurmctld sorts it when it starts again; what
 * squeue prints and SLURM_JOB_NODELIST says is sorted by name (bitmap2node_name() in
 * src/common/node_conf.c).
 */
#ifndef SLURMKUBE_CORE_MODEL_NATURAL_ORDER_H
#define SLURMKUBE_CORE_MODEL_NATURAL_ORDER_H

#include <string_view>

namespace slurmkube::core
{

/* A strict weak order: bytes, with runs of decimal digits compared by value; of equal values the
 * one with fewer leading zeros is first. */
bool natural_less(std::string_view a, std::string_view b);

} // namespace slurmkube::core

#endif
