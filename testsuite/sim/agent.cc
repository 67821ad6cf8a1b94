/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent hears, and its scheduling passes, as in app.cc and sources.cc. The executor
 * carries out its actions. */
#include "testsuite/sim/agent.h"

#include "src/core/model/names.h"
#include "src/core/model/outcome.h"

namespace slurmkube::sim
{

core::Settings Agent::settings() const
{
	core::Settings settings;
	settings.policy.cluster = "main";
	for (const char *name : {"a", "b"})
		settings.policy.namespaces.push_back({.name_space = name,
			.user_id = 1,
			.group_id = 1,
			.accounts = {},
			.partitions = {},
			.qos = {}});
	settings.nodes.label_key = names::k_managed_label;
	settings.own_uid = k_agent_uid;
	settings.needs_fresh_lists = true;
	settings.needs_cluster = true;
	settings.gang_wait_us = 60 * k_second;
	settings.late_pods_us = 300 * k_second;
	settings.components_wait_seconds = 20;
	settings.claim_wait_us = 60 * k_second;
	settings.devices = devices_.rules();
	settings.policy.has_device_rules = devices_.are_there();
	return settings;
}

Agent::Agent(unsigned number, const Models &models)
    : pods(models.stage, 101 + number, models.kube.pod_store, pod_sink()),
      nodes(models.stage, 201 + number, models.kube.node_store, node_sink()),
      claims(models.stage, 401 + number, models.devices.claim_store, claim_sink()),
      slices(models.stage, 501 + number, models.devices.slice_store, slice_sink()), models_(models),
      stage_(models.stage), number_(number), key_(301 + number), kube_(models.kube),
      devices_(models.devices), slurm_(models.slurm), api_(models.api), oracle_(models.oracle)
{
	slurm_.set_port(number, port());
}

void Agent::restart_streams()
{
	pods.restart();
	nodes.restart();
	if (!devices_.are_there())
		return;
	claims.restart();
	slices.restart();
}

void Agent::start()
{
	if (world_)
		return;
	stage_.tell([&] { return "agent " + std::to_string(number_) + " starts"; });
	core::Settings chosen = settings();
	if (stage_.plant == Plant::endless_hold)
		chosen.components_wait_seconds = 1'000'000;
	world_ = std::make_unique<core::World>(std::move(chosen));
	life_++;
	frozen_until_ = 0;
	round_wanted_ = false;
	kube_side_ = std::make_unique<ModelKube>(models_, life(), sight_);
	slurm_side_ = std::make_unique<ModelSlurm>(models_, life());
	executor_ = std::make_unique<agent::Executor>(*world_, *kube_side_, *slurm_side_,
		agent::Executor::Callbacks{
			[this] { return stage_.agent_now(); }, [this] { want_round(); }});
	if (devices_.are_there()) {
		world_->observe(core::DeviceClassSeen{Devices::device_class()});
		world_->observe(core::DeviceClassesListed{{Devices::device_class().uid}});
		world_->observe(core::TaintRulesListed{});
	}
	restart_streams();
	tick(life_);
}

void Agent::reload()
{
	if (world_ && stage_.plant != Plant::endless_hold)
		world_->observe(core::SettingsSet{settings()});
}

void Agent::kill()
{
	if (!world_)
		return;
	stage_.tell([&] { return "agent " + std::to_string(number_) + " is killed"; });
	executor_.reset();
	slurm_side_.reset();
	kube_side_.reset();
	world_.reset();
	life_++;
	has_snapshot_ = false;
	link_ = 0;
	pods.close();
	nodes.close();
	claims.close();
	slices.close();
	if (slurm_.leader() == number_)
		slurm_.break_link(
			stage_.dice.between(Topic::reconnect, key_, 50 * k_ms, 2 * k_second));
}

void Agent::set_sight(PodLookup sight)
{
	sight_ = sight;
	oracle_.set_blind(
		number_, sight == PodLookup::no_nodes || sight == PodLookup::other_cluster);
	oracle_.set_stranger(number_, sight == PodLookup::other_cluster);
}

void Agent::see_again()
{
	if (sight_ == PodLookup::right)
		return;
	set_sight(PodLookup::right);
	if (!world_)
		return;
	kill();
	start();
}

void Agent::freeze(Micros until)
{
	if (stage_.now() < frozen_until_)
		return; /* waiting calls must not be overtaken by later ones */
	frozen_until_ = until;
	stage_.tell([&] { return "agent " + std::to_string(number_) + " is frozen"; });
}

/* True: the agent is frozen, and the call is repeated when it wakes up. */
bool Agent::defer(Timeline::Call call)
{
	if (stage_.now() >= frozen_until_)
		return false;
	stage_.line.at(frozen_until_, std::move(call));
	return true;
}

/* ---- sources ---- */

StreamSink<core::Pod> Agent::pod_sink()
{
	auto out = sink<core::Pod>();
	out.changed = [this](const Change<core::Pod> &change) { pod_changed(change); };
	out.listed = [this](const std::set<std::string> &all) { pods_listed(all); };
	return out;
}

StreamSink<core::KubeNode> Agent::node_sink()
{
	auto out = sink<core::KubeNode>();
	out.changed = [this](const Change<core::KubeNode> &change) { node_changed(change); };
	out.listed = [this](const std::set<std::string> &all) {
		const std::set<std::string> uids = sees_nodes() ? all : std::set<std::string>{};
		for (const auto &[name, node] : kube_.nodes) {
			if (!uids.contains(node.api.uid))
				oracle_.node_told(number_, life_, name, Oracle::NodeNews::gone);
		}
		world_->observe(core::NodesListed{uids});
		want_round();
	};
	return out;
}

void Agent::pods_listed(const std::set<std::string> &all)
{
	const std::set<std::string> uids = sees_pods() ? all : std::set<std::string>{};
	world_->observe(core::ClusterDoubted{});
	if (stage_.plant == Plant::short_list) {
		for (const auto &[uid, entry] : std::map(world_->state().pods))
			if (!uids.contains(uid.text))
				world_->observe(core::PodGone{uid, entry.pod}, stage_.agent_now());
		for (const auto &[id, job] : std::map(world_->state().jobs))
			if (!uids.contains(job.marker.uid) && job.marker.kind == core::k_pod_kind)
				world_->answer(core::LookUpAnswered{{job.marker.uid},
						       core::PodLookup::absent},
					stage_.agent_now());
	}
	world_->observe(core::PodsListed{uids}, stage_.agent_now());
	want_round();
}

void Agent::pod_changed(const Change<core::Pod> &change)
{
	if (!sees_pods())
		return;
	core::Pod pod = *change.object;
	const bool is_gone =
		change.gone || (stage_.plant == Plant::deleting_is_gone && pod.deleting);
	if (stage_.plant == Plant::open_gate)
		pod.requests = {};
	if (is_gone && stage_.plant == Plant::deleting_is_gone)
		pod.phase = core::PodPhase::failed;
	oracle_.pod_told(number_, life_, pod);
	if (core::is_terminal(pod))
		oracle_.end_told(number_, life_, pod);
	if (is_gone)
		world_->observe(core::PodGone{pod.uid, pod}, stage_.agent_now());
	else
		world_->observe(core::PodSeen{std::move(pod)}, stage_.agent_now());
	want_round();
}

void Agent::node_changed(const Change<core::KubeNode> &change)
{
	/* the watch selects by label: an object that loses the label arrives as DELETED */
	if (!sees_nodes())
		return;
	if (change.gone || !change.object->labels.contains(names::k_managed_label)) {
		oracle_.node_told(number_, life_, change.object->name, Oracle::NodeNews::gone);
		world_->observe(core::NodeGone{change.object->name});
	} else {
		oracle_.node_told(number_, life_, change.object->name,
			change.object->ready ? Oracle::NodeNews::ready
					     : Oracle::NodeNews::not_ready);
		world_->observe(core::NodeSeen{*change.object});
	}
	want_round();
}

/* ---- link ---- */

LinkPort Agent::port()
{
	LinkPort port;
	port.is_alive = [this] { return is_alive(); };
	port.defer = [this](Timeline::Call call) { return defer(std::move(call)); };
	port.opened = [this](const core::PluginHello &hello, std::uint64_t link) {
		opened(hello, link);
	};
	port.job = [this](const core::SlurmJob &job) { job_told(job); };
	port.job_gone = [this](core::JobId id) {
		world_->observe(core::JobGone{id}, stage_.agent_now());
		want_round();
	};
	port.node = [this](const core::SlurmNode &node) {
		world_->observe(core::SlurmNodeSeen{node});
		want_round();
	};
	port.node_gone = [this](const std::string &name) {
		world_->observe(core::SlurmNodeGone{name});
		want_round();
	};
	port.snapshot_ended = [this] {
		has_snapshot_ = true;
		if (stage_.plant != Plant::early_snapshot)
			world_->observe(core::SnapshotEnded{}, stage_.agent_now());
		want_round();
	};
	port.closed = [this](std::uint64_t link) {
		if (link != link_)
			return;
		has_snapshot_ = false;
		world_->observe(core::LinkLost{});
	};
	return port;
}

void Agent::opened(const core::PluginHello &hello, std::uint64_t link)
{
	if (link_ != 0)
		world_->observe(core::LinkLost{});
	has_snapshot_ = false;
	link_ = link;
	world_->observe(core::LinkOpened{hello});
	if (world_->take_list_request())
		restart_streams();
	if (stage_.plant == Plant::early_snapshot) {
		world_->observe(core::SnapshotEnded{}, stage_.agent_now());
		want_round();
	}
}

void Agent::job_told(core::SlurmJob job)
{
	if (stage_.plant == Plant::foreign_cluster)
		job.marker.cluster = "main";
	if (stage_.plant == Plant::early_gang && job.marker.kind != core::k_pod_kind &&
		job.state == core::JobState::pending) {
		job.state = core::JobState::running;
		for (const auto &[name, node] : world_->state().kube_nodes)
			job.nodes.push_back({.node = name,
				.cpus = 99,
				.core_ids = "",
				.memory_mib = 1 << 20,
				.gres = {}});
	}
	if (stage_.plant == Plant::stale_marker)
		job.marker.uid =
			first_markers_.emplace(job.id.number, job.marker.uid).first->second;
	world_->observe(core::JobSeen{std::move(job)}, stage_.agent_now());
	want_round();
}

/* ---- rounds ---- */

void Agent::want_round()
{
	if (std::exchange(round_wanted_, true))
		return;
	stage_.line.after(stage_.dice.between(Topic::latency, key_, 0, 300), [this, life = life_] {
		if (life == life_)
			round();
	});
}

void Agent::round()
{
	if (stage_.now() < frozen_until_) {
		/* news that arrived meanwhile comes first: the event loop serves descriptors
		 * before timers */
		stage_.line.at(frozen_until_ + k_ms, [this, life = life_] {
			if (life == life_)
				round();
		});
		return;
	}
	round_wanted_ = false;
	if (stage_.plant == Plant::two_leaders && !has_snapshot_ && !world_->state().is_known() &&
		slurm_.leader() != number_) {
		world_->observe(core::LinkOpened{{}});
		world_->observe(core::SnapshotEnded{}, stage_.agent_now());
	}
	if (!world_->state().is_cluster_known())
		executor_->ask_for_cluster();
	const core::Now now = stage_.agent_now();
	for (const core::World::PodAction &next : world_->take_actions(now))
		carry_out(next.pod, next.action);
	for (const core::OwnerId &id : world_->take_questions(now))
		executor_->ask_for(id);
	for (const core::NodeAction &next : world_->take_node_actions(now))
		carry_out(next);
	for (const std::string &name : world_->take_node_questions(now))
		executor_->ask_for_node(name);
	plan_next_look();
}

void Agent::plan_next_look()
{
	const auto next = world_->next_look_us();
	look_++;
	if (!next || !world_->state().is_known())
		return;
	const Micros wait = std::max<Micros>(*next - stage_.agent_now().mono_us, k_ms);
	stage_.line.after(wait, [this, life = life_, look = look_] {
		if (life == life_ && look == look_)
			want_round();
	});
}

void Agent::tick(std::uint64_t life)
{
	if (life != life_)
		return;
	want_round();
	stage_.line.after(k_second, [this, life] { tick(life); });
}

} // namespace slurmkube::sim
