/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * facts.h - the border between the C seam (which knows Slurm) and our C++ (which does not).
 *
 * kube_seam_* are implemented by the seam and called from C++; kube_glue_* are implemented by
 * glue.cc and called by the seam. Every char pointer is borrowed: valid until the call returns, or
 * while the lock is held that the call needs. "Locks: read" means kube_seam_lock(KUBE_READ) or a
 * hook; "Locks: write" means kube_seam_lock(KUBE_WRITE).
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
	bool native;                /* Slurm has external jobs and nodes of its own */
	/* and loses at a restart that people drained some of them or set them down */
	bool forgets_nodes;
	bool whole_sockets; /* it gives out whole sockets (SelectTypeParameters=CR_Socket) */
};
/* Locks: none; after slurm.conf was read. */
void kube_seam_host(struct kube_host *out);
/* PrologSlurmctld or a PrEp plugin other than Slurm's own is configured. May change with a
 * reconfiguration. Any thread. */
bool kube_seam_has_prolog(void);

/* Path of a file beside slurm.conf; to be freed with free(). */
char *kube_seam_conf_path(const char *name);
/* Path of a file in StateSaveLocation; to be freed with free(). */
char *kube_seam_state_path(const char *name);

/* What can be read without a lock: single words that only grow or jump. Any change means "look". */
struct kube_pulse {
	bool active; /* this slurmctld is in control and has loaded its state */
	uint32_t submitted, started, ended;
	/* seconds: several changes may share one value */
	int64_t last_job_update, last_node_update;
	int64_t configured; /* second in which slurm.conf was read last */
	/* how many there are: that one was deleted shows nowhere else */
	uint32_t nodes;
	uint32_t inactive_limit; /* seconds, 0: none */
	/* scheduling passes so far, and what the last one took */
	uint32_t schedule_cycles, schedule_cycle_us;
};
void kube_seam_pulse(struct kube_pulse *out);

enum kube_lock { KUBE_READ, KUBE_WRITE };
void kube_seam_lock(enum kube_lock kind);
void kube_seam_unlock(enum kube_lock kind);

/* Asks for a scheduling pass now, over the first jobs of the queue (default_queue_depth, 100) or
 * over all. Locks: none. */
void kube_seam_kick(bool all);
/* Has jobs and nodes saved soon, as Slurm does after an epilog. Locks: none. */
void kube_seam_save(void);

/* ---- messages to nodes without slurmd (seam_sink.c) ---- */

/* Enough of a message to know what it is: its length and the fixed part of its header. */
enum { KUBE_MESSAGE_HEAD = 16 };
/* How long the whole message is, where it is one that kube_seam_answer() answers; else 0. */
uint32_t kube_seam_answerable(const unsigned char *head);
/* Reads the whole message, which must have arrived, and answers it as a slurmd does that has taken
 * it on. Decodes and encodes credentials (munge). False: it is not what it should be, or not
 * slurmctld's. Locks: none. */
bool kube_seam_answer(int fd);

/* ---- jobs (seam_jobs.c, seam_ends.c) ---- */

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

/* Cheap: no copies, no strings. Equal fingerprints mean equal facts. */
struct kube_job_glance {
	uint64_t fingerprint, raw_state;
	enum kube_job_state state;
	bool wants_prolog; /* Slurm waits for a prolog that no slurmd will run */
	bool wants_epilog; /* the same for an epilog */
	bool inactive;     /* InactiveLimit may strike soon */
	bool configuring;  /* it has nodes, and PrologSlurmctld runs */
	bool had_nodes;    /* also of a job that has ended */
	/* pending, and not for want of resources: Slurm has not tried to place it */
	bool untried;
};

struct kube_job_facts {
	enum kube_job_state state;
	bool completing, configuring, held;
	const char *reason, *partition, *account;
	uint32_t user_id, time_limit_minutes, exit_status, priority;
	uint32_t ended_by; /* uid of who cancelled it, UINT32_MAX: nobody is known to have */
	int64_t submit_time, start_time, end_time;
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

/* Called for each node of the allocation, and after each node for each of its GRES. */
struct kube_share_sink {
	void *context;
	void (*node)(void *context, const struct kube_node_share *share);
	void (*gres)(void *context, const struct kube_gres_share *share);
};

/* What tells starts and ends, in one word; 0: Slurm does not know the job. A look that costs
 * little. Locks: read. */
uint64_t kube_seam_job_raw_state(uint32_t id);
/* False: Slurm does not know the job. Locks: read. */
bool kube_seam_job_glance(uint32_t id, struct kube_job_glance *out);
bool kube_seam_job_facts(
	uint32_t id, struct kube_job_facts *out, const struct kube_share_sink *shares);
/* Where a marker may stand (marker_copy.h); "": nothing. */
struct kube_marker_texts {
	const char *admin_comment, *copy;
};
/* False: no such job. Locks: read. */
bool kube_seam_marker_texts(uint32_t id, struct kube_marker_texts *out);
/* NULL: stays as it is. True: done; nothing is done to a job that has ended. Locks: write. */
bool kube_seam_write_marker(uint32_t id, const char *admin_comment, const char *copy);
bool kube_seam_job_is_finished(uint32_t id);
/* How many external nodes the job holds. Locks: read. */
uint32_t kube_seam_external_nodes_of(uint32_t id, const char *feature);

struct kube_listed_job {
	uint32_t id;
	bool is_of_array; /* then its place in the list says nothing about its number */
	struct kube_marker_texts texts;
};
/* Returns false where it has seen enough. */
typedef bool (*kube_each_job)(void *context, const struct kube_listed_job *job);
/* Jobs behind the first `skipped` of the list of all, in the order in which they came. Locks:
 * read. */
void kube_seam_jobs_after(uint32_t skipped, kube_each_job each, void *context);

/* Locks: write. Each looks the job up again and does nothing if it is not needed any more. */
void kube_seam_finish_prolog(uint32_t id, const char *feature);
void kube_seam_finish_epilog(uint32_t id, const char *feature);
void kube_seam_keep_active(uint32_t id);
/* Ends what ended jobs, ours or not, still wait for on this node: an epilog that no slurmd will
 * run. Looks through all jobs. */
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
	/* it has the feature, but a slurmd too: not one of ours. The rest is not filled in then */
	bool is_misfit;
	uint64_t fingerprint;
	bool wants_care; /* the keeper has something to set right */
	/* DOWN because it did not answer, and ReturnToService=0 leaves it to administrators */
	bool stays_down;
	bool completing; /* a job that has ended still holds it */
	uint32_t jobs;   /* that hold it, whoever's */
	bool wants_gres; /* GRES are configured, and their devices are not loaded */
};

