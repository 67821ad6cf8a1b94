/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "testsuite/sim/kube.h"

#include "src/core/model/names.h"
#include "src/core/model/outcome.h"

namespace slurmkube::sim
{

namespace
{

std::string full_name(const core::Pod &pod)
{
	return pod.name_space + "/" + pod.name;
}

void add(core::Resources &sum, const core::Resources &part)
{
	sum.milli_cpu += part.milli_cpu;
	sum.memory_bytes += part.memory_bytes;
	sum.pods += 1;
}

} // namespace

bool is_live(const PodTruth &pod)
{
	return pod.exists && !core::is_terminal(pod.api);
}

bool has_succeeded(const PodTruth &pod)
{
	return pod.end && pod.end->phase == core::PodPhase::succeeded;
}

/* Two to four nodes of two to five CPUs. */
Kube::Kube(Stage &stage, std::uint64_t seed) : stage_(stage)
{
	const auto count = 2 + mix(seed + 11) % 3;
	for (std::uint64_t i = 1; i <= count; i++) {
		NodeTruth node;
		node.api.name = "n" + std::to_string(i);
		node.api.uid = "node-" + std::to_string(i);
		node.api.ready = true;
		node.api.ready_since = stage_.wall_s() - 1000;
		node.api.labels = {{names::k_managed_label, "true"}};
		node.api.allocatable = {
			.milli_cpu = static_cast<std::int64_t>(2 + mix(seed + i) % 4) * 1000,
			.memory_bytes = std::int64_t{8} << 30,
			.pods = 110,
			.extended = {}};
		nodes[node.api.name] = node;
		node_store.put(node.api.uid, node.api);
	}
}

PodTruth *Kube::find(const std::string &name_space, const std::string &name)
{
	const auto uid = names_.find(name_space + "/" + name);
	return uid == names_.end() ? nullptr : &pods.at(uid->second);
}

void Kube::publish(PodTruth &pod)
{
	pod.api.resource_version = std::to_string(++version_);
	pod_store.put(pod.api.uid.text, pod.api);
	if (!pod.api.node_name.empty())
		on_load(pod.api.node_name);
	on_pod(pod);
}

void Kube::vanish(PodTruth &pod)
{
	pod.exists = false;
	pod.is_out_of_sight = pod.kubelet == AtKubelet::held && nodes.contains(pod.api.node_name) &&
		!nodes.at(pod.api.node_name).kubelet_up;
	names_.erase(full_name(pod.api));
	pod.api.resource_version = std::to_string(++version_);
	pod_store.remove(pod.api.uid.text, pod.api);
	pod.is_lost = pod.has_containers && !kubelet_of(pod);
	stage_.tell([&] { return "pod " + full_name(pod.api) + " is gone"; });
	kubelet_looks(pod);
	tell_owner(pod);
	on_pod(pod);
}

void Kube::tell_owner(const PodTruth &pod)
{
	owner_looks(pod.owner);
	if (!pod.gang.empty())
		on_member(pod.gang);
}

Status Kube::bind(const BindRequest &request, Binder who)
{
	PodTruth *pod = find(request.name_space, request.name);
	if (!pod)
		return Error{Errc::not_found, "no such pod"};
	if (!request.uid.empty() && pod->api.uid.text != request.uid)
		return Error{Errc::conflict, "another uid"};
	if (pod->api.deleting || !pod->api.node_name.empty() || pod->api.gated)
		return Error{Errc::conflict, "cannot be bound"};
	pod->api.node_name = request.node;
	pod->binder = who;
	for (const auto &[key, value] : request.annotations)
		pod->api.annotations[key] = value;
	pod->api.not_scheduled.reset();
	stage_.tell([&] {
		return "pod " + full_name(pod->api) + " is bound to " + request.node +
			(who == Binder::agent ? " by the agent" : " by somebody else");
	});
	publish(*pod);
	if (who == Binder::agent)
		on_bound(*pod);
	if (const auto node = nodes.find(request.node); node != nodes.end() && !node->second.exists)
		collect_later(*pod);
	kubelet_later(
		pod->api.uid.text, Topic::kubelet, 5 * k_ms, 150 * k_ms, &Kube::kubelet_looks);
	return Ok{};
}

Status Kube::write(
	PodTruth &pod, std::optional<core::Condition> &place, const core::Condition &condition)
{
	if (place == condition)
		return Ok{};
	place = condition;
	stage_.tell([&] {
		return "pod " + full_name(pod.api) + " says " + condition.reason + ": " +
			condition.message;
	});
	publish(pod);
	return Ok{};
}

Status Kube::set_disruption(const std::string &name_space, const std::string &name,
	const std::string &uid, const std::string &version, const core::Condition &condition)
{
	PodTruth *pod = find(name_space, name);
	if (!pod || pod->api.uid.text != uid)
		return Error{Errc::not_found, "another pod has the name, or none"};
	if (!version.empty() && pod->api.resource_version != version)
		return Error{Errc::conflict, "the pod has been modified"};
	return write(*pod, pod->api.disruption, condition);
}

Status Kube::set_not_scheduled(const std::string &name_space, const std::string &name,
	const std::string &uid, const std::string &version, const core::Condition &condition)
{
	PodTruth *pod = find(name_space, name);
	if (!pod || pod->api.uid.text != uid)
		return Error{Errc::not_found, "another pod has the name, or none"};
	if (!version.empty() && pod->api.resource_version != version)
		return Error{Errc::conflict, "the pod has been modified"};
	if (!pod->api.node_name.empty())
		stage_.violated("R bound",
			"pod " + full_name(pod->api) + " runs on " + pod->api.node_name +
				", and PodScheduled becomes False: " + condition.message);
	return write(*pod, pod->api.not_scheduled, condition);
}

Status Kube::remove(const std::string &name_space, const std::string &name, const std::string &uid,
	std::optional<std::int64_t> grace)
{
	PodTruth *pod = find(name_space, name);
	if (!pod)
		return Error{Errc::not_found, "no such pod"};
	if (!uid.empty() && pod->api.uid.text != uid)
		return Error{Errc::conflict, "another uid"};
	const bool at_once =
		grace == 0 || pod->api.node_name.empty() || core::is_terminal(pod->api);
	if (at_once && !pod->has_finalizer) {
		vanish(*pod);
		return Ok{};
	}
	begin_deletion(*pod, grace.value_or(pod->api.termination_grace_seconds));
	return Ok{};
}

void Kube::begin_deletion(PodTruth &pod, std::int64_t grace)
{
	if (pod.api.deleting)
		return;
	pod.api.deleting = true;
	pod.api.termination_grace_seconds = grace;
	stage_.tell([&] { return "pod " + full_name(pod.api) + " is being deleted"; });
	publish(pod);
	if (!pod.gang.empty())
		on_member(pod.gang);
	kubelet_later(pod.api.uid.text, Topic::kubelet, 5 * k_ms, 60 * k_ms, &Kube::kubelet_looks);
}

void Kube::create(PodTruth pod)
{
	pod.key = hash_of(pod.api.uid.text);
	pod.api.created = stage_.wall_s();
	pod.created_at = stage_.now();
	if (find(pod.api.name_space, pod.api.name))
		return;
	names_[full_name(pod.api)] = pod.api.uid.text;
	PodTruth &stored = pods[pod.api.uid.text] = std::move(pod);
	stage_.tell([&] {
		return "pod " + full_name(stored.api) + " is created (uid " + stored.api.uid.text +
			", " + std::to_string(stored.api.requests.milli_cpu) + "m" +
			(stored.api.gated ? ", gated" : "") +
			(stored.has_finalizer ? ", finalizer" : "") +
			(stored.api.node_name.empty() ? "" : ", on " + stored.api.node_name) + ")";
	});
	publish(stored);
	if (!stored.api.node_name.empty())
		kubelet_later(stored.api.uid.text, Topic::kubelet, 5 * k_ms, 150 * k_ms,
			&Kube::kubelet_looks);
}

void Kube::open_gates(PodTruth &pod)
{
	pod.api.gated = false;
	stage_.tell([&] { return "the gates of pod " + full_name(pod.api) + " are opened"; });
	publish(pod);
}

void Kube::name_claim(PodTruth &pod, const std::string &claim)
{
	pod.api.resource_claims.front().claim = claim;
	publish(pod);
}

void Kube::drop_finalizer(PodTruth &pod)
{
	pod.has_finalizer = false;
	stage_.tell([&] { return "pod " + full_name(pod.api) + " loses its finalizer"; });
	if (pod.api.deleting && (core::is_terminal(pod.api) || pod.api.node_name.empty()))
		vanish(pod);
}

void Kube::set_failed(PodTruth &pod)
{
	stage_.tell([&] { return "somebody sets pod " + full_name(pod.api) + " Failed"; });
	finish(pod,
		{.phase = core::PodPhase::failed,
			.exit_code = 0,
			.signal = 0,
			.container_reason = "",
			.status_reason = "Admin"});
}

core::Resources Kube::load_of(const std::string &node, bool *has_foreign) const
{
	core::Resources sum;
	for (const auto &[uid, pod] : pods) {
		if (pod.api.node_name != node ||
			!(sim::is_live(pod) || (pod.has_containers && !pod.is_lost)))
			continue;
		add(sum, pod.api.requests);
		if (has_foreign)
			*has_foreign |= pod.binder == Binder::foreigner;
	}
	return sum;
}

std::vector<std::string> Kube::uids_if(const std::function<bool(const PodTruth &)> &wanted) const
{
	std::vector<std::string> out;
	for (const auto &[uid, pod] : pods) {
		if (wanted(pod))
			out.push_back(uid);
	}
	return out;
}

/* ---- nodes ---- */

void Kube::node_changed(NodeTruth &node)
{
	if (node.exists)
		node_store.put(node.api.uid, node.api);
}

void Kube::delete_node(NodeTruth &node)
{
	stage_.tell([&] { return "node " + node.api.name + " is deleted from Kubernetes"; });
	node.exists = false;
	node_store.remove(node.api.uid, node.api);
	node.kubelet_up = false; /* the machine is off */
	for (auto &[uid, pod] : pods) {
		if (pod.api.node_name != node.api.name)
			continue;
		pod.has_containers = false;
		if (pod.exists)
			collect_later(pod);
	}
	on_node(node);
}

/* The pod garbage collector force-deletes pods whose node does not exist. */
void Kube::collect_later(const PodTruth &pod)
{
	stage_.line.after(stage_.dice.between(Topic::controller, pod.key, k_second, 20 * k_second),
		[this, uid = pod.api.uid.text] {
			PodTruth &gone = pods.at(uid);
			if (gone.exists && !nodes.at(gone.api.node_name).exists)
				(void)remove(gone.api.name_space, gone.api.name, uid, 0);
		});
}

void Kube::add_node(NodeTruth &node)
{
	stage_.tell([&] { return "node " + node.api.name + " is in Kubernetes again"; });
	node.exists = true;
	node.api.uid += "+";
	node.api.unschedulable = false;
	node.api.taints.clear();
	node.not_ready_since = node.made_at = stage_.now();
	node.api.ready = false;
	node_changed(node);
	on_node(node);
	start_kubelet(node);
}

} // namespace slurmkube::sim
