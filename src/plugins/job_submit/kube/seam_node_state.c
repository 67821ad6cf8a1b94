/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seam_node_state.c - drains a node or sets it DOWN again, as an administrator had done.
 */
#include "src/plugins/job_submit/kube/seam.h"

#include <string.h>

/*
 * Slurm appends a new reason to an existing one (set_node_reason() in node_mgr.c), which would
 * double it at each restart. So the reason is removed while the state is set, and then restored
 * with its time and user.
 */
static void take_out(node_record_t *node, bool down)
{
	char *reason = node->reason, *name_text = xstrdup(node->name),
	     *reason_text = xstrdup(reason);
	time_t reason_time = node->reason_time;
	uint32_t reason_uid = node->reason_uid;

	node->reason = NULL;
	if (down)
		ctld_set_node_down(name_text, reason_text);
	else
		ctld_drain_nodes(name_text, reason_text, reason_uid);
	xfree(node->reason);
	node->reason = reason;
	node->reason_time = reason_time;
	node->reason_uid = reason_uid;
	xfree(name_text);
	xfree(reason_text);
}

bool kube_seam_node_take_out(const char *name, const char *feature, const char *reason, bool down)
{
	node_record_t *node = NULL;

	/* find_node_record() would log an error if there is no such node */
	for (uint32_t i = 0; !node && i < kube_seam_node_count(); i++)
		if (ctld_node_at(i) && ctld_node_at(i)->name &&
			!strcmp(ctld_node_at(i)->name, name))
			node = ctld_node_at(i);
	if (!kube_node_is_external(node, feature) || IS_NODE_DRAIN(node) || IS_NODE_FAIL(node) ||
		IS_NODE_DOWN(node) || !node->reason || strcmp(node->reason, reason) ||
		kube_is_shutting_down())
		return false;
	take_out(node, down);
	ctld_nodes_have_changed();
	return true;
}
