/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/placement/pod_topology.h"

#include "src/core/model/names.h"
#include "src/core/model/selectors.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

using names::k_hostname_label;

bool is_far(const PodTerm &term)
{
	return term.topology_key != k_hostname_label;
}

/* The hostname topology is the node itself, but only if the node has the label. */
const std::string *domain_of(const KubeNode &node, const std::string &key)
{
	const auto label = node.labels.find(key);
	if (label == node.labels.end())
		return nullptr;
	return key == k_hostname_label ? &node.name : &label->second;
}

bool selects(const Spread &spread, const Pod &pod)
{
	return spread.selector && matches(*spread.selector, pod.labels);
}

/* kube-scheduler counts no pods for an empty selector, except for the pod itself. */
bool selects_everybody(const Spread &spread)
{
	return spread.selector && spread.selector->labels.empty() &&
		spread.selector->requirements.empty();
}

bool has_all_keys(const Pod &pod, const KubeNode &node)
{
	const auto &spreads = pod.constraints.spreads;
	return std::ranges::all_of(spreads,
		[&](const Spread &spread) { return node.labels.contains(spread.topology_key); });
}

bool any_matches(const std::vector<PodTerm> &terms, const Pod &pod, const Pod &other, bool only_far)
{
	return std::ranges::any_of(terms, [&](const PodTerm &term) {
		return (!only_far || is_far(term)) && matches(term, pod.name_space, other);
	});
}

} // namespace

PodTopology::PodTopology(const Pod &pod, std::uint32_t at_once)
    : pod_(pod), at_once_(static_cast<int>(std::min<std::uint32_t>(at_once, 1'000'000)))
{
	for (const Spread &spread : pod.constraints.spreads)
		counts_.push_back({selects(spread, pod), {}});
}

bool PodTopology::counts(const Spread &spread, const KubeNode &node) const
{
	return (!spread.honors_affinity || !node_refuses(pod_, node)) &&
		(!spread.honors_taints || !taint_refuses(pod_, node.taints, {}));
}

void PodTopology::add_node(const KubeNode &node)
{
	if (counts_.empty() || !has_all_keys(pod_, node))
		return;
	std::vector<bool> there(counts_.size());
	for (std::size_t i = 0; i < counts_.size(); i++) {
		const Spread &spread = pod_.constraints.spreads[i];
		there[i] = counts(spread, node);
		if (there[i])
			counts_[i].pods.try_emplace(node.labels.at(spread.topology_key), 0);
	}
	counts_there_.emplace(&node, std::move(there));
}

void PodTopology::add(const Pod &other, const KubeNode *home)
{
	add_anti_affinity(other, home);
	for (const PodTerm &term : pod_.constraints.anti_affinity) {
		if (is_far(term) && matches(term, pod_.name_space, other))
			note_anti_affinity(
				term, other, home, ", which the pod's anti-affinity excludes");
	}
	if (matches_affinity(pod_, other)) {
		is_any_matched_ = is_any_matched_ || home == nullptr;
		for (const PodTerm &term : pod_.constraints.affinity) {
			const std::string *domain =
				home ? domain_of(*home, term.topology_key) : nullptr;
			is_any_matched_ = is_any_matched_ || domain;
			if (domain)
				matched_[{term.topology_key, *domain}] = true;
		}
	}
	const auto there = other.deleting || other.name_space != pod_.name_space
		? counts_there_.end()
		: counts_there_.find(home);
	for (std::size_t i = 0; there != counts_there_.end() && i < counts_.size(); i++) {
		const Spread &spread = pod_.constraints.spreads[i];
		if (there->second[i] && !selects_everybody(spread) && selects(spread, other))
			counts_[i].pods[home->labels.at(spread.topology_key)]++;
	}
}

void PodTopology::add_anti_affinity(const Pod &other, const KubeNode *home)
{
	for (const PodTerm &term : other.constraints.anti_affinity) {
		if (is_far(term) && matches(term, other.name_space, pod_))
			note_anti_affinity(
				term, other, home, ", whose anti-affinity excludes the pod");
	}
}

void PodTopology::note_anti_affinity(
	const PodTerm &term, const Pod &other, const KubeNode *home, const char *whose)
{
	const std::string why = "is, by " + term.topology_key + ", near " + name_of(other) + whose;
	const std::string *domain = home ? domain_of(*home, term.topology_key) : nullptr;
	if (domain)
		anti_affinity_.try_emplace({term.topology_key, *domain}, why);
	else if (!home)
		anti_affinity_everywhere_ = why + "; where it is nobody knows";
}

std::optional<Refusal> PodTopology::anti_affinity_refuses(const KubeNode &node) const
{
	if (!anti_affinity_everywhere_.empty())
		return Refusal{Cause::pod_anti_affinity, anti_affinity_everywhere_};
	for (const auto &[domain, why] : anti_affinity_) {
		const std::string *here = domain_of(node, domain.first);
		if (here && *here == domain.second)
			return Refusal{Cause::pod_anti_affinity, why};
	}
	return std::nullopt;
}

