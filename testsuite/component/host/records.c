/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * records.c - jobs that tests put into the stub: native jobs with a site's comments, the remains of
 * an array, jobs on a given node.
 */
#include "testsuite/component/host/inside.h"

#include <stdlib.h>
#include <string.h>

static const slurmctld_lock_t write_jobs = {.conf = READ_LOCK,
	.job = WRITE_LOCK,
	.node = WRITE_LOCK,
	.part = READ_LOCK,
	.fed = READ_LOCK};
static struct job_details details = {.submit_time = 1};

/* Replaces the job in the slot. */
static job_record_t *put_native(uint32_t id, const char *admin_comment)
{
	job_record_t *job = calloc(1, sizeof(*job));

	host_drop_job(id % HOST_JOBS_MAX);
	job->job_id = id;
	job->admin_comment = strdup(admin_comment);
	job->resp_host = strdup("login-1");
	job->partition = strdup("batch");
	job->user_id = 1234;
	job->details = &details;
	job->job_state = JOB_PENDING;
	job->state_reason = WAIT_RESOURCES;
	host_jobs[id % HOST_JOBS_MAX] = job;
	HOST_SET(last_job_update, time(NULL));
	return job;
}

void host_put_natives(unsigned count, const char *admin_comment)
{
	lock_slurmctld(write_jobs);
	for (unsigned i = 0; i < count; i++)
		(void)put_native(host_next_id++, admin_comment);
	unlock_slurmctld(write_jobs);
}

void host_put_array_last(void)
{
	job_record_t *job;

	lock_slurmctld(write_jobs);
	job = put_native(HOST_JOBS_MAX - 1, "");
	job->array_job_id = job->job_id;
	/* no later job gets a number that the cursor would reach */
	host_next_id += 25 * HOST_JOBS_MAX - host_next_id % HOST_JOBS_MAX;
	unlock_slurmctld(write_jobs);
}

static void run_on(job_record_t *job, unsigned node)
{
	job->job_resrcs = host_new_resources(node);
	job->job_state = JOB_RUNNING;
	job->start_time = job->time_last_active = time(NULL);
	node_record_table_ptr[node]->run_job_cnt++;
	HOST_ADD(slurmctld_diag_stats.jobs_started);
	HOST_SET(last_job_update, time(NULL));
	HOST_SET(last_node_update, time(NULL));
}

uint32_t host_put_stray(unsigned node)
{
	uint32_t id;

	lock_slurmctld(write_jobs);
	id = host_next_id++;
	run_on(put_native(id, ""), node);
	unlock_slurmctld(write_jobs);
	return id;
}

uint32_t host_newest(void)
{
	uint32_t id;

	lock_slurmctld(write_jobs);
	id = host_next_id - 1;
	unlock_slurmctld(write_jobs);
	return id;
}

void host_start_on(uint32_t id, unsigned node)
{
	job_record_t *job;

	lock_slurmctld(write_jobs);
	job = find_job_record(id);
	if (job && IS_JOB_PENDING(job))
		run_on(job, node);
	unlock_slurmctld(write_jobs);
}

void host_clear_jobs(void)
{
	lock_slurmctld(write_jobs);
	for (unsigned slot = 0; slot < HOST_JOBS_MAX; slot++)
		host_drop_job(slot);
	HOST_SET(last_job_update, time(NULL));
	unlock_slurmctld(write_jobs);
}
