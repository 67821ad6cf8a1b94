/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/device/cores.h"

#include "src/core/model/index_list.h"

#include <algorithm>
#include <set>

namespace slurmkube::core
{

namespace
{

const DeviceRule *cores_rule(const DeviceRules &rules)
{
	const auto found = std::ranges::find_if(rules, &DeviceRule::is_cores);
	return found == rules.end() ? nullptr : &*found;
}

/* The node has several CPUs per core in Slurm, or the list of cores is too long. */
Error not_one_per_cpu(const NodeAllocation &slot)
{
	return {Errc::invalid,
		"Slurm gave " + std::to_string(slot.cpus) + " CPUs of node " + slot.node +
			" as cores '" + slot.core_ids.substr(0, 64) +
			"', and only a record with one CPU per core tells which CPUs these are"};
}

/* ---- what a pod asks for ---- */

std::string count_text(std::int64_t cpus)
{
	return std::to_string(cpus) + (cpus == 1 ? " CPU" : " CPUs");
}

std::string milli_text(std::int64_t milli_cpu)
{
	return milli_cpu % k_whole_cpu == 0 ? std::to_string(milli_cpu / k_whole_cpu)
					    : std::to_string(milli_cpu) + "m";
}

bool uses(const ContainerClaims &container, const std::set<std::string> &names)
{
	return std::ranges::any_of(
		container.claims, [&](const std::string &name) { return names.contains(name); });
}

/* By which names the pod's containers know the claim. */
std::set<std::string> names_in(const Pod &pod, const ResourceClaim &claim)
{
	std::set<std::string> out;
	for (const PodResourceClaim &one : pod.resource_claims) {
		if (!one.is_extended && one.claim == claim.id.name)
			out.insert(one.name);
	}
	return out;
}

/* The driver gives the CPUs of a claim to one container, and lets others use them as soon as that
 * stops, even if it starts again. */
std::string users_trouble(const Pod &pod, const ResourceClaim &claim)
{
	const std::string what = "resource claim " + claim.id.name + " asks for CPUs, ";
	const std::set<std::string> names = names_in(pod, claim);
	const ContainerClaims *user = nullptr;
	for (const ContainerClaims &one : pod.container_claims) {
		if (!uses(one, names))
			continue;
		if (user)
			return what + "and containers " + user->container + " and " +
				one.container + " use it: give each container a claim of its own";
		user = &one;
	}
	if (names.empty())
		return "CPUs cannot be had as an extended resource: name a claim for them";
	if (!user)
		return what + "and no container uses it";
	if (user->is_short_lived)
		return what + "and only init container " + user->container + " uses it";
	if (user->may_restart)
		return what + "and container " + user->container +
			" may restart, after which the driver lets others use them: set "
			"restartPolicy Never";
	return {};
}

/* CPUs of all claims that the container uses. */
std::int64_t cpus_of(const ContainerClaims &container, const Pod &pod,
	const std::vector<const ResourceClaim *> &claims, const std::vector<std::int64_t> &cpus)
{
	std::int64_t sum = 0;
	for (std::size_t i = 0; i < claims.size(); i++)
		sum += uses(container, names_in(pod, *claims[i])) ? cpus[i] : 0;
	return sum;
}

} // namespace

Result<std::vector<DeviceId>> cores_to(const NodeAllocation &slot, const std::string &extra,
	const DeviceRules &rules, const Inventory &inventory)
{
	std::vector<DeviceId> out;
	const DeviceRule *rule = cores_rule(rules);
	if (!rule)
		return out;
	const auto cores = indices_of(slot.core_ids);
	if (!cores || cores->empty() || cores->size() != slot.cpus)
		return not_one_per_cpu(slot);
	const std::vector<DeviceId> by_core = frozen_devices(extra, *rule, slot.node);
	if (by_core.empty())
		return Error{Errc::again,
			"the CPUs of node " + slot.node + " are not in its record in Slurm yet"};
	for (const std::uint32_t core : *cores) {
		if (core >= by_core.size())
			return Error{Errc::invalid,
				"Slurm gave core " + std::to_string(core) + " of node " +
					slot.node + ", and its record there names " +
					count_text(static_cast<std::int64_t>(by_core.size()))};
		std::string why = inventory.find(by_core[core])
			? std::string()
			: inventory.trouble_on(slot.node, rule->driver);
		if (!why.empty())
			return Error{Errc::again, std::move(why)};
		out.push_back(by_core[core]);
	}
	return out;
}

bool has_cores_list(const std::string &extra, const DeviceRules &rules, const std::string &node)
{
	const DeviceRule *rule = cores_rule(rules);
	return rule && !frozen_devices(extra, *rule, node).empty();
}

bool ask_for_cores(const std::vector<const ResourceClaim *> &claims, const std::string &node,
	const DeviceSources &from)
{
	const DeviceRule *rule = cores_rule(from.rules);
	if (!rule)
		return false;
	const DeviceList list = from.inventory.on_node(node, *rule);
	const auto is_met = [&](const DeviceRequest &request) {
		return std::ranges::any_of(list.devices, [&](const ListedDevice &one) {
			const SliceDevice *device = from.inventory.find(one.id);
			const auto met =
				device ? is_met_by(request, *device, from) : Result<bool>(false);
			return met && *met;
		});
	};
	return std::ranges::any_of(claims, [&](const ResourceClaim *claim) {
		return std::ranges::any_of(claim->requests, is_met);
	});
}

std::string cores_trouble_on(bool is_hybrid, std::size_t cores, std::size_t cpus)
{
	if (is_hybrid)
		return "is hybrid: there every pod has the CPUs of its job without a claim";
	if (cpus >= cores)
		return {};
	return "its driver publishes " + count_text(static_cast<std::int64_t>(cpus)) +
		", and Slurm has " + std::to_string(cores) +
		" cores there: reserve the same CPUs for the system in the kubelet";
}

std::string cpu_trouble_of(const Pod &pod, const std::vector<const ResourceClaim *> &claims,
	const DeviceDemand &demand, std::uint32_t cpu_unit)
{
	if (demand.cpus.size() != claims.size())
		return {};
	if (cpu_unit != k_whole_cpu)
		return "resource claims for CPUs need nodes.cpu_unit 1 in slurmkubed.yaml";
	std::int64_t claimed = 0, others = 0;
	for (std::size_t i = 0; i < claims.size(); i++) {
		claimed += demand.cpus[i];
		std::string why = demand.cpus[i] > 0 ? users_trouble(pod, *claims[i]) : "";
		if (!why.empty())
			return why;
	}
	for (const ContainerClaims &one : pod.container_claims) {
		if (one.has_restart_rules && claimed > 0)
			return "container " + one.container +
				" has restartPolicyRules, which may restart others, too; after "
				"that the driver lets others use the CPUs of resource claims";
		const std::int64_t cpus = cpus_of(one, pod, claims, demand.cpus);
		if (cpus == 0)
			others += one.is_short_lived ? 0 : one.milli_cpu;
		else if (one.milli_cpu != 0 && one.milli_cpu != cpus * k_whole_cpu)
			return "container " + one.container + " requests cpu " +
				milli_text(one.milli_cpu) + ", and its resource claims have " +
				count_text(cpus) + ": request the same number";
	}
	if (pod.requests.milli_cpu >= claimed * k_whole_cpu + others)
		return {};
	return "the pod requests cpu " + milli_text(pod.requests.milli_cpu) +
		", and its resource claims have " + count_text(claimed) +
		(others == 0 ? "" : " beside " + milli_text(others) + " of other containers") +
		": request the sum";
}

} // namespace slurmkube::core
