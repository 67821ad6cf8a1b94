/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * facts.h - the interface between the C seam, which knows Slurm, and the C++ code, which does not.
 *
 * The seam implements kube_seam_*, which C++ calls; glue.cc implements kube_glue_*, which the seam
 * calls. Every char pointer is borrowed: it is valid until the call returns, or while the caller
 * holds the lock that the call needs. "Locks: read" means kube_seam_lock(KUBE_READ) or a hook;
 * "Locks: write" means kube_seam_lock(KUBE_WRITE).
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_FACTS_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- host (seam_host.c) ---- */

enum kube_log_level { KUBE_LOG_ERROR, KUBE_LOG_WARNING, KUBE_LOG_INFO, KUBE_LOG_DEBUG };
void kube_seam_log(int level, const char *line);

struct kube_host {
	const char *slurm_version; /* "22.05.8" */
	uint32_t slurm_number;
	const char *cluster;
	uint32_t slurm_user;
	const char *submit_plugins; /* JobSubmitPlugins */
	bool native;                /* this Slurm has external jobs and nodes (25.05 and later) */
	/* a restart forgets which external nodes administrators have drained or set DOWN */
	bool forgets_nodes;
	bool whole_sockets; /* Slurm allocates whole sockets (SelectTypeParameters=CR_Socket) */
};
/* Locks: none. Call after slurm.conf was read. */
void kube_seam_host(struct kube_host *out);
/* Whether PrologSlurmctld or a PrEp plugin other than Slurm's own is configured, which may change
 * with a reconfiguration. Any thread. */
bool kube_seam_has_prolog(void);

/* Path of a file beside slurm.conf. The caller frees it with free(). */
char *kube_seam_conf_path(const char *name);
/* Path of a file in StateSaveLocation. The caller frees it with free(). */
char *kube_seam_state_path(const char *name);

/* What can be read without a lock: single words that grow or jump. Any change means that a look is
 * needed. */
struct kube_pulse {
	bool active; /* this slurmctld is in control and has loaded its state */
	uint32_t submitted, started, ended;
	/* in seconds: several changes may have the same value */
	int64_t last_job_update, last_node_update;
	int64_t configured; /* the second in which slurm.conf was last read */
	/* number of nodes: nothing else shows that a node was deleted */
	uint32_t nodes;
	uint32_t inactive_limit; /* seconds, 0: none */
	/* number of scheduling passes, and duration of the last one */
	uint32_t schedule_cycles, schedule_cycle_us;
};
void kube_seam_pulse(struct kube_pulse *out);

enum kube_lock { KUBE_READ, KUBE_WRITE };
void kube_seam_lock(enum kube_lock kind);
void kube_seam_unlock(enum kube_lock kind);

/* Makes Slurm schedule at once, over the first jobs of the queue (default_queue_depth, 100) or over
 * all. Locks: none. */
void kube_seam_kick(bool all);
/* Makes Slurm save jobs and nodes soon, as after an epilog. Locks: none. */
void kube_seam_save(void);

/* ---- messages to nodes without slurmd (seam_sink.c) ---- */

/* The start of a message that tells what it is: its length and the fixed part of its header. */
enum { KUBE_MESSAGE_HEAD = 16 };
/* Length of the whole message if kube_seam_answer() answers messages of this kind; otherwise 0. */
uint32_t kube_seam_answerable(const unsigned char *head);
/* Reads the message, which must have arrived completely, and answers it like a slurmd that has
 * accepted it. Decodes and encodes credentials (munge). False: the message is malformed, or not
 * from slurmctld. Locks: none. */
bool kube_seam_answer(int fd);

/* ---- jobs (seam_jobs.c, seam_prolog.c, seam_ends.c) ---- */

/* In the order of core::JobState. */
enum kube_job_state {
	KUBE_JOB_PENDING,
	KUBE_JOB_RUNNING,
	KUBE_JOB_SUSPENDED,
	KUBE_JOB_COMPLETE,
	KUBE_JOB_CANCELLED,
	KUBE_JOB_FAILED,
	KUBE_JOB_TIMEOUT,
	KUBE_JOB_NODE_FAIL,
	KUBE_JOB_PREEMPTED,
	KUBE_JOB_BOOT_FAIL,
	KUBE_JOB_DEADLINE,
	KUBE_JOB_OOM,
	KUBE_JOB_UNKNOWN,
};

/* Cheap to get: no copies, no strings. Equal fingerprints mean equal facts. */
struct kube_job_glance {
	uint64_t fingerprint, raw_state;
	enum kube_job_state state;
	bool wants_prolog; /* Slurm waits for a prolog that no slurmd will run */
	bool wants_epilog; /* the same for an epilog */
	bool inactive;     /* InactiveLimit may soon end the job */
	/* the job has nodes, and PrologSlurmctld or the prolog of a hybrid node runs */
	bool configuring;
	bool slurmd_prolog; /* the latter, or it has failed and Slurm notes that */
	bool prolog_failed; /* Slurm notes that it has, on a node with a slurmd */
	bool had_nodes;     /* true also for a job that has ended */
	/* pending for another reason than missing resources: Slurm has not tried to place the
	 * job */
	bool untried;
};

