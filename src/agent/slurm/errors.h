/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * errors.h - from Slurm's error numbers to what to do about them. The only place that knows both.
 */
#ifndef SLURMKUBE_AGENT_SLURM_ERRORS_H
#define SLURMKUBE_AGENT_SLURM_ERRORS_H

#include "src/base/result.h"

namespace slurmkube::slurm
{

Errc errc_of(int slurm_errno);

/* "Invalid account or account/partition combination specified": Slurm's text, right for showing to
 * users. */
Error error_of(int slurm_errno);

} // namespace slurmkube::slurm

#endif
