/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/plugins/job_submit/kube/plugin.h"

#include "src/base/guard.h"
#include "src/base/log.h"
#include "src/base/owned.h"
#include "src/plugins/job_submit/kube/files.h"
#include "src/plugins/job_submit/kube/verdict.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sys/syscall.h>
#include <unistd.h>

namespace slurmkube::plugin
{

namespace
{

constexpr int k_join_ms = 2000;

int this_thread()
{
	return static_cast<int>(syscall(SYS_gettid));
}

/* Called in a hook, which holds the job lock. */
bool stands_for(core::JobId id, const core::Marker &marker)
{
	kube_marker_texts texts = {};
	if (!kube_seam_marker_texts(id.number, &texts) || kube_seam_job_is_finished(id.number))
		return false;
	auto theirs = marker_of({texts.admin_comment, texts.copy});
	return theirs && same_identity(*theirs, marker);
}

/* The name of this machine tells which of several SlurmctldHosts is in control. */
std::string host_name()
{
	char name[256] = "";
	return gethostname(name, sizeof(name) - 1) == 0 ? std::string(name) : std::string();
}

/* Field 22 of proc_pid_stat(5): the name of the program, which may hold blanks, ends with the last
 * ')' and is field 2. 0: it cannot be read. */
std::int64_t process_start()
{
	const Owned<FILE, fclose> file(fopen("/proc/self/stat", "re"));
	char line[1024] = "";
	if (!file || !fgets(line, sizeof(line), file.get()))
		return 0;
	const char *at = strrchr(line, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoll(at, nullptr, 10) : 0;
}

std::string_view text(const char *borrowed)
{
	return borrowed ? std::string_view(borrowed) : std::string_view();
}

std::optional<std::string_view> maybe(const char *borrowed)
{
	return borrowed ? std::optional<std::string_view>(borrowed) : std::nullopt;
}

std::string joined(const std::vector<std::string> &names)
{
	std::string all;
	for (const std::string &name : names)
		all += (all.empty() ? "" : ",") + name;
	return all;
}

kube_host ask_host()
{
	kube_host host = {};
	kube_seam_host(&host);
	return host;
}

} // namespace

Config load_config()
{
	Config config = parse_config(read_conf_file("kube.conf"));
	if (!config.error.empty())
		log_error("%s", config.error.c_str());
	return config;
}

Plugin::Plugin(Config config)
    : config_(std::move(config)), host_(ask_host()), cluster_(host_.cluster),
      submit_plugins_(host_.submit_plugins),
      live_(std::make_shared<const Live>(
	      Live{{host_.slurm_user, config_.partitions}, config_.error})),
      keeper_(config_.feature, host_, registry_, feed_, costs, stop_,
	      [this] { read_config_again(); }),
      link_(link_setup(), feed_, costs, stop_), sink_(config_.sink_port, costs, stop_),
      stats_before_ns_(now_ns())
{
}

Link::Setup Plugin::link_setup()
{
	return {config_.socket, host_.slurm_user, [this] { return hello(); },
		[this] { return stats(); }};
}

bool Plugin::start()
{
	log_info("version " PACKAGE_VERSION
		 " in Slurm %s: Socket=%s Feature=%s SinkPort=%d Partitions=%s",
		host_.slurm_version, config_.socket.c_str(), config_.feature.c_str(),
		config_.sink_port, joined(config_.partitions).c_str());
	kube_seam_use_sink_port(static_cast<std::uint16_t>(config_.sink_port));
	bool started = keeper_thread_.start("kube-keeper", [this] { keeper_.run(); });
	started = started && link_thread_.start("kube-link", [this] { link_.run(); });
	if (config_.sink_port != 0)
		started = started && sink_thread_.start("kube-sink", [this] { sink_.run(); });
	if (!started) {
		log_error("cannot start a thread");
		(void)stop();
	}
	return started;
}

bool Plugin::stop()
{
	stop_.set();
	bool sink = sink_thread_.join(k_join_ms);
	bool link = link_thread_.join(k_join_ms);
	bool keeper = keeper_thread_.join(k_join_ms);
	return sink && link && keeper;
}

/* Called after scontrol reconfigure on 22.05; later releases start a new process instead. Only
 * Partitions take effect at once, because the threads depend on the other keys. */
void Plugin::read_config_again()
{
	Config config = load_config();
	if (config.socket != config_.socket || config.feature != config_.feature ||
		config.sink_port != config_.sink_port)
		log_warning("Socket, Feature and SinkPort of kube.conf change when slurmctld is "
			    "restarted");
	auto fresh = std::make_shared<const Live>(
		Live{{host_.slurm_user, std::move(config.partitions)}, std::move(config.error)});
	std::lock_guard lock(live_mutex_);
	live_ = std::move(fresh);
}

std::shared_ptr<const Plugin::Live> Plugin::live() const noexcept
{
	std::lock_guard lock(live_mutex_);
	return live_;
}

core::PluginHello Plugin::hello() const
{
	core::PluginHello hello;
	hello.protocol = names::k_link_protocol;
	hello.plugin_version = PACKAGE_VERSION;
	hello.slurm_version = host_.slurm_version;
	hello.slurm_version_number = host_.slurm_number;
	hello.cluster_name = cluster_;
	hello.family = host_.native ? core::Family::native : core::Family::emulated;
	hello.sink_port = config_.sink_port;
	hello.node_feature = config_.feature;
	const auto now = live();
	hello.partitions = joined(now->rules.partitions);
	hello.config_error = now->error;
	for (const std::string &trouble : {order_trouble(submit_plugins_), sink_.trouble()})
		if (!trouble.empty())
			hello.config_error += (hello.config_error.empty() ? "" : "; ") + trouble;
	hello.pid = getpid();
	hello.process_start = process_start();
	hello.host = host_name();
	hello.whole_sockets = host_.whole_sockets;
	hello.has_prolog = kube_seam_has_prolog();
	return hello;
}

core::PluginStats Plugin::stats()
{
	core::PluginStats stats;
	stats.hook = costs.hook.read();
	stats.lock_hold = costs.lock_hold.read();
	stats.lock_wait = costs.lock_wait.read();
	stats.hook_cpu = costs.hook_cpu.read();
	stats.lock_cpu = costs.lock_cpu.read();
	std::uint64_t held = costs.held_ns.load(std::memory_order_relaxed);
	std::int64_t now = now_ns();
	if (now > stats_before_ns_)
		stats.duty_percent = 100.0 * static_cast<double>(held - held_before_ns_) /
			static_cast<double>(now - stats_before_ns_);
	held_before_ns_ = held;
	stats_before_ns_ = now;
	stats.placeholders = keeper_.placeholders();
	stats.external_nodes = keeper_.external_nodes();
	stats.unmarked = keeper_.unmarked();
	stats.refused = costs.refused.load(std::memory_order_relaxed);
	stats.duplicates_refused = costs.duplicates_refused.load(std::memory_order_relaxed);
	stats.sink_contacts = costs.sink_contacts.load(std::memory_order_relaxed);
	stats.sink_refused = costs.sink_refused.load(std::memory_order_relaxed);
	stats.reconnects = costs.reconnects.load(std::memory_order_relaxed);
	stats.queue_drops = costs.queue_drops.load(std::memory_order_relaxed);
	return stats;
}

void Plugin::judge_marker(const core::Marker &marker, kube_verdict &verdict)
{
	ClaimAnswer answer = registry_.claim(marker, this_thread(), now_ns(), stands_for);
	if (answer.claim == Claim::granted) {
		verdict.placeholder = true;
		verdict.user_id = marker.user_id;
		verdict.group_id = marker.group_id;
		verdict.waiting_since = marker.since;
		put(verdict.admin_comment, comment_of(marker));
		put(verdict.copy, copy_of(marker));
		say(verdict, KUBE_ALLOW, {});
		keeper_.wake();
		return;
	}
	costs.duplicates_refused.fetch_add(1, std::memory_order_relaxed);
	if (answer.claim == Claim::live)
		say(verdict, KUBE_DUPLICATE,
			"slurm-kube: job " + std::to_string(answer.live.number) +
				" already stands for pod " + describe(marker));
	else if (answer.claim == Claim::under_way)
		say(verdict, KUBE_UNDER_WAY,
			"slurm-kube: a submission for this pod is under way, try again");
	else
		say(verdict, KUBE_UNDER_WAY,
			"slurm-kube: this slurmctld has just come into control and its jobs are "
			"not read yet, try again");
}

bool Plugin::is_for_pods(std::string_view partition) const noexcept
{
	return names_external_only(live()->rules, partition);
}

/* An administrator may name partitions with native nodes in kube.conf, so those are not checked. */
std::string Plugin::native_partition(const Rules &rules, std::string_view list) const
{
	for (const std::string &name : other_partitions(rules, list))
		if (kube_seam_partition_has_native(name.c_str(), config_.feature.c_str()))
			return name;
	return {};
}

namespace
{

Submission submission_of(const kube_submit_facts &facts) noexcept
{
	return {facts.caller, {text(facts.marker.admin_comment), text(facts.marker.copy)},
		text(facts.partition), {}, facts.batch, facts.array, facts.het, facts.own_id};
}

Change change_of(const kube_modify_facts &facts) noexcept
{
	return {facts.caller, {text(facts.marker.admin_comment), text(facts.marker.copy)},
		text(facts.partition), maybe(facts.new_admin_comment), maybe(facts.new_partition),
		facts.resizes, {}, facts.caller_is_admin};
}

} // namespace

bool Plugin::concerns_us(const kube_submit_facts &facts) const noexcept
{
	return plugin::concerns_us(live()->rules, submission_of(facts));
}

bool Plugin::concerns_us(const kube_modify_facts &facts) const noexcept
{
	return plugin::concerns_us(live()->rules, change_of(facts));
}

void Plugin::judge_submission(const kube_submit_facts &facts, kube_verdict &verdict)
{
	if (registry_.has_tickets())
		registry_.came_back(this_thread());
	auto current = live();
	Submission submission = submission_of(facts);
	if (claims_marker(submission.marker))
		submission.native_partition =
			native_partition(current->rules, submission.partition);
	Judgement judgement = judge(current->rules, submission);
	if (!judgement.refusal.empty()) {
		costs.refused.fetch_add(1, std::memory_order_relaxed);
		say(verdict, KUBE_REFUSE, judgement.refusal);
	} else if (judgement.marker) {
		judge_marker(*judgement.marker, verdict);
	} else {
		say(verdict, KUBE_ALLOW, {});
	}
}

void Plugin::judge_change(const kube_modify_facts &facts, kube_verdict &verdict)
{
	auto current = live();
	Change change = change_of(facts);
	if (change.new_partition && claims_marker(change.marker))
		change.native_partition = native_partition(current->rules, *change.new_partition);
	ChangeJudgement judgement = judge(current->rules, change);
	if (!judgement.refusal.empty())
		costs.refused.fetch_add(1, std::memory_order_relaxed);
	if (judgement.admin_comment)
		put(verdict.admin_comment, *judgement.admin_comment);
	verdict.keeps_comment = judgement.keeps_comment;
	verdict.waiting_since = judgement.waiting_since;
	say(verdict, judgement.refusal.empty() ? KUBE_ALLOW : KUBE_REFUSE, judgement.refusal);
}

} // namespace slurmkube::plugin
