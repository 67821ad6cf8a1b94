/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/app.h"
#include "src/agent/translate_names.h"

#include "src/agent/config_trial.h"

#include "src/agent/pages.h"
#include "src/agent/replies.h"
#include "src/base/log.h"
#include "src/core/inspect/sight.h"

#include <ctime>
#include <set>
#include <utility>

namespace slurmkube::agent
{

namespace
{

constexpr std::chrono::seconds k_tick{1};
constexpr std::chrono::seconds k_look_around{60};

kube::ClientOptions client_options(const Config &config)
{
	kube::ClientOptions options;
	options.max_in_flight = static_cast<unsigned>(config.limits.writes_in_flight);
	options.user_agent = "slurmkubed/" SLURMKUBE_VERSION;
	return options;
}

/* Times without a zone are in the local time of this machine, as for sbatch. */
std::int64_t local_offset(std::int64_t utc_seconds)
{
	const std::time_t at = utc_seconds;
	std::tm local{};
	return localtime_r(&at, &local) ? local.tm_gmtoff : 0;
}

core::NodePolicy node_policy_of(const Config &config)
{
	return {.label_key = config.nodes.selector_key,
		.label_value = config.nodes.selector_value.value_or(""),
		.manage = config.nodes.manage,
		.max_gone_percent = config.nodes.max_gone_percent,
		.not_ready_after_seconds = config.nodes.not_ready_after_seconds,
		.cpu_unit = config.nodes.cpu_unit,
		.reserve_cpus = config.nodes.reserve_cpus,
		.reserve_memory_mib = config.nodes.reserve_memory_mib,
		.gres = config.gres,
		.features = config.nodes.features,
		.tolerated_taints = config.nodes.tolerated_taints,
		.names = config.nodes.names,
		.cluster = config.cluster,
		.drain_conditions = config.nodes.drain_conditions,
		.report_drains = config.nodes.report_drains};
}

} // namespace

core::Settings settings_of(const Config &config)
{
	core::Settings settings;
	settings.policy.cluster = config.cluster;
	settings.policy.scheduler_names = config.scheduler_names();
	settings.policy.default_partition = config.partition;
	settings.policy.default_time_limit_minutes = config.default_time_limit_minutes;
	settings.policy.namespaces = config.identity.rules;
	settings.policy.min_uid = config.identity.min_uid;
	settings.policy.zone_offset = local_offset;
	settings.policy.priority_classes = config.priority_classes;
	settings.nodes = node_policy_of(config);
	settings.devices = config.devices;
	settings.policy.pods_in_native_jobs = config.nodes.pods_in_native_jobs;
	settings.policy.has_device_rules = !config.devices.empty();
	settings.policy.gres = config.gres;
	settings.policy.features = config.nodes.features;
	settings.policy.cpu_unit = config.nodes.cpu_unit;
	settings.forced_delete_hold_us =
		std::int64_t{1'000'000} * config.limits.forced_delete_hold_seconds;
	settings.report_interval_us =
		std::int64_t{1'000'000} * config.limits.condition_interval_seconds;
	settings.sees_foreign_pods = true;
	settings.needs_fresh_lists = true;
	settings.needs_cluster = true;
	settings.needs_lease = true;
	settings.max_gone_percent = config.limits.max_gone_pods_percent;
	settings.gang_hold_us = std::int64_t{1'000'000} * config.limits.gang_hold_seconds;
	settings.own_uid = geteuid();
	settings.gang_wait_us = std::int64_t{1'000'000} * config.limits.gang_wait_seconds;
	settings.late_pods_us = std::int64_t{1'000'000} * config.limits.late_pods_seconds;
	settings.components_wait_seconds = config.limits.components_wait_seconds;
	settings.claim_wait_us = std::int64_t{1'000'000} * config.limits.claim_wait_seconds;
	settings.prolog_wait_us = std::int64_t{1'000'000} * config.limits.prolog_wait_seconds;
	settings.grace_most_seconds = config.limits.grace_seconds;
	settings.start_limit_us = std::int64_t{1'000'000} * config.limits.start_seconds;
	return settings;
}

App::App(Loop &loop, const Config &config, kube::Access access)
    : loop_(loop), config_(config), world_(settings_of(config)),
      client_(loop, std::move(access), client_options(config)),
      credentials_(client_, config.kubeconfig),
      calls_(loop, {.conf = config.slurm.conf, .workers = config.slurm.workers}),
      executor_(world_, api_server_, controller_,
	      {.now = now, .want_round = [this] { want_round(); }}),
      slurm_metrics_(
	      [this](const slurm::figures::Answers &before, const slurm::figures::Kinds &due,
		      SlurmMetrics::Done done) { calls_.figures(before, due, std::move(done)); },
	      [] { return now().mono_us; }),
      link_(loop, *this, config.cluster, slurm::configured_cluster()), watching_(loop, world_),
      control_(loop,
	      [this](json_object *request, const ctl::Peer &peer, const ctl::Reply &reply,
		      const ctl::Take &take) { reply_to(*this, request, peer, reply, take); }),
      http_(loop, [this](const http::Request &request) { return page_of(*this, request); }),
      sources_(loop, client_, world_, config_, [this] { want_round(); }),
      lease_(client_, config.scheduler_name, slurm::configured_cluster(),
	      [this](const core::LeaseState &state) { note_lease(state); }),
      look_(loop_, client_, calls_), started_(now())
{
}

Status App::start()
{
	for (const Status &listening :
		{control_.listen(config_.control_socket), link_.listen(config_.plugin_socket)}) {
		if (!listening)
			return listening;
	}
	http_.serve(config_.metrics);
	sources_.start_wanted();
	credentials_.start();
	lease_.start();
	tick();
	look_around();
	look_at_partitions();
	return Ok{};
}

void App::reload(const Config &fresh)
{
	const Config before = std::exchange(config_, reloadable(config_, fresh));
	log_level(config_.log_level);
	if (const Status opened = open_audit_log(config_.audit_log); !opened)
		log_error("%s", opened.error().what.c_str());
	credentials_.reload();
	world_.observe(core::SettingsSet{settings_of(config_)}, now());
	if (config_.identity != before.identity) {
		world_.observe(
			core::IdentityRulesSet{config_.identity.rules, config_.identity.min_uid});
		sources_.start_again(Kind::namespaces);
	}
	if (config_.nodes.selector_key != before.nodes.selector_key ||
		config_.nodes.selector_value != before.nodes.selector_value)
		sources_.start_again(Kind::nodes);
	if (config_.metrics != before.metrics)
		http_.serve(config_.metrics);
	want_round();
	troubles_.restart = keys_for_restart(config_, fresh);
	log_info("configuration read again");
	if (!troubles_.restart.empty())
		log_warning("these keys have changed too, and take effect after a restart of "
			    "slurmkubed: "
			    "%s",
			troubles_.restart.c_str());
}

std::int64_t App::uptime_seconds() const
{
	return (now().mono_us - started_.mono_us) / 1'000'000;
}

/* ---- the plugin ---- */

void App::opened(const core::PluginHello &hello)
{
	calls_.link_opened(hello);
	world_.observe(core::LinkOpened{hello});
	if (world_.take_list_request())
		sources_.list_again();
	lease_.opened(hello);
	if (!hello.config_error.empty())
		log_warning("kube.conf: %s", hello.config_error.c_str());
}

void App::arrived(codec::LinkMessage told)
{
	lease_.heard();
	if (const auto *alive = std::get_if<codec::Alive>(&told))
		return calls_.link_heard(alive->sent_us);
	codec::LinkMessage message = for_kubernetes(std::move(told), world_.names());
	if (auto *job = std::get_if<core::SlurmJob>(&message)) {
		world_.observe(core::JobSeen{std::move(*job)}, now());
	} else if (const auto *job_gone = std::get_if<codec::JobGone>(&message)) {
		world_.observe(core::JobGone{job_gone->id}, now());
	} else if (auto *node = std::get_if<core::SlurmNode>(&message)) {
		world_.observe(core::SlurmNodeSeen{std::move(*node)});
	} else if (const auto *node_gone = std::get_if<codec::NodeGone>(&message)) {
		world_.observe(core::SlurmNodeGone{node_gone->name});
	} else if (std::holds_alternative<codec::SnapshotEnd>(message)) {
		world_.observe(core::SnapshotEnded{}, now());
		log_info("snapshot merged jobs=%zu nodes=%zu", world_.state().jobs.size(),
			world_.state().slurm_nodes.size());
	} else if (const auto *stats = std::get_if<core::PluginStats>(&message)) {
		plugin_stats_ = *stats;
	}
	want_round();
}

void App::closed()
{
	calls_.link_closed();
	world_.observe(core::LinkLost{});
	lease_.closed();
}

void App::note_lease(const core::LeaseState &state)
{
	world_.observe(core::LeaseSeen{state});
	if (world_.take_list_request())
		sources_.list_again();
	want_round();
}

/* ---- rounds ---- */

void App::want_round()
{
	if (next_round_.is_wanted)
		return;
	next_round_.is_wanted = true;
	loop_.after(next_round_.pace.wait(now().mono_us), [this] { round(); });
}

void App::round()
{
	next_round_.is_wanted = false;
	const core::Now at = now();
	sources_.start_wanted();
	if (!world_.state().is_cluster_known())
		executor_.ask_for_cluster();
	link_.cluster_is(world_.state().settings.policy.cluster_uid);
	note_cluster_trouble();
	take_names();
	for (const core::World::PodAction &next : world_.take_actions(at))
		executor_.carry_out(next.pod, next.action);
	for (const core::OwnerId &id : world_.take_questions(at))
		executor_.ask_for(id);
	for (const core::NodeAction &next : world_.take_node_actions(at))
		executor_.carry_out(next);
	for (const std::string &name : world_.take_node_questions(at))
		executor_.ask_for_node(name);
	ask_for_native_job();
	watching_.hub.changed();
	plan_next_look();
	next_round_.pace.note_round(at.mono_us, now().mono_us);
}

void App::note_cluster_trouble()
{
	const std::string &unknown = executor_.cluster_unknown();
	std::string trouble = unknown.empty()
		? ""
		: "the Kubernetes cluster is not known, and nothing is done: " + unknown;
	for (const std::string &text : {core::other_cluster_text(world_),
		     core::absent_pods_text(world_), core::other_name_text(world_)})
		trouble = trouble.empty() ? text : trouble;
	if (trouble == troubles_.cluster)
		return;
	if (trouble.empty())
		log_info("the Kubernetes cluster is the one of all our jobs: uid=%s",
			world_.state().settings.policy.cluster_uid.c_str());
	else
		log_error("%s", trouble.c_str());
	troubles_.cluster = std::move(trouble);
}

void App::plan_next_look()
{
	loop_.cancel(next_round_.timer);
	next_round_.timer = 0;
	const auto next = world_.next_look_us();
	if (!next || !world_.state().is_known())
		return;
	const std::chrono::microseconds wait(std::max<std::int64_t>(*next - now().mono_us, 1000));
	next_round_.timer = loop_.after(wait, [this] {
		next_round_.timer = 0;
		want_round();
	});
}

/* A node's Slurm state also depends on time, as how long it has been NotReady, in whole seconds. */
void App::tick()
{
	want_round();
	http_.tick();
	loop_.after(k_tick, [this] { tick(); });
}

/* Changes of users and groups cause no notification, so poll. */
void App::look_around()
{
	sources_.look_for_users();
	loop_.after(k_look_around, [this] { look_around(); });
}

} // namespace slurmkube::agent
