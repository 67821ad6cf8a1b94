/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tables.c - the stub's jobs and nodes, and the changes to them. A replaced record is freed and the
 * new one lies elsewhere, so that a sanitizer detects the use of a kept pointer.
 */
#include "testsuite/component/host/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

job_record_t *host_jobs[HOST_JOBS_MAX];
uint32_t host_next_id = 1;
struct host_counts host_counters;

node_record_t **node_record_table_ptr;
int node_record_count;
time_t last_node_update;
kube_list job_list;

static struct host_list all_jobs = {.count = HOST_JOBS_MAX, .items = (void **)host_jobs};
static struct host_plugin plugin;
static uint16_t sink_port;
static struct job_details details = {.submit_time = 1};

static const slurmctld_lock_t read_jobs = {.conf = READ_LOCK,
	.job = READ_LOCK,
	.node = READ_LOCK,
	.part = READ_LOCK,
	.fed = READ_LOCK};
static const slurmctld_lock_t write_jobs = {.conf = READ_LOCK,
	.job = WRITE_LOCK,
	.node = WRITE_LOCK,
	.part = READ_LOCK,
	.fed = READ_LOCK};
static const slurmctld_lock_t write_all = {.conf = WRITE_LOCK,
	.job = WRITE_LOCK,
	.node = WRITE_LOCK,
	.part = WRITE_LOCK,
	.fed = WRITE_LOCK};

void host_use_plugin(const struct host_plugin *found)
{
	plugin = *found;
}

void host_lock_all(void)
{
	lock_slurmctld(write_all);
}

void host_unlock_all(void)
{
	unlock_slurmctld(write_all);
}

static void changed(void)
{
	HOST_SET(last_job_update, time(NULL));
}

void host_beckon(void)
{
	HOST_ADD(slurmctld_diag_stats.jobs_submitted);
	HOST_ADD(slurmctld_diag_stats.jobs_completed);
	HOST_SET(last_job_update, time(NULL));
	HOST_SET(last_node_update, time(NULL));
}

static void replace(char **text, const char *by)
{
	char *old = *text;

	*text = by ? strdup(by) : NULL;
	free(old);
}

/* ---- nodes ---- */

static node_record_t *new_node(unsigned index)
{
	node_record_t *node = calloc(1, sizeof(*node));
	char name[32];

	snprintf(name, sizeof(name), "n%u", index);
	node->name = strdup(name);
	node->index = index;
	node->features = strdup(index < 6 ? "kube,zone" : "native");
	node->comm_name = strdup("127.0.0.1");
	node->port = sink_port;
	node->gres = strdup("gpu:2");
	node->node_state = index % 2 ? NODE_STATE_UNKNOWN
				     : NODE_STATE_IDLE | NODE_STATE_CLOUD | NODE_STATE_POWERED_DOWN;
	node->cpus = 4;
	node->real_memory = 1000;
	return node;
}

static void free_node(node_record_t *node)
{
	free(node->name);
	free(node->features);
	free(node->comm_name);
	free(node->gres);
	free(node->reason);
	free(node->version);
	free(node);
}

static void make_nodes(void)
{
	node_record_table_ptr = calloc(HOST_NODES, sizeof(node_record_t *));
	for (unsigned i = 0; i < HOST_NODES; i++)
		node_record_table_ptr[i] = new_node(i);
	HOST_SET(node_record_count, HOST_NODES);
}

static void free_nodes(void)
{
	for (int i = 0; i < node_record_count; i++)
		if (node_record_table_ptr[i])
			free_node(node_record_table_ptr[i]);
	free(node_record_table_ptr);
	node_record_table_ptr = NULL;
	HOST_SET(node_record_count, 0);
}

void host_reconfigure(void)
{
	host_lock_all();
	free_nodes();
	make_nodes();
	free(slurm_conf.cluster_name);
	slurm_conf.cluster_name = strdup("stub");
	HOST_SET(slurm_conf.last_update, slurm_conf.last_update + 1);
	HOST_SET(slurm_conf.inactive_limit, slurm_conf.inactive_limit ? 0 : 30);
	HOST_SET(last_node_update, time(NULL));
	host_unlock_all();
}

void host_disturb_node(unsigned random)
{
	node_record_t *node;

	lock_slurmctld(write_jobs);
	node = node_record_table_ptr[random % HOST_NODES];
	switch (random / HOST_NODES % 4) {
	case 0:
		node->node_state |= NODE_STATE_NO_RESPOND;
		break;
	case 1:
		node->node_state = (node->node_state & ~NODE_STATE_BASE) | NODE_STATE_DOWN;
		replace(&node->reason, random % 3 ? "Not responding" : "broken");
		break;
	case 2:
		node->node_state ^= NODE_STATE_DRAIN;
		replace(&node->reason, "somebody drained it");
		break;
	default:
		node->node_state = NODE_STATE_IDLE;
		replace(&node->features, random % 5 ? "kube" : "native");
	}
	HOST_SET(last_node_update, time(NULL));
	unlock_slurmctld(write_jobs);
}

