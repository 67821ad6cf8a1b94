/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/inspect/census.h"

#include "src/core/model/names.h"
#include "src/core/model/outcome.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace slurmkube::core
{

namespace
{

constexpr std::string_view k_none = "None", k_other = "other";

/* Longer prefixes of the same beginning first. */
constexpr std::pair<std::string_view, std::string_view> k_job_reasons[] = {
	{"Assoc", "Association"},
	{"BadConstraints", "BadConstraints"},
	{"BeginTime", "BeginTime"},
	{"BurstBuffer", "BurstBuffer"},
	{"Cleaning", "Cleaning"},
	{"DeadLine", "DeadLine"},
	{"Dependency", "Dependency"},
	{"Invalid", "Association"},
	{"JobHeld", "Held"},
	{"Licenses", "Licenses"},
	{"MaxBBPerAccount", "Association"},
	{"MaxCpuPerAccount", "QOS"},
	{"MaxGRESPerAccount", "QOS"},
	{"MaxJobsPerAccount", "QOS"},
	{"MaxMemPerAccount", "QOS"},
	{"MaxNodePerAccount", "QOS"},
	{"NodeDown", "ReqNodeNotAvail"},
	{"Nodes", "ReqNodeNotAvail"}, /* "Nodes required for job are DOWN, DRAINED or ..." */
	{"None", k_none},
	{"Partition", "Partition"},
	{"Priority", "Priority"},
	{"Prolog", "Prolog"},
	{"QOS", "QOS"},
	{"ReqNodeNotAvail", "ReqNodeNotAvail"},
	{"Reservation", "Reservation"},
	{"Resources", "Resources"},
};

std::string_view pod_reason(const std::optional<Condition> &condition)
{
	if (!condition)
		return k_none;
	const auto *const known = std::ranges::find(names::k_waiting_reasons, condition->reason);
	return known == std::end(names::k_waiting_reasons) ? k_other : *known;
}

PodPlace place_of(const Pod &pod, const std::string &assumed_node)
{
	if (is_terminal(pod))
		return PodPlace::ended;
	if (pod.node_name.empty() && assumed_node.empty())
		return pod.gated ? PodPlace::gated : PodPlace::waiting;
	return pod.phase == PodPhase::pending ? PodPlace::starting : PodPlace::running;
}

} // namespace

std::string_view folded_reason(std::string_view slurm_reason)
{
	if (slurm_reason.empty())
		return k_none;
	for (const auto &[prefix, name] : k_job_reasons) {
		if (slurm_reason.starts_with(prefix))
			return name;
	}
	return k_other;
}

Census census_of(const State &state)
{
	Census out;
	for (const auto &[uid, entry] : state.pods) {
		if (!entry.pod || entry.is_gone)
			continue;
		const PodPlace place = place_of(*entry.pod, entry.assumed_node);
		out.pods[{place,
			place == PodPlace::waiting ? pod_reason(entry.pod->not_scheduled) : ""}]++;
	}
	for (const auto &[id, job] : state.jobs)
		out.jobs[{job.state,
			job.state == JobState::pending ? folded_reason(job.reason) : ""}]++;
	return out;
}

const char *place_text(PodPlace place)
{
	switch (place) {
	case PodPlace::gated:
		return "gated";
	case PodPlace::waiting:
		return "waiting";
	case PodPlace::starting:
		return "starting";
	case PodPlace::running:
		return "running";
	case PodPlace::ended:
		break;
	}
	return "ended";
}

NodeCensus nodes_of(const State &state)
{
	NodeCensus out;
	for (const auto &[name, node] : state.slurm_nodes) {
		if (node.base == NodeBase::down)
			out.down++;
		else if (node.drain)
			out.drained++;
		else
			out.in_service++;
	}
	for (const auto &[name, node] : state.kube_nodes)
		out.not_ready += node.ready ? 0 : 1;
	return out;
}

const PodEntry *oldest_waiting(const State &state)
{
	const PodEntry *oldest = nullptr;
	const auto order = [](const PodEntry &entry) {
		return std::tie(entry.pod->created, entry.pod->name_space, entry.pod->name);
	};
	for (const auto &[uid, entry] : state.pods) {
		if (!entry.pod || entry.is_gone ||
			place_of(*entry.pod, entry.assumed_node) != PodPlace::waiting)
			continue;
		if (!oldest || order(entry) < order(*oldest))
			oldest = &entry;
	}
	return oldest;
}

} // namespace slurmkube::core
