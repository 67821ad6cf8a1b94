/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seam_partitions.c - predicts, in the hook and under its locks, the partitions that Slurm will
 * give a job.
 */
#include "src/plugins/job_submit/kube/seam.h"

#define ALTERNATES_MAX 64 /* because alternates may form a circle */

/* Like _get_job_parts() in job_mgr.c. */
static const char *wanted_by(const job_desc_msg_t *job)
{
	const slurmctld_resv_t *reservation = NULL;

	if (job->partition)
		return job->partition;
	if (job->reservation && job->reservation[0])
		reservation = ctld_reservation(job->reservation);
	return reservation && reservation->part_ptr ? reservation->part_ptr->name
						    : ctld_default_partition();
}

/* Like _alt_part_test() in job_mgr.c. NULL: the partition accepts jobs, or has no alternate. */
static const char *alternate_of(char *name)
{
	const part_record_t *part = ctld_partition(name);
	const char *alternate = NULL;

	for (int steps = 0; part && !(part->state_up & PARTITION_SUBMIT) && part->alternate &&
		steps < ALTERNATES_MAX;
		steps++) {
		alternate = part->alternate;
		part = ctld_partition(part->alternate);
	}
	return alternate;
}

char *kube_partitions_of(const job_desc_msg_t *job)
{
	return kube_with_alternates(wanted_by(job));
}

char *kube_with_alternates(const char *wanted)
{
	char *list = xstrdup(wanted), *names = xstrdup(list), *rest = NULL;

	for (char *name = names ? strtok_r(names, ",", &rest) : NULL; name;
		name = strtok_r(NULL, ",", &rest)) {
		const char *alternate = alternate_of(name);

		if (alternate)
			xstrfmtcat(list, ",%s", alternate);
	}
	xfree(names);
	return list;
}

struct partitions {
	bool also_for_pods;
	char *list;
};

static int add_partition(void *item, void *argument)
{
	const part_record_t *part = item;
	struct partitions *to = argument;

	if ((part->state_up & PARTITION_SUBMIT) &&
		(to->also_for_pods || !kube_glue_is_for_pods(part->name)))
		xstrfmtcat(to->list, "%s%s", to->list ? "," : "", part->name);
	return 0;
}

/* As job_submit/all_partitions lists them. */
static char *list_partitions(bool also_for_pods)
{
	struct partitions partitions = {.also_for_pods = also_for_pods};

	(void)list_for_each_ro(ctld_partitions(), add_partition, &partitions);
	return partitions.list;
}

void kube_leave_out_partitions_for_pods(job_desc_msg_t *job)
{
	char *all, *native;

	if (!xstrstr(slurm_conf.job_submit_plugins, "all_partitions"))
		return;
	all = list_partitions(true);
	native = list_partitions(false);
	if (native && (!job->partition || !xstrcmp(job->partition, all))) {
		xfree(job->partition);
		job->partition = xstrdup(native);
	}
	xfree(all);
	xfree(native);
}

/* Whether the partition has a node for which the test is true. */
static bool has_node(const char *partition,
	bool (*test)(const node_record_t *node, const char *feature, const char *more),
	const char *feature, const char *more)
{
	const part_record_t *part = ctld_partition((char *)(uintptr_t)partition);

	if (!part || !part->node_bitmap)
		return false;
	for (int i = 0; i < ctld_node_count(); i++)
		if (bit_test(part->node_bitmap, i) && test(ctld_node_at(i), feature, more))
			return true;
	return false;
}

struct kube_node_kinds kube_seam_kinds_in(const char *partition, const char *feature)
{
	const part_record_t *part = ctld_partition((char *)(uintptr_t)partition);
	struct kube_node_kinds kinds = {.external = false};
	bitoff_t last = part && part->node_bitmap ? bit_fls(part->node_bitmap) : -1;

	if (last < 0)
		return kinds;
	for (bitoff_t i = bit_ffs(part->node_bitmap);
		i <= last && !(kinds.external && kinds.hybrid && kinds.native); i++) {
		if (!bit_test(part->node_bitmap, i))
			continue;
		if (kube_node_is_external(ctld_node_at(i), feature))
			kinds.external = true;
		else if (kube_node_is_hybrid(ctld_node_at(i)))
			kinds.hybrid = true;
		else
			kinds.native = true;
	}
	return kinds;
}

struct names {
	void (*each)(void *context, const char *name);
	void *context;
};

static int visit_partition(void *item, void *argument)
{
	const part_record_t *part = item;
	const struct names *names = argument;

	names->each(names->context, part->name);
	return 0;
}

void kube_seam_each_partition(void (*each)(void *context, const char *name), void *context)
{
	struct names names = {.each = each, .context = context};

	if (ctld_partitions())
		(void)list_for_each_ro(ctld_partitions(), visit_partition, &names);
}

static bool is_foreign(const node_record_t *node, const char *feature, const char *of_cluster)
{
	return kube_node_is_external(node, feature) && !kube_node_is_external(node, of_cluster);
}

int kube_seam_partition_has_foreign(
	const char *partition, const char *feature, const char *of_cluster)
{
	if (!ctld_partition((char *)(uintptr_t)partition))
		return -1;
	return has_node(partition, is_foreign, feature, of_cluster);
}
