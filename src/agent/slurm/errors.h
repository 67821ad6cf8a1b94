/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * errors.h - maps Slurm's error numbers to Errc, which says what to do. No other file knows both.
 */
#ifndef SLURMKUBE_AGENT_SLURM_ERRORS_H
#define SLURMKUBE_AGENT_SLURM_ERRORS_H

#include "src/base/result.h"

namespace slurmkube::slurm
{

Errc errc_of(int slurm_errno);

/* The text is Slurm's and can be shown to users: "Invalid account or account/partition combination
 * specified". */
Error error_of(int slurm_errno);

} // namespace slurmkube::slurm

#endif
