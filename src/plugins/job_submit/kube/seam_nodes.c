/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seam_nodes.c - reads external nodes from node_record_t, and gives them the care that replaces
 * slurmd.
 *
 * Slurm keeps a node in service while it answers pings. External nodes cannot answer, so care sets
 * the times of their answers far in the future: Slurm then sends no pings, and takes a failed RPC
 * for older than the last answer. DOWN and DRAIN that an administrator has set stay.
 */
#include "src/plugins/job_submit/kube/seam.h"

#include <string.h>

#define YEAR (365 * 86400)

static enum kube_node_base base_of(const node_record_t *node)
{
	switch (node->node_state & NODE_STATE_BASE) {
	case NODE_STATE_DOWN:
		return KUBE_NODE_DOWN;
	case NODE_STATE_IDLE:
		return KUBE_NODE_IDLE;
	case NODE_STATE_ALLOCATED:
		return KUBE_NODE_ALLOCATED;
	case NODE_STATE_MIXED:
		return KUBE_NODE_MIXED;
	case NODE_STATE_ERROR:
		return KUBE_NODE_ERROR;
	case NODE_STATE_FUTURE:
		return KUBE_NODE_FUTURE;
	default:
		return KUBE_NODE_UNKNOWN;
	}
}

static bool is_dynamic(const node_record_t *node)
{
	return node->node_state & (NODE_STATE_DYNAMIC_NORM | NODE_STATE_DYNAMIC_FUTURE);
}

/* Flags that slurmd and power saving would set and clear. */
static const uint32_t k_power_flags = NODE_STATE_CLOUD | NODE_STATE_POWERED_DOWN |
	NODE_STATE_POWERING_DOWN | NODE_STATE_POWER_DOWN | NODE_STATE_POWER_DRAIN |
	NODE_STATE_POWERING_UP | NODE_STATE_POWER_UP;

/* DOWN because the node did not answer, not because an administrator wanted it. */
static bool is_down_by_silence(const node_record_t *node)
{
	return (node->node_state & NODE_STATE_BASE) == NODE_STATE_DOWN && node->reason &&
		!strcmp(node->reason, "Not responding");
}

/* Like _node_did_resp() in node_mgr.c, leaves such a node DOWN: ReturnToService=0 reserves it for
 * administrators. */
static bool stays_down(const node_record_t *node)
{
	return is_down_by_silence(node) && (!slurm_conf.ret2service || IS_NODE_INVALID_REG(node)) &&
		!node->boot_req_time;
}

static bool is_silent(const node_record_t *node)
{
	uint32_t base = node->node_state & NODE_STATE_BASE;

	if (base == NODE_STATE_FUTURE)
		return false;
	if (base == NODE_STATE_DOWN)
		return is_down_by_silence(node) && !stays_down(node);
	return base == NODE_STATE_UNKNOWN || (node->node_state & NODE_STATE_NO_RESPOND);
}

/* Slurm regards the node as given to one job alone, but there is none: 25.11 and older forget to
 * set the bit when a node is created in the place of a deleted one. */
static bool is_unshared(const node_record_t *node)
{
	return IS_NODE_IDLE(node) && !node->no_share_job_cnt &&
		!bit_test(ctld_shared_nodes(), (bitoff_t)node->index);
}

static bool wants_care(const node_record_t *node)
{
	time_t soon = time(NULL) + YEAR / 2;

	return is_silent(node) || is_unshared(node) || (node->node_state & k_power_flags) ||
		node->not_responding || node->last_response < soon || node->cpu_load_time < soon ||
		node->free_mem_time < soon || !node->boot_time || !node->slurmd_start_time ||
		node->protocol_version != SLURM_PROTOCOL_VERSION;
}

/* slurmctld marks GRES whose devices no slurmd has reported yet. */
static int note_wanted_gres(void *item, void *wants)
{
	const gres_state_t *state = item;
	const gres_node_state_t *gres = state->gres_data;

	*(bool *)wants |= gres && gres->gres_cnt_found == NO_VAL64;
	return 0;
}

