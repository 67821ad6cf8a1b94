/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The model kubelets. Each step looks at the pod again, so that a kubelet that was away resumes
 * where it stopped. */
#include "src/core/model/outcome.h"
#include "testsuite/sim/kube.h"

namespace slurmkube::sim
{

namespace
{

bool is_over(const core::Resources &sum, const core::Resources &limit)
{
	return sum.milli_cpu > limit.milli_cpu || sum.memory_bytes > limit.memory_bytes;
}

} // namespace

NodeTruth *Kube::kubelet_of(const PodTruth &pod)
{
	const auto node = nodes.find(pod.api.node_name);
	return node != nodes.end() && node->second.exists && node->second.kubelet_up ? &node->second
										     : nullptr;
}

void Kube::kubelet_later(const std::string &uid, Topic topic, Micros least, Micros most,
	void (Kube::*step)(PodTruth &))
{
	PodTruth &pod = pods.at(uid);
	stage_.line.after(stage_.dice.between(topic, pod.key, least, most), [this, uid, step] {
		PodTruth &then = pods.at(uid);
		if (kubelet_of(then))
			(this->*step)(then);
	});
}

void Kube::kubelet_looks(PodTruth &pod)
{
	if (!kubelet_of(pod))
		return;
	const std::string &uid = pod.api.uid.text;
	if (!pod.exists) {
		pod.kubelet = AtKubelet::done;
		if (pod.has_containers)
			kubelet_later(
				uid, Topic::kubelet, 500 * k_ms, 2 * k_second, &Kube::kill_orphan);
	} else if (core::is_terminal(pod.api)) {
		if (pod.api.deleting)
			kubelet_later(uid, Topic::kubelet, 100 * k_ms, 900 * k_ms,
				&Kube::remove_finished);
	} else if (pod.kubelet == AtKubelet::unseen) {
		admit(pod);
	} else if (pod.api.deleting && !pod.is_stopping) {
		pod.is_stopping = true;
		const Micros grace = pod.api.termination_grace_seconds * k_second;
		const Micros longest = pod.ignores_term ? grace + 400 * k_ms : 500 * k_ms;
		kubelet_later(uid, Topic::kubelet, pod.ignores_term ? grace : 100 * k_ms, longest,
			&Kube::finish_stopped);
	} else if (pod.is_stopping || (pod.ends_at > 0 && pod.ends_at <= stage_.now())) {
		/* the kubelet was away when the containers ended */
		kubelet_later(uid, Topic::kubelet, 100 * k_ms, 1500 * k_ms,
			pod.is_stopping ? &Kube::finish_stopped : &Kube::finish_planned);
	} else if (pod.devices > 0 && pod.ends_at == 0) {
		/* the kubelet was away when it would have tried again */
		kubelet_later(uid, Topic::kubelet, k_ms, k_second, &Kube::start);
	}
}

void Kube::admit(PodTruth &pod)
{
	const std::string &name = pod.api.node_name;
	core::Resources sum = pod.api.requests;
	bool has_foreign = pod.binder == Binder::foreigner;
	for (const auto &[uid, other] : pods) {
		if (other.api.node_name != name || other.kubelet != AtKubelet::held)
			continue;
		sum.milli_cpu += other.api.requests.milli_cpu;
		sum.memory_bytes += other.api.requests.memory_bytes;
		has_foreign |= other.binder == Binder::foreigner || other.is_out_of_sight;
	}
	if (pod.api.deleting) {
		finish(pod,
			{.phase = core::PodPhase::failed,
				.exit_code = 0,
				.signal = 0,
				.container_reason = "",
				.status_reason = ""});
		return;
	}
	if (is_over(sum, nodes.at(name).api.allocatable)) {
		if (!has_foreign)
			stage_.violated("2 kubelet",
				"the kubelet of " + name + " has to refuse pod " +
					pod.api.name_space + "/" + pod.api.name + ": OutOfcpu");
		finish(pod,
			{.phase = core::PodPhase::failed,
				.exit_code = 0,
				.signal = 0,
				.container_reason = "",
				.status_reason = "OutOfcpu"});
		return;
	}
	pod.kubelet = AtKubelet::held;
	kubelet_later(pod.api.uid.text, Topic::kubelet, 50 * k_ms, 500 * k_ms, &Kube::start);
}

void Kube::start(PodTruth &pod)
{
	if (!sim::is_live(pod) || pod.is_stopping || pod.ends_at > 0)
		return;
	if (!prepare(pod))
		return kubelet_later(
			pod.api.uid.text, Topic::kubelet, k_second, 3 * k_second, &Kube::start);
	pod.has_containers = true;
	pod.api.phase = core::PodPhase::running;
	pod.ends_at = stage_.now() + pod.run_us;
	publish(pod);
	if (!pod.gang.empty())
		on_member(pod.gang);
	if (pod.run_us < 100'000 * k_second)
		stage_.line.at(pod.ends_at,
			[this, uid = pod.api.uid.text] { containers_ended(pods.at(uid)); });
}

void Kube::containers_ended(PodTruth &pod)
{
	if (!pod.has_containers || pod.is_stopping || !sim::is_live(pod) ||
		pod.ends_at > stage_.now())
		return;
	if (kubelet_of(pod))
		kubelet_later(pod.api.uid.text, Topic::kubelet, 100 * k_ms, 1500 * k_ms,
			&Kube::finish_planned);
}

void Kube::end_containers(PodTruth &pod)
{
	if (!pod.has_containers)
		return;
	pod.ends_at = stage_.now();
	containers_ended(pod);
}

void Kube::finish_planned(PodTruth &pod)
{
	finish(pod, pod.plan);
}

void Kube::finish_stopped(PodTruth &pod)
{
	const bool is_polite = !pod.ignores_term && pod.has_containers && pod.key % 4 == 0;
	const End polite{.phase = core::PodPhase::succeeded,
		.exit_code = 0,
		.signal = 0,
		.container_reason = "Completed",
		.status_reason = ""};
	const End killed{.phase = core::PodPhase::failed,
		.exit_code = 137,
		.signal = 0,
		.container_reason = "Error",
		.status_reason = ""};
	finish(pod, is_polite ? polite : killed);
}

void Kube::evict(PodTruth &pod)
{
	if (pod.kubelet == AtKubelet::held && kubelet_of(pod))
		finish(pod,
			{.phase = core::PodPhase::failed,
				.exit_code = 137,
				.signal = 0,
				.container_reason = "Error",
				.status_reason = "Evicted"});
}

void Kube::finish(PodTruth &pod, const End &end)
{
	if (!sim::is_live(pod))
		return;
	pod.kubelet = AtKubelet::done;
	pod.has_containers = false;
	pod.end = end;
	pod.was_deleting_at_end = pod.api.deleting;
	pod.api.phase = end.phase;
	pod.api.status_reason = end.status_reason;
	if (!end.container_reason.empty())
		pod.api.ended_containers = {{.name = "main",
			.exit_code = end.exit_code,
			.signal = end.signal,
			.reason = end.container_reason}};
	stage_.tell([&] {
		return "pod " + pod.api.name_space + "/" + pod.api.name +
			(end.phase == core::PodPhase::succeeded ? " has succeeded"
								: " has failed") +
			", exit code " + std::to_string(end.exit_code) + " " +
			end.container_reason + end.status_reason;
	});
	publish(pod);
	if (pod.api.deleting)
		kubelet_later(pod.api.uid.text, Topic::kubelet, 100 * k_ms, 900 * k_ms,
			&Kube::remove_finished);
	tell_owner(pod);
}

void Kube::remove_finished(PodTruth &pod)
{
	if (pod.exists && pod.api.deleting && core::is_terminal(pod.api) && !pod.has_finalizer)
		vanish(pod);
}

void Kube::kill_orphan(PodTruth &pod)
{
	pod.has_containers = false;
	on_load(pod.api.node_name);
}

void Kube::stop_kubelet(NodeTruth &node)
{
	stage_.tell([&] { return "the kubelet of " + node.api.name + " stops"; });
	node.kubelet_up = false;
	for (auto &[uid, pod] : pods)
		pod.is_lost |=
			!pod.exists && pod.has_containers && pod.api.node_name == node.api.name;
	stage_.line.after(stage_.dice.between(Topic::kubelet, hash_of(node.api.name), 2 * k_second,
				  40 * k_second),
		[this, name = node.api.name] {
			NodeTruth &then = nodes.at(name);
			if (then.kubelet_up || !then.exists || !then.api.ready)
				return;
			stage_.tell([&] { return "node " + name + " is NotReady"; });
			then.not_ready_since = stage_.now();
			then.api.ready = false;
			then.api.not_ready_reason = "NodeStatusUnknown";
			then.api.ready_since = stage_.wall_s();
			node_changed(then);
		});
}

void Kube::stop_kubelets(const NodeTruth *spared)
{
	for (auto &[name, node] : nodes) {
		if (&node != spared && node.exists && node.kubelet_up)
			stop_kubelet(node);
	}
}

/* A returning kubelet kills the containers of deleted pods before its node becomes Ready. */
void Kube::start_kubelet(NodeTruth &node)
{
	node.kubelet_up = true;
	stage_.tell([&] { return "the kubelet of " + node.api.name + " runs again"; });
	for (auto &[uid, pod] : pods) {
		if (pod.api.node_name == node.api.name)
			kubelet_later(
				uid, Topic::kubelet, 10 * k_ms, 300 * k_ms, &Kube::kubelet_looks);
	}
	if (node.api.ready)
		return;
	stage_.line.after(3 * k_second, [this, name = node.api.name] {
		NodeTruth &then = nodes.at(name);
		if (!then.kubelet_up || !then.exists || then.api.ready)
			return;
		stage_.tell([&] { return "node " + name + " is Ready"; });
		then.not_ready_since = 0;
		then.api.ready = true;
		then.api.ready_since = stage_.wall_s();
		node_changed(then);
	});
}

} // namespace slurmkube::sim
