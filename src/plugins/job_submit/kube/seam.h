/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seam.h - Slurm's headers for the seam, and names that differ by version.
 *
 * For the seam's C files only.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_SEAM_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_SEAM_H

#include "config.h" /* Slurm's */

#include <string.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include "src/common/bitstring.h"
#include "src/common/hostlist.h"
#include "src/common/job_resources.h"
#include "src/common/list.h"
#include "src/common/log.h"
#include "src/common/node_conf.h"
#include "src/common/read_config.h"
#include "src/common/slurm_protocol_defs.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"
#include "src/slurmctld/fed_mgr.h"
#include "src/slurmctld/job_scheduler.h"
#include "src/slurmctld/locks.h"
#include "src/slurmctld/slurmctld.h"
#include "src/slurmctld/state_save.h"

#include "src/base/slurm_versions.h"

#if KUBE_SLURM_HAS_INTERFACES(SLURM_VERSION_NUMBER)
#include "src/interfaces/gres.h"
#else
#include "src/common/gres.h"
#endif

#if KUBE_SLURM_HAS_STATE_REASON(SLURM_VERSION_NUMBER)
#define kube_reason_string(reason) job_state_reason_string(reason)
#else
#define kube_reason_string(reason) job_reason_string(reason)
#endif

#if KUBE_SLURM_LISTS_ARE_STRUCTS(SLURM_VERSION_NUMBER)
typedef list_t *kube_list;
typedef hostlist_t *kube_hostlist;
#else
typedef List kube_list;
typedef hostlist_t kube_hostlist;
#endif

#if KUBE_SLURM_HAS_CONF_FLAGS(SLURM_VERSION_NUMBER)
#define KUBE_CONFIG_OVERRIDES (slurm_conf.conf_flags & CONF_FLAG_OR)
#else
#define KUBE_CONFIG_OVERRIDES (slurm_conf.conf_flags & CTL_CONF_OR)
#endif

#if KUBE_SLURM_HAS_JOB_IN_STEP_ID(SLURM_VERSION_NUMBER)
#define kube_wanted_job_id(description) ((description)->step_id.job_id)
#else
#define kube_wanted_job_id(description) ((description)->job_id)
#endif

#if KUBE_SLURM_HAS_SELECT_FLAGS(SLURM_VERSION_NUMBER)
#define KUBE_WHOLE_SOCKETS (slurm_conf.select_type_param & SELECT_SOCKET)
#else
#define KUBE_WHOLE_SOCKETS (slurm_conf.select_type_param & CR_SOCKET)
#endif

#include "src/plugins/job_submit/kube/facts.h"
#include "src/plugins/job_submit/kube/seam_private.h"

/* The node's features, "a,b". Borrowed from the node. Locks: read. */
const char *kube_features_of(const node_record_t *node);
/* Whether feature is a whole entry of them. node may be NULL. Locks: read. */
bool kube_has_feature(const node_record_t *node, const char *feature);
bool kube_has_no_slurmd(const node_record_t *node);
/* Whether the node has the feature and no slurmd. Locks: read. */
bool kube_node_is_external(const node_record_t *node, const char *feature);
/* Whether the node has the feature of hybrid nodes, and a slurmd. Locks: read. */
bool kube_node_is_hybrid(const node_record_t *node);

/* Whether Prolog is not over on a node with a slurmd, or has failed there. Locks: read. */
bool kube_is_in_prolog(const job_record_t *job);
/* Whether it has failed there, also of a job that has ended. Always false before 24.11. Locks:
 * read. */
bool kube_has_failed_prolog(const job_record_t *job);

/* The texts that may hold the job's marker. Borrowed from the job. Locks: read. */
struct kube_marker_texts kube_texts_of(const job_record_t *job);

/* The comma-separated list from which Slurm will choose the job's partition, including the
 * alternates of partitions that accept no jobs. The caller frees it with xfree(). */
char *kube_partitions_of(const job_desc_msg_t *job);
/* The same for a list of partitions. */
char *kube_with_alternates(const char *wanted);
/* If job_submit/all_partitions, before or after this plugin, gives a job all partitions, leaves out
 * those for pods. */
void kube_leave_out_partitions_for_pods(job_desc_msg_t *job);

/* FNV-1a, one word at a time. */
static inline uint64_t kube_mix(uint64_t hash, uint64_t word)
{
	return (hash ^ word) * 0x100000001b3ULL;
}

/* Eight bytes at a time, because markers have some hundred bytes, and each look at a job reads
 * them. The shift carries high bits down again. */
static inline uint64_t kube_mix_text(uint64_t hash, const char *text)
{
	size_t left = text ? strlen(text) : 0;

	hash = kube_mix(hash, left);
	for (size_t size; left; text += size, left -= size) {
		uint64_t word = 0;

		size = left < sizeof(word) ? left : sizeof(word);
		memcpy(&word, text, size);
		hash = kube_mix(hash, word);
		hash ^= hash >> 32;
	}
	return hash;
}

/* NULL: too long to be sent to agents, because operators may write any text there. */
static inline const char *kube_extra_of(const node_record_t *node)
{
	const size_t most = 64 * 1024;

	if (!node->extra)
		return "";
	return strnlen(node->extra, most) < most ? node->extra : NULL;
}

#define KUBE_HASH_START 0xcbf29ce484222325ULL

#endif
