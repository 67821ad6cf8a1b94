/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each event of a script does to the models. An event without a qualifying object has no
 * effect. */
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "testsuite/sim/simulation.h"

namespace slurmkube::sim
{

namespace
{

bool is_waiting(const PodTruth &pod)
{
	return is_live(pod) && pod.api.node_name.empty() && !pod.api.deleting && !pod.api.gated;
}

/* No kubelet starts a pod whose claim is not allocated. */
bool is_plain(const PodTruth &pod)
{
	return is_waiting(pod) && pod.devices == 0;
}

bool is_ours(const JobTruth &job)
{
	return job.has_marker && job.facts.marker.cluster == "main" && core::is_live(job.facts);
}

bool is_running(const JobTruth &job)
{
	return is_ours(job) && job.facts.state == core::JobState::running;
}

bool is_pending(const JobTruth &job)
{
	return is_ours(job) && job.facts.state == core::JobState::pending;
}

} // namespace

void Simulation::happen(const Event &event)
{
	if (event.kind <= Kind::pressure_eviction)
		happen_in_kube(event);
	else if (event.kind <= Kind::label_all)
		happen_to_nodes(event);
	else if (event.kind <= Kind::repeat_events)
		happen_to_api(event);
	else if (event.kind <= Kind::resume_node)
		happen_in_slurm(event);
	else
		happen_to_parts(event);
}

void Simulation::happen_in_kube(const Event &event)
{
	const auto any_node = [](const NodeTruth &node) { return node.exists; };
	const auto on_kubelet = [](const PodTruth &pod) {
		return is_live(pod) && pod.has_containers;
	};
	switch (event.kind) {
	case Kind::create_pod:
		return kube_.create(drawn_pod(event));
	case Kind::create_owner: {
		Owner owner;
		owner.mould = drawn_pod(event);
		owner.name_space = owner.mould.api.name_space;
		owner.name = owner.mould.api.name;
		owner.keeps_name = mix(event.number + 1) % 2 == 0;
		owner.wanted = 1 + static_cast<int>(mix(event.number + 2) % 3);
		return kube_.create_owner(std::move(owner));
	}
	case Kind::create_gang:
		return gangs_.create(drawn_gang(event));
	case Kind::delete_gang:
		return with_gang(
			event, [](const GangTruth &gang) { return gang.exists; },
			[&](const GangTruth &gang) {
				gangs_.remove(gang.uid, event.number % 3 == 0);
			});
	case Kind::suspend_gang:
		return with_gang(
			event,
			[](const GangTruth &gang) { return gang.exists && !gang.is_suspended; },
			[&](const GangTruth &gang) { gangs_.set_suspended(gang.uid, true); });
	case Kind::resume_gang:
		return with_gang(
			event,
			[](const GangTruth &gang) { return gang.exists && gang.is_suspended; },
			[&](const GangTruth &gang) { gangs_.set_suspended(gang.uid, false); });
	case Kind::create_bound_pod:
		return with_node(event, any_node, [&](NodeTruth &node) {
			PodTruth pod = drawn_pod(event);
			pod.api.gated = false;
			pod.devices = 0;
			pod.api.resource_claims.clear();
			pod.api.node_name = node.api.name;
			pod.binder = Binder::foreigner;
			kube_.create(std::move(pod));
		});
	case Kind::foreign_bind:
		return with_pod(event, is_plain, [&](PodTruth &pod) {
			with_node(event, any_node, [&](NodeTruth &node) {
				(void)kube_
					.bind({pod.api.name_space, pod.api.name, "", node.api.name,
						      {}},
						Binder::foreigner)
					.ok();
			});
		});
	case Kind::open_gates:
		return with_pod(
			event, [](const PodTruth &pod) { return is_live(pod) && pod.api.gated; },
			[&](PodTruth &pod) { kube_.open_gates(pod); });
	case Kind::delete_pod:
	case Kind::force_delete_pod:
		return with_pod(
			event, [](const PodTruth &pod) { return pod.exists; },
			[&](PodTruth &pod) {
				const bool by_force = event.kind == Kind::force_delete_pod;
				(void)kube_
					.remove(pod.api.name_space, pod.api.name, "",
						by_force ? std::optional<std::int64_t>(0)
							 : std::nullopt)
					.ok();
			});
	case Kind::delete_namespace:
		for (const std::string &uid : kube_.uids_if([](const PodTruth &pod) {
			     return pod.exists && pod.api.name_space == "b";
		     }))
			(void)kube_.remove("b", kube_.pods.at(uid).api.name, uid, std::nullopt)
				.ok();
		return;
	case Kind::drop_finalizers:
		for (const std::string &uid : kube_.uids_if(
			     [](const PodTruth &pod) { return pod.exists && pod.has_finalizer; }))
			kube_.drop_finalizer(kube_.pods.at(uid));
		return;
	case Kind::fail_unbound_pod:
		return with_pod(event, is_waiting, [&](PodTruth &pod) { kube_.set_failed(pod); });
	case Kind::end_containers:
		return with_pod(
			event, on_kubelet, [&](PodTruth &pod) { kube_.end_containers(pod); });
	default:
		return with_pod(event, on_kubelet, [&](PodTruth &pod) { kube_.evict(pod); });
	}
}

void Simulation::happen_to_nodes(const Event &event)
{
	const auto exists = [](const NodeTruth &node) { return node.exists; };
	switch (event.kind) {
	case Kind::cordon:
	case Kind::uncordon:
		return with_node(event, exists, [&](NodeTruth &node) {
			node.api.unschedulable = event.kind == Kind::cordon;
			stage_.tell([&] {
				return "node " + node.api.name +
					(node.api.unschedulable ? " is cordoned"
								: " is uncordoned");
			});
			kube_.node_changed(node);
		});
	case Kind::taint:
		return with_node(event, exists, [&](NodeTruth &node) {
			node.api.taints = node.api.taints.empty()
				? std::vector<core::Taint>{{"site", "x", "NoSchedule"}}
				: std::vector<core::Taint>{};
			stage_.tell([&] {
				return "node " + node.api.name +
					(node.api.taints.empty() ? " has no taint any more"
								 : " has a taint");
			});
			kube_.node_changed(node);
		});
	case Kind::kubelet_stops:
		return with_node(
			event, [](const NodeTruth &node) { return node.exists && node.kubelet_up; },
			[&](NodeTruth &node) { kube_.stop_kubelet(node); });
	case Kind::kubelet_returns:
		return with_node(
			event,
			[](const NodeTruth &node) { return node.exists && !node.kubelet_up; },
			[&](NodeTruth &node) { kube_.start_kubelet(node); });
	case Kind::outage:
		return with_node(
			event, exists, [&](NodeTruth &spared) { kube_.stop_kubelets(&spared); });
	case Kind::delete_node:
		return with_node(event, exists, [&](NodeTruth &node) { kube_.delete_node(node); });
	case Kind::add_node:
		return with_node(
			event, [](const NodeTruth &node) { return !node.exists; },
			[&](NodeTruth &node) { kube_.add_node(node); });
	case Kind::unlabel_all:
	case Kind::label_all:
		stage_.tell([&] { return std::string(text_of(event.kind)); });
		for (auto &[name, node] : kube_.nodes) {
			node.api.labels.erase(names::k_managed_label);
			if (event.kind == Kind::label_all)
				node.api.labels[names::k_managed_label] = "true";
			kube_.node_changed(node);
		}
		return;
	default:
		return with_node(event, exists, [&](NodeTruth &node) {
			if (node.api.labels.erase(names::k_managed_label) == 0)
				node.api.labels[names::k_managed_label] = "true";
			stage_.tell([&] {
				return "node " + node.api.name +
					(node.api.labels.empty() ? " is not managed any more"
								 : " is managed");
			});
			kube_.node_changed(node);
		});
	}
}

void Simulation::happen_to_api(const Event &event)
{
	stage_.tell([&] { return std::string(text_of(event.kind)); });
	switch (event.kind) {
	case Kind::api_away:
		api_.away_until = stage_.now() + span(event, 500 * k_ms, 30 * k_second);
		for (auto &one : agents_) {
			one->pods.interrupt();
			one->nodes.interrupt();
			if (!devices_.are_there())
				continue;
			one->claims.interrupt();
			one->slices.interrupt();
		}
		return;
	case Kind::api_trouble:
		api_.trouble_until = stage_.now() + span(event, k_second, 20 * k_second);
		return;
	case Kind::api_stall:
		api_.stalled_until = stage_.now() + span(event, k_second, 30 * k_second);
		return;
	case Kind::refuse_bindings:
		api_.bindings_refused_until = stage_.now() + span(event, k_second, 150 * k_second);
		api_.binding_error = event.number % 2 == 0
			? Error{Errc::denied, "403: a policy"}
			: Error{Errc::io, "500: a webhook does not answer"};
		return;
	case Kind::break_watch:
		return with_stream(event, [](auto &stream) { stream.interrupt(); });
	case Kind::expire_watch:
		return with_stream(event, [](auto &stream) { stream.expire(); });
	case Kind::slow_watch:
		return with_stream(event, [&](auto &stream) {
			stream.slow_down(stage_.now() + span(event, k_second, 20 * k_second));
		});
	default:
		if (agent_of(event).is_alive())
			with_stream(event, [](auto &stream) { stream.repeat(); });
	}
}

void Simulation::happen_in_slurm(const Event &event)
{
	using core::JobState;
	switch (event.kind) {
	case Kind::scancel:
		return with_job(event, is_ours, [&](std::uint32_t id) {
			slurm_.finish(id, JobState::cancelled, 0, Cause::user);
		});
	case Kind::hold:
		return with_job(
			event, is_pending, [&](std::uint32_t id) { slurm_.set_held(id, true); });
	case Kind::release:
		return with_job(
			event,
			[](const JobTruth &job) { return is_pending(job) && job.facts.held; },
			[&](std::uint32_t id) { slurm_.set_held(id, false); });
	case Kind::preempt:
		return with_job(event, is_running, [&](std::uint32_t id) {
			slurm_.finish(id, JobState::preempted, 0, Cause::preempted);
		});
	case Kind::suspend:
		return with_job(event, is_running,
			[&](std::uint32_t id) { slurm_.set_suspended(id, true); });
	case Kind::resume_job:
		return with_job(
			event,
			[](const JobTruth &job) { return job.facts.state == JobState::suspended; },
			[&](std::uint32_t id) { slurm_.set_suspended(id, false); });
	case Kind::time_out:
		return with_job(event, is_running, [&](std::uint32_t id) {
			slurm_.finish(id, JobState::timeout, 0, Cause::time_limit);
		});
	case Kind::write_over_marker:
		return with_job(
			event, is_ours, [&](std::uint32_t id) { slurm_.write_over_marker(id); });
	case Kind::native_job: {
		const auto native = [](const JobTruth &job) {
			return job.is_plain_native && core::is_live(job.facts);
		};
		if (!slurm_.is_up())
			return;
		if (event.number % 5 < 2)
			return slurm_.add_native(event.number >> 8);
		return with_job(event, native, [&](std::uint32_t id) {
			slurm_.finish(id, JobState::complete, 0, Cause::user);
		});
	}
	case Kind::other_clusters_job: {
		const auto others = [](const JobTruth &job) {
			return job.has_marker && job.facts.marker.cluster == "other" &&
				core::is_live(job.facts);
		};
		if (!slurm_.is_up())
			return;
		if (event.number % 2 == 0)
			return slurm_.add_other_cluster(event.number >> 8);
		return with_job(event, others, [&](std::uint32_t id) {
			slurm_.finish(id, JobState::complete, 0, Cause::user);
		});
	}
	default:
		break;
	}
	with_node(
		event, [](const NodeTruth &) { return true; },
		[&](NodeTruth &node) {
			const bool is_resume = event.kind == Kind::resume_node;
			const auto change = is_resume           ? core::NodeStateChange::up
				: event.kind == Kind::down_node ? core::NodeStateChange::down
								: core::NodeStateChange::drain;
			if (slurm_.is_up())
				(void)slurm_
					.change_node(node.api.name, change,
						is_resume ? "" : "broken fan", false)
					.ok();
		});
}

void Simulation::happen_to_parts(const Event &event)
{
	stage_.tell([&] { return std::string(text_of(event.kind)); });
	switch (event.kind) {
	case Kind::refuse_jobs:
		slurm_.refuse_until = stage_.now() + span(event, k_second, 20 * k_second);
		return;
	case Kind::full_queue:
		slurm_.full_until = stage_.now() + span(event, k_second, 20 * k_second);
		return;
	case Kind::lose_answers:
		rpc_.answers_lost_until = stage_.now() + span(event, 100 * k_ms, 4 * k_second);
		return;
	case Kind::slurmctld_killed:
		return slurm_.crash(0, span(event, 100 * k_ms, 20 * k_second));
	case Kind::slurmctld_restored:
		return slurm_.crash(1 + event.number % 8, span(event, 500 * k_ms, 20 * k_second));
	case Kind::fail_over:
		slurm_.lead(1 - slurm_.leader());
		return slurm_.crash(0, span(event, 500 * k_ms, 20 * k_second));
	case Kind::break_link:
		return slurm_.break_link(span(event, 50 * k_ms, 4 * k_second));
	case Kind::slow_link:
		return slurm_.slow_link(stage_.now() + span(event, k_second, 10 * k_second));
	case Kind::kill_agent: {
		Agent &agent = agent_of(event);
		agent.kill();
		return stage_.line.after(
			span(event, 10 * k_ms, 15 * k_second), [&agent] { agent.start(); });
	}
	case Kind::wrong_config: {
		Agent &agent = agent_of(event);
		agent.kill();
		static constexpr Agent::PodLookup k_sights[] = {Agent::PodLookup::none_selected,
			Agent::PodLookup::no_nodes, Agent::PodLookup::no_pods,
			Agent::PodLookup::other_cluster};
		agent.set_sight(k_sights[event.number % std::size(k_sights)]);
		agent.start();
		return stage_.line.after(
			span(event, k_second, 90 * k_second), [&agent] { agent.see_again(); });
	}
	case Kind::freeze_agent: {
		const Micros until = stage_.now() + span(event, 100 * k_ms, 20 * k_second);
		oracle_.excuse_until(until + 3 * k_second);
		return agent_of(event).freeze(until);
	}
	default:
		stage_.wall_step_s += (event.number % 2 == 0 ? 1 : -1) * span(event, 1, 7200);
	}
}

} // namespace slurmkube::sim
