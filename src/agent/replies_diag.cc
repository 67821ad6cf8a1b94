/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replies_diag.cc - the replies to `skube diag` and `skube top`: counts, latencies, cost in
 * slurmctld
 * and counters.
 */
#include "src/agent/replies_parts.h"
#include "src/codec/link.h"
#include "src/core/inspect/census.h"

namespace slurmkube::agent
{

namespace
{

using codec::Json;
using codec::new_object;
using codec::put;

Json cost_row(const core::Cost &cost)
{
	Json row = new_object();
	put(row.get(), "count", cost.count);
	put(row.get(), "mean_us", cost.mean_us);
	put(row.get(), "p99_us", cost.p99_us);
	put(row.get(), "max_us", cost.max_us);
	return row;
}

Json plugin_row(const core::PluginStats &stats)
{
	Json row = new_object();
	put(row.get(), "hook", cost_row(stats.hook));
	put(row.get(), "lock_hold", cost_row(stats.lock_hold));
	put(row.get(), "lock_wait", cost_row(stats.lock_wait));
	put(row.get(), "hook_cpu", cost_row(stats.hook_cpu));
	put(row.get(), "lock_cpu", cost_row(stats.lock_cpu));
	put(row.get(), "duty_percent", stats.duty_percent);
	put(row.get(), "placeholders", stats.placeholders);
	put(row.get(), "external_nodes", stats.external_nodes);
	put(row.get(), "refused", stats.refused);
	put(row.get(), "duplicates_refused", stats.duplicates_refused);
	put(row.get(), "sink_contacts", stats.sink_contacts);
	put(row.get(), "sink_refused", stats.sink_refused);
	put(row.get(), "reconnects", stats.reconnects);
	put(row.get(), "queue_drops", stats.queue_drops);
	return row;
}

Json latency_row(const core::Latency &latency)
{
	constexpr double k_us_per_ms = 1000;
	Json row = new_object();
	put(row.get(), "count", latency.count());
	put(row.get(), "p50_ms", static_cast<double>(latency.quantile_us(0.5)) / k_us_per_ms);
	put(row.get(), "p99_ms", static_cast<double>(latency.quantile_us(0.99)) / k_us_per_ms);
	put(row.get(), "max_ms", static_cast<double>(latency.max_us()) / k_us_per_ms);
	return row;
}

Json latencies_row(const core::StageLatencies &stage_latencies)
{
	Json row = new_object();
	for (const core::StageRow &stage : core::k_stage_rows)
		put(row.get(), stage.name, latency_row(stage_latencies.*stage.latency));
	return row;
}

Json counters_row(const App &app)
{
	const core::Counters &c = app.world().counters();
	const kube::ClientCounters &k = app.client().counters();
	Json row = new_object();
	for (const auto &[name, value] :
		std::initializer_list<std::pair<const char *, std::uint64_t>>{
			{"submitted", c.submitted},
			{"submit_failed", c.submit_failed},
			{"updated", c.updated},
			{"bound", c.bound},
			{"bind_failed", c.bind_failed},
			{"completed", c.completed},
			{"cancelled", c.cancelled},
			{"removed", c.removed},
			{"reported", c.reported},
			{"readopted", c.readopted},
			{"gate_waits", c.gate_waits},
			{"not_started", c.not_started},
			{"events", app.events().written()},
			{"events_dropped", app.events().dropped()},
			{"kube_requests", k.requests},
			{"kube_failures", k.failures},
			{"kube_throttled", k.throttled},
			{"kube_repeats", k.repeats},
			{"kube_bytes_received", k.bytes_received},
		})
		put(row.get(), name, value);
	return row;
}

Json count_row(const char *state, std::string_view reason, std::size_t count)
{
	Json row = new_object();
	put(row.get(), "state", state);
	put(row.get(), "reason", reason);
	put(row.get(), "count", static_cast<std::int64_t>(count));
	return row;
}

Json nodes_row(const core::NodeCensus &nodes)
{
	Json row = new_object();
	for (const auto &[name, count] :
		{std::pair("in_service", nodes.in_service), std::pair("drained", nodes.drained),
			std::pair("down", nodes.down), std::pair("not_ready", nodes.not_ready)})
		put(row.get(), name, static_cast<std::int64_t>(count));
	return row;
}

} // namespace

Json top(const App &app, const ctl::Peer &peer)
{
	const core::State &state = app.world().state();
	const core::Census census = core::census_of(state);
	Json pods = codec::new_array(), jobs = codec::new_array();
	for (const auto &[key, count] : census.pods)
		codec::append(
			pods.get(), count_row(core::place_text(key.first), key.second, count));
	for (const auto &[key, count] : census.jobs)
		codec::append(jobs.get(), count_row(codec::to_name(key.first), key.second, count));
	Json reply = ping(app);
	put(reply.get(), "pods", std::move(pods));
	put(reply.get(), "jobs", std::move(jobs));
	put(reply.get(), "nodes", nodes_row(core::nodes_of(state)));
	const core::PodEntry *oldest = core::oldest_waiting(state);
	if (oldest && peer.may_see(user_of(app.world(), *oldest->pod)))
		put(reply.get(), "oldest", pod_data(app.world(), *oldest));
	put(reply.get(), "stage_latencies", latencies_row(app.world().stage_latencies()));
	put(reply.get(), "counters", counters_row(app));
	return reply;
}

Json diag(const App &app)
{
	const core::PluginHello &hello = app.world().state().sync.plugin();
	Json reply = ok_reply();
	put(reply.get(), "plugin_version", hello.plugin_version);
	put(reply.get(), "slurm_version", hello.slurm_version);
	put(reply.get(), "family", codec::to_name(hello.family));
	put(reply.get(), "stage_latencies", latencies_row(app.world().stage_latencies()));
	put(reply.get(), "counters", counters_row(app));
	put(reply.get(), "plugin", plugin_row(app.plugin_stats()));
	return reply;
}

} // namespace slurmkube::agent
