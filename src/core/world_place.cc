/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world_place.cc - the part of World that knows where Kubernetes lets a pod run.
 *
 * Before a submission: which nodes Slurm must not choose. Before a binding: whether that still holds. Slurm queues for CPUs, memory and GRES itself, so what
 * passes of these is left to it; labels, taints, ports and company are not, nor a resource that Slurm does not know.
 */
#include "src/core/world.h"
#include "src/core/world_parts.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_nowhere_us = 1'000'000; /* pods that no node may take are looked at so often, when something has changed */
constexpr std::size_t k_tolerations_most = 256;
constexpr std::size_t k_reasons_most = 4;

/* "3 nodes: has no label a=b; 1 node: ..." */
std::string text_of(const std::map<std::string, std::size_t> &reasons)
{
	std::string out;
	std::size_t said = 0;
	for (const auto &[why, count] : reasons) {
		if (said++ == k_reasons_most)
			return out + "; and others";
		out += (out.empty() ? "" : "; ") + std::to_string(count) + (count == 1 ? " node " : " nodes: each ") + why;
	}
	return out;
}

bool fits_record(const Pod &pod, const SlurmNode &node, std::uint32_t cpu_unit)
{
	return cpus_of(pod.requests, cpu_unit) <= node.cpus && memory_mib_of(pod.requests, 1) <= node.memory_mib;
}

} // namespace

/* ---- observing ---- */

void World::note_demands(const Pod &pod)
{
	note_company(pod);
	note_claims(pod);
	for (const Toleration &toleration : pod.demands.tolerations) {
		const bool is_known = std::find(tolerations_.begin(), tolerations_.end(), toleration) != tolerations_.end();
		if (is_known || tolerations_.size() >= k_tolerations_most)
			continue;
		tolerations_.push_back(toleration);
		for (const auto &[name, node] : kube_nodes_) {
			if (!node.taints.empty())
				dirty_nodes_.insert(name);
		}
	}
}

void World::forget_demands(const PodUid &uid)
{
	forget_company(uid);
	nowhere_.erase(uid);
	behind_.erase(uid);
	forget_claims(uid);
}

void World::foreign_seen(Pod pod)
{
	select_namespaces(pod);
	for (const std::string &node : foreign_.seen(std::move(pod)))
		wake_waiters(node);
	place_changed();
}

void World::foreign_gone(const PodUid &uid)
{
	for (const std::string &node : foreign_.gone(uid))
		wake_waiters(node);
	place_changed();
}

void World::foreign_listed(const std::set<std::string> &live_uids)
{
	for (const std::string &node : foreign_.listed(live_uids))
		wake_waiters(node);
	foreign_listed_ = true;
	retry_all();
}

void World::place_changed()
{
	place_changed_ = true;
	review_all_ = true;
}

void World::wake_nowhere(Now now)
{
	wake_behind_in_time(now);
	if (!place_changed_ || now.mono_us < nowhere_next_us_)
		return;
	place_changed_ = false;
	nowhere_next_us_ = now.mono_us + k_nowhere_us;
	dirty_.insert(nowhere_.begin(), nowhere_.end());
}

/* ---- looking ---- */

Resources World::room_on(const KubeNode &node) const
{
	return without(node.allocatable, foreign_.held(node.name));
}

KubeNode World::as_left(const KubeNode &node) const
{
	KubeNode out = node;
	out.allocatable = room_on(node);
	return out;
}

/*
 * Slurm queues for what it counts. Some things it does not count at all; and where its record of a node is larger than what others leave there, as after a DaemonSet came,
 * it would give out more than there is, and who gets it would wait as long as those others stay.
 */
std::optional<Refusal> World::room_refuses_for_good(const PodUid &uid, const Pod &pod, const KubeNode &node) const
{
	const auto record = slurm_nodes_.find(node.name);
	const Resources room = room_on(node);
	if (record == slurm_nodes_.end())
		return room_refuses(pod.requests, room, {});
	const bool is_oversized = record->second.cpus > room.milli_cpu / settings_.policy.cpu_unit || record->second.memory_mib > static_cast<std::uint64_t>(room.memory_bytes >> 20);
	Resources wanted = pod.requests;
	if (!fits_record(pod, record->second, settings_.policy.cpu_unit))
		wanted.milli_cpu = wanted.memory_bytes = 0;
	std::erase_if(wanted.extended, [&](const auto &one) {
		const GresRule *rule = gres_rule(one.first, settings_.policy.gres);
		return rule && !lists_gres(record->second.gres, rule->name);
	});
	Resources taken;
	for (const Pod *ours : is_oversized ? staying_on(node.name, uid) : Holders{}) {
		if (!foreign_.all().contains(ours->uid)) {
			taken.milli_cpu += ours->requests.milli_cpu;
			taken.memory_bytes += ours->requests.memory_bytes;
		}
	}
	return room_refuses(wanted, room, taken);
}