/* ---- jobs ---- */

job_resources_t *host_new_resources(unsigned node)
{
	job_resources_t *resources = calloc(1, sizeof(*resources));

	resources->nhosts = 1;
	resources->node_bitmap = host_new_bits((uint64_t)1 << node);
	resources->core_bitmap = host_new_bits(5);
	resources->cpus = calloc(1, sizeof(*resources->cpus));
	resources->cpus[0] = 2;
	resources->memory_allocated = calloc(1, sizeof(*resources->memory_allocated));
	resources->memory_allocated[0] = 100;
	return resources;
}

static void free_resources(job_resources_t *resources)
{
	if (!resources)
		return;
	free(resources->node_bitmap);
	free(resources->core_bitmap);
	free(resources->cpus);
	free(resources->memory_allocated);
	free(resources);
}

static void free_job(job_record_t *job)
{
	free(job->admin_comment);
	free(job->resp_host);
	free(job->partition);
	free(job->state_desc);
	free(job->node_bitmap_pr);
	free(job->node_bitmap_cg);
	free_resources(job->job_resrcs);
	free(job);
}

void host_drop_job(unsigned slot)
{
	job_record_t *job = host_jobs[slot];

	host_jobs[slot] = NULL;
	if (job)
		free_job(job);
}

static void start(job_record_t *job, unsigned random)
{
	unsigned node = random % 6;

	free_resources(job->job_resrcs);
	job->job_resrcs = host_new_resources(node);
	free(job->node_bitmap_pr);
	job->node_bitmap_pr = host_new_bits((uint64_t)1 << node);
	job->job_state = JOB_RUNNING | JOB_CONFIGURING;
	job->start_time = job->time_last_active = time(NULL);
	HOST_ADD(slurmctld_diag_stats.jobs_started);
}

static void end(job_record_t *job, unsigned random)
{
	static const uint32_t ends[] = {
		JOB_COMPLETE, JOB_CANCELLED, JOB_FAILED, JOB_TIMEOUT, JOB_OOM};

	free(job->node_bitmap_cg);
	job->node_bitmap_cg =
		job->job_resrcs ? host_new_bits(bits_of(job->job_resrcs->node_bitmap)->word) : NULL;
	job->job_state = ends[random % 5] | (job->node_bitmap_cg ? JOB_COMPLETING : 0);
	job->exit_code = random % 3 << 8;
	job->end_time = time(NULL);
	if (random % 2)
		HOST_ADD(slurmctld_diag_stats.jobs_completed);
	else
		HOST_ADD(slurmctld_diag_stats.jobs_canceled);
}

static void live_on(unsigned slot, unsigned random)
{
	job_record_t *job = host_jobs[slot];

	if (IS_JOB_PENDING(job) && random % 3 == 0)
		start(job, random);
	else if (IS_JOB_PENDING(job) && random % 3 == 1)
		replace(&job->state_desc, random % 2 ? "because" : NULL);
	else if (!IS_JOB_FINISHED(job) && random % 4 == 0)
		end(job, random);
	else if (IS_JOB_FINISHED(job) && !IS_JOB_COMPLETING(job) && random % 5 == 0)
		host_drop_job(slot);
}

void host_pass(unsigned random)
{
	lock_slurmctld(write_jobs);
	for (unsigned slot = 0; slot < HOST_JOBS_MAX; slot++) {
		random = random * 1664525U + 1013904223U;
		if (host_jobs[slot])
			live_on(slot, random >> 8);
	}
	changed();
	HOST_SET(slurmctld_diag_stats.schedule_cycle_last, random % 1000);
	unlock_slurmctld(write_jobs);
	HOST_ADD(host_counters.passes);
}

/* ---- submissions ---- */

/* Compares the copies of markers, because no script can change these. */
static void must_be_the_only_one(const char *marker)
{
	for (unsigned i = 0; i < HOST_JOBS_MAX; i++) {
		const job_record_t *job = host_jobs[i];

		if (job && !IS_JOB_FINISHED(job) && !strcmp(job->resp_host, marker)) {
			fprintf(stderr, "two live jobs for %s\n", marker);
			abort();
		}
	}
}

