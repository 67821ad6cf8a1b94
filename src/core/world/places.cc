/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world/places.cc - the part of World that knows which nodes Slurm must not choose for a pod.
 *
 * A look at all nodes for each pod would be what limits a large cluster. So what pods of one template have in common is worked out once, and after that only when a
 * node has changed; what depends on other pods, on claims, or on nodes that are fuller than Slurm knows, is added for each pod.
 */
#include "src/core/model/host_list.h"
#include "src/core/model/amounts.h"
#include "src/core/world/world.h"
#include "src/core/world/parts.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::size_t k_known_most = 32; /* templates; comparing them is cheap beside a look at all nodes */

bool fits_record(const Pod &pod, const SlurmNode &node, std::uint32_t cpu_unit)
{
	return cpus_of(pod.requests, cpu_unit) <= node.cpus && memory_mib_of(pod.requests, 1) <= node.memory_mib;
}

bool is_for(const Places &places, const Pod &pod)
{
	const Demands &demands = pod.demands;
	return places.node_name == pod.node_name && places.requests == pod.requests && places.node_selector == demands.node_selector && places.tolerations == demands.tolerations && places.node_terms == demands.node_terms;
}

} // namespace

/* ---- what is left of nodes ---- */

const Resources &World::room_on(const KubeNode &node) const
{
	const auto [room, is_new] = rooms_.try_emplace(node.name);
	if (is_new)
		room->second = without(node.allocatable, foreign_.held(node.name));
	return room->second;
}

KubeNode World::as_left(const KubeNode &node) const
{
	KubeNode out = node;
	out.allocatable = room_on(node);
	return out;
}

void World::forget_places(const std::string &node)
{
	known_places_.clear();
	if (node.empty())
		rooms_.clear();
	else
		rooms_.erase(node);
}

/* Where the record of a node is larger than what others leave there, as after a DaemonSet came. */
bool World::is_oversized(const KubeNode &node, const SlurmNode &record) const
{
	const Resources &room = room_on(node);
	return record.cpus > room.milli_cpu / settings_.policy.cpu_unit || record.memory_mib > static_cast<std::uint64_t>(room.memory_bytes >> 20);
}

Resources World::taken_on(const std::string &node, const PodUid &except) const
{
	Resources taken;
	for (const Pod *ours : staying_on(node, except)) {
		if (foreign_.all().contains(ours->uid))
			continue;
		taken.milli_cpu += ours->requests.milli_cpu;
		taken.memory_bytes += ours->requests.memory_bytes;
	}
	return taken;
}

/* ---- who refuses ---- */

/*
 * Slurm queues for what it counts. Some things it does not count at all; and of an oversized node it would give out more than there is, and who gets it would wait as long
 * as those others stay. record: nullptr where Slurm has none. taken: by pods of ours, where it matters.
 */
std::optional<Refusal> World::room_refuses_for_good(const Pod &pod, const KubeNode &node, const SlurmNode *record, const Resources &taken) const
{
	const Resources &room = room_on(node);
	if (!record)
		return room_refuses(pod.requests, room, {});
	Resources wanted = pod.requests;
	if (!fits_record(pod, *record, settings_.policy.cpu_unit))
		wanted.milli_cpu = wanted.memory_bytes = 0;
	std::erase_if(wanted.extended, [&](const auto &one) {
		const GresRule *rule = gres_rule(one.first, settings_.policy.gres);
		return rule && !lists_gres(record->gres, rule->name);
	});
	return room_refuses(wanted, room, taken);
}

std::optional<Refusal> World::node_refuses_in_queue(const Pod &pod, const KubeNode &node, const SlurmNode &record, const std::vector<std::string> &ignored) const
{
	/* what nobody tolerates drains the node: the job keeps its place in the queue */
	std::vector<Taint> taints;
	std::ranges::copy_if(node.taints, std::back_inserter(taints), [&](const Taint &taint) { return taints_.is_tolerated(taint); });
	if (auto refusal = taint_refuses(pod, taints, ignored))
		return refusal;
	if (auto refusal = node_refuses(pod, node))
		return refusal;
	return room_refuses_for_good(pod, node, &record, {});
}

std::optional<Refusal> World::others_refuse_in_queue(const PodUid &uid, const Pod &pod, const KubeNode &node, const Company *company) const
{
	if (auto refusal = claims_refuse(pod, node))
		return refusal;
	if (!company)
		return std::nullopt;
	if (auto refusal = minds_others(pod) ? holders_refuse(pod, holders_of(node.name, uid)) : std::nullopt)
		return refusal;
	const auto there = company->there.find(node.name);
	auto refusal = there == company->there.end() ? std::nullopt : holders_refuse(pod, there->second);
	return refusal ? refusal : company->surroundings.refuses(node);
}

