/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/demands.h"

#include "src/core/model/names.h"

#include <algorithm>
#include <optional>

namespace slurmkube::codec
{

namespace
{

using core::Demands;

constexpr char k_required[] = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr char k_preferred[] = "preferredDuringSchedulingIgnoredDuringExecution";
/* Of terms, requirements, values, tolerations, ports: judged for every node, so no author may write thousands. */
constexpr std::size_t k_most = 256;
constexpr std::size_t k_far_most = 16; /* of terms that go by more than the node: judged for every pod there is */

using Strings = std::map<std::string, std::string>;

bool is_long(json_object *array)
{
	return array_size(array) > k_most;
}

template <class F> void for_each(json_object *array, F &&take)
{
	for (std::size_t i = 0; i < std::min(array_size(array), k_most); i++)
		take(array_at(array, i));
}

/* false: more than k_most */
bool take_strings(json_object *object, Strings &out)
{
	if (!json_object_is_type(object, json_type_object))
		return true;
	if (static_cast<std::size_t>(json_object_object_length(object)) > k_most)
		return false;
	out = get_strings(object);
	return true;
}

std::vector<std::string> texts(json_object *array)
{
	std::vector<std::string> out;
	for_each(array, [&](json_object *one) {
		const char *text = json_object_is_type(one, json_type_string) ? json_object_get_string(one) : nullptr;
		out.emplace_back(text != nullptr ? text : "");
	});
	return out;
}

core::SelectorOp op_of(const std::string &text)
{
	static constexpr std::pair<const char *, core::SelectorOp> ops[] = {{"In", core::SelectorOp::in},
									    {"NotIn", core::SelectorOp::not_in},
									    {"Exists", core::SelectorOp::exists},
									    {"DoesNotExist", core::SelectorOp::does_not_exist},
									    {"Gt", core::SelectorOp::gt},
									    {"Lt", core::SelectorOp::lt}};
	for (const auto &[name, op] : ops) {
		if (text == name)
			return op;
	}
	return core::SelectorOp::unknown;
}

/* nullopt: more than anybody writes */
std::optional<std::vector<core::Requirement>> requirements(json_object *array)
{
	std::vector<core::Requirement> out;
	bool fits = !is_long(array);
	for_each(array, [&](json_object *one) {
		fits = fits && !is_long(get(one, "values"));
		out.push_back({get_string(one, "key"), op_of(get_string(one, "operator")), texts(get(one, "values"))});
	});
	return fits ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<core::NodeTerm> node_term(json_object *term)
{
	auto labels = requirements(get(term, "matchExpressions")), fields = requirements(get(term, "matchFields"));
	if (!labels || !fields)
		return std::nullopt;
	return core::NodeTerm{std::move(*labels), std::move(*fields)};
}

bool take_node_terms(json_object *required, Demands &out)
{
	json_object *terms = get(required, "nodeSelectorTerms");
	if (required == nullptr)
		return true;
	bool fits = !is_long(terms);
	out.node_terms.emplace();
	for_each(terms, [&](json_object *one) {
		auto term = node_term(one);
		fits = fits && term;
		if (term)
			out.node_terms->push_back(std::move(*term));
	});
	return fits;
}

/* Wishes: what is too long is not wished. */
void take_preferences(json_object *terms, Demands &out)
{
	for_each(terms, [&](json_object *one) {
		auto term = node_term(get(one, "preference"));
		if (term)
			out.preferences.push_back({static_cast<int>(std::clamp<std::int64_t>(get_int(one, "weight"), 0, 100)), std::move(*term)});
	});
}

/* The list may be longer than we read: what we do not read does not tolerate. */
void take_tolerations(json_object *list, Demands &out)
{
	for_each(list, [&](json_object *one) {
		const std::string op = get_string(one, "operator");
		const core::TolerationOp known = op.empty() || op == "Equal" ? core::TolerationOp::equal :
						 op == "Exists"		      ? core::TolerationOp::exists :
										core::TolerationOp::unknown;
		out.tolerations.push_back({get_string(one, "key"), known, get_string(one, "value"), get_string(one, "effect")});
	});
}

/* false: more than anybody writes */
bool take_ports(json_object *containers, bool only_sidecars, Demands &out)
{
	bool fits = !is_long(containers);
	for_each(containers, [&](json_object *container) {
		if (only_sidecars && get_string(container, "restartPolicy") != "Always")
			return;
		fits = fits && !is_long(get(container, "ports"));
		for_each(get(container, "ports"), [&](json_object *port) {
			const std::string ip = get_string(port, "hostIP"), protocol = get_string(port, "protocol");
			const std::int64_t number = get_int(port, "hostPort");
			if (number > 0 && number <= 65535)
				out.host_ports.push_back({ip.empty() ? "0.0.0.0" : ip, protocol.empty() ? "TCP" : protocol, static_cast<int>(number)});
		});
	});
	return fits && out.host_ports.size() <= k_most;
}

/* nullopt: an operator that pods are not selected by, or too long */
std::optional<core::PodSelector> label_selector(json_object *selector)
{
	core::PodSelector out;
	auto expressions = requirements(get(selector, "matchExpressions"));
	if (!expressions || !take_strings(get(selector, "matchLabels"), out.labels))
		return std::nullopt;
	for (const core::Requirement &r : *expressions) {
		if (r.op == core::SelectorOp::gt || r.op == core::SelectorOp::lt || r.op == core::SelectorOp::unknown)
			return std::nullopt;
	}
	out.requirements = std::move(*expressions);
	return out;
}

/* Why a term cannot be honoured, or empty. */
std::string trouble_with(json_object *term, const std::optional<core::PodSelector> &selector, const std::optional<core::PodSelector> &spaces)
{
	if (!selector)
		return " with this labelSelector";
	if (!spaces)
		return " with this namespaceSelector";
	if (get_string(term, "topologyKey").empty())
		return " without topologyKey";
	return is_long(get(term, "namespaces")) ? " with so many namespaces" : "";
}

/* What cannot be read of it is taken to match: it may be the word of a pod that others have placed. matchLabelKeys and mismatchLabelKeys are in labelSelector: the API server puts them there. */
core::PodTerm pod_term(json_object *term, std::string &trouble)
{
	core::PodTerm out;
	json_object *selector = get(term, "labelSelector"), *in_spaces = get(term, "namespaceSelector");
	auto labels = label_selector(selector), spaces = label_selector(in_spaces);
	trouble = trouble_with(term, labels, spaces);
	out.topology_key = get_string(term, "topologyKey");
	out.namespaces = texts(get(term, "namespaces"));
	out.all_namespaces = (in_spaces != nullptr && (!spaces || *spaces == core::PodSelector{})) || is_long(get(term, "namespaces"));
	if (in_spaces != nullptr && !out.all_namespaces)
		out.namespace_selector = std::move(*spaces);
	if (selector != nullptr)
		out.selector = labels ? std::move(*labels) : core::PodSelector{};
	return out;
}

void take_pod_terms(json_object *affinity, const char *which, std::vector<core::PodTerm> &out, std::set<std::string> &unsupported)
{
	const std::string path = std::string("spec.affinity.") + which;
	json_object *terms = get(affinity, which, k_required);
	for_each(terms, [&](json_object *one) {
		std::string trouble;
		out.push_back(pod_term(one, trouble));
		if (!trouble.empty())
			unsupported.insert(path + trouble);
	});
	const auto far = std::count_if(out.begin(), out.end(), [](const core::PodTerm &term) { return term.topology_key != names::k_hostname_label; });
	if (is_long(terms) || static_cast<std::size_t>(far) > k_far_most)
		unsupported.insert(path + " with so many terms");
}

} // namespace

std::vector<core::NodeTerm> node_terms_from_json(json_object *node_selector)
{
	Demands out;
	const bool fits = take_node_terms(node_selector, out);
	return fits && out.node_terms ? std::move(*out.node_terms) : std::vector<core::NodeTerm>{};
}

std::optional<core::PodSelector> readable_selector(json_object *selector)
{
	return label_selector(selector);
}

core::PodSelector selector_from_json(json_object *selector)
{
	if (auto out = label_selector(selector))
		return std::move(*out);
	core::PodSelector unreadable;
	unreadable.requirements.push_back({"", core::SelectorOp::unknown, {}});
	return unreadable;
}

std::vector<core::PodClaim> claims_of_pod(json_object *spec, const std::string &pod_name, std::set<std::string> &unsupported)
{
	std::vector<core::PodClaim> out;
	json_object *volumes = get(spec, "volumes");
	if (is_long(volumes))
		unsupported.insert("spec.volumes of this number");
	for_each(volumes, [&](json_object *volume) {
		json_object *claim = get(volume, "persistentVolumeClaim");
		if (claim != nullptr)
			out.push_back({get_string(claim, "claimName"), false});
		else if (get(volume, "ephemeral") != nullptr)
			out.push_back({pod_name + "-" + get_string(volume, "name"), true});
	});
	return out;
}

Demands demands_from_json(json_object *spec, std::set<std::string> &unsupported)
{
	Demands out;
	json_object *affinity = get(spec, "affinity");
	if (!take_strings(get(spec, "nodeSelector"), out.node_selector))
		unsupported.insert("spec.nodeSelector with so many labels");
	if (!take_node_terms(get(affinity, "nodeAffinity", k_required), out))
		unsupported.insert("spec.affinity.nodeAffinity of this length");
	take_preferences(get(affinity, "nodeAffinity", k_preferred), out);
	take_tolerations(get(spec, "tolerations"), out);
	if (!take_ports(get(spec, "containers"), false, out) || !take_ports(get(spec, "initContainers"), true, out))
		unsupported.insert("spec.containers.ports of this number");
	take_pod_terms(affinity, "podAffinity", out.affinity, unsupported);
	take_pod_terms(affinity, "podAntiAffinity", out.anti_affinity, unsupported);
	return out;
}

} // namespace slurmkube::codec
