/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seam_jobs.c - reads one job's facts from job_record_t, and reads and writes its marker.
 *
 * Each call finds the record by id; no pointer is kept after a lock is released. facts.h names the
 * locks.
 */
#include "src/plugins/job_submit/kube/seam.h"

#include <stdio.h>

static enum kube_job_state state_of(const job_record_t *job)
{
	switch (job->job_state & JOB_STATE_BASE) {
	case JOB_PENDING:
		return KUBE_JOB_PENDING;
	case JOB_RUNNING:
		return KUBE_JOB_RUNNING;
	case JOB_SUSPENDED:
		return KUBE_JOB_SUSPENDED;
	case JOB_COMPLETE:
		return KUBE_JOB_COMPLETE;
	case JOB_CANCELLED:
		return KUBE_JOB_CANCELLED;
	case JOB_FAILED:
		return KUBE_JOB_FAILED;
	case JOB_TIMEOUT:
		return KUBE_JOB_TIMEOUT;
	case JOB_NODE_FAIL:
		return KUBE_JOB_NODE_FAIL;
	case JOB_PREEMPTED:
		return KUBE_JOB_PREEMPTED;
	case JOB_BOOT_FAIL:
		return KUBE_JOB_BOOT_FAIL;
	case JOB_DEADLINE:
		return KUBE_JOB_DEADLINE;
	case JOB_OOM:
		return KUBE_JOB_OOM;
	default:
		return KUBE_JOB_UNKNOWN;
	}
}

static const char *partition_of(const job_record_t *job)
{
	/* a pending job may name several partitions; a started job has one */
	if (!IS_JOB_PENDING(job) && job->part_ptr)
		return job->part_ptr->name;
	return job->partition ? job->partition : "";
}

static bool holds_nodes(const job_record_t *job)
{
	return (IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job) || IS_JOB_COMPLETING(job)) &&
		job->job_resrcs && job->job_resrcs->node_bitmap;
}

/* A third of the limit leaves time for two looks before the limit can apply. */
static bool is_inactive(const job_record_t *job)
{
	return slurm_conf.inactive_limit && IS_JOB_RUNNING(job) &&
		time(NULL) - job->time_last_active >= (slurm_conf.inactive_limit + 2) / 3;
}

/*
 * The allocate RPC gives up at once if any pending job of the cluster has a higher priority, even a
 * native job in another partition (_top_priority() in job_mgr.c). The next periodic pass is then up
 * to 3 s away.
 */
static bool is_untried(const job_record_t *job)
{
	return IS_JOB_PENDING(job) && job->priority &&
		(job->state_reason == WAIT_PRIORITY || job->state_reason == WAIT_NO_REASON);
}

static uint64_t raw_state_of(const job_record_t *job)
{
	return ((uint64_t)1 << 32) | ((uint64_t)kube_is_in_prolog(job) << 33) | job->job_state;
}

static uint64_t fingerprint(const job_record_t *job)
{
	uint64_t hash = KUBE_HASH_START;

	hash = kube_mix(hash, job->job_state);
	hash = kube_mix(hash, IS_JOB_PENDING(job) ? job->state_reason : 0);
	if (IS_JOB_PENDING(job))
		hash = kube_mix_text(hash, job->state_desc);
	hash = kube_mix(hash, job->priority);
	hash = kube_mix(hash, job->user_id);
	hash = kube_mix(hash, (uint64_t)job->start_time);
	hash = kube_mix(hash, (uint64_t)job->end_time);
	hash = kube_mix(hash, job->time_limit);
	hash = kube_mix(hash, job->exit_code);
	hash = kube_mix(hash, job->total_cpus);
	hash = kube_mix(hash, holds_nodes(job));
	/* by content: a new text may have the same address as the old one */
	hash = kube_mix_text(hash, job->admin_comment);
	hash = kube_mix_text(hash, job->resp_host); /* the copy of the marker */
	hash = kube_mix_text(hash, job->account);
	return kube_mix_text(hash, partition_of(job));
}

uint64_t kube_seam_job_raw_state(uint32_t id)
{
	const job_record_t *job = ctld_job(id);

	return job ? raw_state_of(job) : 0;
}

