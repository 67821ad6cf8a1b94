/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about the members of a gang: their ranks and nodes. gang_facts.cc has the gang as a whole,
 * ranks.cc says which pods are members. */
#include "src/core/model/amounts.h"
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/placement/placement.h"
#include "src/core/reconcile/report.h"
#include "src/core/world/facts_reader.h"
#include "src/core/world/hybrid_nodes.h"
#include "src/core/world/parts.h"
#include "src/core/world/pod_claims.h"

#include <algorithm>

namespace slurmkube::core
{

/* ---- shared with world/ranks.cc ---- */

const std::string &bound_node_of(const PodEntry &entry)
{
	return entry.pod->node_name.empty() ? entry.assumed_node : entry.pod->node_name;
}

PodSide side_of(const PodEntry &entry)
{
	return entry.pod ? pod_side(&*entry.pod, bound_node_of(entry)) : PodSide::absent;
}

/* ---- looking ---- */

bool has_live_job(const State &state, const PodUid &key)
{
	const SlurmJob *job = state.current_job(key);
	return job && is_live(*job);
}

/* In the order of their ranks. */
Members FactsReader::members_of(const Gang &gang) const
{
	Members members;
	members.reserve(gang.members.size());
	for (const auto &[uid, rank] : gang.members) {
		const PodEntry &entry = state_.pods.at(uid);
		members.push_back({&uid, &entry, rank, side_of(entry)});
	}
	std::ranges::stable_sort(members, {}, [](const Member &m) { return m.rank.value_or(0); });
	return members;
}

/* Which pod holds each rank: a bound one, or else the first live one. Also where the tasks are:
 * those of bound pods are on their nodes. */
RankLayout FactsReader::layout_of(
	const Gang &gang, const Members &members, const SlurmJob &job) const
{
	RankLayout layout;
	std::map<std::uint32_t, std::string> fixed;
	for (const Member &m : members) {
		if (!m.rank || !is_live_side(m.side))
			continue;
		if (!is_bound_side(m.side)) {
			layout.holders.try_emplace(*m.rank, m.uid);
			continue;
		}
		layout.holders.insert_or_assign(*m.rank, m.uid);
		if (*m.rank < gang.shape.task_of_rank.size())
			fixed[gang.shape.task_of_rank[*m.rank]] = bound_node_of(*m.entry);
	}
	const auto gres = gres_of_pod({.milli_cpu = 0,
					      .memory_bytes = 0,
					      .pods = 0,
					      .extended = gang.shape.extended_per_task},
		state_.settings.policy.gres);
	const auto node_of_task = nodes_of_tasks(gang.shape, job.nodes, fixed,
		gang.per_node.value_or(0), gres ? gres_from_text(*gres) : std::vector<Gres>());
	rank_holders(gang, members, job, node_of_task, layout);
	return layout;
}

/* A pod that waits and holds its rank gets the node of its task, or another node of the allocation
 * if the pod is too large for that one. */
void FactsReader::rank_holders(const Gang &gang, const Members &members, const SlurmJob &job,
	const std::vector<std::string> &node_of_task, RankLayout &layout) const
{
	std::vector<Occupant> pods;
	std::vector<std::uint32_t> waiting;
	const auto preferred_node = [&](std::uint32_t rank) {
		const bool has_task = rank < gang.shape.task_of_rank.size();
		return has_task ? node_of_task[gang.shape.task_of_rank[rank]] : std::string();
	};
	for (const Member &m : members) {
		if (is_bound_side(m.side))
			pods.push_back({&m.entry->pod->requests, true, bound_node_of(*m.entry)});
	}
	for (const Member &m : members) {
		if (m.side != PodSide::waiting || !m.rank || layout.holders.at(*m.rank) != m.uid)
			continue;
		pods.push_back({&m.entry->pod->requests, false, preferred_node(*m.rank)});
		waiting.push_back(*m.rank);
	}
	fit_to_shares(
		pods, job.nodes, state_.settings.policy.cpu_unit, state_.settings.policy.gres);
	for (std::size_t i = 0, bound = pods.size() - waiting.size(); i < waiting.size(); i++) {
		std::string &node = pods[bound + i].node;
		if (node != preferred_node(waiting[i]))
			layout.moved.insert(waiting[i]);
		layout.node_of_rank[waiting[i]] = std::move(node);
	}
}

/* Slurm gives whole cores and nodes, but what is more than the tasks ask for is not shared out. */
std::uint64_t FactsReader::memory_of_member(
	const Gang &gang, const RankFacts &r, const RankLayout &layout, const SlurmJob &job) const
{
	const std::uint64_t whole = memory_share(state_, job, r.node.name);
	if (whole == 0)
		return 0;
	const std::uint64_t requested =
		memory_mib_of(r.pod->requests, state_.settings.policy.least_memory_mib);
	const std::uint64_t share =
		layout.moved.contains(r.rank) ? 0 : memory_share_of(gang.shape, r.rank);
	return std::min(whole, std::max(share, requested));
}

RankFacts FactsReader::facts_of_member(const Gang &gang, const Component &component,
	const Member &member, const RankLayout &layout, const SlurmJob *job) const
{
	RankFacts r = facts_of_rank(*member.uid, *member.entry, component, job);
	r.is_ours = is_bound_side(r.side) && is_bound_member(*member.entry);
	r.rank = member.rank.value_or(0);
	r.workload_rank = workload_rank_of(gang, r.rank);
	r.is_ranked = member.rank.has_value();
	note_stale_claim(*member.entry, job, r);
	if (r.side != PodSide::waiting || !member.rank || job_side(job) != JobSide::allocated)
		return r;
	const auto holder = layout.holders.find(r.rank);
	r.holds_rank = holder != layout.holders.end() && *holder->second == *member.uid;
	const auto node = layout.node_of_rank.find(r.rank);
	const std::string name =
		r.holds_rank && node != layout.node_of_rank.end() ? node->second : "";
	r.node = facts_of_place(*member.uid, *member.entry, *member.entry->component, name);
	r.node.cpus = gang.shape.cpus_per_task;
	r.node.memory_mib = memory_of_member(gang, r, layout, *job);
	return r;
}

} // namespace slurmkube::core
