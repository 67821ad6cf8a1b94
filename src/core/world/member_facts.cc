/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts of the members of a gang: who has which seat and node. The gang as a whole: gang_facts.cc;
 * who is in it: seats.cc. */
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/placement/placement.h"
#include "src/core/reconcile/report.h"
#include "src/core/world/facts_reader.h"
#include "src/core/world/parts.h"
#include "src/core/world/pod_claims.h"

#include <algorithm>

namespace slurmkube::core
{

/* ---- shared with world/seats.cc ---- */

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

/* In the order of their seats. */
Members FactsReader::members_of(const Gang &gang) const
{
	Members members;
	members.reserve(gang.members.size());
	for (const auto &[uid, seat] : gang.members) {
		const PodEntry &entry = state_.pods.at(uid);
		members.push_back({&uid, &entry, seat, side_of(entry)});
	}
	std::ranges::stable_sort(members, {}, [](const Member &m) { return m.seat.value_or(0); });
	return members;
}

/* Who sits in each seat: one that is bound, else the first of those that live. Where the tasks are:
 * bound pods have theirs there. */
Seating FactsReader::seating_of(const Gang &gang, const Members &members, const SlurmJob &job) const
{
	Seating seating;
	std::map<std::uint32_t, std::string> fixed;
	for (const Member &m : members) {
		if (!m.seat || !is_live_side(m.side))
			continue;
		if (!is_bound_side(m.side)) {
			seating.holders.try_emplace(*m.seat, m.uid);
			continue;
		}
		seating.holders.insert_or_assign(*m.seat, m.uid);
		if (*m.seat < gang.shape.task_of_seat.size())
			fixed[gang.shape.task_of_seat[*m.seat]] = bound_node_of(*m.entry);
	}
	const auto gres = gres_of_pod({.milli_cpu = 0,
					      .memory_bytes = 0,
					      .pods = 0,
					      .extended = gang.shape.extended_per_task},
		state_.settings.policy.gres);
	const auto node_of_task = nodes_of_tasks(gang.shape, job.nodes, fixed,
		gang.per_node.value_or(0), gres ? gres_from_text(*gres) : std::vector<Gres>());
	seat_holders(gang, members, job, node_of_task, seating);
	return seating;
}

/* Who waits and is first in its seat gets the node of its task, or another one of the allocation
 * where the pod is larger than that. */
void FactsReader::seat_holders(const Gang &gang, const Members &members, const SlurmJob &job,
	const std::vector<std::string> &node_of_task, Seating &seating) const
{
	std::vector<Occupant> pods;
	std::vector<std::uint32_t> waiting;
	for (const Member &m : members) {
		if (is_bound_side(m.side))
			pods.push_back({&m.entry->pod->requests, true, bound_node_of(*m.entry)});
	}
	for (const Member &m : members) {
		if (m.side != PodSide::waiting || !m.seat || seating.holders.at(*m.seat) != m.uid)
			continue;
		const bool has_task = *m.seat < gang.shape.task_of_seat.size();
		pods.push_back({&m.entry->pod->requests, false,
			has_task ? node_of_task[gang.shape.task_of_seat[*m.seat]] : ""});
		waiting.push_back(*m.seat);
	}
	fit_to_shares(
		pods, job.nodes, state_.settings.policy.cpu_unit, state_.settings.policy.gres);
	for (std::size_t i = 0, bound = pods.size() - waiting.size(); i < waiting.size(); i++)
		seating.node_of_seat[waiting[i]] = std::move(pods[bound + i].node);
}

RankFacts FactsReader::facts_of_member(const Gang &gang, const Component &component,
	const Member &member, const Seating &seating, const SlurmJob *job) const
{
	RankFacts r = facts_of_rank(*member.uid, *member.entry, component, job);
	r.is_ours = is_bound_side(r.side) && is_bound_member(*member.entry);
	r.seat = member.seat.value_or(0);
	r.rank = rank_of(gang, r.seat);
	r.is_seated = member.seat.has_value();
	if (r.side != PodSide::waiting || !member.seat || job_side(job) != JobSide::allocated)
		return r;
	const auto holder = seating.holders.find(r.seat);
	r.has_seat = holder != seating.holders.end() && *holder->second == *member.uid;
	const auto node = seating.node_of_seat.find(r.seat);
	const std::string name =
		r.has_seat && node != seating.node_of_seat.end() ? node->second : "";
	r.node = facts_of_place(*member.uid, *member.entry, *member.entry->component, name);
	r.node.cpus = gang.shape.cpus_per_task;
	return r;
}

} // namespace slurmkube::core