/* Whether the job has, or had when it ended, nodes with a slurmd. Locks: read. */
bool kube_seam_job_has_slurmd(uint32_t id);
/* Whether Slurm notes in a running job that Prolog has failed. Any thread. */
bool kube_seam_notes_failed_prologs(void);

struct kube_job_facts {
	enum kube_job_state state;
	bool completing, configuring, held;
	bool external; /* Slurm 25.05 and later: no slurmd has a part in it */
	const char *reason, *partition, *account;
	uint32_t user_id, time_limit_minutes, exit_status, priority;
	uint32_t ended_by; /* uid of the user who cancelled the job; UINT32_MAX: unknown */
	int64_t submit_time, accrue_time, start_time, end_time;
};

struct kube_node_share {
	const char *node, *core_ids;
	uint32_t cpus;
	uint64_t memory_mib;
};

struct kube_gres_share {
	const char *name, *type, *indices;
	uint64_t count;
};

/* node is called for each node of the allocation, followed by gres for each GRES on that node. */
struct kube_share_sink {
	void *context;
	void (*node)(void *context, const struct kube_node_share *share);
	void (*gres)(void *context, const struct kube_gres_share *share);
};

/* One word that changes when the job starts or ends; 0: Slurm does not know the job. Cheaper than a
 * glance. Locks: read. */
uint64_t kube_seam_job_raw_state(uint32_t id);
/* False: Slurm does not know the job. Locks: read. */
bool kube_seam_job_glance(uint32_t id, struct kube_job_glance *out);
bool kube_seam_job_facts(
	uint32_t id, struct kube_job_facts *out, const struct kube_share_sink *shares);
/* The texts that may hold the marker (marker_copy.h); "": no text. */
struct kube_marker_texts {
	const char *admin_comment, *copy;
};
/* False: no such job. Locks: read. */
bool kube_seam_marker_texts(uint32_t id, struct kube_marker_texts *out);
/* Writes the texts; NULL: leaves a text unchanged. False: nothing was written, because the job is
 * unknown or has ended, or slurmctld is shutting down. Locks: write. */
bool kube_seam_write_marker(uint32_t id, const char *admin_comment, const char *copy);
bool kube_seam_job_is_finished(uint32_t id);
/* Number of external nodes that the job holds. Locks: read. */
uint32_t kube_seam_external_nodes_of(uint32_t id, const char *feature);

struct kube_listed_job {
	uint32_t id;
	bool is_of_array; /* then the position in the list says nothing about the id */
	struct kube_marker_texts texts;
};
/* Returns false to stop. */
typedef bool (*kube_each_job)(void *context, const struct kube_listed_job *job);
/* Calls each for the jobs after the first `skipped` of Slurm's job list, in the order of the list.
 * Locks: read. */
void kube_seam_jobs_after(uint32_t skipped, kube_each_job each, void *context);

/* Locks: write. Each function looks the job up again and does nothing if there is nothing left to
 * do. */
void kube_seam_finish_prolog(uint32_t id, const char *feature);
void kube_seam_finish_epilog(uint32_t id, const char *feature);
void kube_seam_keep_active(uint32_t id);
/* Completes the epilogs that ended jobs, external or native, still wait for on this node, because
 * no slurmd will run them. Searches all jobs. */
void kube_seam_finish_epilogs_on(const char *node, const char *feature);

/* ---- nodes (seam_nodes.c, seam_node_state.c) ---- */

enum kube_node_base {
	KUBE_NODE_UNKNOWN,
	KUBE_NODE_DOWN,
	KUBE_NODE_IDLE,
	KUBE_NODE_ALLOCATED,
	KUBE_NODE_MIXED,
	KUBE_NODE_ERROR,
	KUBE_NODE_FUTURE,
};

struct kube_node_glance {
	const char *name;
	/* the node has the feature, but also a slurmd, so it is not external; other members are not
	 * set */
	bool is_misfit;
	/* the node has a slurmd, which does all that the keeper does elsewhere: wants_care,
	 * stays_down, completing, jobs and wants_gres are not set */
	bool is_hybrid;
	bool has_both; /* a hybrid node also has the feature of external ones */
	uint64_t fingerprint;
	bool wants_care; /* kube_seam_node_care() has something to correct */
	/* DOWN because it did not answer, and ReturnToService=0 leaves the node to
	 * administrators */
	bool stays_down;
	bool completing; /* a job that has ended still holds the node */
	uint32_t jobs;   /* number of jobs that hold the node, external or native */
	bool wants_gres; /* GRES are configured, but their devices are not loaded */
};

struct kube_node_facts {
	const char *name, *reason, *features, *address, *gres;
	const char *extra; /* NULL: too long to be sent */
	enum kube_node_base base;
	bool drain, failing, not_responding, completing, dynamic, hybrid;
	/* of a hybrid node what jobs can have: without CoreSpecCount and MemSpecLimit */
	uint32_t cpus;
	uint64_t memory_mib;
};