std::optional<Refusal> World::refusal_in_queue(const PodUid &uid, const Pod &pod, const KubeNode &node, const Company *company) const
{
	/* what nobody tolerates drains the node: the job keeps its place in the queue */
	std::vector<Taint> taints;
	std::copy_if(node.taints.begin(), node.taints.end(), std::back_inserter(taints), [&](const Taint &taint) { return tolerates(tolerations_, taint); });
	if (auto refusal = taint_refuses(pod, taints, ignored_taints(settings_.nodes)))
		return refusal;
	if (auto refusal = node_refuses(pod, node))
		return refusal;
	if (auto refusal = room_refuses_for_good(uid, pod, node))
		return refusal;
	if (auto refusal = claims_refuse(pod, node))
		return refusal;
	if (!company)
		return std::nullopt;
	if (auto refusal = holders_refuse(pod, holders_of(node.name, uid)))
		return refusal;
	const auto allocated = company->allocated.find(node.name);
	auto refusal = allocated == company->allocated.end() ? std::nullopt : holders_refuse(pod, allocated->second);
	return refusal ? refusal : company->surroundings.refuses(node);
}

/* ---- deciding ---- */

void World::place(const PodUid &uid, const Pod &pod, std::optional<Result<JobSpec>> &spec, std::uint32_t at_once)
{
	nowhere_.erase(uid);
	behind_.erase(uid);
	if (!spec || !*spec || !pod.node_name.empty() || !groups_.at(uid).held_node.empty())
		return; /* refused, or it runs already */
	if (must_wait_for_other(uid, pod)) {
		behind_.insert(uid);
		spec.reset();
		return;
	}
	std::optional<Company> company;
	if (minds_others(pod) || !averse_.empty() || foreign_.has_averse())
		company.emplace(company_of(uid, pod, true, at_once));
	std::map<std::string, std::size_t> reasons;
	std::vector<std::string> excluded;
	std::size_t candidates = 0;
	for (const auto &[name, record] : slurm_nodes_) {
		const auto node = kube_nodes_.find(name);
		if (node == kube_nodes_.end())
			continue; /* out of use anyway */
		candidates++;
		const auto refusal = refusal_in_queue(uid, pod, node->second, company ? &*company : nullptr);
		if (!refusal)
			continue;
		excluded.push_back(name);
		reasons[refusal->why]++;
	}
	if (candidates > 0 && excluded.size() == candidates) {
		nowhere_.insert(uid);
		wake_behind();
		*spec = Error{Errc::not_found, "no node may take the pod: " + text_of(reasons)};
		return;
	}
	(*spec)->excluded_nodes = std::move(excluded);
	wish(pod, **spec);
}

/* Preferred node affinity, unless the pod says itself what Slurm shall prefer. */
void World::wish(const Pod &pod, JobSpec &spec) const
{
	if (pod.demands.preferences.empty() || settings_.policy.features.empty() || !spec.options.prefer.empty())
		return;
	std::set<std::string> known;
	for (const auto &[name, node] : slurm_nodes_) {
		for (std::size_t begin = 0, end = 0; begin < node.features.size(); begin = end + 1) {
			end = std::min(node.features.find(',', begin), node.features.size());
			known.insert(node.features.substr(begin, end - begin));
		}
	}
	spec.options.prefer = prefer_of(pod.demands.preferences, settings_.policy.features, known);
}

/* A pod that is ending holds its port for a moment: that is worth waiting for, all else is not. */
void World::check_place(const PodUid &uid, const Group &group, const KubeNode &node, GroupFacts &facts) const
{
	const Pod &pod = *group.pod;
	const Holders holders = holders_of(node.name, uid), lasting = staying_on(node.name, uid);
	auto refusal = cordon_refuses(pod, node);
	if (!refusal)
		refusal = taint_refuses(pod, node.taints, ignored_taints(settings_.nodes));
	if (!refusal)
		refusal = node_refuses(pod, node);
	if (!refusal)
		refusal = room_refuses(pod.requests, room_on(node), {});
	if (!refusal)
		refusal = room_refuses_for_good(uid, pod, node);
	if (!refusal)
		refusal = holders_refuse(pod, lasting);
	if (!refusal && (minds_others(pod) || !averse_.empty() || foreign_.has_averse()))
		refusal = company_of(uid, pod, false, 1).surroundings.refuses(node);
	if (refusal)
		facts.forbidden = refusal->why;
	else if (holders_refuse(pod, holders))
		facts.has_room = false;
}

} // namespace slurmkube::core
