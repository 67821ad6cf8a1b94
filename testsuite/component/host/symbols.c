/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols.c - the functions and variables of slurmctld that the plugin uses.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for the initializer of locks that prefer writers */
#endif
#include "testsuite/component/host/inside.h"

#include "src/slurmctld/reservation.h"

struct json_tokener;
struct json_tokener *json_tokener_new_ex(int depth);

#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

time_t control_time, last_job_update;
diag_stats_t slurmctld_diag_stats;
__typeof__(slurmctld_primary) slurmctld_primary; /* a backup, which is in control anyway */
char *default_part_name = "batch";
bitstr_t *booting_node_bitmap, *power_node_bitmap, *share_node_bitmap;
#if KUBE_SLURM_HAS_CLOUD_BITMAP(SLURM_VERSION_NUMBER)
bitstr_t *cloud_node_bitmap;
#endif
slurm_conf_t slurm_conf;
slurmdb_federation_rec_t *fed_mgr_fed_rec;
kube_list part_list;
slurmctld_config_t slurmctld_config;

/* ---- locks: in Slurm's order; writers do not starve, as in Slurm ---- */

static pthread_rwlock_t locks[5] = {
	PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP,
	PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP,
	PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP,
	PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP,
	PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP,
};

static void take(pthread_rwlock_t *lock, lock_level_t level)
{
	if (level == READ_LOCK)
		pthread_rwlock_rdlock(lock);
	else if (level == WRITE_LOCK)
		pthread_rwlock_wrlock(lock);
}

static atomic_int waiting; /* threads that wait for locks */

bool host_anybody_waits(void)
{
	return atomic_load(&waiting) > 0;
}

static _Atomic(const char *) shuts_down_under;

void host_shut_down_under_lock(const char *thread)
{
	atomic_store(&shuts_down_under, thread);
}

static void shut_down_if_wanted(void)
{
	const char *thread = atomic_load(&shuts_down_under);
	char name[16] = "";

	if (thread && !pthread_getname_np(pthread_self(), name, sizeof(name)) &&
		!strcmp(name, thread)) {
		atomic_store(&shuts_down_under, NULL);
		host_shut_down(true);
	}
}

static _Thread_local bool holds_locks;

void lock_slurmctld(slurmctld_lock_t levels)
{
	atomic_fetch_add(&waiting, 1);
	take(&locks[0], levels.conf);
	take(&locks[1], levels.job);
	take(&locks[2], levels.node);
	take(&locks[3], levels.part);
	take(&locks[4], levels.fed);
	atomic_fetch_sub(&waiting, 1);
	holds_locks = true;
	if (levels.job == WRITE_LOCK)
		shut_down_if_wanted();
}

void unlock_slurmctld(slurmctld_lock_t levels)
{
	const lock_level_t order[] = {
		levels.conf, levels.job, levels.node, levels.part, levels.fed};

	for (int i = 4; i >= 0; i--)
		if (order[i] != NO_LOCK)
			pthread_rwlock_unlock(&locks[i]);
	holds_locks = false;
}

/* Replaces json-c's function, to count texts that are parsed under a lock: foreign text must not
 * cost time there. */
struct json_tokener *json_tokener_new_ex(int depth)
{
	struct json_tokener *(*theirs)(int) =
		(struct json_tokener * (*)(int)) dlsym(RTLD_NEXT, "json_tokener_new_ex");
	char name[16] = "";

	if (holds_locks && !pthread_getname_np(pthread_self(), name, sizeof(name)) &&
		!strcmp(name, "kube-keeper"))
		HOST_ADD(host_counters.parsed);
	return theirs(depth);
}

/* glibc has a function of the same name with other arguments */
int error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (getenv("HOST_LOG"))
		vfprintf(stderr, format, args);
	va_end(args);
	HOST_ADD(host_counters.lines_logged);
	return SLURM_ERROR;
}

void schedule_job_save(void) {}

void schedule_node_save(void) {}

/* ---- messages: the stub receives none ---- */

void slurm_msg_t_init(slurm_msg_t *message)
{
	memset(message, 0, sizeof(*message));
}

int slurm_receive_msg(int fd, slurm_msg_t *message, int timeout)
{
	(void)fd;
	(void)message;
	(void)timeout;
	return SLURM_ERROR;
}