/* If the table is full, the oldest job is forgotten. */
static void create_job(const job_desc_msg_t *wanted)
{
	job_record_t *job = calloc(1, sizeof(*job));
	unsigned slot;

	if (wanted->resp_host)
		must_be_the_only_one(wanted->resp_host);
	job->job_id = host_next_id++;
	slot = job->job_id % HOST_JOBS_MAX;
	if (host_jobs[slot])
		free_job(host_jobs[slot]);
	job->admin_comment = wanted->admin_comment ? strdup(wanted->admin_comment) : NULL;
	job->resp_host = strdup(wanted->resp_host ? wanted->resp_host : "127.0.0.1");
	job->partition = strdup(wanted->partition);
	job->user_id = wanted->user_id;
	job->details = &details;
	job->priority = 1;
	job->time_limit = wanted->resp_host ? HOST_POD_LIMIT : 60;
	job->job_state = JOB_PENDING;
	job->state_reason = WAIT_RESOURCES;
	host_jobs[slot] = job;
	HOST_ADD(slurmctld_diag_stats.jobs_submitted);
	changed();
}

static void count_answer(int code)
{
	HOST_ADD(host_counters.submitted);
	if (code == SLURM_SUCCESS)
		HOST_ADD(host_counters.granted);
	else if (code == ESLURM_DUPLICATE_JOB_ID || code == ESLURM_TRANSITION_STATE_NO_UPDATE)
		HOST_ADD(host_counters.duplicates);
	else
		HOST_ADD(host_counters.refused);
}

void host_submit(uint32_t caller, const char *admin_comment, const char *partition, bool lost)
{
	int (*submit)(job_desc_msg_t *, uint32_t, char **) =
		(int (*)(job_desc_msg_t *, uint32_t, char **))plugin.submit;
	job_desc_msg_t wanted = {.user_id = caller, .group_id = caller, .het_job_offset = NO_VAL};
	char *message = NULL;
	int code;

	kube_wanted_job_id(&wanted) = NO_VAL;
	wanted.admin_comment = admin_comment ? strdup(admin_comment) : NULL;
	wanted.partition = (char *)(uintptr_t)partition;
	/* as in the RPC: the hook runs under one hold of the lock, the job is created under the
	 * next */
	lock_slurmctld(read_jobs);
	code = submit(&wanted, caller, &message);
	unlock_slurmctld(read_jobs);
	count_answer(code);
	free(message);
	if (code == SLURM_SUCCESS && !lost) {
		lock_slurmctld(write_jobs);
		create_job(&wanted);
		unlock_slurmctld(write_jobs);
	}
	free(wanted.admin_comment);
	free(wanted.resp_host);
}

static job_desc_msg_t nothing_changed(void)
{
	job_desc_msg_t change;

	memset(&change, 0xff, sizeof(change)); /* NO_VAL of every size */
	change.admin_comment = change.partition = change.req_nodes = change.exc_nodes =
		change.features = NULL;
	change.tres_per_job = change.tres_per_node = change.tres_per_socket = change.tres_per_task =
		NULL;
	change.mem_per_tres = change.cpus_per_tres = NULL;
	change.min_nodes = change.max_nodes = change.min_cpus = change.max_cpus = change.num_tasks =
		NO_VAL;
	change.pn_min_memory = NO_VAL64;
	change.cpus_per_task = change.ntasks_per_node = change.ntasks_per_socket =
		change.ntasks_per_core = change.pn_min_cpus = NO_VAL16;
	change.sockets_per_node = change.cores_per_socket = change.threads_per_core =
		change.core_spec = NO_VAL16;
	change.contiguous = change.shared = NO_VAL16;
	return change;
}

static int ask_to_modify(job_desc_msg_t *change, job_record_t *job, uint32_t caller)
{
#if KUBE_SLURM_MODIFY_TELLS_USER(SLURM_VERSION_NUMBER)
	char *message = NULL;
	int code = ((int (*)(job_desc_msg_t *, job_record_t *, uint32_t, char **))plugin.modify)(
		change, job, caller, &message);

	free(message);
	return code;
#else
	return ((int (*)(job_desc_msg_t *, job_record_t *, uint32_t))plugin.modify)(
		change, job, caller);
#endif
}

void host_modify(uint32_t caller, unsigned random, const char *new_comment)
{
	job_desc_msg_t change = nothing_changed();
	job_record_t *job;

	change.admin_comment = strdup(new_comment);
	lock_slurmctld(write_jobs);
	job = host_jobs[random % HOST_JOBS_MAX];
	if (job) {
		if (ask_to_modify(&change, job, caller) != SLURM_SUCCESS) {
			if (random % 3 == 0)
				replace(&job->admin_comment, "a script that asks nobody");
		} else if (change.admin_comment) {
			replace(&job->admin_comment, change.admin_comment);
		}
		job->priority = job->priority % 100 + 1;
		changed();
	}
	unlock_slurmctld(write_jobs);
	free(change.admin_comment);
}

