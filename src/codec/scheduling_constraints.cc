/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/scheduling_constraints.h"

#include "src/core/model/names.h"

#include <algorithm>
#include <optional>

namespace slurmkube::codec
{

namespace
{

using core::SchedulingConstraints;

/* Maximum number of terms, requirements, values, tolerations and ports. All are evaluated for every
 * node, so thousands of them would be too slow. */
constexpr std::size_t k_most = 256;
/* maximum of terms with a topology larger than a node, which are evaluated for every pod of the
 * cluster */
constexpr std::size_t k_far_most = 16;

using Strings = std::map<std::string, std::string>;

template <const ProtoSchema &S> bool is_long(Views<S> list)
{
	return list.size() > k_most;
}

bool is_long(json_object *texts)
{
	return array_size(texts) > k_most;
}

template <const ProtoSchema &S, class F> void for_each(Views<S> list, F &&take)
{
	for (std::size_t i = 0; i < std::min(list.size(), k_most); i++)
		take(list[i]);
}

/* false: more than k_most labels */
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
	for (std::size_t i = 0; i < std::min(array_size(array), k_most); i++) {
		json_object *one = array_at(array, i);
		const char *text = json_object_is_type(one, json_type_string)
			? json_object_get_string(one)
			: nullptr;
		out.emplace_back(text != nullptr ? text : "");
	}
	return out;
}

core::SelectorOp op_of(const std::string &text)
{
	static constexpr std::pair<const char *, core::SelectorOp> ops[] = {
		{"In", core::SelectorOp::in}, {"NotIn", core::SelectorOp::not_in},
		{"Exists", core::SelectorOp::exists},
		{"DoesNotExist", core::SelectorOp::does_not_exist}, {"Gt", core::SelectorOp::gt},
		{"Lt", core::SelectorOp::lt}};
	for (const auto &[name, op] : ops) {
		if (text == name)
			return op;
	}
	return core::SelectorOp::unknown;
}

/* nullopt: more than k_most requirements or values */
std::optional<std::vector<core::Requirement>> requirements(Views<schema::k_requirement> list)
{
	std::vector<core::Requirement> out;
	bool fits = !is_long(list);
	for_each(list, [&](View<schema::k_requirement> one) {
		json_object *values = one.values<"values">();
		fits = fits && !is_long(values);
		out.push_back({one.text<"key">(), op_of(one.text<"operator">()), texts(values)});
	});
	return fits ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<core::NodeTerm> node_term(View<schema::k_node_term> term)
{
	auto labels = requirements(term.objects<"matchExpressions">()),
	     fields = requirements(term.objects<"matchFields">());
	if (!labels || !fields)
		return std::nullopt;
	return core::NodeTerm{std::move(*labels), std::move(*fields)};
}

bool take_node_terms(View<schema::k_node_selector> required, SchedulingConstraints &out)
{
	const auto terms = required.objects<"nodeSelectorTerms">();
	if (!required)
		return true;
	bool fits = !is_long(terms);
	out.node_terms.emplace();
	for_each(terms, [&](View<schema::k_node_term> one) {
		auto term = node_term(one);
		fits = fits && term;
		if (term)
			out.node_terms->push_back(std::move(*term));
	});
	return fits;
}

/* Preferences are optional, so those beyond the limits are dropped. */
void take_preferences(Views<schema::k_preference> terms, SchedulingConstraints &out)
{
	for_each(terms, [&](View<schema::k_preference> one) {
		auto term = node_term(one.object<"preference">());
		if (term)
			out.preferences.push_back({static_cast<int>(std::clamp<std::int64_t>(
							   one.integer<"weight">(), 0, 100)),
				std::move(*term)});
	});
}

/* Tolerations beyond the limit are dropped, which can only make placement stricter. */
void take_tolerations(Views<schema::k_toleration> list, SchedulingConstraints &out)
{
	for_each(list, [&](View<schema::k_toleration> one) {
		const std::string op = one.text<"operator">();
		const core::TolerationOp known = op.empty() || op == "Equal"
			? core::TolerationOp::equal
			: op == "Exists" ? core::TolerationOp::exists
					 : core::TolerationOp::unknown;
		out.tolerations.push_back(
			{one.text<"key">(), known, one.text<"value">(), one.text<"effect">()});
	});
}

/* false: more than k_most containers or ports */
bool take_ports(
	Views<schema::k_container> containers, bool only_sidecars, SchedulingConstraints &out)
{
	bool fits = !is_long(containers);
	for_each(containers, [&](View<schema::k_container> container) {
		if (only_sidecars && container.text<"restartPolicy">() != "Always")
			return;
		const auto ports = container.objects<"ports">();
		fits = fits && !is_long(ports);
		for_each(ports, [&](View<schema::k_port> port) {
			const std::string ip = port.text<"hostIP">(),
					  protocol = port.text<"protocol">();
			const std::int64_t number = port.integer<"hostPort">();
			if (number > 0 && number <= 65535)
				out.host_ports.push_back({ip.empty() ? "0.0.0.0" : ip,
					protocol.empty() ? "TCP" : protocol,
					static_cast<int>(number)});
		});
	});
	return fits && out.host_ports.size() <= k_most;
}

/* nullopt: an operator that label selectors do not have, or more than k_most entries */
std::optional<core::PodSelector> label_selector(View<schema::k_label_selector> selector)
{
	core::PodSelector out;
	auto expressions = requirements(selector.objects<"matchExpressions">());
	if (!expressions || !take_strings(selector.values<"matchLabels">(), out.labels))
		return std::nullopt;
	for (const core::Requirement &r : *expressions) {
		if (r.op == core::SelectorOp::gt || r.op == core::SelectorOp::lt ||
			r.op == core::SelectorOp::unknown)
			return std::nullopt;
	}
	out.requirements = std::move(*expressions);
	return out;
}

/* Why a term cannot be honoured, or empty. */
std::string trouble_with(View<schema::k_pod_term> term,
	const std::optional<core::PodSelector> &selector,
	const std::optional<core::PodSelector> &spaces)
{
	if (!selector)
		return " with this labelSelector";
	if (!spaces)
		return " with this namespaceSelector";
	if (term.text<"topologyKey">().empty())
		return " without topologyKey";
	return is_long(term.values<"namespaces">()) ? " with so many namespaces" : "";
}

/* A selector that cannot be read counts as matching everything, because the term may belong to a
 * pod that another scheduler has placed. matchLabelKeys and mismatchLabelKeys need not be read,
 * because the API server merges them into labelSelector. */
core::PodTerm pod_term(View<schema::k_pod_term> term, std::string &trouble)
{
	core::PodTerm out;
	const auto selector = term.object<"labelSelector">(),
		   in_spaces = term.object<"namespaceSelector">();
	json_object *namespaces = term.values<"namespaces">();
	auto labels = label_selector(selector), spaces = label_selector(in_spaces);
	trouble = trouble_with(term, labels, spaces);
	out.topology_key = term.text<"topologyKey">();
	out.namespaces = texts(namespaces);
	out.all_namespaces =
		(in_spaces && (!spaces || *spaces == core::PodSelector{})) || is_long(namespaces);
	if (in_spaces && !out.all_namespaces)
		out.namespace_selector = std::move(*spaces);
	if (selector)
		out.selector = labels ? std::move(*labels) : core::PodSelector{};
	return out;
}

void take_pod_terms(View<schema::k_pod_affinity> affinity, const std::string &path,
	std::vector<core::PodTerm> &out, std::set<std::string> &unsupported)
{
	const auto terms = affinity.objects<schema::k_required>();
	for_each(terms, [&](View<schema::k_pod_term> one) {
		std::string trouble;
		out.push_back(pod_term(one, trouble));
		if (!trouble.empty())
			unsupported.insert(path + trouble);
	});
	const auto far = std::count_if(out.begin(), out.end(), [](const core::PodTerm &term) {
		return term.topology_key != names::k_hostname_label;
	});
	if (is_long(terms) || static_cast<std::size_t>(far) > k_far_most)
		unsupported.insert(path + " with so many terms");
}

} // namespace

std::vector<core::NodeTerm> node_terms_from_json(View<schema::k_node_selector> node_selector)
{
	SchedulingConstraints out;
	const bool fits = take_node_terms(node_selector, out);
	return fits && out.node_terms ? std::move(*out.node_terms) : std::vector<core::NodeTerm>{};
}

std::optional<core::PodSelector> readable_selector(View<schema::k_label_selector> selector)
{
	return label_selector(selector);
}

core::PodSelector selector_from_json(View<schema::k_label_selector> selector)
{
	if (auto out = label_selector(selector))
		return std::move(*out);
	core::PodSelector unreadable;
	unreadable.requirements.push_back({"", core::SelectorOp::unknown, {}});
	return unreadable;
}

std::vector<core::PodClaim> claims_of_pod(
	View<schema::k_spec> spec, const std::string &pod_name, std::set<std::string> &unsupported)
{
	std::vector<core::PodClaim> out;
	const auto volumes = spec.objects<"volumes">();
	if (is_long(volumes))
		unsupported.insert("spec.volumes of this number");
	for_each(volumes, [&](View<schema::k_volume> volume) {
		const auto claim = volume.object<"persistentVolumeClaim">();
		if (claim)
			out.push_back({claim.text<"claimName">(), false});
		else if (volume.has<"ephemeral">())
			out.push_back({pod_name + "-" + volume.text<"name">(), true});
	});
	return out;
}

SchedulingConstraints constraints_from_json(
	View<schema::k_spec> spec, std::set<std::string> &unsupported)
{
	SchedulingConstraints out;
	const auto affinity = spec.object<"affinity">();
	const auto of_nodes = affinity.object<"nodeAffinity">();
	if (!take_strings(spec.values<"nodeSelector">(), out.node_selector))
		unsupported.insert("spec.nodeSelector with so many labels");
	if (!take_node_terms(of_nodes.object<schema::k_required>(), out))
		unsupported.insert("spec.affinity.nodeAffinity of this length");
	take_preferences(of_nodes.objects<schema::k_preferred>(), out);
	take_tolerations(spec.objects<"tolerations">(), out);
	if (!take_ports(spec.objects<"containers">(), false, out) ||
		!take_ports(spec.objects<"initContainers">(), true, out))
		unsupported.insert("spec.containers.ports of this number");
	take_pod_terms(affinity.object<"podAffinity">(), "spec.affinity.podAffinity", out.affinity,
		unsupported);
	take_pod_terms(affinity.object<"podAntiAffinity">(), "spec.affinity.podAntiAffinity",
		out.anti_affinity, unsupported);
	return out;
}

} // namespace slurmkube::codec
