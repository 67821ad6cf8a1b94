/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seam_prolog.c - reads how far Prolog is on the nodes of a job that have a slurmd.
 *
 * Each call finds the record by id; no pointer is kept after a lock is released. facts.h names the
 * locks.
 */
#include "src/plugins/job_submit/kube/seam.h"

static bool has_hybrid(bitstr_t *nodes)
{
	bitoff_t last = nodes ? bit_fls(nodes) : -1;

	if (last < 0)
		return false;
	for (bitoff_t i = bit_ffs(nodes); i <= last && i < ctld_node_count(); i++)
		if (bit_test(nodes, i) && kube_node_is_hybrid(ctld_node_at(i)))
			return true;
	return false;
}

/* Slurm notes the failure in the job until it cancels the job (prolog_complete() in job_mgr.c). */
bool kube_has_failed_prolog(const job_record_t *job)
{
	return KUBE_SLURM_NOTES_FAILED_PROLOGS(SLURM_VERSION_NUMBER) && job->exit_code &&
		has_hybrid(job->node_bitmap);
}

/*
 * Whether a slurmd of its nodes still runs Prolog: before that, the job's cpuset may not be there.
 * The keeper completes the prologs of external nodes itself. The state has no flag for this.
 */
bool kube_is_in_prolog(const job_record_t *job)
{
	return IS_JOB_RUNNING(job) &&
		(has_hybrid(job->node_bitmap_pr) || kube_has_failed_prolog(job));
}

bool kube_seam_job_has_slurmd(uint32_t id)
{
	const job_record_t *job = ctld_job(id);

	return job && has_hybrid(job->node_bitmap);
}

bool kube_seam_notes_failed_prologs(void)
{
	return KUBE_SLURM_NOTES_FAILED_PROLOGS(SLURM_VERSION_NUMBER);
}
