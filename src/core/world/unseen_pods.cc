/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world/unseen_pods.cc - the part of World that keeps pods that are out of sight from being taken
 * for deleted ones.
 *
 * Only a DELETED event says that a pod is gone. A list without the pod may come from another
 * cluster, or be incomplete: the pod is kept as last seen until the API server says by name that it
 * does not exist. The uid of the namespace kube-system, which is also in the markers, tells to
 * which cluster the API server belongs. While live jobs under our cluster's name stand for pods of
 * another cluster, a kubeconfig is wrong and nothing is done. Markers of older agents do not have
 * that uid: of their jobs, a share may be without pods.
 */
#include "src/core/model/outcome.h"
#include "src/core/world/parts.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::size_t k_looks_most = 16; /* under way at a time */

} // namespace

void World::cluster_seen(std::string uid)
{
	const bool is_other = uid != state_.clusters.ours();
	if (!state_.clusters.seen(uid))
		return;
	state_.settings.policy.cluster_uid = std::move(uid);
	state_.clusters.forget_clusters();
	for (const auto &[id, job] : state_.jobs)
		state_.clusters.note(job);
	if (is_other)
		retry_all();
}

/* A pod that has ended need not be asked for. */
void World::note_unseen(const PodUid &uid, Now now)
{
	PodEntry &entry = touch_pod(uid);
	if (is_terminal(*entry.pod))
		return pod_gone(uid, std::nullopt, now);
	entry.is_unseen = true;
	entry.look_quiet_until_us = 0;
	unseen_.insert(uid);
}

void World::seen_again(const PodUid &uid, PodEntry &entry)
{
	entry.saw_deletion = entry.is_gone = false;
	entry.gone_since_us = 0;
	if (std::exchange(entry.is_unseen, false))
		unseen_.erase(uid);
}

/* Also without a link: a standby must not take over with pods that have long been gone. */
void World::look_for_unseen(Now now, std::vector<PodAction> &out)
{
	if (!state_.sync.is_listed() || !state_.is_cluster_known() || state_.holds_other_cluster())
		return;
	std::size_t looks = 0;
	for (const PodUid &uid : unseen_) {
		if (looks >= k_looks_most)
			return;
		PodEntry &entry = state_.pods.at(uid);
		looks += entry.busy.look ? 1 : 0;
		if (entry.busy.look || now.mono_us < entry.look_quiet_until_us)
			continue;
		entry.busy.look = true;
		looks++;
		out.push_back({uid, LookUp{entry.pod->name_space, entry.pod->name}});
	}
}

/* No pod of the job is in sight, and no watch has said that it is gone. */
bool World::is_out_of_sight(const PodUid &uid) const
{
	const auto is_hidden = [this](const PodUid &pod) {
		const auto found = state_.pods.find(pod);
		return found == state_.pods.end() ||
			(found->second.pod ? found->second.is_unseen : !found->second.saw_deletion);
	};
	const auto gang = state_.gangs.find(uid);
	if (gang == state_.gangs.end())
		return is_hidden(uid);
	if (gang->second.members.empty())
		return !gang->second.was_seen;
	return std::ranges::all_of(
		gang->second.members, [&](const auto &member) { return is_hidden(member.first); });
}

/* A single job may always be without pods. */
void World::count_absent_pods()
{
	const auto is_absent = [this](JobId id) {
		return is_out_of_sight({state_.jobs.at(id).marker.uid});
	};
	const std::set<JobId> &unknown = state_.clusters.of_unknown_clusters();
	const auto absent = static_cast<std::size_t>(std::ranges::count_if(unknown, is_absent));
	const std::size_t most = unknown.size() * state_.settings.max_gone_percent / 100;
	const std::size_t held = absent > std::max<std::size_t>(1, most) ? absent : 0;
	if (std::exchange(held_absent_pods_, held) > 0 && held == 0)
		retry_all();
}

} // namespace slurmkube::core
