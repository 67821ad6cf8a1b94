/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod_placement.cc - how a pod is to be spread, and what its spec demands of its place that we cannot promise yet. Preferences are no demands.
 */
#include "src/codec/demands.h"
#include "src/codec/pod.h"

#include <algorithm>
#include <climits>

namespace slurmkube::codec
{

namespace
{

bool is_filled(json_object *value)
{
	if (json_object_is_type(value, json_type_object))
		return json_object_object_length(value) > 0;
	return array_size(value) > 0;
}

constexpr char k_spread_path[] = "spec.topologySpreadConstraints";
constexpr std::size_t k_spreads_most = 16, k_label_keys_most = 64; /* judged for every pod there is */

std::int32_t positive_int(json_object *object, const char *key, std::int64_t absent)
{
	return static_cast<std::int32_t>(std::clamp<std::int64_t>(get_int(object, key, absent), 0, INT_MAX));
}

/* Why the constraint cannot be honoured, or empty. */
std::string trouble_with(json_object *constraint, const core::Spread &spread)
{
	for (const char *policy : {"nodeAffinityPolicy", "nodeTaintsPolicy"}) {
		const std::string value = get_string(constraint, policy, "Honor");
		if (value != "Honor" && value != "Ignore")
			return std::string(" with ") + policy + " " + value.substr(0, 64);
	}
	if (array_size(get(constraint, "matchLabelKeys")) > k_label_keys_most)
		return " with so many matchLabelKeys";
	if (spread.topology_key.empty())
		return " without topologyKey";
	return spread.max_skew < 1 || spread.min_domains < 1 ? " with a maxSkew or minDomains that is not positive" : "";
}

/* As kube-scheduler has it: keys that the pod has no label of say nothing. */
void take_label_keys(json_object *keys, const std::map<std::string, std::string> &labels, core::PodSelector &selector)
{
	for (std::size_t i = 0; i < std::min(array_size(keys), k_label_keys_most); i++) {
		json_object *key = array_at(keys, i);
		const auto label = json_object_is_type(key, json_type_string) ? labels.find(json_object_get_string(key)) : labels.end();
		if (label != labels.end())
			selector.requirements.push_back({label->first, core::SelectorOp::in, {label->second}});
	}
}

} // namespace

std::vector<core::Spread> spreads_from_json(json_object *constraints, const std::map<std::string, std::string> &labels, std::set<std::string> &unsupported)
{
	std::vector<core::Spread> out;
	for (std::size_t i = 0; i < array_size(constraints); i++) {
		json_object *one = array_at(constraints, i);
		const std::string when = get_string(one, "whenUnsatisfiable", "DoNotSchedule");
		if (when == "ScheduleAnyway")
			continue;
		core::Spread spread{.topology_key = get_string(one, "topologyKey"), .max_skew = positive_int(one, "maxSkew", 0), .min_domains = positive_int(one, "minDomains", 1)};
		spread.honors_affinity = get_string(one, "nodeAffinityPolicy", "Honor") == "Honor";
		spread.honors_taints = get_string(one, "nodeTaintsPolicy", "Ignore") == "Honor";
		json_object *selector = get(one, "labelSelector");
		const auto readable = readable_selector(selector);
		if (selector != nullptr && readable) {
			spread.selector = *readable;
			take_label_keys(get(one, "matchLabelKeys"), labels, *spread.selector);
		}
		const std::string trouble = when != "DoNotSchedule"	    ? " with whenUnsatisfiable " + when.substr(0, 64) :
					    !readable			    ? " with this labelSelector" :
					    out.size() >= k_spreads_most ? " of this number" :
									   trouble_with(one, spread);
		if (!trouble.empty())
			unsupported.insert(k_spread_path + trouble);
		if (out.size() < k_spreads_most)
			out.push_back(std::move(spread));
	}
	return out;
}

void note_unsupported(json_object *spec, std::set<std::string> &fields)
{
	const auto note = [&](bool asked, const char *field) {
		if (asked)
			fields.insert(field);
	};
	note(is_filled(get(spec, "resourceClaims")), "spec.resourceClaims");
	note(is_filled(get(spec, "workloadRef")), "spec.workloadRef");
}

} // namespace slurmkube::codec