/* Indices are valid while the generation is unchanged. Locks: read. */
uint64_t kube_seam_node_generation(void);
uint32_t kube_seam_node_count(void);
/* The Port of emulated external nodes; 0: any port. Call before all other functions about nodes. */
void kube_seam_use_sink_port(uint16_t port);
/* The feature of hybrid nodes; "": there are none. Must stay valid. Call before the plugin's
 * threads start. */
enum { KUBE_FEATURE_MAX = 255 }; /* bytes of a feature in kube.conf */
/* Copies it. */
void kube_seam_use_hybrid_feature(const char *feature);
/* False: there is no node, or it is neither external nor hybrid. Locks: read. */
bool kube_seam_node_glance(uint32_t index, const char *feature, struct kube_node_glance *out);
bool kube_seam_node_facts(uint32_t index, struct kube_node_facts *out);
bool kube_seam_node_exists(const char *name, const char *feature);
/* Corrects what is wrong with the node. True: its state has changed, so that it may accept jobs
 * that it could not accept before. Locks: write. */
bool kube_seam_node_care(const char *name, const char *feature);
/* What matters for loading the node's devices. False: no such node. Locks: read. */
struct kube_gres_facts {
	uint32_t cpus; /* as in slurm.conf */
	bool mixes;    /* some devices of one name have a type, and others have none */
	bool shares;   /* GresTypes has mps or shard, whose plugins have rules of their own */
};
bool kube_seam_gres_facts(const char *name, struct kube_gres_facts *out);
/* Loads the node's devices from gres.conf with Slurm's own function, which ends the process if the
 * file has a mistake. So call it only if gres_conf.h allows it for a node with these facts. Locks:
 * write. */
void kube_seam_node_load_gres(const char *name, const struct kube_gres_facts *judged);
/* Drains the node again or sets it DOWN again after a restart of Slurm 26.05, which forgets that.
 * Does nothing unless the node is in service and has this reason. True: done. Locks: write. */
bool kube_seam_node_take_out(const char *name, const char *feature, const char *reason, bool down);
/* The kinds of nodes that the partition has; none if there is no such partition. Locks: read. */
struct kube_node_kinds {
	bool external, hybrid, native;
};
struct kube_node_kinds kube_seam_kinds_in(const char *partition, const char *feature);
/* Calls each for the name of every partition. Locks: read. */
void kube_seam_each_partition(void (*each)(void *context, const char *name), void *context);
/* Whether the partition has external nodes without the second feature, that of a Kubernetes
 * cluster: 1 or 0; -1: there is no such partition. Locks: read. */
int kube_seam_partition_has_foreign(
	const char *partition, const char *feature, const char *of_cluster);
/* Whether name is in a host list such as "n[1-4]". Locks: none. */
bool kube_seam_hostlist_has(const char *hosts, const char *name);
/* Calls each for each name of the host list. False: hosts is not a host list, or has more than
 * `most` names. Locks: none. */
bool kube_seam_hostlist_each(
	const char *hosts, int most, void (*each)(void *context, const char *name), void *context);

/* ---- hooks (glue.cc) ---- */

enum {
	KUBE_MARKER_SIZE = 1025, /* the longest marker and a NUL */
};

enum kube_outcome {
	KUBE_ALLOW,
	KUBE_REFUSE,    /* text says why */
	KUBE_DUPLICATE, /* text names the live job */
	KUBE_UNDER_WAY, /* try again */
};

struct kube_verdict {
	enum kube_outcome outcome;
	bool placeholder; /* true: the job belongs to user_id and group_id */
	/* the job goes to hybrid nodes, whose slurmd has a part in it */
	bool ordinary;
	uint32_t user_id, group_id;
	int64_t waiting_since; /* seconds since the epoch, from which the age counts; 0: now */
	char text[512];
	/* to be written into the request; empty: no change */
	char admin_comment[KUBE_MARKER_SIZE], copy[KUBE_MARKER_SIZE];
	bool keeps_comment; /* the change must leave admin_comment as it is */
};

struct kube_submit_facts {
	uint32_t caller;
	struct kube_marker_texts marker; /* NULL: none */
	const char *partition;           /* comma-separated; Slurm's default if none */
	bool batch, array, het, own_id;
};

struct kube_modify_facts {
	uint32_t caller;
	struct kube_marker_texts marker; /* at present; NULL: none */
	const char *partition;
	const char *new_admin_comment, *new_partition; /* NULL: no change */
	/* changes nodes, CPUs, memory, GRES, features, ... */
	bool resizes;
	bool caller_is_admin; /* as Slurm has it: AdminLevel */
};

/* Starts the threads and everything else. False: out of memory; the plugin must not load. */
bool kube_glue_start(void);
/* Stops and joins all threads. */
void kube_glue_stop(void);
/* Locks: those of the hook (at least read). Must not block. */
void kube_glue_submit(const struct kube_submit_facts *facts, struct kube_verdict *verdict);
void kube_glue_modify(const struct kube_modify_facts *facts, struct kube_verdict *verdict);
/* Whether kube.conf names the partition. */
bool kube_glue_is_for_pods(const char *partition);

#ifdef __cplusplus
}
#endif

#endif
