/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_submit_kube.c - what Slurm loads and calls: identity, init(), fini() and the two hooks.
 *
 * The hooks collect facts, kube_glue_* decides, and the verdict is applied here. Nothing may run
 * before init(), because slurmctld also opens plugins only to read their names.
 */
#include "src/plugins/job_submit/kube/seam.h"

#include <string.h>

#define EXPORTED __attribute__((visibility("default"), used))

EXPORTED const char plugin_name[] = "Kubernetes pods as external jobs";
EXPORTED const char plugin_type[] = "job_submit/kube";
EXPORTED const uint32_t plugin_version = SLURM_VERSION_NUMBER;

EXPORTED int init(void);
EXPORTED int fini(void);
EXPORTED int job_submit(job_desc_msg_t *job, uint32_t caller, char **err_msg);
#if KUBE_SLURM_MODIFY_TELLS_USER(SLURM_VERSION_NUMBER)
EXPORTED int job_modify(job_desc_msg_t *change, job_record_t *job, uint32_t caller, char **err_msg);
#else
EXPORTED int job_modify(job_desc_msg_t *change, job_record_t *job, uint32_t caller);
#endif

int init(void)
{
	return kube_glue_start() ? SLURM_SUCCESS : SLURM_ERROR;
}

int fini(void)
{
	kube_glue_stop();
	return SLURM_SUCCESS;
}

/* libslurm returns only the number to its caller and prints the text, so each outcome has a
 * number. */
static int code_of(enum kube_outcome outcome)
{
	switch (outcome) {
	case KUBE_ALLOW:
		return SLURM_SUCCESS;
	case KUBE_DUPLICATE:
		return ESLURM_DUPLICATE_JOB_ID;
	case KUBE_UNDER_WAY:
		return ESLURM_TRANSITION_STATE_NO_UPDATE;
	default:
		return ESLURM_ACCESS_DENIED;
	}
}

static void replace(char **text, const char *with)
{
	if (with[0] && xstrcmp(*text, with)) {
		xfree(*text);
		*text = xstrdup(with);
	}
}

/* In a federation another cluster would get the job too, and might start it on nodes that no agent
 * knows. */
static void stay_here(job_desc_msg_t *job)
{
	if (ctld_is_in_federation())
		replace(&job->clusters, slurm_conf.cluster_name);
}

/* Replaces the text of an earlier plugin. */
static void say(char **err_msg, const char *text)
{
	if (!err_msg)
		return;
	xfree(*err_msg);
	*err_msg = xstrdup(text);
}

/*
 * When an allocation is given back, the pod gets a new job, whose age Slurm counts from its own
 * submission. The site factor makes up for the lost age, in addition to what another plugin has put
 * there: PriorityWeightAge in proportion to PriorityMaxAge, as priority/multifactor computes it.
 */
static void keep_age(job_desc_msg_t *job, int64_t since, int64_t now)
{
	const uint64_t max_age = slurm_conf.priority_max_age;
	const uint64_t before = job->site_factor == NO_VAL ? NICE_OFFSET : job->site_factor;
	uint64_t age, factor;

	if (since <= 0 || since >= now || !max_age || !slurm_conf.priority_weight_age)
		return;
	age = (uint64_t)(now - since) < max_age ? (uint64_t)(now - since) : max_age;
	factor = before + slurm_conf.priority_weight_age * age / max_age;
	job->site_factor = factor < NO_VAL ? (uint32_t)factor : NO_VAL - 1;
}

static void take_identity(job_desc_msg_t *job, const struct kube_verdict *verdict)
{
	job->user_id = verdict->user_id;
	job->group_id = verdict->group_id;
	replace(&job->admin_comment, verdict->admin_comment);
	replace(&job->resp_host, verdict->copy);
	/* with a port, Slurm would resolve resp_host as a host name */
	job->alloc_resp_port = job->other_port = 0;
	stay_here(job);
	keep_age(job, verdict->waiting_since, time(NULL));
#ifdef EXTERNAL_JOB
	/* On a hybrid node such a job would free its cores before its containers have ended. */
	if (verdict->ordinary)
		job->bitflags &= ~(uint64_t)EXTERNAL_JOB;
	else
		job->bitflags |= EXTERNAL_JOB;
#endif
}