int slurm_send_rc_msg(slurm_msg_t *message, int code)
{
	(void)message;
	(void)code;
	return SLURM_ERROR;
}

void slurm_free_msg_members(slurm_msg_t *message)
{
	(void)message;
}

/* ---- memory, text, log ---- */

char *xstrdup(const char *text)
{
	return text ? strdup(text) : NULL;
}

char *xstrdup_printf(const char *format, ...)
{
	char *text = malloc(4096);
	va_list args;

	va_start(args, format);
	vsnprintf(text, 4096, format, args);
	va_end(args);
	return text;
}

int xstrcmp(const char *one, const char *other)
{
	return strcmp(one ? one : "", other ? other : "");
}

char *xstrstr(const char *text, const char *part)
{
	return text ? strstr(text, part) : NULL;
}

void _xstrfmtcat(char **text, const char *format, ...)
{
	char *longer = malloc(4096);
	va_list args;
	int used = snprintf(longer, 2048, "%s", *text ? *text : "");

	va_start(args, format);
	vsnprintf(longer + used, 2048, format, args);
	va_end(args);
	free(*text);
	*text = longer;
}

part_record_t *find_part_record(char *name)
{
	(void)name;
	return NULL;
}

slurmctld_resv_t *find_resv_name(char *name)
{
	(void)name;
	return NULL;
}

bool validate_super_user(uid_t uid)
{
	return uid == 0 || uid == slurm_conf.slurm_user_id;
}

void slurm_xfree(void **item)
{
	free(*item);
	*item = NULL;
}

int get_log_level(void)
{
	return LOG_LEVEL_DEBUG;
}

void log_var(const log_level_t level, const char *format, ...)
{
	char line[4096];
	va_list args;

	(void)level;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	HOST_ADD(host_counters.lines_logged);
	if (getenv("HOST_LOG"))
		fprintf(stderr, "%s\n", line);
}

char *get_extra_conf_path(char *name)
{
	const char *directory = getenv("HOST_DIRECTORY");
	char *path = malloc(4096);

	snprintf(path, 4096, "%s/%s", directory ? directory : "/nonexistent", name);
	return path;
}

/* ---- bitmaps, lists, host lists ---- */

bitstr_t *host_new_bits(uint64_t word)
{
	struct host_bits *bits = calloc(1, sizeof(*bits));

	bits->word = word;
	return as_bits(bits);
}

#undef bit_test
int bit_test(bitstr_t *bits, bitoff_t bit)
{
	return bits_of(bits)->word >> bit & 1;
}

void bit_set(bitstr_t *bits, bitoff_t bit)
{
	bits_of(bits)->word |= (uint64_t)1 << bit;
}

void bit_clear(bitstr_t *bits, bitoff_t bit)
{
	bits_of(bits)->word &= ~((uint64_t)1 << bit);
}

bitoff_t bit_ffs(bitstr_t *bits)
{
	return bits_of(bits)->word ? __builtin_ctzll(bits_of(bits)->word) : -1;
}

bitoff_t bit_fls(bitstr_t *bits)
{
	return bits_of(bits)->word ? 63 - __builtin_clzll(bits_of(bits)->word) : -1;
}

char *bit_fmt(char *out, int32_t size, bitstr_t *bits)
{
	snprintf(out, (size_t)size, "%d", (int)bit_ffs(bits));
	return out;
}

int list_for_each_ro(kube_list handle, ListForF visit, void *context)
{
	struct host_list *list = (struct host_list *)(void *)handle;
	int visited = 0;

	if (handle == job_list)
		HOST_ADD(host_counters.walks);
	for (int i = 0; i < list->count; i++) {
		if (!list->items[i])
			continue;
		visited++;
		if (visit(list->items[i], context) < 0)
			return -visited;
	}
	return visited;
}

kube_hostlist hostlist_create(const char *hosts)
{
	return (kube_hostlist)(void *)strdup(hosts);
}

void hostlist_destroy(kube_hostlist hosts)
{
	free((void *)hosts);
}

int hostlist_find(kube_hostlist hosts, const char *name)
{
	return strcmp((const char *)(void *)hosts, name) ? -1 : 0;
}

int hostlist_count(kube_hostlist hosts)
{
	return *(const char *)(void *)hosts ? 1 : 0;
}

