/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seam_ends.c - completes what Slurm waits for on nodes without slurmd: prologs, epilogs, signs of
 * life.
 *
 * Each call finds the record by id; no pointer is kept after a lock is released. facts.h names the
 * locks.
 */
#include "src/plugins/job_submit/kube/seam.h"

/* If a job has nodes of both kinds, the slurmd of its native nodes answers for them. */
void kube_seam_finish_prolog(uint32_t id, const char *feature)
{
	job_record_t *job = ctld_job(id);

	if (!job || !IS_JOB_RUNNING(job) || !job->node_bitmap_pr || kube_is_shutting_down())
		return;
	for (int i = 0; i < ctld_node_count(); i++)
		if (job->node_bitmap_pr && bit_test(job->node_bitmap_pr, i) &&
			kube_node_is_external(ctld_node_at(i), feature))
			ctld_complete_prolog(job, ctld_node_at(i)->name);
}

/* The last node's completion may free the bitmap or even requeue the job, so look the job up each
 * time. */
void kube_seam_finish_epilog(uint32_t id, const char *feature)
{
	for (int i = 0; i < ctld_node_count(); i++) {
		job_record_t *job = ctld_job(id);

		if (!job || !IS_JOB_COMPLETING(job) || !job->node_bitmap_cg ||
			kube_is_shutting_down())
			return;
		if (bit_test(job->node_bitmap_cg, i) &&
			kube_node_is_external(ctld_node_at(i), feature))
			ctld_complete_epilog(job, ctld_node_at(i)->name);
	}
}

enum { EPILOGS_MAX = 64 }; /* the next call does the rest: the node stays completing */
struct epilogs {
	bitoff_t node;
	int count;
	uint32_t ids[EPILOGS_MAX];
};

static int note_epilog(void *item, void *argument)
{
	const job_record_t *job = item;
	struct epilogs *epilogs = argument;

	if (IS_JOB_COMPLETING(job) && job->node_bitmap_cg &&
		bit_test(job->node_bitmap_cg, epilogs->node))
		epilogs->ids[epilogs->count++] = job->job_id;
	return epilogs->count < EPILOGS_MAX ? 0 : -1;
}

void kube_seam_finish_epilogs_on(const char *node_name, const char *feature)
{
	char *name = xstrdup(node_name);
	const node_record_t *node = ctld_node(name);
	struct epilogs epilogs = {.count = 0};

	if (!kube_node_is_external(node, feature) || !ctld_jobs() || kube_is_shutting_down()) {
		xfree(name);
		return;
	}
	epilogs.node = (bitoff_t)node->index;
	(void)list_for_each_ro(ctld_jobs(), note_epilog, &epilogs);
	for (int i = 0; i < epilogs.count; i++) {
		job_record_t *ended = ctld_job(epilogs.ids[i]);

		if (ended && IS_JOB_COMPLETING(ended))
			ctld_complete_epilog(ended, name);
	}
	xfree(name);
}

void kube_seam_keep_active(uint32_t id)
{
	job_record_t *job = ctld_job(id);

	if (job && IS_JOB_RUNNING(job) && !kube_is_shutting_down())
		job->time_last_active = time(NULL);
}
