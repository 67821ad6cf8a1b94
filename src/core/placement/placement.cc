/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/placement/placement.h"

#include "src/core/model/names.h"
#include "src/core/model/selectors.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr char k_unschedulable_taint[] = "node.kubernetes.io/unschedulable";
using names::k_hostname_label;
constexpr char k_any_address[] = "0.0.0.0";

std::optional<Refusal> selector_refuses(const Pod &pod, const KubeNode &node)
{
	for (const auto &[key, value] : pod.constraints.node_selector) {
		const auto label = node.labels.find(key);
		if (label == node.labels.end() || label->second != value)
			return Refusal{Cause::node_affinity,
				"has no label " + key + "=" + value + " (nodeSelector)"};
	}
	const auto &terms = pod.constraints.node_terms;
	if (terms && std::none_of(terms->begin(), terms->end(), [&](const NodeTerm &term) {
		    return matches(term, node);
	    }))
		return Refusal{Cause::node_affinity, "does not match the pod's node affinity"};
	return std::nullopt;
}

bool share_address(const HostPort &one, const HostPort &other)
{
	return one.ip == k_any_address || other.ip == k_any_address || one.ip == other.ip;
}

const HostPort *common_port(const Pod &one, const Pod &other)
{
	for (const HostPort &mine : one.constraints.host_ports) {
		for (const HostPort &theirs : other.constraints.host_ports) {
			if (mine.port == theirs.port && mine.protocol == theirs.protocol &&
				share_address(mine, theirs))
				return &mine;
		}
	}
	return nullptr;
}

/* Whether the pod's anti-affinity excludes the other from its node. PodTopology has the terms with
 * larger topologies. */
bool excludes_on_its_node(const Pod &pod, const Pod &other)
{
	const auto &terms = pod.constraints.anti_affinity;
	return std::any_of(terms.begin(), terms.end(), [&](const PodTerm &term) {
		return term.topology_key == k_hostname_label &&
			matches(term, pod.name_space, other);
	});
}

std::optional<Refusal> other_refuses(const Pod &pod, const Pod &other)
{
	if (const HostPort *port = common_port(pod, other))
		return Refusal{Cause::host_port,
			"has host port " + std::to_string(port->port) + "/" + port->protocol +
				" in use by " + name_of(other)};
	if (excludes_on_its_node(pod, other))
		return Refusal{Cause::pod_anti_affinity,
			"has " + name_of(other) + ", which the pod's anti-affinity excludes"};
	if (excludes_on_its_node(other, pod))
		return Refusal{Cause::pod_anti_affinity,
			"has " + name_of(other) + ", whose anti-affinity excludes the pod"};
	return std::nullopt;
}

Refusal too_little(const std::string &resource)
{
	return {Cause::resources, "has too little " + resource + " left"};
}

std::int64_t amount_of(const Resources &resources, const std::string &name)
{
	const auto found = resources.extended.find(name);
	return found == resources.extended.end() ? 0 : found->second;
}

bool lacks(std::int64_t wanted, std::int64_t there_is, std::int64_t taken)
{
	return wanted > 0 && wanted > there_is - taken;
}

} // namespace

Resources held_by(const Holders &holders)
{
	Resources sum;
	for (const Pod *holder : holders) {
		sum.milli_cpu += holder->requests.milli_cpu;
		sum.memory_bytes += holder->requests.memory_bytes;
		for (const auto &[name, amount] : holder->requests.extended)
			sum.extended[name] += amount;
	}
	sum.pods = static_cast<std::int64_t>(holders.size());
	return sum;
}

std::optional<Refusal> cordon_refuses(const Pod &pod, const KubeNode &node)
{
	if (node.unschedulable &&
		!tolerates(pod.constraints.tolerations, {k_unschedulable_taint, "", "NoSchedule"}))
		return Refusal{Cause::unschedulable, "is cordoned"};
	return std::nullopt;
}

std::optional<Refusal> taint_refuses(
	const Pod &pod, const std::vector<Taint> &taints, const std::vector<std::string> &ignored)
{
	for (const Taint &taint : taints) {
		const bool keeps_off = taint.effect == "NoSchedule" || taint.effect == "NoExecute";
		if (!keeps_off ||
			std::find(ignored.begin(), ignored.end(), taint.key) != ignored.end() ||
			tolerates(pod.constraints.tolerations, taint))
			continue;
		return Refusal{Cause::taint,
			"has the taint " + taint.key +
				(taint.value.empty() ? "" : "=" + taint.value) + ":" +
				taint.effect + ", which the pod does not tolerate"};
	}
	return std::nullopt;
}

std::optional<Refusal> node_refuses(const Pod &pod, const KubeNode &node)
{
	if (!pod.node_name.empty() && pod.node_name != node.name)
		return Refusal{
			Cause::node_name, "is not the node that the pod names, " + pod.node_name};
	return selector_refuses(pod, node);
}

std::optional<Refusal> holders_refuse(const Pod &pod, const Holders &holders)
{
	for (const Pod *other : holders) {
		if (auto refusal = other_refuses(pod, *other))
			return refusal;
	}
	return std::nullopt;
}

std::optional<Refusal> room_refuses(
	const Resources &wanted, const Resources &all, const Resources &taken)
{
	if (taken.pods + 1 > all.pods)
		return Refusal{Cause::resources, "has as many pods as it may have"};
	if (lacks(wanted.milli_cpu, all.milli_cpu, taken.milli_cpu))
		return too_little("cpu");
	if (lacks(wanted.memory_bytes, all.memory_bytes, taken.memory_bytes))
		return too_little("memory");
	for (const auto &[name, amount] : wanted.extended) {
		if (lacks(amount, amount_of(all, name), amount_of(taken, name)))
			return too_little(name);
	}
	return std::nullopt;
}

bool matches_affinity(const Pod &pod, const Pod &other)
{
	const auto &terms = pod.constraints.affinity;
	return !terms.empty() && std::all_of(terms.begin(), terms.end(), [&](const PodTerm &term) {
		return matches(term, pod.name_space, other);
	});
}

bool are_in_conflict(const Pod &one, const Pod &other)
{
	return other_refuses(one, other).has_value();
}

bool has_pod_constraints(const Pod &pod)
{
	const SchedulingConstraints &constraints = pod.constraints;
	return !constraints.host_ports.empty() || !constraints.anti_affinity.empty() ||
		!constraints.affinity.empty() || !constraints.spreads.empty();
}

} // namespace slurmkube::core
