/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seam_node_kinds.c - tells external, hybrid and native nodes apart: by their features, and by
 * whether they have a slurmd.
 */
#include "src/plugins/job_submit/kube/seam.h"

#include <stdio.h>
#include <string.h>

const char *kube_features_of(const node_record_t *node)
{
	if (node->features)
		return node->features;
	return node->config_ptr && node->config_ptr->feature ? node->config_ptr->feature : "";
}

static uint16_t sink_port; /* written before the plugin's threads start */

void kube_seam_use_sink_port(uint16_t port)
{
	sink_port = port;
}

static char hybrid_feature[KUBE_FEATURE_MAX + 1]; /* the same */

void kube_seam_use_hybrid_feature(const char *feature)
{
	snprintf(hybrid_feature, sizeof(hybrid_feature), "%s", feature);
}

/* feature must be a whole entry of the comma-separated list */
bool kube_has_feature(const node_record_t *node, const char *feature)
{
	size_t length = strlen(feature);
	const char *at;

	if (!node || !node->name || !length)
		return false;
	for (at = kube_features_of(node); (at = strstr(at, feature)); at += length) {
		bool starts = at == kube_features_of(node) || at[-1] == ',';

		if (starts && (at[length] == ',' || at[length] == '\0'))
			return true;
	}
	return false;
}

#if KUBE_SLURM_HAS_EXTERNAL_NODES(SLURM_VERSION_NUMBER)
bool kube_has_no_slurmd(const node_record_t *node)
{
	return node->node_state & NODE_STATE_EXTERNAL;
}
#else
/* The node's RPCs go to the sink, so there is no slurmd. */
bool kube_has_no_slurmd(const node_record_t *node)
{
	const char *address = node->comm_name ? node->comm_name : "";
	bool is_loopback = !strncmp(address, "127.", 4) || !strcmp(address, "localhost") ||
		!strcmp(address, "::1");

	return is_loopback && (!sink_port || node->port == sink_port);
}
#endif

/* The feature alone is not enough: a site may have given it to nodes with slurmd, which are
 * Slurm's. */
bool kube_node_is_external(const node_record_t *node, const char *feature)
{
	return kube_has_feature(node, feature) && kube_has_no_slurmd(node);
}

bool kube_node_is_hybrid(const node_record_t *node)
{
	return kube_has_feature(node, hybrid_feature) && !kube_has_no_slurmd(node);
}
