/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host.h - a stub of slurmctld: the symbols that the plugin uses, and functions that change jobs
 * and nodes as restlessly as possible.
 *
 * symbols.c has the functions that the plugin calls, tables.c the tables and the changes to them.
 * All memory is allocated here, so that a sanitizer sees every access; the locks are real. This
 * header is the border between the C files, which include Slurm's headers, and the C++ of host.cc.
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
	unsigned walks;  /* passes over the list of all jobs, or a slice of it */
	unsigned parsed; /* JSON texts that the keeper parsed under a lock */
};

/* ---- tables.c; each function takes the locks that slurmctld would take ---- */
void host_make_tables(uint32_t slurm_user);
void host_free_tables(void);
void host_in_control(bool yes);
/* As in a backup controller of 23.11 and later after a failed reconfigure: in control, with
 * control_time 0. */
void host_fail_to_reconfigure(void);
/* As in slurmctld from SIGTERM on, while control_time is still set. */
void host_shut_down(bool yes);
/* The same, from the moment at which a thread of that name next holds the write lock on jobs. */
void host_shut_down_under_lock(const char *thread);
/* Removes the plugin's copy of the marker from each live placeholder, and changes nothing else. */
void host_take_copies(void);
/* scontrol update of each job. partition: the new partition, or NULL for a harmless change.
 * Returns the number of changes that the plugin accepted. */
unsigned host_modify_each(uint32_t caller, const char *partition);
/* Sets admin_comment of each job. */
void host_write_comments(const char *text);
/* The number of live placeholders whose copy or admin_comment is not a marker. */
unsigned host_marred(void);
/* The Port that nodes with the feature must have. */
void host_use_sink_port(uint16_t port);
/* One scheduling pass: starts, ends and forgets jobs. */
void host_pass(unsigned random);
/* Makes a random change to a node. */
void host_disturb_node(unsigned random);
/* Recreates all nodes at other addresses, as after scontrol reconfigure. */
void host_reconfigure(void);
/* Calls the hook and then creates the job, as a submission does; lost: the submission fails
 * after the hook. Two jobs with the same comment abort the process. */
void host_submit(uint32_t caller, const char *admin_comment, const char *partition, bool lost);
/* scontrol update of a random job. */
void host_modify(uint32_t caller, unsigned random, const char *new_comment);
/* Adds pending native jobs with a site's text. */
void host_put_natives(unsigned count, const char *admin_comment);
/* Adds an old array whose task has just started, as the last record of the list. The numbers of
 * later jobs are far from its number. */
void host_put_array_last(void);
/* Adds a native job that runs on that node; returns its number. */
uint32_t host_put_stray(unsigned node);
/* The number of the latest job. */
uint32_t host_newest(void);
/* Starts that job on the node, if it is pending. */
void host_start_on(uint32_t id, unsigned node);
/* Forgets all jobs. */
void host_clear_jobs(void);
/* Changes the counters as if jobs had come and gone, so that threads that watch them look. Takes
 * no lock. */
void host_beckon(void);
void host_lock_all(void);
void host_unlock_all(void);
/* True if a thread waits for a lock. */
bool host_anybody_waits(void);
/* Calls each for every placeholder in the table, including ended ones. */
void host_each_job(void (*each)(void *context, uint32_t id, bool ended), void *context);
struct host_counts host_read_counts(void);

/* ---- the functions found by dlsym ---- */
struct host_plugin {
	int (*init)(void);
	int (*fini)(void);
	void *submit, *modify; /* the function types are Slurm's */
};
void host_use_plugin(const struct host_plugin *plugin);

#ifdef __cplusplus
}
#endif

#endif