int job_submit(job_desc_msg_t *job, uint32_t caller, char **err_msg)
{
	struct kube_verdict verdict = {.outcome = KUBE_REFUSE};
	char *partitions;
	struct kube_submit_facts facts = {
		.caller = caller,
		.marker = {.admin_comment = job->admin_comment, .copy = job->resp_host},
		.batch = job->script || job->script_buf,
		.array = job->array_inx,
		.het = job->het_job_offset != NO_VAL,
		.own_id = kube_wanted_job_id(job) != NO_VAL,
	};

	kube_leave_out_partitions_for_pods(job);
	facts.partition = partitions = kube_partitions_of(job);
	kube_glue_submit(&facts, &verdict);
	xfree(partitions);
	if (verdict.outcome != KUBE_ALLOW)
		say(err_msg, verdict.text);
	if (verdict.outcome == KUBE_ALLOW && verdict.placeholder)
		take_identity(job, &verdict);
	return code_of(verdict.outcome);
}

static bool is_set(uint32_t number)
{
	return number != NO_VAL;
}

static bool is_set16(uint16_t number)
{
	return number != NO_VAL16;
}

static bool changes_counts(const job_desc_msg_t *change)
{
	return is_set(change->min_nodes) || is_set(change->max_nodes) || is_set(change->min_cpus) ||
		is_set(change->max_cpus) || is_set(change->num_tasks) ||
		is_set16(change->cpus_per_task) || is_set16(change->ntasks_per_node) ||
		is_set16(change->ntasks_per_socket) || is_set16(change->ntasks_per_core) ||
		is_set16(change->pn_min_cpus) || change->pn_min_memory != NO_VAL64 ||
		is_set16(change->sockets_per_node) || is_set16(change->cores_per_socket) ||
		is_set16(change->threads_per_core) || is_set16(change->core_spec) ||
		is_set16(change->contiguous) || is_set16(change->shared);
}

static bool changes_words(const job_desc_msg_t *change)
{
	return change->req_nodes || change->exc_nodes || change->features || change->tres_per_job ||
		change->tres_per_node || change->tres_per_socket || change->tres_per_task ||
		change->mem_per_tres || change->cpus_per_tres;
}

static int judge_change(job_desc_msg_t *change, const job_record_t *job, uint32_t caller,
	struct kube_verdict *verdict)
{
	char *partitions = change->partition ? kube_with_alternates(change->partition) : NULL;
	struct kube_modify_facts facts = {
		.caller = caller,
		.marker = {.admin_comment = job->admin_comment, .copy = job->resp_host},
		.partition = job->partition,
		.new_admin_comment = change->admin_comment,
		.new_partition = partitions,
		.resizes = changes_counts(change) || changes_words(change),
	};

	if (facts.resizes || facts.new_admin_comment)
		facts.caller_is_admin = ctld_is_super_user(caller);
	kube_glue_modify(&facts, verdict);
	xfree(partitions);
	if (verdict->outcome != KUBE_ALLOW)
		return code_of(verdict->outcome);
	if (verdict->keeps_comment)
		xfree(change->admin_comment);
	replace(&change->admin_comment, verdict->admin_comment);
	/* a script's factor replaces the one that the job has, which may be what the script set */
	if (change->site_factor != NO_VAL && change->site_factor != job->site_factor &&
		job->details)
		keep_age(change, verdict->waiting_since, job->details->submit_time);
	return code_of(verdict->outcome);
}

#if KUBE_SLURM_MODIFY_TELLS_USER(SLURM_VERSION_NUMBER)
int job_modify(job_desc_msg_t *change, job_record_t *job, uint32_t caller, char **err_msg)
{
	struct kube_verdict verdict = {.outcome = KUBE_REFUSE};
	int code = judge_change(change, job, caller, &verdict);

	if (code)
		say(err_msg, verdict.text);
	return code;
}
#else
int job_modify(job_desc_msg_t *change, job_record_t *job, uint32_t caller)
{
	struct kube_verdict verdict = {.outcome = KUBE_REFUSE};
	int code = judge_change(change, job, caller, &verdict);

	if (code) /* this Slurm cannot send a text to the user */
		info("job_submit/kube: JobId=%u uid=%u: %s", job->job_id, caller, verdict.text);
	return code;
}
#endif