static bool wants_gres(const node_record_t *node)
{
	bool wants = false;

	if (node->gres_list)
		(void)list_for_each_ro(node->gres_list, note_wanted_gres, &wants);
	return wants;
}

static const char *gres_of(const node_record_t *node)
{
	return node->gres                                    ? node->gres
		: node->config_ptr && node->config_ptr->gres ? node->config_ptr->gres
							     : "";
}

static uint64_t fingerprint(const node_record_t *node)
{
	uint64_t hash = KUBE_HASH_START;

	hash = kube_mix(hash, node->node_state);
	hash = kube_mix(kube_mix(hash, node->cpus), node->real_memory);
	hash = kube_mix(kube_mix(hash, node->cpus_efctv), node->mem_spec_limit);
	hash = kube_mix_text(hash, node->reason);
	hash = kube_mix_text(hash, kube_features_of(node));
	hash = kube_mix_text(hash, node->comm_name);
	hash = kube_mix_text(hash, kube_extra_of(node));
	return kube_mix_text(hash, gres_of(node));
}

uint64_t kube_seam_node_generation(void)
{
	uint64_t hash = kube_mix(KUBE_HASH_START, (uintptr_t)ctld_node_table());

	hash = kube_mix(hash, (uint64_t)ctld_node_count());
	return kube_mix(hash, (uint64_t)slurm_conf.last_update);
}

uint32_t kube_seam_node_count(void)
{
	return ctld_node_table() ? (uint32_t)ctld_node_count() : 0;
}

bool kube_seam_node_glance(uint32_t index, const char *feature, struct kube_node_glance *out)
{
	const node_record_t *node = ctld_node_at(index);

	out->is_hybrid = kube_node_is_hybrid(node);
	out->has_both = out->is_hybrid && kube_has_feature(node, feature);
	if (!out->is_hybrid && !kube_has_feature(node, feature))
		return false;
	out->name = node->name;
	out->is_misfit = !out->is_hybrid && !kube_has_no_slurmd(node);
	if (out->is_misfit)
		return false;
	out->fingerprint = kube_mix(fingerprint(node), out->is_hybrid);
	if (out->is_hybrid)
		return true;
	out->wants_care = wants_care(node);
	out->stays_down = stays_down(node);
	out->completing = IS_NODE_COMPLETING(node);
	out->jobs = (uint32_t)node->run_job_cnt + node->sus_job_cnt + node->comp_job_cnt;
	out->wants_gres = wants_gres(node);
	return true;
}

bool kube_seam_node_facts(uint32_t index, struct kube_node_facts *out)
{
	const node_record_t *node = ctld_node_at(index);

	if (!node || !node->name)
		return false;
	out->name = node->name;
	out->base = base_of(node);
	out->drain = IS_NODE_DRAIN(node) || IS_NODE_FAIL(node);
	out->failing = IS_NODE_FAIL(node);
	out->not_responding = IS_NODE_NO_RESPOND(node);
	out->completing = IS_NODE_COMPLETING(node);
	out->dynamic = is_dynamic(node);
	out->hybrid = kube_node_is_hybrid(node);
	out->reason = node->reason ? node->reason : "";
	out->features = kube_features_of(node);
	out->address = node->comm_name ? node->comm_name : "";
	out->gres = gres_of(node);
	out->extra = kube_extra_of(node);
	out->cpus = out->hybrid && node->cpus_efctv ? node->cpus_efctv : node->cpus;
	out->memory_mib = node->real_memory;
	if (out->hybrid && node->mem_spec_limit < node->real_memory)
		out->memory_mib -= node->mem_spec_limit;
	return true;
}

