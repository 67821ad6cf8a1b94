/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seam_host.c - slurmctld as a whole: log, configuration, counters, locks, scheduler.
 */
#include "src/plugins/job_submit/kube/seam.h"

#include <stdlib.h>
#include <string.h>

/* The caller has chosen the level; only the prefix is added here. */
void kube_seam_log(int level, const char *line)
{
	if (level == KUBE_LOG_ERROR)
		error("job_submit/kube: %s", line);
	/* Slurm before 23.02 has no level in between */
	else if (level == KUBE_LOG_WARNING || level == KUBE_LOG_INFO)
		info("job_submit/kube: %s", line);
	else
		debug("job_submit/kube: %s", line);
}

/* PrEpPlugins is read once, because Slurm may free its text while another thread reads it. */
static bool has_prep_plugins;

void kube_seam_host(struct kube_host *out)
{
	has_prep_plugins =
		slurm_conf.prep_plugins && xstrcmp(slurm_conf.prep_plugins, "prep/script");
	out->slurm_version = SLURM_VERSION_STRING;
	out->slurm_number = SLURM_VERSION_NUMBER;
	out->cluster = slurm_conf.cluster_name ? slurm_conf.cluster_name : "";
	out->slurm_user = slurm_conf.slurm_user_id;
	out->submit_plugins = slurm_conf.job_submit_plugins ? slurm_conf.job_submit_plugins : "";
	out->native = KUBE_SLURM_HAS_EXTERNAL_NODES(SLURM_VERSION_NUMBER);
	out->forgets_nodes = KUBE_SLURM_FORGETS_NODES(SLURM_VERSION_NUMBER);
	out->whole_sockets = KUBE_WHOLE_SOCKETS;
}

char *kube_seam_conf_path(const char *name)
{
	char *key = xstrdup(name);
	char *path = get_extra_conf_path(key);
	char *copy = strdup(path);

	xfree(path);
	xfree(key);
	return copy;
}

char *kube_seam_state_path(const char *name)
{
	char *path = xstrdup_printf("%s/%s", slurm_conf.state_save_location, name);
	char *copy = strdup(path);

	xfree(path);
	return copy;
}

bool kube_seam_has_prolog(void)
{
	return PEEK(slurm_conf.prolog_slurmctld) || has_prep_plugins;
}

/*
 * If a reconfiguration fails (23.11 and later), slurmctld goes on with control_time 0, both as
 * primary and as backup. But only a slurmctld that is in control and has read its state has a
 * thread that saves the state.
 */
static bool in_control(void)
{
	return ctld_has_taken_control() || ctld_has_saving_thread();
}

void kube_seam_pulse(struct kube_pulse *out)
{
	const diag_stats_t *stats = ctld_stats();

	out->active = in_control() && !kube_is_shutting_down();
	out->submitted = PEEK(stats->jobs_submitted);
	out->started = PEEK(stats->jobs_started);
	out->ended =
		PEEK(stats->jobs_completed) + PEEK(stats->jobs_canceled) + PEEK(stats->jobs_failed);
	out->last_job_update = ctld_last_job_update();
	out->last_node_update = ctld_last_node_update();
	out->configured = PEEK(slurm_conf.last_update);
	out->nodes = ctld_active_nodes();
	out->inactive_limit = PEEK(slurm_conf.inactive_limit);
	out->schedule_cycles = PEEK(stats->schedule_cycle_counter);
	out->schedule_cycle_us = PEEK(stats->schedule_cycle_last);
}

static slurmctld_lock_t lock_levels(enum kube_lock kind)
{
	slurmctld_lock_t levels = {
		.conf = READ_LOCK,
		.job = kind == KUBE_WRITE ? WRITE_LOCK : READ_LOCK,
		.node = kind == KUBE_WRITE ? WRITE_LOCK : READ_LOCK,
		.part = READ_LOCK,
		.fed = READ_LOCK,
	};
	return levels;
}

void kube_seam_lock(enum kube_lock kind)
{
	ctld_lock(lock_levels(kind));
}

void kube_seam_unlock(enum kube_lock kind)
{
	ctld_unlock(lock_levels(kind));
}

void kube_seam_kick(bool all)
{
	if (!kube_is_shutting_down())
		ctld_schedule(all);
}

void kube_seam_save(void)
{
	if (kube_is_shutting_down())
		return; /* slurmctld saves its state itself then */
	ctld_save_nodes();
	ctld_save_jobs();
}

bool kube_seam_hostlist_has(const char *hosts, const char *name)
{
	kube_hostlist list = hostlist_create(hosts);
	bool has = list && hostlist_find(list, name) >= 0;

	if (list)
		hostlist_destroy(list);
	return has;
}

bool kube_seam_hostlist_each(
	const char *hosts, int most, void (*each)(void *context, const char *name), void *context)
{
	kube_hostlist list = hostlist_create(hosts);
	bool fits = list && hostlist_count(list) <= most;
	char *name;

	while (fits && (name = hostlist_shift(list))) {
		each(context, name);
		free(name); /* not xfree(): hostlist.c uses malloc() */
	}
	if (list)
		hostlist_destroy(list);
	return fits;
}
