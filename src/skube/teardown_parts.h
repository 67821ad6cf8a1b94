/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * teardown_parts.h - what teardown_ask.cc and teardown_ask_slurm.cc share.
 */
#ifndef SLURMKUBE_SKUBE_TEARDOWN_PARTS_H
#define SLURMKUBE_SKUBE_TEARDOWN_PARTS_H

#include "src/skube/asker.h"
#include "src/skube/teardown.h"

namespace slurmkube::skube
{

/* teardown_ask_slurm.cc: nodes, partitions, jobs and lines of slurm.conf. */
void ask_slurm(Asker &ask, Leftovers &left);

} // namespace slurmkube::skube

#endif
