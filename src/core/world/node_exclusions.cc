/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about the nodes where Kubernetes allows a pod: those that Slurm must not choose, before the
 * job is submitted. */
#include "src/core/world/facts_reader.h"
#include "src/core/world/parts.h"
#include "src/core/world/peers.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::size_t k_reasons_most = 4;

} // namespace

std::string reasons_text(const std::map<std::string, std::size_t> &reasons)
{
	std::string out;
	std::size_t said = 0;
	for (const auto &[why, count] : reasons) {
		if (said++ == k_reasons_most)
			return out + "; and others";
		out += (out.empty() ? "" : "; ") + std::to_string(count) +
			(count == 1 ? " node " : " nodes: each ") + why;
	}
	return out;
}

/* The nodes that may not take the pod, or an error if no node may. own: storage for exclusions that
 * differ from those of the pod's template. */
Result<const NodeExclusions *> FactsReader::exclusions_of_pod(const PodUid &uid, const Pod &pod,
	const JobSpec &spec, std::uint32_t at_once, std::optional<NodeExclusions> &own) const
{
	std::optional<NearbyPods> nearby;
	if (is_concerned(state_, pod))
		nearby.emplace(nearby_pods_of(state_, uid, pod, true, at_once));
	const NodeExclusions *exclusions = &filter_.exclusions_for(state_, pod);
	if (nearby || !pod.constraints.claims.empty() || !pod.resource_claims.empty() ||
		!exclusions->oversized.empty())
		filter_.exclude_more(
			state_, uid, pod, nearby ? &*nearby : nullptr, own.emplace(*exclusions));
	if (!state_.components.at(uid).crowded.empty())
		exclude_crowded(uid, pod, own ? *own : own.emplace(*exclusions));
	if (!state_.recordless_nodes.empty())
		exclude_recordless(own ? *own : own.emplace(*exclusions));
	exclusions = own ? &*own : exclusions;
	if (exclusions->candidates > 0 && exclusions->excluded.size() == exclusions->candidates) {
		found_.wakes_peer = true;
		return Error{Errc::not_found,
			"no node may take the pod: " + reasons_text(exclusions->reasons)};
	}
	if (const std::string why = state_.gangs.contains(uid)
			? std::string()
			: filter_.too_large(state_, spec, *exclusions);
		!why.empty())
		return Error{Errc::not_found, why};
	return exclusions;
}

void FactsReader::place(const PodUid &uid, const Pod &pod, std::optional<Result<JobSpec>> &spec,
	std::uint32_t at_once) const
{
	found_.placing = Placing::possible;
	if (!spec || !*spec)
		return; /* refused */
	if (!pod.node_name.empty()) {
		/* The pod is bound. Slurm would refuse names of nodes that it does not have. */
		(*spec)->options.excluded_nodes.clear();
		return;
	}
	if (const PodEntry *entry = state_.entry(uid); entry && !entry->held_node.empty())
		return filter_.exclude_unwanted(state_, **spec);
	for (const Status &asked : {filter_.names_known_nodes(state_, **spec),
		     filter_.is_fit_for_pods((*spec)->partition)}) {
		if (asked)
			continue;
		/* until something about nodes or partitions changes */
		found_.placing = Placing::unschedulable;
		*spec = asked.error();
		return;
	}
	if (must_wait_for_other(state_, uid, pod)) {
		found_.placing = Placing::waiting_for_peer;
		spec.reset();
		return;
	}
	std::optional<NodeExclusions> own;
	const auto exclusions = exclusions_of_pod(uid, pod, **spec, at_once, own);
	if (!exclusions) {
		found_.placing = Placing::unschedulable;
		*spec = exclusions.error();
		return;
	}
	(*spec)->excluded_nodes = (*exclusions)->excluded;
	if (!state_.gangs.contains(uid))
		filter_.exclude_unwanted(state_, **spec);
	filter_.wish(state_, pod, **spec);
}

} // namespace slurmkube::core