/* Whether one of the nodes is not hybrid. A slurmd completes prologs and epilogs itself, and an
 * epilog that waits for containers must not make each look take the write lock. */
static bool has_no_slurmd(bitstr_t *nodes)
{
	bitoff_t last = nodes ? bit_fls(nodes) : -1;

	if (last < 0)
		return false;
	for (bitoff_t i = bit_ffs(nodes); i <= last; i++)
		if (bit_test(nodes, i) && !kube_node_is_hybrid(ctld_node_at(i)))
			return true;
	return false;
}

bool kube_seam_job_glance(uint32_t id, struct kube_job_glance *out)
{
	const job_record_t *job = ctld_job(id);

	if (!job)
		return false;
	out->raw_state = raw_state_of(job);
	out->fingerprint = kube_mix(fingerprint(job), out->raw_state);
	out->state = state_of(job);
	out->wants_prolog = IS_JOB_RUNNING(job) && has_no_slurmd(job->node_bitmap_pr);
	out->wants_epilog = IS_JOB_COMPLETING(job) && has_no_slurmd(job->node_bitmap_cg);
	out->slurmd_prolog = kube_is_in_prolog(job);
	out->prolog_failed = kube_has_failed_prolog(job);
	out->configuring = IS_JOB_CONFIGURING(job) || out->slurmd_prolog;
	out->had_nodes = job->nodes && job->nodes[0];
	out->inactive = is_inactive(job);
	out->untried = is_untried(job);
	return true;
}

struct gres_walk {
	uint32_t at; /* index among the job's nodes */
	const struct kube_share_sink *shares;
};

static int share_one_gres(void *item, void *argument)
{
	const gres_state_t *state = item;
	const struct gres_walk *walk = argument;
	const uint32_t at = walk->at;
	const gres_job_state_t *gres = state->gres_data;
	struct kube_gres_share share = {
		.name = state->gres_name ? state->gres_name : "", .type = "", .indices = ""};
	char indices[1024];

	if (!gres || at >= gres->node_cnt || !gres->gres_cnt_node_alloc ||
		!gres->gres_cnt_node_alloc[at])
		return 0;
	share.count = gres->gres_cnt_node_alloc[at];
	if (gres->type_name)
		share.type = gres->type_name;
	if (gres->gres_bit_alloc && gres->gres_bit_alloc[at])
		share.indices = bit_fmt(indices, sizeof(indices), gres->gres_bit_alloc[at]);
	walk->shares->gres(walk->shares->context, &share);
	return 0;
}

static void share_gres(const job_record_t *job, uint32_t at, const struct kube_share_sink *shares)
{
	struct gres_walk walk = {.at = at, .shares = shares};

	if (job->gres_list_alloc)
		(void)list_for_each_ro(job->gres_list_alloc, share_one_gres, &walk);
}

/* Core numbers within the node; its part of the job's bitmap starts at offset. Empty if they do not
 * fit: a part of them would be taken for all. */
static void format_cores(
	const job_resources_t *resources, int offset, int count, char *out, int size)
{
	int used = 0;

	out[0] = '\0';
	for (int first = 0; first < count; first++) {
		int last = first;

		if (!bit_test(resources->core_bitmap, offset + first))
			continue;
		while (last + 1 < count && bit_test(resources->core_bitmap, offset + last + 1))
			last++;
		used += snprintf(out + used, (size_t)(size - used),
			first == last ? "%s%d" : "%s%d-%d", used ? "," : "", first, last);
		if (used >= size) {
			out[0] = '\0';
			return;
		}
		first = last;
	}
}

