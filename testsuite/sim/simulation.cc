/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "testsuite/sim/simulation.h"

#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/reconcile/reconcile.h"

#include <algorithm>

namespace slurmkube::sim
{

namespace
{

constexpr Micros k_settling = 240 * k_second;
constexpr Micros k_window = 60 * k_second;
/* A loop would go on beyond this number of windows, and one more for each pod that waits: each may
 * have to find out by itself that a node has no room, which takes a minute (seeds 662, 940). */
constexpr std::size_t k_windows = 30;
constexpr std::uint64_t k_late_gangs = 12;
/* per window: four per second for waiting pods, two for each gang whose pods do not come */
constexpr std::uint64_t k_most_questions = 60 * 4 + 4 + 2 * k_late_gangs;
constexpr Micros k_slowest = 90 * k_second;
constexpr Micros k_dark_after = 60 * k_second;
constexpr Micros k_for_ever = 1'000'000 * k_second;

} // namespace

Simulation::Simulation(std::uint64_t seed, Plant plant, bool tells)
    : seed_(seed), is_dark_(mix(seed + 31) % 3 == 0), starts_gangs_(mix(seed + 32) % 2 == 0),
      stage_(seed, plant, tells), kube_(stage_, seed), devices_(stage_, kube_, seed),
      gangs_(stage_, kube_), slurm_(stage_, seed), oracle_(stage_, kube_, devices_, gangs_, slurm_),
      api_(stage_, kube_), rpc_(stage_, slurm_)
{
	for (unsigned i = 0; i < 2; i++)
		agents_[i] = std::make_unique<Agent>(
			i, Models{stage_, kube_, devices_, slurm_, api_, rpc_, oracle_});
	for (const auto &[name, node] : kube_.nodes) {
		SlurmNodeTruth &own = slurm_.state.nodes[name];
		own.facts.name = name;
		own.facts.cpus = static_cast<std::uint32_t>(node.api.allocatable.milli_cpu / 1000);
		own.facts.memory_mib = 8192;
		own.facts.dynamic = slurm_.dynamic_nodes;
		if (!devices_.are_there())
			continue;
		const std::uint32_t gpus = devices_.count_on(name);
		own.facts.gres = gpus > 0 ? "gpu:" + std::to_string(gpus) : "";
		own.facts.extra = "";
	}
	slurm_.crash(0, k_ms); /* its first start */
	for (auto &agent : agents_)
		agent->start();
}

bool Simulation::advance(Micros until)
{
	while (stage_.line.step(until)) {
		steps_++;
		if (stage_.is_violated())
			return false;
	}
	return !stage_.is_violated();
}

Outcome Simulation::run(const Script &script)
{
	for (const Event &event : script) {
		if (!advance(event.at))
			break;
		happen(event);
	}
	if (!stage_.is_violated())
		settle();
	return {stage_.invariant(), stage_.violation(), stage_.story(), steps_};
}

/* ---- the end ---- */

void Simulation::calm_down()
{
	stage_.tell([] { return "--- faults are over ---"; });
	stage_.calm = true;
	api_.away_until = api_.trouble_until = api_.stalled_until = 0;
	api_.bindings_refused_until = 0;
	slurm_.refuse_until = slurm_.full_until = rpc_.answers_lost_until = 0;
	slurm_.slow_link(0);
	for (auto &agent : agents_) {
		agent->pods.slow_down(0);
		agent->nodes.slow_down(0);
		agent->claims.slow_down(0);
		agent->slices.slow_down(0);
		agent->see_again();
		agent->start();
		agent->reload(); /* otherwise pauses after refusals last for up to an hour */
	}
	for (auto &[name, node] : kube_.nodes) {
		if ((!is_dark_ || starts_gangs_) && node.exists && !node.kubelet_up)
			kube_.start_kubelet(node);
	}
	if (is_dark_ && starts_gangs_)
		start_late_gangs();
	else if (is_dark_)
		kube_.stop_kubelets(nullptr);
	for (const std::string &id : slurm_.ids_if([](const JobTruth &job) {
		     return job.facts.state == core::JobState::suspended;
	     }))
		slurm_.set_suspended(static_cast<std::uint32_t>(std::stoul(id)), false);
}

/* The gangs have all nodes to themselves, and all nodes go away before all of their pods have
 * come. */
void Simulation::start_late_gangs()
{
	const auto is_there = [](const auto &one) { return one.exists; };
	for (const std::string &uid : gangs_.uids_if(is_there))
		gangs_.remove(uid, false);
	for (const std::string &uid : kube_.uids_if(is_there)) {
		const core::Pod &pod = kube_.pods.at(uid).api;
		(void)kube_.remove(pod.name_space, pod.name, uid, std::nullopt).ok();
	}
	for (std::uint64_t i = 1; i <= k_late_gangs; i++) {
		const Event event{.at = 0, .kind = Kind::create_gang, .number = mix(seed_ + i)};
		GangTruth gang = drawn_gang(event);
		if (gang.sort != GangSort::job_set)
			continue;
		gang.mould.api.gated = false;
		gang.mould.run_us = k_for_ever;
		gang.in_order = true;
		gang.slowest = k_slowest;
		gangs_.create(std::move(gang));
	}
	stage_.line.after(k_dark_after, [this] { kube_.stop_kubelets(nullptr); });
}

/* Without questions about owners: these are repeated for as long as pods wait. */
std::uint64_t Simulation::requests() const
{
	return kube_.writes - kube_.questions + rpc_.count;
}

/* The run settles when the agent sends no request for a minute. An agent that loops never
 * settles. */
void Simulation::settle()
{
	calm_down();
	if (!advance(stage_.now() + k_settling))
		return;
	const auto waits = [](const PodTruth &pod) {
		return sim::is_live(pod) && pod.api.node_name.empty();
	};
	const std::size_t windows = k_windows + kube_.uids_if(waits).size();
	std::uint64_t before = 0;
	for (std::size_t i = 0; i < windows; i++) {
		before = requests();
		const std::uint64_t asked = kube_.questions;
		if (!advance(stage_.now() + k_window))
			return;
		if (kube_.questions - asked > k_most_questions)
			stage_.violated("questions",
				std::to_string(kube_.questions - asked) +
					" questions about owners in the last minute");
		if (requests() == before) {
			oracle_.settled(agents_[slurm_.leader()]->world());
			return;
		}
	}
	stage_.violated("quiet",
		std::to_string(requests() - before) +
			" requests in the last minute: the agent does not come to rest");
}

/* ---- draws ---- */

Micros Simulation::span(const Event &event, Micros lowest, Micros highest)
{
	return lowest +
		static_cast<Micros>(
			mix(event.number + 7) % static_cast<std::uint64_t>(highest - lowest + 1));
}

void Simulation::with_pod(const Event &event, const std::function<bool(const PodTruth &)> &wanted,
	const std::function<void(PodTruth &)> &body)
{
	if (const auto uid = pick(kube_.uids_if(wanted), event.number))
		body(kube_.pods.at(*uid));
}

void Simulation::with_gang(const Event &event, const std::function<bool(const GangTruth &)> &wanted,
	const std::function<void(const GangTruth &)> &body)
{
	if (const auto uid = pick(gangs_.uids_if(wanted), event.number))
		body(*gangs_.find(*uid));
}

void Simulation::with_job(const Event &event, const std::function<bool(const JobTruth &)> &wanted,
	const std::function<void(std::uint32_t)> &body)
{
	if (!slurm_.is_up())
		return;
	if (const auto id = pick(slurm_.ids_if(wanted), event.number))
		body(static_cast<std::uint32_t>(std::stoul(*id)));
}

void Simulation::with_node(const Event &event, const std::function<bool(const NodeTruth &)> &wanted,
	const std::function<void(NodeTruth &)> &body)
{
	std::vector<std::string> names;
	for (const auto &[name, node] : kube_.nodes) {
		if (wanted(node))
			names.push_back(name);
	}
	if (const auto name = pick(names, event.number))
		body(kube_.nodes.at(*name));
}

PodTruth Simulation::drawn_pod(const Event &event) const
{
	const auto draw = [&](std::uint64_t what) { return mix(event.number + 100 + what); };
	PodTruth pod;
	char uid[32];
	(void)snprintf(uid, sizeof(uid), "u%08x", static_cast<unsigned>(event.number >> 32));
	pod.api.uid.text = uid;
	pod.api.name = "p-" + std::string(uid + 1).substr(0, 5);
	pod.api.name_space = draw(1) % 40 == 0 ? "unmapped" : draw(1) % 3 == 0 ? "b" : "a";
	pod.api.requests = {.milli_cpu = static_cast<std::int64_t>(1 + draw(2) % 6) * 500,
		.memory_bytes = static_cast<std::int64_t>(1 + draw(3) % 3) << 30,
		.pods = 1,
		.extended = {}};
	pod.api.main_container = "main";
	pod.api.gated = draw(4) % 12 == 0;
	pod.has_finalizer = draw(5) % 12 == 0;
	pod.api.termination_grace_seconds = static_cast<std::int64_t>(draw(6) % 12);
	pod.ignores_term = draw(7) % 3 == 0;
	pod.run_us = draw(8) % 10 == 0 ? k_for_ever : static_cast<Micros>(draw(9) % 12'000) * k_ms;
	if (draw(10) % 8 == 0)
		pod.api.annotations["slurm-kube.io/timelimit"] = "1";
	if (draw(11) % 50 == 0)
		pod.api.annotations["slurm-kube.io/no-such-option"] = "1";
	static const End k_ends[] = {
		{core::PodPhase::succeeded, 0, 0, "Completed", ""},
		{core::PodPhase::succeeded, 0, 0, "Completed", ""},
		{core::PodPhase::failed, 3, 0, "Error", ""},
		{core::PodPhase::failed, 137, 0, "OOMKilled", ""},
		{core::PodPhase::failed, 143, 0, "Error", ""},
		{core::PodPhase::failed, 1, 9, "Error", ""},
		{core::PodPhase::succeeded, 0, 0, "OOMKilled", ""},
		{core::PodPhase::failed, 42, 0, "Error", "DeadlineExceeded"},
	};
	pod.plan = k_ends[draw(12) % std::size(k_ends)];
	devices_.draw(pod, event.number);
	return pod;
}

/* Two to five pods, about as many as fit on the nodes, sometimes more. */
GangTruth Simulation::drawn_gang(const Event &event) const
{
	const auto draw = [&](std::uint64_t what) { return mix(event.number + 200 + what); };
	const auto each = [&](std::uint64_t what) {
		return core::Resources{
			.milli_cpu = static_cast<std::int64_t>(1 + draw(what) % 8) * 250,
			.memory_bytes = static_cast<std::int64_t>(1 + draw(what + 1) % 4) << 28,
			.pods = 1,
			.extended = {}};
	};
	GangTruth gang;
	gang.mould = drawn_pod(event);
	gang.mould.api.uid.text[0] = 'g';
	gang.uid = gang.mould.api.uid.text;
	gang.name_space = gang.mould.api.name_space;
	gang.name = "g-" + gang.uid.substr(1, 5);
	gang.sort = static_cast<GangSort>(draw(1) % 3);
	const auto pods = static_cast<std::uint32_t>(2 + draw(2) % 4);
	gang.roles = {
		{.name = "", .pods = pods, .pods_per_job = pods, .stage = 0, .each = each(3)}};
	if (gang.sort == GangSort::pod_group)
		gang.minimum = pods - static_cast<std::uint32_t>(draw(5) % 2);
	if (gang.sort == GangSort::job_set)
		gang.roles = {
			{.name = "head", .pods = 1, .pods_per_job = 1, .stage = 0, .each = each(6)},
			{.name = "work",
				.pods = pods - 1,
				.pods_per_job = pods - 1,
				.stage = 0,
				.each = each(8)}};
	gang.first_with_devices = draw(20) % gang.roles.size();
	const bool is_sharing = gang.mould.devices > 0 && draw(21) % 2 == 0;
	if (is_sharing)
		/* one claim for all pods */
		gang.mould.api.resource_claims = {{.name = "gpu",
			.claim = gang.name + "-gpu",
			.is_own = false,
			.is_needless = false,
			.made_of = ""}};
	for (core::Role &role : gang.roles) {
		/* so that all fit on a node */
		if (is_sharing)
			role.each.milli_cpu = std::min<std::int64_t>(role.each.milli_cpu, 250);
	}
	for (core::Role &role : gang.roles) {
		if (gang.sort != GangSort::job_set)
			continue;
		auto pod_template = std::make_shared<core::Pod>();
		pod_template->name_space = gang.name_space;
		pod_template->requests = role.each;
		pod_template->annotations = gang.mould.api.annotations;
		if (role.name == "work" || gang.first_with_devices == 0)
			pod_template->resource_claims = gang.mould.api.resource_claims;
		/* two components, even if their requests are equal */
		if (draw(19) % 2 == 0 && role.name == "work")
			pod_template->constraints.tolerations = {
				{"sim/worker", core::TolerationOp::exists, "", ""}};
		role.pod_template = std::move(pod_template);
	}
	gang.in_order = draw(10) % 2 == 0;
	gang.replaces_early = draw(11) % 3 == 0;
	gang.slowest = draw(12) % 5 == 0 ? 20 * k_second : 500 * k_ms;
	gang.tries_left = static_cast<int>(draw(13) % 4);
	if (draw(15) % 4 == 0)
		gang.growth = {.milli_cpu = static_cast<std::int64_t>(1 + draw(16) % 6) * 250,
			.memory_bytes = static_cast<std::int64_t>(draw(17) % 3) << 28,
			.pods = 0,
			.extended = {}};
	if (draw(18) % 12 == 0)
		gang.mould.api.annotations["slurm-kube.io/exclusive"] = "true";
	if (draw(14) % 8 == 0)
		gang.mould.api.annotations["slurm-kube.io/pods-per-node"] = "1";
	return gang;
}

} // namespace slurmkube::sim
