/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/plugins/job_submit/kube/plugin.h"

#include "src/base/guard.h"
#include "src/base/log.h"
#include "src/base/owned.h"
#include "src/plugins/job_submit/kube/files.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <unistd.h>

namespace slurmkube::plugin
{

namespace
{

constexpr int k_join_ms = 2000;

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

std::string joined(const std::vector<std::string> &names)
{
	std::string all;
	for (const std::string &name : names)
		all += (all.empty() ? "" : ",") + name;
	return all;
}

std::string sockets_text(const Config &config)
{
	if (!config.has_clusters)
		return "Socket=" + config.socket;
	std::string text;
	for (const ClusterSocket &to : config.clusters)
		text += (text.empty() ? "Cluster=" : ", Cluster=") + to.cluster +
			" Socket=" + to.socket;
	return text.empty() ? "no cluster" : text;
}

/* config: as read at the start. partitions: as read last. */
Rules rules_of(const kube_host &host, const Config &config, std::vector<std::string> partitions)
{
	Rules rules{host.slurm_user, std::move(partitions)};
	if (!config.has_clusters)
		return rules;
	rules.clusters.emplace();
	for (const ClusterSocket &to : config.clusters)
		rules.clusters->push_back(to.cluster);
	return rules;
}

FeedShare share_of(const Config &config, const ClusterSocket &to)
{
	FeedShare share{to.cluster, cluster_feature(config.feature, to.cluster)};
	for (const ClusterSocket &other : config.clusters) {
		if (other.cluster == to.cluster)
			continue;
		share.other_clusters.push_back(other.cluster);
		share.other_features.push_back(cluster_feature(config.feature, other.cluster));
	}
	return share;
}

/* Needs no lock, other than the keeper, which may be waiting for one. */
bool is_in_control()
{
	kube_pulse pulse = {};
	kube_seam_pulse(&pulse);
	return pulse.active;
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
	/* It may name several clusters, and then no agent may hear of everything. */
	if (const std::string trouble = conf_file_trouble("kube.conf"); !trouble.empty()) {
		config.has_clusters = config.is_unreadable = true;
		config.error = trouble + "; no agent is connected";
	}
	if (!config.error.empty())
		log_error("%s", config.error.c_str());
	return config;
}

Plugin::Plugin(Config config)
    : config_(std::move(config)), host_(ask_host()), cluster_(host_.cluster),
      submit_plugins_(host_.submit_plugins),
      live_(std::make_shared<const Live>(
	      Live{rules_of(host_, config_, config_.partitions), config_.error})),
      keeper_(config_.feature, host_, registry_, feed_, costs, stop_,
	      [this] { read_config_again(); }),
      sink_(config_.sink_port, costs, stop_)
{
	open_channels();
}

Plugin::Channel::Channel(Plugin &plugin, const ClusterSocket &to)
    : reader(plugin.feed_, share_of(plugin.config_, to)),
      link({to.socket, plugin.host_.slurm_user,
		   [&plugin, cluster = to.cluster] { return plugin.hello(cluster); },
		   [&plugin, this] { return plugin.stats(period); }, is_in_control},
	      reader, plugin.costs, plugin.stop_)
{
}

Plugin::Process Plugin::this_process()
{
	return {getpid(), process_start(), host_name()};
}

void Plugin::open_channels()
{
	if (!config_.has_clusters)
		channels_.push_back(
			std::make_unique<Channel>(*this, ClusterSocket{"", config_.socket}));
	for (const ClusterSocket &to : config_.clusters)
		channels_.push_back(std::make_unique<Channel>(*this, to));
}

bool Plugin::start()
{
	log_info("version " PACKAGE_VERSION " in Slurm %s: %s Feature=%s HybridFeature=%s "
		 "SinkPort=%d Partitions=%s",
		host_.slurm_version, sockets_text(config_).c_str(), config_.feature.c_str(),
		config_.hybrid_feature.c_str(), config_.sink_port,
		joined(config_.partitions).c_str());
	kube_seam_use_sink_port(static_cast<std::uint16_t>(config_.sink_port));
	kube_seam_use_hybrid_feature(config_.hybrid_feature.c_str());
	bool started = keeper_thread_.start("kube-keeper", [this] { keeper_.run(); });
	for (const auto &channel : channels_)
		started = started && channel->thread.start("kube-link", [link = &channel->link] {
			link->run();
		});
	if (config_.sink_port != 0)
		started = started && sink_thread_.start("kube-sink", [this] { sink_.run(); });
	if (!started)
		log_error("cannot start a thread");
	return started;
}

bool Plugin::stop()
{
	stop_.set();
	bool sink = sink_thread_.join(k_join_ms);
	bool links = true;
	for (const auto &channel : channels_)
		links = channel->thread.join(k_join_ms) && links;
	bool keeper = keeper_thread_.join(k_join_ms);
	return sink && links && keeper;
}

/* Called after scontrol reconfigure on 22.05; later releases start a new process instead. Only
 * Partitions take effect at once, because the threads depend on the other keys. */
void Plugin::read_config_again()
{
	Config config = load_config();
	if (config.socket != config_.socket || config.feature != config_.feature ||
		config.hybrid_feature != config_.hybrid_feature ||
		config.sink_port != config_.sink_port || config.clusters != config_.clusters ||
		config.has_clusters != config_.has_clusters)
		log_warning("Socket, Cluster, Feature, HybridFeature and SinkPort of kube.conf "
			    "change when slurmctld is restarted");
	/* Otherwise the partitions for pods would take native jobs until the file can be read. */
	if (config.is_unreadable)
		config.partitions = live()->rules.partitions;
	auto fresh = std::make_shared<const Live>(Live{
		rules_of(host_, config_, std::move(config.partitions)), std::move(config.error)});
	std::lock_guard lock(live_mutex_);
	live_ = std::move(fresh);
}

std::shared_ptr<const Plugin::Live> Plugin::live() const noexcept
{
	std::lock_guard lock(live_mutex_);
	return live_;
}

core::PluginHello Plugin::hello(const std::string &cluster) const
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
	hello.hybrid_feature = config_.hybrid_feature;
	hello.kube_cluster = cluster;
	if (!cluster.empty())
		hello.cluster_feature = cluster_feature(config_.feature, cluster);
	const auto now = live();
	hello.partitions = joined(now->rules.partitions);
	hello.config_error = now->error;
	for (const std::string &trouble : {order_trouble(submit_plugins_), sink_.trouble()})
		if (!trouble.empty())
			hello.config_error += (hello.config_error.empty() ? "" : "; ") + trouble;
	hello.pid = process_.id;
	hello.process_start = process_.start;
	hello.control_since_us = keeper_.control_since_us();
	hello.host = process_.host;
	hello.whole_sockets = host_.whole_sockets;
	hello.has_prolog = kube_seam_has_prolog();
	return hello;
}

core::PluginStats Plugin::stats(Period &period) const
{
	core::PluginStats stats;
	stats.hook = costs.hook.read();
	stats.lock_hold = costs.lock_hold.read();
	stats.lock_wait = costs.lock_wait.read();
	stats.hook_cpu = costs.hook_cpu.read();
	stats.lock_cpu = costs.lock_cpu.read();
	std::uint64_t held = costs.held_ns.load(std::memory_order_relaxed);
	std::int64_t now = now_ns();
	if (now > period.since_ns)
		stats.duty_percent = 100.0 * static_cast<double>(held - period.held_ns) /
			static_cast<double>(now - period.since_ns);
	period = {held, now};
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

} // namespace slurmkube::plugin
