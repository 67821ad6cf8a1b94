/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seam_private.h - slurmctld's internal variables and functions, each behind one wrapper.
 *
 * They are no stable interface of Slurm. Each comment names the file in Slurm's tree and the
 * differences between versions; without a version it applies to 22.05 to 26.05. No other file of
 * the plugin may name them (testsuite/lint/private.py). The wrappers are inline because loops over
 * nodes and jobs run under slurmctld's locks. Included by seam.h only.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_SEAM_PRIVATE_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_SEAM_PRIVATE_H

#include "src/slurmctld/reservation.h"

/*
 * Reads a word that another thread of slurmctld may be writing. An older value is good enough, a
 * torn one is not.
 */
#define PEEK(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)

/* ---- slurmctld as a whole ---- */

/*
 * controller.c, in no header: set when this slurmctld has taken control and read its state; 0 in
 * standby.
 */
extern time_t control_time;
static inline bool ctld_has_taken_control(void)
{
	return PEEK(control_time) != 0;
}

/*
 * controller.c. slurmctld shuts down, to end or to reconfigure. It closes plugins while
 * control_time is still set. To be checked again under each lock before a write: slurmctld takes
 * these locks before it frees its data.
 */
static inline bool kube_is_shutting_down(void)
{
	return PEEK(slurmctld_config.shutdown_time) != 0;
}

/* controller.c */
static inline bool ctld_has_saving_thread(void)
{
	return PEEK(slurmctld_config.thread_id_save) != 0;
}

/* controller.c; read the members with PEEK */
static inline const diag_stats_t *ctld_stats(void)
{
	return &slurmctld_diag_stats;
}

/* locks.c */
static inline void ctld_lock(slurmctld_lock_t levels)
{
	lock_slurmctld(levels);
}

static inline void ctld_unlock(slurmctld_lock_t levels)
{
	unlock_slurmctld(levels);
}

/* job_scheduler.c */
static inline void ctld_schedule(bool all)
{
	schedule(all);
}

/* state_save.c */
static inline void ctld_save_nodes(void)
{
	schedule_node_save();
}

static inline void ctld_save_jobs(void)
{
	schedule_job_save();
}

/* proc_req.c */
static inline bool ctld_is_super_user(uid_t uid)
{
	return validate_super_user(uid);
}

/* fed_mgr.c */
static inline bool ctld_is_in_federation(void)
{
	return fed_mgr_fed_rec;
}

/* ---- jobs ---- */

/* job_mgr.c */
static inline kube_list ctld_jobs(void)
{
	return job_list;
}

static inline job_record_t *ctld_job(uint32_t id)
{
	return find_job_record(id);
}

/* job_mgr.c. kube_seam_pulse() reads it without a lock. */
static inline time_t ctld_last_job_update(void)
{
	return PEEK(last_job_update);
}

static inline void ctld_jobs_have_changed(void)
{
	__atomic_store_n(&last_job_update, time(NULL), __ATOMIC_RELAXED);
}

/* job_mgr.c; takes a message since 25.11 */
static inline void ctld_complete_prolog(job_record_t *job, char *node)
{
#if KUBE_SLURM_HAS_JOB_IN_STEP_ID(SLURM_VERSION_NUMBER)
	prolog_complete_msg_t message = {.node_name = node, .step_id = {.job_id = job->job_id}};

	(void)prolog_complete(&message);
#else
	(void)prolog_complete(job->job_id, 0, node);
#endif
}

/* job_mgr.c; takes the record since 25.11, before the job id */
static inline void ctld_complete_epilog(job_record_t *job, char *node)
{
#if KUBE_SLURM_HAS_JOB_IN_STEP_ID(SLURM_VERSION_NUMBER)
	(void)job_epilog_complete(job, node, 0);
#else
	(void)job_epilog_complete(job->job_id, node, 0);
#endif
}

/* ---- partitions and reservations ---- */

/* partition_mgr.c */
static inline kube_list ctld_partitions(void)
{
	return part_list;
}

static inline part_record_t *ctld_partition(char *name)
{
	return find_part_record(name);
}

static inline const char *ctld_default_partition(void)
{
	return default_part_name;
}

/* reservation.c */
static inline slurmctld_resv_t *ctld_reservation(char *name)
{
	return find_resv_name(name);
}

/* ---- nodes ---- */

/* src/common/node_conf.c */
static inline const void *ctld_node_table(void)
{
	return node_record_table_ptr;
}

static inline node_record_t *ctld_node_at(bitoff_t index)
{
	return node_record_table_ptr[index];
}

static inline int ctld_node_count(void)
{
	return node_record_count;
}

/* node_conf.c; before 23.11 there is no separate count of nodes in use */
static inline uint32_t ctld_active_nodes(void)
{
#if KUBE_SLURM_COUNTS_ACTIVE_NODES(SLURM_VERSION_NUMBER)
	return (uint32_t)PEEK(active_node_record_count);
#else
	return (uint32_t)PEEK(node_record_count);
#endif
}

/* node_conf.c. Logs an error if there is no such node. */
static inline node_record_t *ctld_node(char *name)
{
	return find_node_record(name);
}

/* src/common/node_conf.c. kube_seam_pulse() reads it without a lock. */
static inline time_t ctld_last_node_update(void)
{
	return PEEK(last_node_update);
}

static inline void ctld_nodes_have_changed(void)
{
	__atomic_store_n(&last_node_update, time(NULL), __ATOMIC_RELAXED);
}

/* node_mgr.c: nodes that several jobs may share */
static inline bitstr_t *ctld_shared_nodes(void)
{
	return share_node_bitmap;
}

/*
 * node_mgr.c; power_node_bitmap was renamed in 24.05, cloud_node_bitmap exists since 23.02
 */
static inline void ctld_forget_power_of(bitoff_t node)
{
#if KUBE_SLURM_HAS_POWER_DOWN_BITMAP(SLURM_VERSION_NUMBER)
	bit_clear(power_down_node_bitmap, node);
#else
	bit_clear(power_node_bitmap, node);
#endif
	bit_clear(booting_node_bitmap, node);
#if KUBE_SLURM_HAS_CLOUD_BITMAP(SLURM_VERSION_NUMBER)
	bit_clear(cloud_node_bitmap, node);
#endif
}

/* node_mgr.c */
static inline void ctld_node_did_resp(char *name)
{
	node_did_resp(name);
}

static inline void ctld_set_node_down(char *name, char *reason)
{
	set_node_down(name, reason);
}

static inline void ctld_drain_nodes(char *names, char *reason, uint32_t uid)
{
	(void)drain_nodes(names, reason, uid);
}

/* gres.c: in src/common, since 23.02 in src/interfaces */
static inline bool ctld_load_gres(const node_record_t *node)
{
	return gres_g_node_config_load(node->config_ptr->cpus, node->name, node->gres_list, NULL,
		       NULL) == SLURM_SUCCESS;
}

/* gres.c; takes the node since 25.11, before its members */
static inline void ctld_validate_gres(node_record_t *node)
{
#if KUBE_SLURM_GRES_TAKES_NODE(SLURM_VERSION_NUMBER)
	(void)gres_node_config_validate(node, node->config_ptr->threads, node->config_ptr->cores,
		node->config_ptr->tot_sockets, KUBE_CONFIG_OVERRIDES, NULL);
#else
	(void)gres_node_config_validate(node->name, node->config_ptr->gres, &node->gres,
		&node->gres_list, node->config_ptr->threads, node->config_ptr->cores,
		node->config_ptr->tot_sockets, KUBE_CONFIG_OVERRIDES, NULL);
#endif
}

#endif
