/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host.h - a stub of slurmctld: as much of its symbols as the plugin uses, and a life around them
 * that is as restless as can be.
 *
 * symbols.c has the functions that the plugin calls, tables.c the tables and what happens to them.
 * Every byte is ours, so that a sanitizer sees all accesses; the locks are real ones. Borders
 * between C with Slurm's headers and the C++ of host.cc.
 */
#ifndef SLURMKUBE_TESTSUITE_COMPONENT_HOST_HOST_H
#define SLURMKUBE_TESTSUITE_COMPONENT_HOST_HOST_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HOST_NODES = 8, HOST_JOBS_MAX = 4096 };

struct host_counts {
	unsigned submitted, granted, refused, duplicates, passes, kicks, lines_logged, righted;
	unsigned walks;  /* through the list of all jobs, or a slice of it */
	unsigned parsed; /* JSON texts, by the keeper under a lock */
};

/* ---- tables.c; each takes the locks that slurmctld would take ---- */
void host_make_tables(uint32_t slurm_user);
void host_free_tables(void);
void host_in_control(bool yes);
/* As a backup controller of 23.11 and later whose reconfigure has failed: in control, with
 * control_time 0. */
void host_fail_to_reconfigure(void);
/* As from SIGTERM on, while control_time still stands. */
void host_shut_down(bool yes);
/* The same, from the moment at which a thread of that name next has the write lock on jobs. */
void host_shut_down_under_lock(const char *thread);
/* Each live placeholder loses the copy of its marker, and nothing else changes. */
void host_take_copies(void);
/* scontrol update of each; partition: the new one, or NULL for a change that harms nobody. Returns
 * how many were let through. */
unsigned host_modify_each(uint32_t caller, const char *partition);
/* Each gets another admin_comment. */
void host_write_comments(const char *text);
/* Live placeholders whose copy, or whose admin_comment, is no marker. */
unsigned host_marred(void);
/* What nodes with the feature must have as Port. */
void host_use_sink_port(uint16_t port);
/* One scheduling pass: starts, ends, forgets jobs. */
void host_pass(unsigned random);
/* Somebody or something changes a node. */
void host_disturb_node(unsigned random);
/* All nodes are made again elsewhere, as after scontrol reconfigure. */
void host_reconfigure(void);
/* The hook, then the job, as a submission does; lost: it fails after the hook. Two jobs for one
 * comment end the process. */
void host_submit(uint32_t caller, const char *admin_comment, const char *partition, bool lost);
/* scontrol update of a random job. */
void host_modify(uint32_t caller, unsigned random, const char *new_comment);
/* Native jobs that wait, with a site's text. */
void host_put_natives(unsigned count, const char *admin_comment);
/* An array of long ago whose task has just started: its record is the last of the list. The next
 * numbers are far from its own. */
void host_put_array_last(void);
/* A native job that runs on that node; its number. */
uint32_t host_put_stray(unsigned node);
/* The number given last. */
uint32_t host_newest(void);
/* Scheduling of that job, if it waits. */
void host_start_on(uint32_t id, unsigned node);
/* All are forgotten. */
void host_clear_jobs(void);
/* Counters move as if jobs had come and gone: whoever watches them looks. No lock. */
void host_beckon(void);
void host_lock_all(void);
void host_unlock_all(void);
/* Does a thread stand before a lock? */
bool host_anybody_waits(void);
/* Placeholders that Slurm knows, ended ones too. */
void host_each_job(void (*each)(void *context, uint32_t id, bool ended), void *context);
struct host_counts host_read_counts(void);

/* ---- what dlsym found ---- */
struct host_plugin {
	int (*init)(void);
	int (*fini)(void);
	void *submit, *modify; /* their types are Slurm's */
};
void host_use_plugin(const struct host_plugin *plugin);

#ifdef __cplusplus
}
#endif

#endif
