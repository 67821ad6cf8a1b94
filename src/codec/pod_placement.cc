/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod_placement.cc - reads topology spread constraints, and finds the placement constraints of a
 * pod's spec that are not supported. Preferences do not count as constraints.
 */
#include "src/codec/pod.h"
#include "src/codec/scheduling_constraints.h"

#include <algorithm>
#include <climits>

namespace slurmkube::codec
{

namespace
{

constexpr char k_spread_path[] = "spec.topologySpreadConstraints";
/* limits, because each is evaluated for every pod of the cluster */
constexpr std::size_t k_spreads_most = 16, k_label_keys_most = 64;

/* the limit of the API */
constexpr std::size_t k_resource_claims_most = 32;

using SpreadView = View<schema::k_spread>;

std::int32_t positive(std::int64_t value)
{
	return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, 0, INT_MAX));
}

/* Why the constraint cannot be honoured, or empty. */
std::string trouble_with(SpreadView constraint, const core::Spread &spread)
{
	const std::pair<const char *, std::string> policies[] = {
		{"nodeAffinityPolicy", constraint.text<"nodeAffinityPolicy">("Honor")},
		{"nodeTaintsPolicy", constraint.text<"nodeTaintsPolicy">("Honor")},
	};
	for (const auto &[policy, value] : policies) {
		if (value != "Honor" && value != "Ignore")
			return std::string(" with ") + policy + " " + value.substr(0, 64);
	}
	if (array_size(constraint.values<"matchLabelKeys">()) > k_label_keys_most)
		return " with so many matchLabelKeys";
	if (spread.topology_key.empty())
		return " without topologyKey";
	return spread.max_skew < 1 || spread.min_domains < 1
		? " with a maxSkew or minDomains that is not positive"
		: "";
}

/* As in kube-scheduler, keys without a label of the pod are ignored. */
void take_label_keys(json_object *keys, const std::map<std::string, std::string> &labels,
	core::PodSelector &selector)
{
	for (std::size_t i = 0; i < std::min(array_size(keys), k_label_keys_most); i++) {
		json_object *key = array_at(keys, i);
		const auto label = json_object_is_type(key, json_type_string)
			? labels.find(json_object_get_string(key))
			: labels.end();
		if (label != labels.end())
			selector.requirements.push_back(
				{label->first, core::SelectorOp::in, {label->second}});
	}
}

} // namespace

std::vector<core::Spread> spreads_from_json(Views<schema::k_spread> constraints,
	const std::map<std::string, std::string> &labels, std::set<std::string> &unsupported)
{
	std::vector<core::Spread> out;
	for (const SpreadView one : constraints) {
		const std::string when = one.text<"whenUnsatisfiable">("DoNotSchedule");
		if (when == "ScheduleAnyway")
			continue;
		core::Spread spread{.topology_key = one.text<"topologyKey">(),
			.max_skew = positive(one.integer<"maxSkew">()),
			.min_domains = positive(one.integer<"minDomains">(1))};
		spread.honors_affinity = one.text<"nodeAffinityPolicy">("Honor") == "Honor";
		spread.honors_taints = one.text<"nodeTaintsPolicy">("Ignore") == "Honor";
		const auto selector = one.object<"labelSelector">();
		const auto readable = readable_selector(selector);
		if (selector && readable) {
			spread.selector = *readable;
			take_label_keys(one.values<"matchLabelKeys">(), labels, *spread.selector);
		}
		const std::string trouble = when != "DoNotSchedule"
			? " with whenUnsatisfiable " + when.substr(0, 64)
			: !readable                    ? " with this labelSelector"
			: out.size() >= k_spreads_most ? " of this number"
						       : trouble_with(one, spread);
		if (!trouble.empty())
			unsupported.insert(k_spread_path + trouble);
		if (out.size() < k_spreads_most)
			out.push_back(std::move(spread));
	}
	return out;
}

std::vector<core::PodResourceClaim> resource_claims_of_pod(View<schema::k_spec> spec,
	View<schema::k_status> status, std::set<std::string> &unsupported)
{
	std::vector<core::PodResourceClaim> out;
	for (const auto one : spec.objects<"resourceClaims">()) {
		core::PodResourceClaim claim{.name = one.text<"name">(),
			.claim = one.text<"resourceClaimName">(),
			.made_of = one.text<"resourceClaimTemplateName">()};
		claim.is_own = !claim.made_of.empty();
		if (claim.claim.empty() != claim.is_own || out.size() >= k_resource_claims_most) {
			unsupported.insert("spec.resourceClaims that names neither a claim nor a "
					   "template, or of this number");
			break;
		}
		for (const auto made : status.objects<"resourceClaimStatuses">()) {
			if (!claim.is_own || made.text<"name">() != claim.name)
				continue;
			claim.claim = made.text<"resourceClaimName">();
			claim.is_needless = claim.claim.empty();
		}
		out.push_back(std::move(claim));
	}
	return out;
}

void note_unsupported(View<schema::k_spec> spec, std::set<std::string> &fields)
{
	const auto note = [&](bool asked, const char *field) {
		if (asked)
			fields.insert(field);
	};
	note(!spec.object<"workloadRef">().text<"name">().empty(), "spec.workloadRef");
}

} // namespace slurmkube::codec
