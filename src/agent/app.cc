/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/app.h"

#include "src/agent/kube/server_time.h"
#include "src/agent/replies.h"
#include "src/base/log.h"

#include <ctime>
#include <set>

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

kube::WatchOptions pods_of(const Config &config)
{
	kube::WatchOptions options;
	options.path = "/api/v1/pods";
	options.accept = kube::k_protobuf;
	options.field_selector = "spec.schedulerName=" + config.scheduler_name;
	return options;
}

/* What others hold of nodes: one stream, and what has ended leaves it. */
kube::WatchOptions foreign_pods_of(const Config &config)
{
	kube::WatchOptions options;
	options.path = "/api/v1/pods";
	options.accept = kube::k_protobuf;
	options.field_selector = "spec.schedulerName!=" + config.scheduler_name + ",spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed";
	return options;
}

kube::WatchOptions nodes_of(const Config &config)
{
	kube::WatchOptions options;
	options.path = "/api/v1/nodes";
	options.label_selector = config.nodes.selector_key;
	if (config.nodes.selector_value)
		options.label_selector += "=" + *config.nodes.selector_value;
	return options;
}

kube::WatchOptions all_of(const char *path)
{
	kube::WatchOptions options;
	options.path = path;
	return options;
}

/* Times without a zone are those of this machine's clock, as for sbatch on it. */
std::int64_t local_offset(std::int64_t utc_seconds)
{
	const std::time_t at = utc_seconds;
	std::tm local{};
	return localtime_r(&at, &local) ? local.tm_gmtoff : 0;
}

} // namespace

core::Settings settings_of(const Config &config)
{
	core::Settings settings;
	settings.policy.cluster = config.cluster;
	settings.policy.scheduler_name = config.scheduler_name;
	settings.policy.default_partition = config.partition;
	settings.policy.default_time_limit_minutes = config.default_time_limit_minutes;
	settings.policy.namespaces = config.identity.rules;
	settings.policy.least_uid = config.identity.least_uid;
	settings.policy.zone_offset = local_offset;
	settings.policy.priority_classes = config.priority_classes;
	settings.nodes = {.label_key = config.nodes.selector_key,
			  .label_value = config.nodes.selector_value.value_or(""),
			  .manage = config.nodes.manage,
			  .not_ready_after_seconds = config.nodes.not_ready_after_seconds,
			  .cpu_unit = config.nodes.cpu_unit,
			  .reserve_cpus = config.nodes.reserve_cpus,
			  .reserve_memory_mib = config.nodes.reserve_memory_mib,
			  .gres = config.gres,
			  .features = config.nodes.features,
			  .tolerated_taints = config.nodes.tolerated_taints};
	settings.policy.gres = config.gres;
	settings.policy.features = config.nodes.features;
	settings.policy.cpu_unit = config.nodes.cpu_unit;
	settings.forced_delete_hold_us = std::int64_t{1'000'000} * config.limits.forced_delete_hold_seconds;
	settings.report_interval_us = std::int64_t{1'000'000} * config.limits.condition_interval_seconds;
	settings.sees_foreign_pods = true;
	settings.gang_hold_us = std::int64_t{1'000'000} * config.limits.gang_hold_seconds;
	settings.own_uid = geteuid();
	settings.gang_wait_us = std::int64_t{1'000'000} * config.limits.gang_wait_seconds;
	settings.claim_wait_us = std::int64_t{1'000'000} * config.limits.claim_wait_seconds;
	settings.start_limit_us = std::int64_t{1'000'000} * config.limits.start_seconds;
	return settings;
}

core::Now App::now()
{
	const auto since_boot = Clock::now().time_since_epoch();
	return {.mono_us = std::chrono::duration_cast<std::chrono::microseconds>(since_boot).count(), .wall_s = std::time(nullptr)};
}

App::App(Loop &loop, const Config &config, kube::Access access)
    : loop_(loop), config_(config), world_(settings_of(config)), client_(loop, std::move(access), client_options(config)),
      calls_(loop, {.conf = config.slurm.conf, .workers = config.slurm.workers}), link_(loop, *this),
      control_(loop, [this](json_object *request) { return reply_to(*this, request); }), pod_source_(world_, [this] { want_round(); }),
      foreign_source_(world_, [this] { want_round(); }), node_source_(world_, [this] { want_round(); }),
      namespace_source_(loop, world_, [this] { want_round(); }), claim_source_(world_, [this] { want_round(); }), volume_source_(world_, [this] { want_round(); }),
      class_source_(world_, [this] { want_round(); }), started_(now())
{
}

Status App::start()
{
	for (const Status &listening : {control_.listen(config_.control_socket), link_.listen(config_.plugin_socket)}) {
		if (!listening)
			return listening;
	}
	pod_watch_ = std::make_unique<kube::Watch>(client_, pods_of(config_), pod_source_);
	foreign_watch_ = std::make_unique<kube::Watch>(client_, foreign_pods_of(config_), foreign_source_);
	node_watch_ = std::make_unique<kube::Watch>(client_, nodes_of(config_), node_source_);
	namespace_watch_ = std::make_unique<kube::Watch>(client_, all_of("/api/v1/namespaces"), namespace_source_);
	tick();
	look_around();
	return Ok{};
}

