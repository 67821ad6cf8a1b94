/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inside.h - what symbols.c and tables.c share: the stub's own definitions of Slurm's opaque types.
 */
#ifndef SLURMKUBE_TESTSUITE_COMPONENT_HOST_INSIDE_H
#define SLURMKUBE_TESTSUITE_COMPONENT_HOST_INSIDE_H

#include "src/plugins/job_submit/kube/seam.h"

#include "testsuite/component/host/host.h"

enum { HOST_POD_LIMIT = 61 }; /* minutes; identifies a placeholder that lost its marker */

/* A list as a fixed array, and a bitmap of at most 64 bits. */
struct host_list {
	int count;
	void **items;
};
struct host_bits {
	uint64_t word;
};

static inline kube_list as_list(struct host_list *list)
{
	return (kube_list)(void *)list;
}
static inline bitstr_t *as_bits(struct host_bits *bits)
{
	return (bitstr_t *)(void *)bits;
}
static inline struct host_bits *bits_of(bitstr_t *bits)
{
	return (struct host_bits *)(void *)bits;
}

bitstr_t *host_new_bits(uint64_t word);
/* An allocation on that node only. */
job_resources_t *host_new_resources(unsigned node);
/* Forgets the job in that slot, if there is one. Needs the job lock. */
void host_drop_job(unsigned slot);

extern job_record_t *host_jobs[HOST_JOBS_MAX]; /* index: id modulo; needs the job lock */
extern uint32_t host_next_id;                  /* needs the job lock */
extern struct host_counts host_counters;       /* atomic */

extern time_t control_time; /* defined in controller.c, declared in no header */

/* The real slurmctld uses plain stores for these words. The stub uses atomic ones, because the
 * plugin reads them without a lock and accepts any value that it sees. */
#define HOST_SET(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELAXED)
#define HOST_ADD(word) ((void)__atomic_add_fetch(&(word), 1, __ATOMIC_RELAXED))

#endif