/* find_node_record() would log an error if there is no such node. */
bool kube_seam_node_exists(const char *name, const char *feature)
{
	for (uint32_t i = 0; i < kube_seam_node_count(); i++) {
		const node_record_t *node = ctld_node_at(i);

		if (node && node->name && !strcmp(node->name, name))
			return kube_node_is_external(node, feature) || kube_node_is_hybrid(node);
	}
	return false;
}

static void leave_cloud(node_record_t *node)
{
	if (!(node->node_state & k_power_flags))
		return;
	node->node_state &= ~k_power_flags;
	ctld_forget_power_of((bitoff_t)node->index);
	/* waiting_for_node_boot() and similar functions look at these */
	node->boot_req_time = 0;
	node->power_save_req_time = 0;
	ctld_nodes_have_changed();
}

/* As if the node's slurmd had just registered. */
static void take_as_booted(node_record_t *node, time_t now)
{
	if (!node->boot_time)
		node->boot_time = now;
	if (!node->slurmd_start_time)
		node->slurmd_start_time = now;
	node->protocol_version = SLURM_PROTOCOL_VERSION;
	if (!node->version)
		node->version = xstrdup(SLURM_VERSION_STRING);
}

bool kube_seam_node_care(const char *name, const char *feature)
{
	char *copy = xstrdup(name);
	node_record_t *node = ctld_node(copy);
	time_t now = time(NULL);
	uint32_t before;
	bool was_away, was_unshared;

	xfree(copy);
	if (!kube_node_is_external(node, feature) || kube_is_shutting_down())
		return false;
	before = node->node_state;
	was_away = before & k_power_flags;
	leave_cloud(node);
	if (is_silent(node) || (was_away && base_of(node) != KUBE_NODE_DOWN))
		ctld_node_did_resp(node->name);
	was_unshared = is_unshared(node);
	if (was_unshared)
		bit_set(ctld_shared_nodes(), (bitoff_t)node->index);
	take_as_booted(node, now);
	node->last_response = node->cpu_load_time = node->free_mem_time = now + YEAR;
	node->not_responding = false; /* otherwise slurmctld logs it repeatedly */
	/* not what was attempted, because Slurm may have refused it */
	return node->node_state != before || was_unshared;
}

/* The same sum as in _foreach_slurm_conf() of gres.c, which would end the process. */
static bool mixes_types(const gres_node_state_t *gres)
{
	uint64_t typed = 0;

	for (int i = 0; i < gres->type_cnt; i++)
		typed += gres->type_cnt_avail[i];
	return gres->type_cnt && gres->gres_cnt_config > typed;
}

static int note_mixed_types(void *item, void *mixes)
{
	const gres_state_t *state = item;

	*(bool *)mixes |= state->gres_data && mixes_types(state->gres_data);
	return 0;
}

bool kube_seam_gres_facts(const char *name, struct kube_gres_facts *out)
{
	char *copy = xstrdup(name);
	const node_record_t *node = ctld_node(copy);

	xfree(copy);
	if (!node || !node->config_ptr || !node->gres_list)
		return false;
	*out = (struct kube_gres_facts){.cpus = node->config_ptr->cpus};
	out->shares = slurm_conf.gres_plugins &&
		(strstr(slurm_conf.gres_plugins, "mps") ||
			strstr(slurm_conf.gres_plugins, "shard"));
	(void)list_for_each_ro(node->gres_list, note_mixed_types, &out->mixes);
	return true;
}

void kube_seam_node_load_gres(const char *name, const struct kube_gres_facts *judged)
{
	char *copy = xstrdup(name);
	node_record_t *node = ctld_node(copy);
	struct kube_gres_facts now;

	xfree(copy);
	if (kube_is_shutting_down() || !node || !node->config_ptr || !wants_gres(node) ||
		!kube_seam_gres_facts(name, &now) || now.cpus != judged->cpus || now.mixes ||
		now.shares)
		return;
	if (!ctld_load_gres(node))
		return; /* validating after a failure would damage the present data */
	ctld_validate_gres(node);
	ctld_nodes_have_changed();
}
