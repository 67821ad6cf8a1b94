/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/node_filter.h"

#include "src/core/model/amounts.h"
#include "src/core/world/extended_resources.h"
#include "src/core/world/hybrid_nodes.h"
#include "src/core/world/pod_claims.h"
#include "src/core/world/pod_devices.h"

#include <algorithm>
#include <utility>

namespace slurmkube::core
{

namespace
{

/* Why a record takes no pods whose node has another name by its label. */
constexpr char k_left_behind[] = "is the record of a node that has another name in Slurm";

/* Templates to remember. Comparing them is cheap beside a look at all nodes. */
constexpr std::size_t k_known_most = 32;

bool fits_record(const Pod &pod, const SlurmNode &node, std::uint32_t cpu_unit)
{
	return cpus_of(pod.requests, cpu_unit) <= node.cpus &&
		memory_mib_of(pod.requests, 1) <= node.memory_mib;
}

/* Compares everything on which node_refuses_in_queue() depends. A new constraint has to be added
 * here and in work_out_exclusions(). */
bool is_for(const NodeExclusions &exclusions, const Pod &pod)
{
	const auto &[node_selector, node_terms, preferences, tolerations, host_ports, affinity,
		anti_affinity, spreads, claims] = pod.constraints;
	return exclusions.node_name == pod.node_name && exclusions.requests == pod.requests &&
		exclusions.node_selector == node_selector &&
		exclusions.tolerations == tolerations && exclusions.node_terms == node_terms;
}

} // namespace

const Resources &NodeFilter::room_on(const State &state, const KubeNode &node) const
{
	const auto [room, is_new] = rooms_.try_emplace(node.name);
	if (is_new)
		room->second = without(node.allocatable, state.foreign.held(node.name));
	return room->second;
}

KubeNode NodeFilter::as_left(const State &state, const KubeNode &node) const
{
	KubeNode out = node;
	out.allocatable = room_on(state, node);
	return out;
}

void NodeFilter::forget(const std::string &node)
{
	known_exclusions_.clear();
	if (node.empty())
		rooms_.clear();
	else
		rooms_.erase(node);
}

/* The node's record in Slurm is larger than what pods of other schedulers leave there, for example
 * because a DaemonSet has been added. */
bool NodeFilter::is_oversized(
	const State &state, const KubeNode &node, const SlurmNode &record) const
{
	const Resources &room = room_on(state, node);
	return record.cpus > room.milli_cpu / state.settings.policy.cpu_unit ||
		record.memory_mib > static_cast<std::uint64_t>(room.memory_bytes >> 20);
}

Resources NodeFilter::taken_on(
	const State &state, const std::string &node, const PodUid &except) const
{
	Resources taken;
	for (const Pod *ours : staying_on(state, node, except)) {
		if (state.foreign.all().contains(ours->uid))
			continue;
		taken.milli_cpu += ours->requests.milli_cpu;
		taken.memory_bytes += ours->requests.memory_bytes;
	}
	return taken;
}

/*
 * Whether the node lacks room that waiting in the queue of Slurm would not bring. Slurm does not
 * count some resources at all. Of an oversized node it would give out more than there is, and the
 * pod would wait for as long as the other pods stay.
 *
 * record: nullptr if Slurm has none. taken: by our own pods, if that matters.
 */
std::optional<Refusal> NodeFilter::room_refuses_for_good(const State &state, const Pod &pod,
	const KubeNode &node, const SlurmNode *record, const Resources &taken) const
{
	const Resources &room = room_on(state, node);
	if (!record)
		return room_refuses(pod.requests, room, {});
	Resources wanted = pod.requests;
	if (!fits_record(pod, *record, state.settings.policy.cpu_unit))
		wanted.milli_cpu = wanted.memory_bytes = 0;
	std::erase_if(wanted.extended, [&](const auto &one) {
		const GresRule *rule = gres_rule(one.first, state.settings.policy.gres);
		return rule && !lists_gres(record->gres, rule->name);
	});
	return room_refuses(wanted, room, taken);
}

std::optional<Refusal> NodeFilter::node_refuses_in_queue(const State &state, const Pod &pod,
	const KubeNode &node, const SlurmNode &record,
	const std::vector<std::string> &ignored) const
{
	/* A taint that no pod tolerates drains the node. Then it need not be excluded, and the job
	 * keeps its place in the queue. */
	std::vector<Taint> taints;
	std::ranges::copy_if(node.taints, std::back_inserter(taints),
		[&](const Taint &taint) { return state.taints.is_tolerated(taint); });
	if (auto refusal = taint_refuses(pod, taints, ignored))
		return refusal;
	if (auto refusal = node_refuses(pod, node))
		return refusal;
	return room_refuses_for_good(state, pod, node, &record, {});
}

std::optional<Refusal> NodeFilter::others_refuse_in_queue(const State &state, const PodUid &uid,
	const Pod &pod, const KubeNode &node, const NearbyPods *nearby) const
{
	if (auto refusal = claims_refuse(state, pod, node))
		return refusal;
	if (auto refusal = devices_refuse(state, uid, pod, node.name))
		return refusal;
	if (!nearby)
		return std::nullopt;
	if (auto refusal = has_pod_constraints(pod)
			? holders_refuse(pod, holders_of(state, node.name, uid))
			: std::nullopt)
		return refusal;
	const auto there = nearby->there.find(node.name);
	auto refusal =
		there == nearby->there.end() ? std::nullopt : holders_refuse(pod, there->second);
	return refusal ? refusal : nearby->topology.refuses(node);
}

const NodeExclusions &NodeFilter::exclusions_for(const State &state, const Pod &pod) const
{
	const auto known = std::ranges::find_if(
		known_exclusions_, [&](const NodeExclusions &one) { return is_for(one, pod); });
	if (known != known_exclusions_.end())
		return *known;
	known_exclusions_.push_front(work_out_exclusions(state, pod));
	if (known_exclusions_.size() > k_known_most)
		known_exclusions_.pop_back();
	return known_exclusions_.front();
}

NodeExclusions NodeFilter::work_out_exclusions(const State &state, const Pod &pod) const
{
	NodeExclusions exclusions;
	exclusions.node_name = pod.node_name;
	exclusions.node_selector = pod.constraints.node_selector;
	exclusions.node_terms = pod.constraints.node_terms;
	exclusions.tolerations = pod.constraints.tolerations;
	exclusions.requests = pod.requests;
	const std::vector<std::string> ignored = ignored_taints(state.settings.nodes);
	for (const auto &[name, record] : state.slurm_nodes) {
		const auto node = state.kube_nodes.find(name);
		const bool is_seen = node != state.kube_nodes.end();
		const bool is_left = state.settings.nodes.names.is_left_behind(name);
		if (!is_seen && !record.is_hybrid && !is_left)
			continue; /* not in service anyway */
		exclusions.candidates++;
		auto refusal = is_left
			? std::optional(Refusal{Cause::unschedulable, k_left_behind})
			: hybrid_refuses(state, pod, is_seen ? &node->second : nullptr, record);
		if (!refusal)
			refusal = node_refuses_in_queue(state, pod, node->second, record, ignored);
		if (refusal) {
			exclusions.excluded.push_back(name);
			exclusions.reasons[refusal->why]++;
		} else if (is_oversized(state, node->second, record)) {
			exclusions.oversized.push_back(name);
		}
	}
	return exclusions;
}

void NodeFilter::exclude_more(const State &state, const PodUid &uid, const Pod &pod,
	const NearbyPods *nearby, NodeExclusions &exclusions) const
{
	const std::vector<std::string> before = std::exchange(exclusions.excluded, {});
	auto excluded = before.begin();
	auto oversized = exclusions.oversized.begin();
	for (const auto &[name, record] : state.slurm_nodes) {
		if (excluded != before.end() && *excluded == name) {
			exclusions.excluded.push_back(*excluded++);
			continue;
		}
		const auto node = state.kube_nodes.find(name);
		if (node == state.kube_nodes.end())
			continue;
		const bool is_larger =
			oversized != exclusions.oversized.end() && *oversized == name;
		oversized += is_larger ? 1 : 0;
		auto refusal = is_larger ? room_refuses_for_good(state, pod, node->second, &record,
						   taken_on(state, name, uid))
					 : std::nullopt;
		if (!refusal)
			refusal = others_refuse_in_queue(state, uid, pod, node->second, nearby);
		if (!refusal)
			continue;
		exclusions.excluded.push_back(name);
		exclusions.reasons[refusal->why]++;
	}
}

/* A pod that is being deleted may hold a host port for a moment: that is worth waiting for.
 * Anything else makes the node forbidden. */
void NodeFilter::check(const State &state, const PodUid &uid, const PodEntry &entry,
	const KubeNode &node, PlaceFacts &facts) const
{
	const Pod &pod = *entry.pod;
	const Holders holders = holders_of(state, node.name, uid),
		      lasting = staying_on(state, node.name, uid);
	auto refusal = cordon_refuses(pod, node);
	if (!refusal)
		refusal = taint_refuses(pod, node.taints, ignored_taints(state.settings.nodes));
	if (!refusal)
		refusal = node_refuses(pod, node);
	if (!refusal)
		refusal = device_plugin_refuses(state, pod, node.name);
	if (const SlurmNode *record = state.slurm_node(node.name); !refusal && record)
		refusal = hybrid_refuses(state, pod, &node, *record);
	if (!refusal)
		refusal = room_refuses(pod.requests, room_on(state, node), {});
	if (!refusal) {
		const auto record = state.slurm_nodes.find(node.name);
		const bool is_larger = record != state.slurm_nodes.end() &&
			is_oversized(state, node, record->second);
		refusal = room_refuses_for_good(state, pod, node,
			record == state.slurm_nodes.end() ? nullptr : &record->second,
			is_larger ? taken_on(state, node.name, uid) : Resources{});
	}
	if (!refusal)
		refusal = holders_refuse(pod, lasting);
	if (!refusal && is_concerned(state, pod))
		refusal = nearby_pods_of(state, uid, pod, false, 1).topology.refuses(node);
	if (refusal)
		facts.forbidden = refusal->why;
	else if (holders_refuse(pod, holders))
		facts.has_room = false;
}

Status NodeFilter::is_fit_for_pods(const std::string &partitions) const
{
	for (std::size_t at = 0; at < partitions.size() && !refused_partitions_.empty();) {
		const std::size_t end = std::min(partitions.find(',', at), partitions.size());
		const auto refused = refused_partitions_.find(partitions.substr(at, end - at));
		if (refused != refused_partitions_.end())
			return Error{Errc::invalid,
				"partition '" + refused->first + "' " + refused->second};
		at = end + 1;
	}
	return Ok{};
}

bool NodeFilter::set_refused_partitions(std::map<std::string, std::string> refused)
{
	if (refused == refused_partitions_)
		return false;
	refused_partitions_ = std::move(refused);
	return true;
}

} // namespace slurmkube::core