std::int64_t App::uptime_seconds() const
{
	return (now().mono_us - started_.mono_us) / 1'000'000;
}

/* ---- the plugin ---- */

void App::opened(const core::PluginHello &hello)
{
	world_.link_opened(hello);
	if (!hello.config_error.empty())
		log_warning("kube.conf: %s", hello.config_error.c_str());
}

void App::arrived(codec::LinkMessage message)
{
	if (auto *job = std::get_if<core::SlurmJob>(&message)) {
		world_.job_seen(std::move(*job), now());
	} else if (const auto *job_gone = std::get_if<codec::JobGone>(&message)) {
		world_.job_gone(job_gone->id);
	} else if (auto *node = std::get_if<core::SlurmNode>(&message)) {
		world_.slurm_node_seen(std::move(*node));
	} else if (const auto *node_gone = std::get_if<codec::NodeGone>(&message)) {
		world_.slurm_node_gone(node_gone->name);
	} else if (std::holds_alternative<codec::SnapshotEnd>(message)) {
		world_.snapshot_ended(now());
		log_info("snapshot merged jobs=%zu nodes=%zu", world_.jobs().size(), world_.slurm_nodes().size());
	} else if (const auto *stats = std::get_if<core::PluginStats>(&message)) {
		plugin_stats_ = *stats;
	}
	want_round();
}

void App::closed()
{
	world_.link_lost();
}

/* ---- rounds ---- */

void App::want_round()
{
	if (round_wanted_)
		return;
	round_wanted_ = true;
	loop_.post([this] { round(); });
}

void App::round()
{
	round_wanted_ = false;
	const core::Now at = now();
	watch_claims();
	for (const core::World::PodAction &next : world_.take_actions(at))
		carry_out(next.pod, next.action);
	for (const core::OwnerId &id : world_.take_questions(at))
		ask_for(id);
	for (const core::NodeAction &next : world_.take_node_actions(at))
		carry_out(next);
	plan_next_look();
}

/* Most clusters have many claims that no pod of ours ever mounts, and many have no such pod at all. */
void App::watch_claims()
{
	if (!world_.wants_claims())
		return;
	if (!claim_watch_) {
		claim_watch_ = std::make_unique<kube::Watch>(client_, all_of("/api/v1/persistentvolumeclaims"), claim_source_);
		volume_watch_ = std::make_unique<kube::Watch>(client_, all_of("/api/v1/persistentvolumes"), volume_source_);
		class_watch_ = std::make_unique<kube::Watch>(client_, all_of("/apis/storage.k8s.io/v1/storageclasses"), class_source_);
	}
	std::string why;
	for (const kube::Watch *watch : {claim_watch_.get(), volume_watch_.get(), class_watch_.get()})
		why = why.empty() ? watch->trouble() : why;
	world_.claims_unreadable(std::move(why));
}

void App::plan_next_look()
{
	loop_.cancel(look_timer_);
	look_timer_ = 0;
	const auto next = world_.next_look_us();
	if (!next || !world_.is_known())
		return;
	const std::chrono::microseconds wait(std::max<std::int64_t>(*next - now().mono_us, 1000));
	look_timer_ = loop_.after(wait, [this] {
		look_timer_ = 0;
		want_round();
	});
}

/* Node states change with time too (NotReady for long enough), by whole seconds. */
void App::tick()
{
	want_round();
	loop_.after(k_tick, [this] { tick(); });
}

/* What `skube check` tells: asked from time to time, since its answers must be at hand. */
void App::look_around()
{
	kube::version(client_, [this](const Result<kube::ServerVersion> &answer) {
		findings_.api_version = answer ? answer->git_version : "";
		findings_.api_trouble = answer ? "" : answer.error().what;
	});
	kube::self_check(client_, [this](Result<std::vector<kube::Right>> answer) {
		findings_.rights_trouble = answer ? "" : answer.error().what;
		findings_.rights = answer ? std::move(*answer) : std::vector<kube::Right>{};
	});
	kube::server_time(client_, [this](const Result<std::int64_t> &answer) {
		findings_.clock_ahead_seconds = answer ? std::optional<double>(static_cast<double>(*answer - now().wall_s)) : std::nullopt;
	});
	calls_.ping([this](const Status &answer) { findings_.slurm_trouble = answer ? "" : answer.error().what; });
	std::set<std::string> external;
	for (const auto &[name, node] : world_.slurm_nodes())
		external.insert(name);
	calls_.mixed_partitions(std::move(external), [this](Result<std::vector<std::string>> answer) {
		if (answer)
			findings_.mixed_partitions = std::move(*answer);
	});
	namespace_source_.look_again();
	loop_.after(k_look_around, [this] { look_around(); });
}

} // namespace slurmkube::agent
