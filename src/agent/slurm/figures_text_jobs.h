/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * figures_text_jobs.h - the table of Slurm's families for jobs, which the pages of jobs, of users
 * and accounts, and of partitions share.
 */
#ifndef SLURMKUBE_AGENT_SLURM_FIGURES_TEXT_JOBS_H
#define SLURMKUBE_AGENT_SLURM_FIGURES_TEXT_JOBS_H

#include "src/agent/slurm/figures.h"

#include <span>

namespace slurmkube::slurm::figures
{

struct JobFamily {
	const char *suffix; /* of slurm_jobs, slurm_user_jobs, ... */
	Figure JobFigures::*value;
	const char *help;
	/* nullptr: as help */
	const char *owner_help, *partition_help;
	bool is_for_partitions = true;
};

std::span<const JobFamily> job_families();

} // namespace slurmkube::slurm::figures

#endif