/* If no pod matches the terms yet, a pod that matches its own terms may be the first. */
std::optional<Refusal> PodTopology::affinity_refuses(const KubeNode &node) const
{
	bool is_matched = true;
	for (const PodTerm &term : pod_.constraints.affinity) {
		const std::string *here = domain_of(node, term.topology_key);
		if (!here)
			return Refusal{Cause::pod_affinity,
				"has no label " + term.topology_key +
					", which the pod's affinity goes by"};
		is_matched = is_matched && matched_.contains({term.topology_key, *here});
	}
	if (is_matched || (!is_any_matched_ && matches_affinity(pod_, pod_)))
		return std::nullopt;
	const std::string &key = pod_.constraints.affinity.front().topology_key;
	return Refusal{Cause::pod_affinity,
		(key == k_hostname_label ? "has no pod" : "has near it, by " + key + ", no pod") +
			" that the pod's affinity asks for"};
}

std::optional<Refusal> PodTopology::spread_refuses(const KubeNode &node) const
{
	for (std::size_t i = 0; i < counts_.size(); i++) {
		const Spread &spread = pod_.constraints.spreads[i];
		const auto &pods = counts_[i].pods;
		const auto label = node.labels.find(spread.topology_key);
		if (label == node.labels.end())
			return Refusal{Cause::spread,
				"has no label " + spread.topology_key +
					", by which the pod is to be spread"};
		const auto least = std::ranges::min_element(
			pods, {}, [](const auto &domain) { return domain.second; });
		const bool is_few = pods.size() < static_cast<std::size_t>(spread.min_domains);
		const auto here = pods.find(label->second);
		const int skew = (here == pods.end() ? 0 : here->second) +
			(counts_[i].is_own ? at_once_ : 0) -
			(is_few || least == pods.end() ? 0 : least->second);
		if (skew > spread.max_skew)
			return Refusal{Cause::spread,
				"would make the skew by " + spread.topology_key + " " +
					std::to_string(skew) + " (maxSkew is " +
					std::to_string(spread.max_skew) + ")"};
	}
	return std::nullopt;
}

std::optional<Refusal> PodTopology::refuses(const KubeNode &node) const
{
	auto refusal = anti_affinity_refuses(node);
	if (!refusal)
		refusal = affinity_refuses(node);
	return refusal ? refusal : spread_refuses(node);
}

bool is_topology_constrained(const Pod &pod)
{
	return !pod.constraints.affinity.empty() || !pod.constraints.spreads.empty() ||
		constrains_topology(pod);
}

bool constrains_topology(const Pod &other)
{
	return std::ranges::any_of(other.constraints.anti_affinity, is_far);
}

bool concerns(const Pod &other, const Pod &pod)
{
	return are_in_conflict(pod, other) ||
		any_matches(pod.constraints.anti_affinity, pod, other, true) ||
		any_matches(other.constraints.anti_affinity, other, pod, true) ||
		matches_affinity(pod, other) || spreads_over(pod, other);
}

bool spreads_over(const Pod &pod, const Pod &other)
{
	return pod.name_space == other.name_space &&
		std::ranges::any_of(pod.constraints.spreads, [&](const Spread &spread) {
			return !selects_everybody(spread) && selects(spread, other);
		});
}

std::uint32_t most_on_a_node(const Pod &pod)
{
	std::uint32_t most = 0;
	for (const Spread &spread : pod.constraints.spreads) {
		const auto limit = static_cast<std::uint32_t>(spread.max_skew);
		if (spread.topology_key == k_hostname_label && selects(spread, pod))
			most = most == 0 ? limit : std::min(most, limit);
	}
	return most;
}

namespace
{

/* Controllers' webhooks add terms that the author of the manifest has never seen, so the text also
 * names the annotation that the author wrote. */
std::string author_of(const PodTerm &term)
{
	static constexpr const char *authors[][3] = {
		{"jobset.sigs.k8s.io/job-key", "JobSet",
			"alpha.jobset.sigs.k8s.io/exclusive-topology"},
		{"leaderworkerset.sigs.k8s.io/group-key", "LeaderWorkerSet",
			"leaderworkerset.sigs.k8s.io/exclusive-topology"},
		{"leaderworkerset.sigs.k8s.io/subgroup-key", "LeaderWorkerSet",
			"leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"}};
	for (const auto &[key, kind, annotation] : authors) {
		const auto is_key = [&wanted = key](
					    const Requirement &one) { return one.key == wanted; };
		if (term.selector && std::ranges::any_of(term.selector->requirements, is_key))
			return std::string(", which ") + kind + " wrote for the annotation " +
				annotation + ",";
	}
	return "";
}

} // namespace

std::string trouble_at_once(const Pod &pod, const Pod &other)
{
	const std::string by = " with topologyKey ", among = " between pods that start together";
	for (const PodTerm &term : pod.constraints.affinity) {
		if (is_far(term) && matches(term, pod.name_space, other))
			return "spec.affinity.podAffinity" + by + term.topology_key + among +
				author_of(term);
	}
	for (const PodTerm &term : pod.constraints.anti_affinity) {
		if (is_far(term) && matches(term, pod.name_space, other))
			return "spec.affinity.podAntiAffinity" + by + term.topology_key + among +
				author_of(term);
	}
	for (const Spread &spread : pod.constraints.spreads) {
		if (spread.topology_key != k_hostname_label && pod.name_space == other.name_space &&
			selects(spread, other))
			return "spec.topologySpreadConstraints" + by + spread.topology_key + among;
	}
	return {};
}

} // namespace slurmkube::core
