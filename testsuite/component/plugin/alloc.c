/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc.c - what the agent requests from Slurm, for the plugin's component test: allocations with a
 * marker, and their end.
 *
 *	alloc submit KEY=VALUE...     user, group, cpus, memory, minutes, partition, marker, node,
 *	                              gres, port, external, threads, count
 *	alloc complete JOB STATUS     STATUS is a wait status
 *	alloc lives KEY=VALUE...      as submit, but each job is ended as soon as it runs; prints
 *	                              "lives DONE REFUSED NS"
 *
 * Prints one line per answer: "ok JOB NODES NS" or "error NUMBER NS". NS is CLOCK_MONOTONIC at the
 * answer. threads=N sends the same request from N threads at once. count=N makes each thread
 * send N requests, and replaces every @ in the marker by a different number for each of them.
 */
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS_MAX 64

static job_desc_msg_t request;
static int threads = 1, count = 1;
static unsigned sent; /* accessed atomically */
static pthread_barrier_t barrier;

static long long now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000000000LL + t.tv_nsec;
}

static unsigned job_of(const resource_allocation_response_msg_t *answer)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
	return answer->step_id.job_id;
#else
	return answer->job_id;
#endif
}

static int error_number(void)
{
	return errno;
}

/* The caller frees the result. */
static char *numbered(const char *marker)
{
	unsigned number = __atomic_add_fetch(&sent, 1, __ATOMIC_RELAXED);
	size_t size = strlen(marker) + 64, used = 0;
	char *text = malloc(size);

	if (!text)
		abort();
	for (; *marker && used < size - 16; marker++) {
		if (*marker == '@')
			used += (size_t)snprintf(text + used, size - used, "%u", number);
		else
			text[used++] = *marker;
	}
	text[used] = '\0';
	return text;
}

static int end(unsigned id, unsigned code)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
	slurm_step_id_t step = SLURM_STEP_ID_INITIALIZER;

	step.job_id = id;
	return slurm_complete_job(&step, code);
#else
	return slurm_complete_job(id, code);
#endif
}

static bool lives; /* the verb is "lives" */
static unsigned done, refused;

static void live_one(resource_allocation_response_msg_t *answer)
{
	if (answer && !end(job_of(answer), 0))
		(void)__atomic_add_fetch(&done, 1, __ATOMIC_RELAXED);
	else
		(void)__atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED);
}

static void submit_one(void)
{
	resource_allocation_response_msg_t *answer = NULL;
	job_desc_msg_t mine = request;
	int failed;

	mine.admin_comment = request.admin_comment ? numbered(request.admin_comment) : NULL;
	mine.resp_host = mine.admin_comment; /* as the agent does */
	failed = slurm_allocate_resources(&mine, &answer);
	if (lives) {
		live_one(failed ? NULL : answer);
		if (answer)
			slurm_free_resource_allocation_response_msg(answer);
		free(mine.admin_comment);
		return;
	}
	if (failed || !answer)
		printf("error %d %lld\n", error_number(), now_ns());
	else
		printf("ok %u %s %lld\n", job_of(answer),
			answer->node_list ? answer->node_list : "-", now_ns());
	if (answer)
		slurm_free_resource_allocation_response_msg(answer);
	free(mine.admin_comment);
}

static void *submit(void *unused)
{
	(void)unused;
	(void)pthread_barrier_wait(&barrier);
	for (int i = 0; i < count; i++)
		submit_one();
	return NULL;
}

static void set(const char *key, char *value)
{
	unsigned number = (unsigned)strtoul(value, NULL, 10);

	if (!strcmp(key, "user"))
		request.user_id = number;
	else if (!strcmp(key, "group"))
		request.group_id = number;
	else if (!strcmp(key, "cpus"))
		request.min_cpus = request.num_tasks = number;
	else if (!strcmp(key, "memory"))
		request.pn_min_memory = number;
	else if (!strcmp(key, "minutes"))
		request.time_limit = number;
	else if (!strcmp(key, "partition"))
		request.partition = value;
	else if (!strcmp(key, "marker"))
		request.admin_comment = value;
	else if (!strcmp(key, "node"))
		request.req_nodes = value;
	else if (!strcmp(key, "gres"))
		request.tres_per_node = value;
	else if (!strcmp(key, "port"))
		request.other_port = (uint16_t)number;
#ifdef EXTERNAL_JOB
	/* the plugin sets this flag itself; needed for a slurmctld without the plugin */
	else if (!strcmp(key, "external"))
		request.bitflags |= number ? EXTERNAL_JOB : 0;
#endif
	else if (!strcmp(key, "threads"))
		threads = (int)number;
	else if (!strcmp(key, "count"))
		count = (int)number;
	else
		exit(2);
}

static void defaults(void)
{
	static char name[] = "pod", host[] = "localhost", directory[] = "/";

	slurm_init_job_desc_msg(&request);
	request.user_id = request.group_id = 0;
	request.name = name;
	request.alloc_node = host;
	request.work_dir = directory;
	request.min_nodes = request.max_nodes = 1;
	request.min_cpus = request.num_tasks = 1;
	request.cpus_per_task = 1;
	request.pn_min_memory = 1;
}

static int run_submit(int pairs, char **words)
{
	pthread_t handles[THREADS_MAX];

	defaults();
	for (int i = 0; i < pairs; i++) {
		char *equals = strchr(words[i], '=');

		if (!equals)
			return 2;
		*equals = '\0';
		set(words[i], equals + 1);
	}
	if (threads < 1 || threads > THREADS_MAX ||
		pthread_barrier_init(&barrier, NULL, (unsigned)threads))
		return 2;
	for (int i = 0; i < threads; i++)
		if (pthread_create(&handles[i], NULL, submit, NULL))
			abort();
	for (int i = 0; i < threads; i++)
		(void)pthread_join(handles[i], NULL);
	return 0;
}

static int run_complete(const char *job, const char *status)
{
	unsigned id = (unsigned)strtoul(job, NULL, 10), code = (unsigned)strtoul(status, NULL, 10);

	if (end(id, code))
		printf("error %d %lld\n", error_number(), now_ns());
	else
		printf("ok %u - %lld\n", id, now_ns());
	return 0;
}

int main(int argc, char **argv)
{
	slurm_init(NULL);
	if (argc >= 2 && !strcmp(argv[1], "submit"))
		return run_submit(argc - 2, argv + 2);
	if (argc >= 2 && !strcmp(argv[1], "lives")) {
		int status;

		lives = true;
		status = run_submit(argc - 2, argv + 2);
		printf("lives %u %u %lld\n", done, refused, now_ns());
		return status;
	}
	if (argc == 4 && !strcmp(argv[1], "complete"))
		return run_complete(argv[2], argv[3]);
	return 2;
}
