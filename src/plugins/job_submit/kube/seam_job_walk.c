/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seam_job_walk.c - walks over all jobs of slurmctld. facts.h names the locks.
 */
#include "src/plugins/job_submit/kube/seam.h"

struct walk {
	uint32_t skipped;
	kube_each_job each;
	void *context;
};

static int visit_job(void *item, void *argument)
{
	const job_record_t *job = item;
	struct walk *walk = argument;
	struct kube_listed_job listed;

	if (walk->skipped) {
		walk->skipped--;
		return 0;
	}
	/*
	 * A task that starts gets a new id, and the place of its array in the list; the array keeps
	 * its old id and moves to the end (job_array_split() in job_mgr.c).
	 */
	listed = (struct kube_listed_job){
		.id = job->job_id, .is_of_array = job->array_job_id, .texts = kube_texts_of(job)};
	return walk->each(walk->context, &listed) ? 0 : -1;
}

/* Without an iterator, which would take the list's lock for writing at each job. */
void kube_seam_jobs_after(uint32_t skipped, kube_each_job each, void *context)
{
	struct walk walk = {.skipped = skipped, .each = each, .context = context};

	if (ctld_jobs())
		(void)list_for_each_ro(ctld_jobs(), visit_job, &walk);
}