/* ---- all nodes ---- */

const Places &World::places_of(const Pod &pod)
{
	const auto known = std::ranges::find_if(known_places_, [&](const Places &one) { return is_for(one, pod); });
	if (known != known_places_.end())
		return *known;
	known_places_.push_front(work_out_places(pod));
	if (known_places_.size() > k_known_most)
		known_places_.pop_back();
	return known_places_.front();
}

Places World::work_out_places(const Pod &pod) const
{
	Places places;
	places.node_name = pod.node_name;
	places.node_selector = pod.demands.node_selector;
	places.node_terms = pod.demands.node_terms;
	places.tolerations = pod.demands.tolerations;
	places.requests = pod.requests;
	const std::vector<std::string> ignored = ignored_taints(settings_.nodes);
	for (const auto &[name, record] : slurm_nodes_) {
		const auto node = kube_nodes_.find(name);
		if (node == kube_nodes_.end())
			continue; /* out of use anyway */
		places.candidates++;
		if (const auto refusal = node_refuses_in_queue(pod, node->second, record, ignored)) {
			places.excluded.push_back(name);
			places.reasons[refusal->why]++;
		} else if (is_oversized(node->second, record)) {
			places.oversized.push_back(name);
		}
	}
	return places;
}

namespace
{

std::string size_text(std::uint32_t cpus, std::uint64_t memory_mib, const std::string &gres, std::uint32_t cpu_unit)
{
	return cpus_text(cpus, cpu_unit) + ", " + std::to_string(memory_mib) + " MiB" + (gres.empty() ? "" : " and " + gres);
}

} // namespace

namespace
{

std::set<std::string> names_in(const std::string &hosts)
{
	const auto names = hosts.empty() ? Result<std::vector<std::string>>(std::vector<std::string>{}) : expand_hosts(hosts);
	return names ? std::set<std::string>(names->begin(), names->end()) : std::set<std::string>();
}

} // namespace

/*
 * Slurm makes a job of a pod that no node can ever hold, refuses it and keeps the record of a failure, at each try. So that is said here, of nodes as they are when
 * they are empty. Generic resources that no node has are left to Slurm, which knows whether they exist.
 */
std::string World::too_large(const JobSpec &spec, const Places &places) const
{
	const SlurmNode *largest = nullptr;
	const std::string known = gres_among(spec.options.gres, slurm_nodes_);
	const std::set<std::string> wanted = names_in(spec.options.required_nodes), unwanted = names_in(spec.options.excluded_nodes);
	bool is_any_left_out = false;
	for (const auto &[name, node] : slurm_nodes_) {
		if (node.cpus == 0 || !kube_nodes_.contains(name) || std::ranges::binary_search(places.excluded, name))
			continue;
		if (unwanted.contains(name) || (!wanted.empty() && !wanted.contains(name))) {
			is_any_left_out = true;
			continue;
		}
		if (spec.cpus <= node.cpus && spec.memory_mib <= node.memory_mib && has_gres(node.gres, known))
			return {};
		if (!largest || std::tie(node.cpus, node.memory_mib) > std::tie(largest->cpus, largest->memory_mib))
			largest = &node;
	}
	if (!largest)
		return is_any_left_out ? "options required-nodes and excluded-nodes leave none of the nodes that may take the pod; change or remove them" : "";
	const std::uint32_t unit = settings_.policy.cpu_unit;
	return "no node is large enough: the pod asks for " + size_text(spec.cpus, spec.memory_mib, known, unit) + "; the largest that it may use, " + largest->name + ", has " +
	       size_text(largest->cpus, largest->memory_mib, known.empty() ? "" : largest->gres, unit) + ". Lower resources.requests, or ask an administrator for a larger node";
}

/* Of what the template may have. */
void World::exclude_more(const PodUid &uid, const Pod &pod, const Company *company, Places &places) const
{
	const std::vector<std::string> before = std::exchange(places.excluded, {});
	auto excluded = before.begin();
	auto oversized = places.oversized.begin();
	for (const auto &[name, record] : slurm_nodes_) {
		const auto node = kube_nodes_.find(name);
		if (node == kube_nodes_.end())
			continue;
		if (excluded != before.end() && *excluded == name) {
			places.excluded.push_back(*excluded++);
			continue;
		}
		const bool is_larger = oversized != places.oversized.end() && *oversized == name;
		oversized += is_larger ? 1 : 0;
		auto refusal = is_larger ? room_refuses_for_good(pod, node->second, &record, taken_on(name, uid)) : std::nullopt;
		if (!refusal)
			refusal = others_refuse_in_queue(uid, pod, node->second, company);
		if (!refusal)
			continue;
		places.excluded.push_back(name);
		places.reasons[refusal->why]++;
	}
}

} // namespace slurmkube::core
