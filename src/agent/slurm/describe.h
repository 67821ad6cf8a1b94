/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * describe.h - a core::JobSpec as libslurm's job_desc_msg_t, and the errors when slurmctld refuses
 * it.
 *
 * Options that this version or configuration of Slurm would silently ignore are refused here.
 */
#ifndef SLURMKUBE_AGENT_SLURM_DESCRIBE_H
#define SLURMKUBE_AGENT_SLURM_DESCRIBE_H

#include "src/base/result.h"
#include "src/core/model/spec.h"

#include <slurm/slurm.h>

#include <array>
#include <string>
#include <vector>

namespace slurmkube::slurm
{

/* The strings that a request points to. They must outlive the request and must not move. libslurm
 * only reads them; they are not const because slurm.h has char *. */
struct Texts {
	core::JobSpec spec;
	std::string marker, host, gres, cpus_per_tres;
	std::string excluded; /* host list in Slurm's syntax */
	std::string gres_of_task = {};
	std::string required = {}; /* the same */
	/* for Prolog and Epilog of hybrid nodes: the job is that of pods, and their grace period */
	std::string spank_mark = "SPANK_SLURM_KUBE=1", spank_grace = {};
	std::array<char *, 2> spank = {};
};
Texts texts_of(const core::JobSpec &spec);

/* invalid: this Slurm does not support an option of spec. Asks slurmctld for its configuration only
 * if such an option needs it. */
Status check_supported(const core::JobSpec &spec);

/* job must have been initialised by slurm_init_job_desc_msg(). */
void describe(job_desc_msg_t &job, Texts &texts);

/* The same for slurm_update_job(): only the marker and the options with these names
 * (core/options/table.cc). invalid: an option in removed cannot be reset. */
Status describe_change(job_desc_msg_t &job, Texts &texts, const std::vector<std::string> &given,
	const std::vector<std::string> &removed);

/* The Error for a refusal of slurmctld, with the options that may have caused it. */
Error refusal_of(int slurm_errno, const core::JobSpec &spec);

} // namespace slurmkube::slurm

#endif