static void share_nodes(job_record_t *job, const struct kube_share_sink *shares)
{
	job_resources_t *resources = job->job_resrcs;
	uint32_t at = 0;
	int offset = 0;
	char cores[4096]; /* each second one of 1,600 */

	for (int i = 0; i < ctld_node_count() && at < resources->nhosts; i++) {
		struct kube_node_share share = {.core_ids = cores};
		uint16_t sockets = 0, per_socket = 0;

		if (!bit_test(resources->node_bitmap, i) || !ctld_node_at(i))
			continue;
		if (get_job_resources_cnt(resources, (int)at, &sockets, &per_socket) !=
			SLURM_SUCCESS)
			break;
		format_cores(resources, offset, sockets * per_socket, cores, sizeof(cores));
		share.node = ctld_node_at(i)->name;
		share.cpus = resources->cpus ? resources->cpus[at] : 0;
		share.memory_mib =
			resources->memory_allocated ? resources->memory_allocated[at] : 0;
		shares->node(shares->context, &share);
		share_gres(job, at, shares);
		offset += sockets * per_socket;
		at++;
	}
}

static const char *reason_of(const job_record_t *job)
{
	if (!IS_JOB_PENDING(job))
		return "";
	return job->state_desc ? job->state_desc : kube_reason_string(job->state_reason);
}

bool kube_seam_job_facts(
	uint32_t id, struct kube_job_facts *out, const struct kube_share_sink *shares)
{
	job_record_t *job = ctld_job(id);

	if (!job)
		return false;
	out->state = state_of(job);
	out->completing = IS_JOB_COMPLETING(job);
	out->configuring = IS_JOB_CONFIGURING(job) || kube_is_in_prolog(job);
	out->held = IS_JOB_PENDING(job) && job->priority == 0;
	out->reason = reason_of(job);
	out->partition = partition_of(job);
	out->account = job->account ? job->account : "";
#ifdef EXTERNAL_JOB
	out->external = job->bit_flags & EXTERNAL_JOB;
#endif
	out->ended_by = IS_JOB_FINISHED(job) ? job->requid : UINT32_MAX;
	out->user_id = job->user_id;
	out->time_limit_minutes =
		(job->time_limit == NO_VAL || job->time_limit == INFINITE) ? 0 : job->time_limit;
	out->exit_status = job->exit_code;
	out->priority = job->priority;
	out->submit_time = job->details ? job->details->submit_time : 0;
	out->accrue_time = job->details ? job->details->accrue_time : 0;
	out->start_time = job->start_time;
	out->end_time = job->end_time;
	if (holds_nodes(job))
		share_nodes(job, shares);
	return true;
}

struct kube_marker_texts kube_texts_of(const job_record_t *job)
{
	return (struct kube_marker_texts){
		.admin_comment = job->admin_comment ? job->admin_comment : "",
		.copy = job->resp_host ? job->resp_host : ""};
}

bool kube_seam_marker_texts(uint32_t id, struct kube_marker_texts *out)
{
	const job_record_t *job = ctld_job(id);

	if (job)
		*out = kube_texts_of(job);
	return job;
}

bool kube_seam_write_marker(uint32_t id, const char *admin_comment, const char *copy)
{
	job_record_t *job = ctld_job(id);

	if (!job || IS_JOB_FINISHED(job) || kube_is_shutting_down())
		return false;
	if (admin_comment) {
		xfree(job->admin_comment);
		job->admin_comment = xstrdup(admin_comment);
	}
	if (copy) {
		xfree(job->resp_host);
		job->resp_host = xstrdup(copy);
		/* with a port, Slurm would resolve resp_host as a host name */
		job->alloc_resp_port = job->other_port = 0;
	}
	ctld_jobs_have_changed();
	ctld_save_jobs();
	return true;
}

bool kube_seam_job_is_finished(uint32_t id)
{
	const job_record_t *job = ctld_job(id);

	return !job || IS_JOB_FINISHED(job);
}

uint32_t kube_seam_external_nodes_of(uint32_t id, const char *feature)
{
	const job_record_t *job = ctld_job(id);
	uint32_t count = 0;
	bitoff_t last;

	if (!job || !holds_nodes(job))
		return 0;
	last = bit_fls(job->job_resrcs->node_bitmap);
	for (bitoff_t i = bit_ffs(job->job_resrcs->node_bitmap); i >= 0 && i <= last; i++)
		if (bit_test(job->job_resrcs->node_bitmap, i) &&
			kube_node_is_external(ctld_node_at(i), feature))
			count++;
	return count;
}
