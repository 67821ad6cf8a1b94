/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdicts.cc - the verdicts of our decoders and of World on the cases that testsuite/oracle
 * judges, in the same order.
 *
 * Each line on stdin is a case: "pod", "nodes", and "pods" that others have bound. Each line on
 * stdout has, for each node, {"excluded": the submission excludes the node, "bound": the pod would
 * be bound if Slurm chose the node anyway, "why": our reason}. A pod that is refused as a whole is
 * bound nowhere.
 */
#include "src/codec/claim.h"
#include "src/codec/namespace.h"
#include "src/codec/node.h"
#include "src/codec/pod.h"
#include "src/core/model/names.h"
#include "src/core/world/world.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

using namespace slurmkube;

namespace
{

constexpr core::Now k_now{.mono_us = 100'000'000, .wall_s = 1'000'000};

[[noreturn]] void give_up(const std::string &why)
{
	(void)fprintf(stderr, "verdicts: %s\n", why.c_str());
	std::exit(1);
}

core::Settings settings()
{
	core::Settings out;
	out.policy.cluster = "main";
	out.policy.namespaces = {{.name_space = "*",
		.user_id = 1,
		.group_id = 1,
		.accounts = {},
		.partitions = {},
		.qos = {}}};
	out.sees_foreign_pods = true;
	out.report_interval_us = 0;
	return out;
}

/* In Slurm every node is large, because Slurm's own refusals are not tested here. */
void tell_slurm_nodes(core::World &world)
{
	world.observe(core::LinkOpened{{}});
	for (const auto &[name, node] : world.state().kube_nodes) {
		core::SlurmNode record;
		record.name = name;
		record.base = core::NodeBase::idle;
		record.cpus = 1 << 20;
		record.memory_mib = std::uint64_t{1} << 40;
		world.observe(core::SlurmNodeSeen{record});
	}
	world.observe(core::SnapshotEnded{}, k_now);
}

/* An object that cannot be decoded counts as absent, as in kube-scheduler. */
template <class T, class F>
void for_each(json_object *list, Result<T> (*decode)(json_object *), F &&tell)
{
	for (std::size_t i = 0; i < codec::array_size(list); i++) {
		auto seen = decode(codec::array_at(list, i));
		if (!seen)
			give_up(seen.error().what);
		tell(std::move(*seen));
	}
}

void tell_storage(core::World &world, json_object *one)
{
	std::set<std::string> uids;
	for_each(codec::get(one, "claims"), codec::claim_from_json, [&](core::Claim claim) {
		uids.insert(claim.uid);
		world.observe(core::ClaimSeen{std::move(claim)}, k_now);
	});
	for_each(codec::get(one, "volumes"), codec::volume_from_json, [&](core::Volume volume) {
		uids.insert(volume.uid);
		world.observe(core::VolumeSeen{std::move(volume)});
	});
	for_each(codec::get(one, "classes"), codec::storage_class_from_json,
		[&](core::StorageClass storage_class) {
			uids.insert(storage_class.uid);
			world.observe(core::ClassSeen{std::move(storage_class)});
		});
	world.observe(core::ClaimsListed{uids});
	world.observe(core::VolumesListed{uids});
	world.observe(core::ClassesListed{uids});
}

core::World world_of(json_object *one, core::Pod &pod)
{
	core::World world(settings());
	json_object *nodes = codec::get(one, "nodes"), *pods = codec::get(one, "pods");
	std::set<std::string> uids, spaces;
	for_each(codec::get(one, "namespaces"), codec::namespace_from_json,
		[&](core::Namespace space) {
			spaces.insert(space.uid);
			world.observe(core::NamespaceSeen{std::move(space)});
		});
	world.observe(core::NamespacesListed{spaces});
	for (std::size_t i = 0; i < codec::array_size(nodes); i++) {
		auto node = codec::node_from_json(codec::array_at(nodes, i));
		if (!node)
			give_up(node.error().what);
		uids.insert(node->uid);
		world.observe(core::NodeSeen{std::move(*node)}, k_now);
	}
	for (std::size_t i = 0; i < codec::array_size(pods); i++) {
		auto other = codec::pod_from_json(codec::array_at(pods, i));
		if (!other)
			give_up(other.error().what);
		world.observe(core::ForeignSeen{std::move(*other)});
	}
	auto wanted = codec::pod_from_json(codec::get(one, "pod"));
	if (!wanted)
		give_up(wanted.error().what);
	pod = *wanted;
	world.observe(core::PodSeen{std::move(*wanted)}, {.mono_us = 1, .wall_s = 1});
	world.observe(core::PodsListed{{pod.uid.text}}, k_now);
	world.observe(core::NodesListed{uids});
	world.observe(core::ForeignListed{[&] {
		std::set<std::string> live;
		for (const auto &[uid, other] : world.state().foreign.all())
			live.insert(uid.text);
		return live;
	}()});
	tell_storage(world, one);
	tell_slurm_nodes(world);
	return world;
}

/* True if the pod is bound when Slurm gives it this node. */
bool is_bound(core::World world, const core::PodUid &pod, const std::string &node)
{
	world.answer(
		core::SubmitAnswered{pod, core::Submitted{.job = {7}, .node = node, .cpus = 1}},
		k_now);
	const auto actions = world.take_actions(k_now);
	const auto binds = [](const auto &one) {
		/* a volume is being provisioned for a claim */
		const auto *report = std::get_if<core::Report>(&one.action);
		const bool waits = report && report->not_scheduled.reason == names::k_reason_volume;
		return waits || std::holds_alternative<core::Bind>(one.action) ||
			std::holds_alternative<core::WriteClaim>(one.action);
	};
	return std::any_of(actions.begin(), actions.end(), binds);
}

std::string why_not(const core::World &world, const core::Pod &pod, const core::KubeNode &node)
{
	const core::Holders there = world.state().foreign.on(node.name);
	std::optional<core::Refusal> refusals[] = {core::cordon_refuses(pod, node),
		core::taint_refuses(
			pod, node.taints, core::ignored_taints(world.state().settings.nodes)),
		core::node_refuses(pod, node), core::holders_refuse(pod, there),
		core::room_refuses(pod.requests, node.allocatable, core::held_by(there)),
		world.state().claims.known().refuses(pod, node)};
	for (const auto &refusal : refusals) {
		if (refusal)
			return refusal->why;
	}
	core::PodTopology topology(pod);
	for (const auto &[name, each] : world.state().kube_nodes)
		topology.add_node(each);
	for (const auto &[uid, other] : world.state().foreign.all()) {
		const auto home = world.state().kube_nodes.find(other.node_name);
		topology.add(
			other, home == world.state().kube_nodes.end() ? nullptr : &home->second);
	}
	const auto refusal = topology.refuses(world.state().kube_nodes.at(node.name));
	return refusal ? refusal->why : "no reason is known";
}

codec::Json answer(json_object *one)
{
	core::Pod pod;
	core::World world = world_of(one, pod);
	const std::map<std::string, core::KubeNode> nodes = world.state().kube_nodes;
	const auto actions = world.take_actions(k_now);
	const auto *submit =
		actions.empty() ? nullptr : std::get_if<core::Submit>(&actions[0].action);
	const auto *report =
		actions.empty() ? nullptr : std::get_if<core::Report>(&actions[0].action);
	if (!submit && !report)
		give_up("pod " + pod.name + ": neither submitted nor refused");
	const bool refused = report && report->not_scheduled.reason == names::k_reason_refused;
	codec::Json out = codec::new_object();
	for (const auto &[name, node] : nodes) {
		codec::Json verdict = codec::new_object();
		const bool excluded = !submit ||
			std::binary_search(submit->spec.excluded_nodes.begin(),
				submit->spec.excluded_nodes.end(), name);
		const bool bound = submit && is_bound(world, pod.uid, name);
		codec::put(verdict.get(), "excluded", excluded);
		codec::put(verdict.get(), "bound", bound);
		codec::put(verdict.get(), "why",
			bound             ? ""
				: refused ? "refused: " + report->not_scheduled.message
					  : why_not(world, pod, node));
		codec::put(out.get(), name.c_str(), std::move(verdict));
	}
	return out;
}

} // namespace

int main()
{
	std::string line;
	while (std::getline(std::cin, line)) {
		const auto json = codec::parse_json(line, std::size_t{64} << 20);
		if (!json)
			give_up(json.error().what);
		(void)puts(codec::to_text(answer(json->get()).get()).c_str());
	}
	return 0;
}