void host_each_job(void (*each)(void *context, uint32_t id, bool ended), void *context)
{
	lock_slurmctld(read_jobs);
	for (unsigned i = 0; i < HOST_JOBS_MAX; i++)
		if (host_jobs[i] && host_jobs[i]->resp_host[0] == '{')
			each(context, host_jobs[i]->job_id, IS_JOB_FINISHED(host_jobs[i]));
	unlock_slurmctld(read_jobs);
}

static bool is_live_placeholder(const job_record_t *job)
{
	return job && !IS_JOB_FINISHED(job) && job->time_limit == HOST_POD_LIMIT;
}

void host_take_copies(void)
{
	lock_slurmctld(write_jobs);
	for (unsigned i = 0; i < HOST_JOBS_MAX; i++)
		if (is_live_placeholder(host_jobs[i]))
			replace(&host_jobs[i]->resp_host, "127.0.0.1");
	changed();
	unlock_slurmctld(write_jobs);
}

unsigned host_modify_each(uint32_t caller, const char *partition)
{
	unsigned count = 0;

	lock_slurmctld(write_jobs);
	for (unsigned i = 0; i < HOST_JOBS_MAX; i++) {
		job_desc_msg_t change = nothing_changed();

		change.partition = (char *)(uintptr_t)partition;
		if (is_live_placeholder(host_jobs[i]))
			count += ask_to_modify(&change, host_jobs[i], caller) == SLURM_SUCCESS;
	}
	unlock_slurmctld(write_jobs);
	return count;
}

void host_write_comments(const char *text)
{
	lock_slurmctld(write_jobs);
	for (unsigned i = 0; i < HOST_JOBS_MAX; i++)
		if (is_live_placeholder(host_jobs[i]))
			replace(&host_jobs[i]->admin_comment, text);
	changed();
	unlock_slurmctld(write_jobs);
}

unsigned host_marred(void)
{
	unsigned count = 0;

	lock_slurmctld(read_jobs);
	for (unsigned i = 0; i < HOST_JOBS_MAX; i++)
		if (is_live_placeholder(host_jobs[i]))
			count += host_jobs[i]->resp_host[0] != '{' ||
				host_jobs[i]->admin_comment[0] != '{';
	unlock_slurmctld(read_jobs);
	return count;
}

struct host_counts host_read_counts(void)
{
	struct host_counts counts;

#define READ(name) counts.name = __atomic_load_n(&host_counters.name, __ATOMIC_RELAXED)
	READ(submitted);
	READ(granted);
	READ(refused);
	READ(duplicates);
	READ(passes);
	READ(kicks);
	READ(lines_logged);
	READ(righted);
	READ(walks);
	READ(parsed);
#undef READ
	return counts;
}

/* ---- begin and end ---- */

void host_in_control(bool yes)
{
	HOST_SET(control_time, yes ? time(NULL) : 0);
	HOST_SET(slurmctld_config.thread_id_save, yes ? pthread_self() : 0);
}

void host_fail_to_reconfigure(void)
{
	host_in_control(false);
	HOST_SET(slurmctld_config.thread_id_save, pthread_self());
}

void host_shut_down(bool yes)
{
	HOST_SET(slurmctld_config.shutdown_time, yes ? time(NULL) : 0);
}

void host_use_sink_port(uint16_t port)
{
	sink_port = port;
}

void host_make_tables(uint32_t slurm_user)
{
	job_list = as_list(&all_jobs);
	slurm_conf.slurm_user_id = slurm_user;
	slurm_conf.cluster_name = strdup("stub");
	booting_node_bitmap = host_new_bits(~(uint64_t)0);
	share_node_bitmap = host_new_bits(0x5555);
	power_node_bitmap = host_new_bits(~(uint64_t)0);
#if KUBE_SLURM_HAS_CLOUD_BITMAP(SLURM_VERSION_NUMBER)
	cloud_node_bitmap = host_new_bits(~(uint64_t)0);
#endif
	make_nodes();
	host_in_control(true);
}

void host_free_tables(void)
{
	free_nodes();
	for (unsigned i = 0; i < HOST_JOBS_MAX; i++)
		if (host_jobs[i])
			free_job(host_jobs[i]);
	memset(host_jobs, 0, sizeof(host_jobs));
	free(booting_node_bitmap);
	free(share_node_bitmap);
	free(power_node_bitmap);
	free(slurm_conf.cluster_name);
}