char *hostlist_shift(kube_hostlist hosts)
{
	char *text = (char *)(void *)hosts;
	char *name = *text ? strdup(text) : NULL;

	*text = '\0';
	return name;
}

/* ---- jobs ---- */

job_record_t *find_job_record(uint32_t id)
{
	job_record_t *job = host_jobs[id % HOST_JOBS_MAX];

	return job && job->job_id == id ? job : NULL;
}

const char *host_reason = "Resources";
#if KUBE_SLURM_HAS_STATE_REASON(SLURM_VERSION_NUMBER)
char *job_state_reason_string(enum job_state_reason reason)
#else
char *job_reason_string(enum job_state_reason reason)
#endif
{
	(void)reason;
	return (char *)(uintptr_t)host_reason;
}

int get_job_resources_cnt(
	job_resources_t *resources, uint32_t at, uint16_t *sockets, uint16_t *cores)
{
	(void)resources;
	(void)at;
	*sockets = 1;
	*cores = 4;
	return SLURM_SUCCESS;
}

int prolog_complete(uint32_t id, uint32_t code, char *node)
{
	job_record_t *job = find_job_record(id);
	node_record_t *record = find_node_record(node);

	(void)code;
	if (!job || !record || !job->node_bitmap_pr)
		return SLURM_ERROR;
	bit_clear(job->node_bitmap_pr, record->index);
	if (bit_ffs(job->node_bitmap_pr) < 0) {
		free(job->node_bitmap_pr);
		job->node_bitmap_pr = NULL;
		job->job_state &= ~JOB_CONFIGURING;
	}
	return SLURM_SUCCESS;
}

bool job_epilog_complete(uint32_t id, char *node, uint32_t code)
{
	job_record_t *job = find_job_record(id);
	node_record_t *record = find_node_record(node);

	(void)code;
	if (!job || !record || !job->node_bitmap_cg)
		return false;
	bit_clear(job->node_bitmap_cg, record->index);
	if (bit_ffs(job->node_bitmap_cg) >= 0)
		return false;
	free(job->node_bitmap_cg);
	job->node_bitmap_cg = NULL;
	job->job_state &= ~JOB_COMPLETING;
	return true;
}

void schedule(bool full_queue)
{
	(void)full_queue;
	HOST_ADD(host_counters.kicks);
	host_pass(7);
}

/* ---- nodes ---- */

node_record_t *find_node_record(char *name)
{
	for (int i = 0; i < node_record_count; i++)
		if (node_record_table_ptr[i] && !strcmp(node_record_table_ptr[i]->name, name))
			return node_record_table_ptr[i];
	return NULL;
}

int drain_nodes(char *names, char *reason, uint32_t uid)
{
	node_record_t *node = find_node_record(names);

	(void)reason;
	(void)uid;
	if (node)
		node->node_state |= NODE_STATE_DRAIN;
	return SLURM_SUCCESS;
}

void set_node_down(char *name, char *reason)
{
	node_record_t *node = find_node_record(name);

	(void)reason;
	if (node)
		node->node_state = (node->node_state & ~NODE_STATE_BASE) | NODE_STATE_DOWN;
}

void node_did_resp(char *name)
{
	node_record_t *node = find_node_record(name);

	if (!node)
		return;
	HOST_ADD(host_counters.righted);
	node->node_state &= ~NODE_STATE_NO_RESPOND;
	if ((node->node_state & NODE_STATE_BASE) == NODE_STATE_UNKNOWN ||
		(node->node_state & NODE_STATE_BASE) == NODE_STATE_DOWN)
		node->node_state = (node->node_state & ~NODE_STATE_BASE) | NODE_STATE_IDLE;
	HOST_SET(last_node_update, time(NULL));
}

int gres_g_node_config_load(
	uint32_t cpus, char *node, kube_list gres, void *to_machine, void *from_machine)
{
	(void)cpus;
	(void)node;
	(void)gres;
	(void)to_machine;
	(void)from_machine;
	return SLURM_SUCCESS;
}

int gres_node_config_validate(char *node, char *original, char **changed, kube_list *gres,
	int threads, int cores, int sockets, bool overrides, char **reason)
{
	(void)node;
	(void)original;
	(void)changed;
	(void)gres;
	(void)threads;
	(void)cores;
	(void)sockets;
	(void)overrides;
	(void)reason;
	return SLURM_SUCCESS;
}
