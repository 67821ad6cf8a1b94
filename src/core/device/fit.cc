/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/device/fit.h"

#include "src/core/model/toleration.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace slurmkube::core
{

namespace
{

bool is_tolerated(const DeviceRequest &request, const SliceDevice &device)
{
	const auto is_harmless = [&](const Taint &taint) {
		const bool keeps_off = taint.effect == "NoSchedule" || taint.effect == "NoExecute";
		return !keeps_off || tolerates(request.tolerations, taint);
	};
	return std::ranges::all_of(device.taints, is_harmless) &&
		std::ranges::all_of(device.rule_taints, is_harmless);
}

/* As in kube-scheduler: the class's selectors come first, and one that does not match ends the
 * evaluation. */
Result<bool> match_all(const std::vector<std::string> &texts, const SliceDevice &device,
	const Selectors &selectors, std::size_t &cost)
{
	for (const std::string &text : texts) {
		const auto selector = selectors.find(text);
		if (!selector)
			return selector.error();
		const auto is_match = cel::matches(*selector, device.properties, cost);
		if (const Status charged = charge(0, cost); !charged)
			return charged.error();
		if (!is_match)
			return in_context("device " + device.name, is_match.error());
		if (!*is_match)
			return false;
	}
	return true;
}

Error no_class(const DeviceRequest &request)
{
	return {Errc::not_found,
		"request " + request.name + ": device class " + request.device_class +
			" does not exist"};
}

/* Selectors of class and request. Errors: those of is_met_by(). */
Result<bool> is_selected_by(const DeviceRequest &request, const SliceDevice &device,
	const DeviceSources &from, std::size_t &cost)
{
	const auto found = from.classes.find(request.device_class);
	if (found == from.classes.end())
		return no_class(request);
	const auto of_class = match_all(found->second.selectors, device, from.selectors, cost);
	if (!of_class)
		return in_context("device class " + request.device_class, of_class.error());
	if (!*of_class)
		return false;
	const auto of_request = match_all(request.selectors, device, from.selectors, cost);
	return of_request ? of_request : in_context("request " + request.name, of_request.error());
}

/* The devices of the node that are part of a GRES. */
Result<std::set<DeviceId>> listed_on(
	const std::string &node, const DeviceSources &from, std::size_t &cost)
{
	std::set<DeviceId> out;
	for (const DeviceRule &rule : from.rules) {
		const DeviceList &list = from.inventory.on_node(node, rule);
		if (const Status charged =
				charge(DeviceSources::k_look_cost * list.devices.size(), cost);
			!charged)
			return charged.error();
		for (const ListedDevice &one : list.devices)
			out.insert(one.id);
	}
	return out;
}

/* Why the node cannot give all devices that the selectors match; empty: it can. */
Result<std::string> why_not_all(const std::string &node, const DeviceRequest &request,
	const DeviceSources &from, std::size_t &cost)
{
	const Inventory::Devices there = from.inventory.all_on(node);
	if (!there.trouble.empty())
		return there.trouble;
	const auto listed = listed_on(node, from, cost);
	if (!listed)
		return listed.error();
	for (const DeviceId &id : there.ids) {
		const SliceDevice *device = from.inventory.find(id);
		const auto is_selected =
			device ? is_selected_by(request, *device, from, cost) : Result<bool>(false);
		if (!is_selected)
			return in_context("node " + node, is_selected.error());
		if (!*is_selected)
			continue;
		if (!is_tolerated(request, *device))
			return "device " + id.name + " has a taint that is not tolerated";
		if (!listed->contains(id))
			return "device " + id.name + " is part of no GRES";
	}
	return std::string();
}

/* For a request for all devices. */
Status look_for_all(
	const DeviceRequest &request, const DeviceSources &from, RequestFit &fit, std::size_t &cost)
{
	for (const auto &[node, types] : fit.nodes) {
		auto why = why_not_all(node, request, from, cost);
		if (!why)
			return why.error();
		if (!why->empty())
			fit.incomplete[node] = std::move(*why);
	}
	return Ok{};
}

/* Counts the devices of one rule. */
Status count(const DeviceRequest &request, const DeviceRule &rule, const DeviceSources &from,
	RequestFit &out, std::size_t &cost)
{
	for (const std::string &node : from.inventory.nodes_of(rule.driver)) {
		const DeviceList &list = from.inventory.on_node(node, rule);
		if (const Status charged = charge(
			    DeviceSources::k_look_cost * (1 + list.devices.size()), cost);
			!charged)
			return charged;
		if (!list.trouble.empty())
			out.troubles[node] = list.trouble;
		for (const ListedDevice &one : list.devices) {
			const SliceDevice *device = from.inventory.find(one.id);
			if (!device)
				continue;
			const auto is_met = is_met_by(request, *device, from, cost);
			if (!is_met)
				return in_context("node " + node, is_met.error());
			RequestFit::Count &of_type = out.nodes[node][one.type];
			of_type.all++;
			of_type.matching += *is_met ? 1U : 0U;
		}
	}
	return Ok{};
}

std::string text_of(const cel::Attribute &value)
{
	struct {
		std::string operator()(std::int64_t number) const
		{
			return "i" + std::to_string(number);
		}
		std::string operator()(bool truth) const { return truth ? "true" : "false"; }
		std::string operator()(const std::string &text) const { return "s" + text; }
		std::string operator()(const cel::Version &version) const
		{
			return "v" + version.text();
		}
	} to_text;
	return std::visit(to_text, value);
}

/* CPUs are had by their number only: Slurm chooses the cores. */
Status check_cores(const DeviceRequest &request, const RequestFit &fit)
{
	if (!fit.rule->is_cores || (!request.is_all && !request.is_for_admin))
		return Ok{};
	return Error{Errc::invalid,
		"request " + request.name +
			" is for CPUs, which are had by their number only: leave adminAccess and "
			"allocationMode All out"};
}

bool has_match(const RequestFit &fit)
{
	return std::ranges::any_of(fit.nodes, [](const auto &node) {
		return std::ranges::any_of(
			node.second, [](const auto &type) { return type.second.matching > 0; });
	});
}

std::string nothing_found(const DeviceRequest &request, const RequestFit &seen)
{
	std::string out = "request " + request.name +
		": no device of a rule in section devices "
		"of slurmkubed.yaml matches class " +
		request.device_class;
	if (!request.selectors.empty())
		out += " and the selectors of the request";
	if (!seen.troubles.empty())
		out += "; node " + seen.troubles.begin()->first + ": " +
			seen.troubles.begin()->second;
	return out;
}

} // namespace

Status charge(std::size_t units, std::size_t &cost)
{
	cost += units;
	if (cost <= DeviceSources::k_cost_most)
		return Ok{};
	return Error{Errc::too_large,
		"requests, selectors and constraints are too expensive for all devices of the "
		"cluster"};
}

Result<bool> is_met_by(
	const DeviceRequest &request, const SliceDevice &device, const DeviceSources &from)
{
	std::size_t cost = 0;
	return is_met_by(request, device, from, cost);
}

Result<bool> is_met_by(const DeviceRequest &request, const SliceDevice &device,
	const DeviceSources &from, std::size_t &cost)
{
	const auto is_selected = is_selected_by(request, device, from, cost);
	return is_selected && *is_selected ? Result<bool>(is_tolerated(request, device))
					   : is_selected;
}

Result<std::vector<DeviceId>> matching_on(
	const std::string &node, const DeviceRequest &request, const DeviceSources &from)
{
	std::vector<DeviceId> out;
	for (const DeviceRule &rule : from.rules) {
		for (const ListedDevice &one : from.inventory.on_node(node, rule).devices) {
			const SliceDevice *device = from.inventory.find(one.id);
			const auto is_met =
				device ? is_met_by(request, *device, from) : Result<bool>(false);
			if (!is_met)
				return is_met.error();
			if (*is_met)
				out.push_back(one.id);
		}
	}
	return out;
}

Result<std::vector<DeviceId>> all_on(
	const std::string &node, const DeviceRequest &request, const DeviceSources &from)
{
	std::size_t cost = 0;
	const auto why = why_not_all(node, request, from, cost);
	if (!why)
		return why.error();
	auto found = matching_on(node, request, from);
	if (why->empty() && (!found || !found->empty()))
		return found;
	return Error{Errc::not_found,
		"request " + request.name + " asks for all devices, and on node " + node + " " +
			(why->empty() ? "is none" : *why)};
}

std::optional<std::string> attribute_of(const SliceDevice &device, const std::string &attribute)
{
	const std::size_t slash = attribute.find('/');
	const auto domain = device.properties.attributes.find(
		slash == std::string::npos ? device.properties.driver : attribute.substr(0, slash));
	if (domain == device.properties.attributes.end())
		return std::nullopt;
	const auto value = domain->second.find(
		slash == std::string::npos ? attribute : attribute.substr(slash + 1));
	return value == domain->second.end() ? std::nullopt : std::optional(text_of(value->second));
}

bool names(const std::vector<std::string> &requests, const std::string &request)
{
	const std::string_view whole = request;
	return std::ranges::any_of(requests, [&](const std::string &one) {
		return one == whole || one == whole.substr(0, whole.find('/'));
	});
}

bool concerns(const DeviceConstraint &constraint, const std::string &request)
{
	return constraint.requests.empty() || names(constraint.requests, request);
}

Result<RequestFit> fit_of(
	const DeviceRequest &request, const DeviceSources &from, std::size_t &cost)
{
	if (!from.classes.contains(request.device_class))
		return no_class(request);
	RequestFit out, nothing;
	for (const DeviceRule &rule : from.rules) {
		RequestFit fit;
		fit.rule = &rule;
		if (const Status counted = count(request, rule, from, fit, cost); !counted)
			return counted.error();
		if (!has_match(fit)) {
			nothing.troubles.merge(fit.troubles);
			continue;
		}
		if (out.rule)
			return Error{Errc::invalid,
				"request " + request.name + ": devices of GRES " + out.rule->gres +
					" and of GRES " + rule.gres + " match"};
		out = std::move(fit);
	}
	if (!out.rule)
		return Error{Errc::not_found, nothing_found(request, nothing)};
	if (const Status checked = check_cores(request, out); !checked)
		return checked.error();
	if (const Status looked =
			request.is_all ? look_for_all(request, from, out, cost) : Status(Ok{});
		!looked)
		return looked.error();
	return out;
}

} // namespace slurmkube::core
