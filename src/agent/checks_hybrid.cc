/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checks_hybrid.cc - the lines of `skube check` about hybrid nodes: what Slurm's configuration must
 * say, which of them take no pods at all, and whether Slurm gives out more than the kubelet admits.
 */
#include "src/agent/checks_parts.h"
#include "src/core/world/hybrid_devices.h"

#include <algorithm>

namespace slurmkube::agent::check
{

namespace
{

bool has_hybrid(const App &app)
{
	return std::ranges::any_of(app.world().state().slurm_nodes,
		[](const auto &node) { return node.second.is_hybrid; });
}

/* What the kubelet admits beside pods of other schedulers. */
struct Room {
	std::uint64_t cpus = 0, memory_mib = 0;
};

Room room_of(const App &app, const core::KubeNode &kube)
{
	const core::KubeNode left = app.world().as_left(kube);
	return {static_cast<std::uint64_t>(
			std::max<std::int64_t>(left.allocatable.milli_cpu, 0) / 1000),
		static_cast<std::uint64_t>(
			std::max<std::int64_t>(left.allocatable.memory_bytes, 0) >> 20)};
}

std::string more_memory(const core::SlurmNode &slurm, const Room &room)
{
	if (slurm.memory_mib <= room.memory_mib)
		return {};
	return "raise MemSpecLimit by " + std::to_string(slurm.memory_mib - room.memory_mib) +
		" (MiB)";
}

std::string fewer_cpus(const core::SlurmNode &slurm, const Room &room)
{
	if (slurm.cpus <= room.cpus)
		return {};
	return "keep " + std::to_string(slurm.cpus - room.cpus) +
		" more CPUs by CoreSpecCount or CpuSpecList";
}

Check hybrid_settings(const Findings &found)
{
	constexpr char name[] = "hybrid settings";
	if (!found.slurm_trouble.empty())
		return failed(name, "not known: slurmctld does not answer",
			"look at the line slurmctld first");
	std::string text, remedy;
	for (const slurm::SettingTrouble &one : found.slurm.hybrid_troubles) {
		text += (text.empty() ? "" : "; ") + one.text;
		remedy += (remedy.empty() ? "" : "; ") + one.remedy;
	}
	return text.empty() ? passed(name, "slurm.conf and cgroup.conf say what hybrid nodes need")
			    : failed(name, text, remedy);
}

Check hybrid_nodes(const App &app)
{
	constexpr char name[] = "hybrid nodes";
	const core::State &state = app.world().state();
	std::size_t count = 0;
	std::string troubled, both;
	const core::PluginHello &hello = state.sync.plugin();
	for (const auto &[name_here, record] : state.slurm_nodes) {
		if (!record.is_hybrid)
			continue;
		count++;
		const std::string node = app.world().names().in_slurm(name_here);
		if (core::has_feature(record.features, hello.node_feature))
			add_name(both, node);
		else if (const std::string why = core::hybrid_trouble(
				 state.kube_node(name_here), record, hello, state.settings.nodes);
			 !why.empty())
			add_name(troubled, node + " " + why);
	}
	if (!both.empty())
		return failed(name,
			"with a slurmd, and with the features of both kinds of nodes: " + both,
			"remove the feature " + hello.node_feature +
				" from them in slurm.conf: they take no pods");
	if (!troubled.empty())
		return failed(name, "take no pods: " + troubled,
			"correct that in Kubernetes (label " + app.config().nodes.selector_key +
				", and a name that is equal, or given by its label " +
				std::string(names::k_slurm_node_label) +
				"); native jobs are not affected");
	return passed(name, std::to_string(count) + " take native jobs and pods");
}

Check hybrid_sizes(const App &app)
{
	constexpr char name[] = "hybrid sizes";
	std::string text, remedy;
	for (const auto &[node, kube] : app.world().state().kube_nodes) {
		const core::SlurmNode *slurm = app.world().state().slurm_node(node);
		if (!slurm || !slurm->is_hybrid)
			continue;
		const Room room = room_of(app, kube);
		const std::string record = app.world().names().in_slurm(node);
		for (const std::string &step :
			{fewer_cpus(*slurm, room), more_memory(*slurm, room)}) {
			if (!step.empty())
				add_name(remedy, record + ": " + step);
		}
		if (slurm->cpus > room.cpus || slurm->memory_mib > room.memory_mib)
			add_name(text,
				record + " (" + std::to_string(slurm->cpus) + " CPUs and " +
					std::to_string(slurm->memory_mib) +
					" MiB; Kubernetes leaves " + std::to_string(room.cpus) +
					" and " + std::to_string(room.memory_mib) + ")");
	}
	return text.empty()
		? passed(name,
			  "Slurm gives out no more than is allocatable and not used by "
			  "others")
		: failed(name, "Slurm gives out more than the kubelet admits: " + text,
			  remedy + ", in slurm.conf; then restart slurmctld and slurmd");
}

/* Where slices and GRES differ, pods with claims get no devices. */
Check hybrid_devices(const App &app)
{
	constexpr char name[] = "hybrid devices";
	const core::State &state = app.world().state();
	const core::DeviceRules &rules = state.settings.devices;
	const auto of_gres = std::ranges::count(rules, false, &core::DeviceRule::is_cores);
	std::string text;
	std::size_t count = 0;
	for (const auto &[node, record] : state.slurm_nodes) {
		if (!record.is_hybrid || !state.kube_nodes.contains(node))
			continue;
		for (const core::DeviceList &list : core::hybrid_device_lists(state, record)) {
			count += list.devices.size();
			if (!list.trouble.empty())
				add_name(text, node + " (" + list.trouble + ")");
		}
	}
	if (text.empty())
		return passed(name,
			std::to_string(count) + " devices of " + std::to_string(of_gres) +
				" rules have the indices of their numbers in Slurm");
	return failed(name, "pods with resource claims get no devices of: " + text,
		"make Gres= in slurm.conf and File= in gres.conf name exactly the devices that "
		"the driver publishes, in the order of their numbers ('kubectl get "
		"resourceslices', 'slurmd -G'), or correct 'only' and 'type_attribute' in "
		"slurmkubed.yaml; then restart slurmctld and slurmd");
}

} // namespace

std::vector<Check> hybrid(const App &app, const Findings &found)
{
	std::vector<Check> all = node_names(app);
	if (!has_hybrid(app))
		return all;
	all.push_back(hybrid_settings(found));
	all.push_back(hybrid_nodes(app));
	all.push_back(hybrid_sizes(app));
	if (!app.config().devices.empty())
		all.push_back(hybrid_devices(app));
	return all;
}

} // namespace slurmkube::agent::check
