/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The observing half of World for a configuration that is read again: live jobs keep what they were
 * submitted with, everything else is decided again, as after a restart. */
#include "src/core/world/extended_resources.h"
#include "src/core/world/world.h"

#include <utility>

namespace slurmkube::core
{

namespace
{

/* What World itself keeps with the settings, and what cannot change while jobs carry it. */
void keep_fixed(Settings &fresh, Settings &before)
{
	fresh.nodes.cpu_unit = fresh.policy.cpu_unit = before.policy.cpu_unit;
	fresh.nodes.names = std::move(before.nodes.names);
	fresh.policy.cluster = std::move(before.policy.cluster);
	fresh.policy.cluster_uid = std::move(before.policy.cluster_uid);
	fresh.policy.scheduler_names = std::move(before.policy.scheduler_names);
	fresh.policy.namespaces = std::move(before.policy.namespaces);
	fresh.policy.min_uid = before.policy.min_uid;
	fresh.policy.identity_facts = std::move(before.policy.identity_facts);
}

bool is_shorter(std::int64_t limit_us, std::int64_t before_us)
{
	return limit_us > 0 && (before_us == 0 || limit_us < before_us);
}

} // namespace

/* What Slurm refused may be right with the new settings, and pauses were made by the old ones. */
void World::forget_refusals()
{
	for (auto &[key, component] : state_.components) {
		component.is_refused = false;
		component.failed_bindings = 0;
		component.submitted.refused_digest.clear();
		component.submitted.refused_text.clear();
	}
	for (auto &[key, gang] : state_.gangs)
		gang.submit_not_before_us = 0;
	nodes_.forget_resizes();
	retry_all();
}

void World::set_settings(Settings fresh)
{
	keep_fixed(fresh, state_.settings);
	const Settings before = std::exchange(state_.settings, std::move(fresh));
	if (state_.settings.nodes.label_key != before.nodes.label_key ||
		state_.settings.nodes.label_value != before.nodes.label_value)
		state_.sync.unlisted(Sync::List::nodes); /* the list is another one */
	/* When this limit is over, the pod is deleted: it gets the whole of a shorter one. */
	if (is_shorter(state_.settings.start_limit_us, before.start_limit_us)) {
		for (const auto &[uid, entry] : state_.pods)
			clocks_.stop(uid, Clock::starting);
	}
	state_.devices.forget_lists();
	state_.resource_claims.forget_demands();
	queue_.mark(renew_backed(state_));
	state_.taints.review_soon(state_.seen_us);
	filter_.forget();
	filter_.forget_exclusions();
	place_changed();
	forget_refusals();
	for (const auto &[name, node] : state_.kube_nodes)
		nodes_.mark(name);
	for (const auto &[name, node] : state_.slurm_nodes)
		nodes_.mark(name);
}

} // namespace slurmkube::core
