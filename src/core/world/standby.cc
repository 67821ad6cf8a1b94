/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world/standby.cc - the part of World that bounds what an agent without a link remembers.
 *
 * Pods are looked at, and forgotten, only with a link. A standby may have no link for months, while
 * pods come and go. It remembers how a bound pod ended, because it may have to end the pod's job.
 * But an agent that has the link ends the job within seconds, so an hour is plenty.
 *
 * When the standby takes over, its watch may lag behind; sync.h says how that is handled. So is an
 * agent that takes over from one of another Slurm cluster.
 */
#include "src/core/model/outcome.h"
#include "src/core/world/parts.h"
#include "src/core/world/world.h"

#include <utility>
#include <vector>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_look_us = 1'000'000;
/* No slurmctld on another machine takes over and gives back in less time. */
constexpr std::int64_t k_away_us = 2'000'000;
constexpr std::int64_t k_ends_kept_us = 3'600'000'000;

/* A device whose claim has just been written would look free. */
void doubt(State &state)
{
	state.sync.doubt_lists();
	state.resource_claims.doubt();
}

/* The pod's end says nothing that the API server could not tell. */
bool is_without_end(const PodEntry &entry)
{
	return !entry.end_status && (!entry.last || entry.last->node_name.empty());
}

} // namespace

void World::doubt_lists(const PluginHello &hello)
{
	const bool was_away = state_.sync.unlinked_since_us() > 0 &&
		state_.seen_us - state_.sync.unlinked_since_us() >= k_away_us;
	if (!state_.settings.needs_fresh_lists ||
		(hello.has_same_state(state_.sync.plugin()) && !was_away))
		return;
	doubt(state_);
}

void World::lease_seen(LeaseState seen)
{
	const bool was_new = state_.lease.is_new;
	state_.lease = std::move(seen);
	/* without a Lease from before, nothing says that no other agent led */
	state_.was_led_by_another |=
		stands_aside(state_.lease) || (state_.lease.is_new && !was_new);
	state_.has_lists_of_before |= stands_aside(state_.lease);
	/* between standing aside and leading, nothing is decided for a moment */
	if (state_.has_lists_of_before && state_.has_lease() && state_.settings.needs_fresh_lists)
		doubt(state_);
	if (state_.has_lease())
		state_.has_lists_of_before = false;
}

void forget_old_ends(State &state)
{
	if (!std::exchange(state.was_led_by_another, false))
		return;
	for (const auto &[id, job] : state.jobs) {
		const auto component = state.components.find(PodUid{job.marker.uid});
		if (!is_live(job) && component != state.components.end())
			note_given_up(component->second, id);
	}
	for (auto &[uid, entry] : state.pods)
		entry.eviction.reset();
	state.native_jobs.forget_answers(state.seen_us);
}

void World::forget_on_standby(Now now)
{
	if (now.mono_us < standby_look_us_ + k_look_us)
		return;
	standby_look_us_ = now.mono_us;
	forget_gangs_on_standby(now);
	std::vector<PodUid> over;
	for (auto &[uid, entry] : state_.pods) {
		if (entry.pod || entry.component || state_.gangs.contains(uid))
			continue;
		settle_share(uid, entry, now);
		if (is_without_end(entry) || now.mono_us - entry.gone_us >= k_ends_kept_us)
			over.push_back(uid);
	}
	for (const auto &[key, component] : state_.components) {
		if (!state_.pods.contains(key) && !state_.gangs.contains(key))
			over.push_back(key);
	}
	for (const PodUid &uid : over)
		drop_if_empty(uid);
	/* all of them are looked at after a snapshot */
	queue_.drop_if([this](const PodUid &uid) {
		return !state_.pods.contains(uid) && !state_.components.contains(uid);
	});
}

/* A gang remembers the ends of its ranks for as long. */
void World::forget_gangs_on_standby(Now now)
{
	std::vector<PodUid> over;
	for (auto &[key, gang] : state_.gangs) {
		note_ends(gang, now);
		const std::int64_t since_us =
			clocks_.set(key, Clock::unlinked, gang.members.empty(), now);
		if (since_us > 0 && now.mono_us - since_us >= k_ends_kept_us)
			over.push_back(key);
		if (gang.members.empty() && gang.ends.empty())
			over.push_back(key);
	}
	for (const PodUid &key : over)
		drop_gang_if_empty(key);
}

} // namespace slurmkube::core
