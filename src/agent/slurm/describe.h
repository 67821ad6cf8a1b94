/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * describe.h - a core::JobSpec as libslurm's job_desc_msg_t, and what to say when slurmctld does
 * not want it.
 *
 * What this Slurm's version or configuration would drop without a word is refused here instead.
 */
#ifndef SLURMKUBE_AGENT_SLURM_DESCRIBE_H
#define SLURMKUBE_AGENT_SLURM_DESCRIBE_H

#include "src/base/result.h"
#include "src/core/model/spec.h"

#include <slurm/slurm.h>

#include <string>
#include <vector>

namespace slurmkube::slurm
{

/* The texts that a request points to: must outlive it, and stay where they are. slurm.h has no
 * const: it only reads them. */
struct Texts {
	core::JobSpec spec;
	std::string marker, host, gres, cpus_per_tres;
	std::string excluded; /* hosts as Slurm writes them */
	std::string gres_of_task = {};
	std::string required = {}; /* as excluded */
};
Texts texts_of(const core::JobSpec &spec);

/* invalid: this Slurm cannot do what the options ask for. Asks slurmctld for its configuration only
 * if an option depends on it. */
Status check_supported(const core::JobSpec &spec);

/* job has been initialised by slurm_init_job_desc_msg. */
void describe(job_desc_msg_t &job, Texts &texts);

/* The same for slurm_update_job: only the options of these names (core/options/table.cc), and the
 * marker. invalid: one of removed cannot be taken back. */
Status describe_change(job_desc_msg_t &job, Texts &texts, const std::vector<std::string> &given,
	const std::vector<std::string> &removed);

/* A refusal of slurmctld, with the options that it is about. */
Error refusal_of(int slurm_errno, const core::JobSpec &spec);

} // namespace slurmkube::slurm

#endif