struct kube_node_facts {
	const char *name, *reason, *features, *address, *gres;
	enum kube_node_base base;
	bool drain, not_responding, completing, dynamic;
	uint32_t cpus;
	uint64_t memory_mib;
};

/* Indices are valid while the generation stays the same. Locks: read. */
uint64_t kube_seam_node_generation(void);
uint32_t kube_seam_node_count(void);
/* Emulated external nodes have this Port; 0: any. Before anything else of nodes is asked. */
void kube_seam_use_sink_port(uint16_t port);
/* False: no node there, or not an external one. Locks: read. */
bool kube_seam_node_glance(uint32_t index, const char *feature, struct kube_node_glance *out);
bool kube_seam_node_facts(uint32_t index, struct kube_node_facts *out);
bool kube_seam_node_exists(const char *name, const char *feature);
/* Sets right what is wrong with the node, by name. True: its state has changed, so it may take work
 * that it could not take before. Locks: write. */
bool kube_seam_node_care(const char *name, const char *feature);
/* What bears on loading the node's devices. False: no such node. Locks: read. */
struct kube_gres_facts {
	uint32_t cpus; /* as slurm.conf has them */
	bool mixes;    /* some devices of one name have a type, others none */
	bool shares;   /* GresTypes has mps or shard, whose plugins have rules of their own */
};
bool kube_seam_gres_facts(const char *name, struct kube_gres_facts *out);
/* Loads the node's devices from gres.conf, by Slurm's function that ends the process where it does
 * not like the file: only what gres_conf.h allows, for a node with these facts. Locks: write. */
void kube_seam_node_load_gres(const char *name, const struct kube_gres_facts *judged);
/* Slurm 26.05 forgets at a restart what people have set: takes the node out of use again if it is
 * in use and still has that reason. True: done. Locks: write. */
bool kube_seam_node_take_out(const char *name, const char *feature, const char *reason, bool down);
/* Has the partition a node that is not external? False also where there is no such partition.
 * Locks: read. */
bool kube_seam_partition_has_native(const char *partition, const char *feature);
/* Is name in a host list such as "n[1-4]"? Locks: none. */
bool kube_seam_hostlist_has(const char *hosts, const char *name);
/* Each name of a list of at most `most`; false: it is none, or longer. Locks: none. */
bool kube_seam_hostlist_each(
	const char *hosts, int most, void (*each)(void *context, const char *name), void *context);

/* ---- hooks (glue.cc) ---- */

enum {
	KUBE_MARKER_SIZE = 1025, /* the longest marker and its end */
};

enum kube_outcome {
	KUBE_ALLOW,
	KUBE_REFUSE,    /* text says why */
	KUBE_DUPLICATE, /* text names the live job */
	KUBE_UNDER_WAY, /* try again */
};

struct kube_verdict {
	enum kube_outcome outcome;
	bool placeholder; /* then the job runs as these */
	uint32_t user_id, group_id;
	int64_t waiting_since; /* seconds since the epoch: its age counts from there; 0: from now */
	char text[512];
	/* to be written into the request, unless empty */
	char admin_comment[KUBE_MARKER_SIZE], copy[KUBE_MARKER_SIZE];
	bool keeps_comment; /* the change leaves admin_comment as it is */
};

struct kube_submit_facts {
	uint32_t caller;
	struct kube_marker_texts marker; /* NULL: none */
	const char *partition;           /* comma list; Slurm's default where none was given */
	bool batch, array, het, own_id;
};

struct kube_modify_facts {
	uint32_t caller;
	struct kube_marker_texts marker; /* as they are; NULL: none */
	const char *partition;
	const char *new_admin_comment, *new_partition; /* NULL: not to be changed */
	/* nodes, CPUs, memory, GRES, features, ... */
	bool resizes;
	bool caller_is_admin; /* as Slurm has it: AdminLevel */
};

/* Started threads and everything else; false: out of memory, the plugin must not load. */
bool kube_glue_start(void);
/* Stops and joins all threads. */
void kube_glue_stop(void);
/* Locks: those of the hook (read at least). Never block. */
void kube_glue_submit(const struct kube_submit_facts *facts, struct kube_verdict *verdict);
void kube_glue_modify(const struct kube_modify_facts *facts, struct kube_verdict *verdict);
/* Does kube.conf name the partition? */
bool kube_glue_is_for_pods(const char *partition);

#ifdef __cplusplus
}
#endif

#endif
