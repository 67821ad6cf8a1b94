/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/metrics.h"

#include "src/agent/app.h"
#include "src/agent/credential_ends.h"
#include "src/agent/health.h"
#include "src/agent/metrics_process.h"
#include "src/agent/metrics_scheduler.h"
#include "src/codec/link.h"
#include "src/codec/metrics_text.h"
#include "src/core/inspect/census.h"

#include <tuple>

namespace slurmkube::agent
{

namespace
{

using codec::MetricKind;
using codec::MetricsText;

void add_state(MetricsText &out, const App &app)
{
	const core::Sync &sync = app.world().state().sync;
	out.family("slurm_kube_build_info", MetricKind::gauge,
		"Versions of the agent, the plugin and slurmctld; the value is 1.");
	out.sample(
		{{"version", SLURMKUBE_VERSION}, {"plugin_version", sync.plugin().plugin_version},
			{"slurm_version", sync.plugin().slurm_version}},
		1);
	out.family("slurm_kube_link_up", MetricKind::gauge,
		"1 if the plugin of the slurmctld in control is connected, so that this agent "
		"leads.");
	out.sample(sync.has_link() ? 1 : 0);
	out.family("slurm_kube_ready", MetricKind::gauge,
		"1 if this agent leads and both sides are in sync, as /readyz says.");
	out.sample(is_healthy(readiness(app)) ? 1 : 0);
}

/* Pending jobs and waiting pods have a sample in any case, so that a rule on them finds one. */
void add_census(MetricsText &out, const core::State &state, core::Census census)
{
	census.pods[{core::PodPlace::waiting, names::k_reason_pending}] += 0;
	census.pods[{core::PodPlace::running, ""}] += 0;
	out.family("slurm_kube_pods", MetricKind::gauge,
		"Pods of this scheduler by state; for those that wait, the reason of the condition "
		"PodScheduled.");
	for (const auto &[key, count] : census.pods)
		out.sample({{"state", core::place_text(key.first)}, {"reason", key.second}},
			static_cast<double>(count));
	census.jobs[{core::JobState::pending, "Resources"}] += 0;
	census.jobs[{core::JobState::running, ""}] += 0;
	out.family("slurm_kube_placeholders", MetricKind::gauge,
		"Placeholder jobs by state, and the reason of Slurm why those pending wait.");
	for (const auto &[key, count] : census.jobs)
		out.sample({{"state", codec::to_name(key.first)}, {"reason", key.second}},
			static_cast<double>(count));
	out.family("slurm_kube_external_nodes", MetricKind::gauge,
		"Nodes that Kubernetes has for Slurm, and external nodes that Slurm has.");
	out.sample({{"side", "kubernetes"}}, static_cast<double>(state.kube_nodes.size()));
	out.sample({{"side", "slurm"}}, static_cast<double>(state.slurm_nodes.size()));
}

void add_latencies(MetricsText &out, const core::StageLatencies &of)
{
	out.family("slurm_kube_stage_duration_seconds", MetricKind::histogram,
		"How long the stages of pods and nodes take, as this agent sees them.");
	for (const core::StageRow &stage : core::k_stage_rows)
		out.histogram({{"stage", stage.name}}, histogram_of(of.*stage.latency));
}

struct CounterRow {
	const char *name, *help;
	std::uint64_t value;
};

void add_counters(MetricsText &out, std::initializer_list<CounterRow> rows)
{
	for (const CounterRow &row : rows) {
		out.family(row.name, MetricKind::counter, row.help);
		out.sample(static_cast<double>(row.value));
	}
}

void add_actions(MetricsText &out, const core::Counters &c)
{
	out.family("slurm_kube_actions_total", MetricKind::counter,
		"Actions of the agent that have been answered.");
	for (const auto &[action, result, value] :
		std::initializer_list<std::tuple<const char *, const char *, std::uint64_t>>{
			{"submit", "success", c.submitted},
			{"submit", "error", c.submit_failed},
			{"update", "success", c.updated},
			{"bind", "success", c.bound},
			{"bind", "error", c.bind_failed},
			{"complete", "success", c.completed},
			{"cancel", "success", c.cancelled},
			{"delete_pod", "success", c.removed},
			{"report", "success", c.reported},
		})
		out.sample({{"action", action}, {"result", result}}, static_cast<double>(value));
	out.family("slurm_kube_evictions_total", MetricKind::counter,
		"Pods that the agent has deleted, by cause: the state in which their Slurm job "
		"ended, or start_limit.");
	for (std::size_t i = 0; i < c.evictions.size(); i++)
		out.sample({{"cause", core::name_of(static_cast<core::Eviction>(i))}},
			static_cast<double>(c.evictions[i]));
	add_counters(out,
		{{"slurm_kube_gate_waits_total",
			 "Looks at an allocated pod that its node could not take yet.",
			 c.gate_waits},
			{"slurm_kube_not_started_total",
				"Pods deleted because no container started in time.",
				c.not_started},
			{"slurm_kube_readopted_total",
				"Jobs submitted again for pods that run, because Slurm had lost "
				"theirs.",
				c.readopted}});
}

const char *verb_text(kube::Method method)
{
	switch (method) {
	case kube::Method::get:
		return "GET";
	case kube::Method::post:
		return "POST";
	case kube::Method::patch:
		return "PATCH";
	case kube::Method::put:
		return "PUT";
	case kube::Method::remove:
		break;
	}
	return "DELETE";
}

void add_requests(MetricsText &out, const App &app)
{
	const kube::ClientCounters &k = app.client().counters();
	out.family("slurm_kube_api_requests_total", MetricKind::counter,
		"Answers of the API server by HTTP method and status.");
	for (const auto &[key, count] : k.answers_by_status)
		out.sample({{"verb", verb_text(key.first)}, {"code", std::to_string(key.second)}},
			static_cast<double>(count));
	add_counters(out,
		{{"slurm_kube_api_failures_total", "Requests without an HTTP answer.", k.failures},
			{"slurm_kube_api_retries_total", "Requests that were sent once more.",
				k.repeats},
			{"slurm_kube_api_throttled_total", "Answers 429 and 503.", k.throttled},
			{"slurm_kube_api_received_bytes_total", "Bytes received in bodies.",
				k.bytes_received},
			{"slurm_kube_events_written_total", "Events written to the API server.",
				app.events().written()},
			{"slurm_kube_events_dropped_total",
				"Events dropped because too many waited.",
				app.events().dropped()}});
}

void add_credentials(MetricsText &out, const App &app)
{
	out.family("slurm_kube_credential_expiry_timestamp_seconds", MetricKind::gauge,
		"When a credential of the agent ends, in seconds since unix epoch.");
	if (const auto token = app.client().token_expires())
		out.sample({{"credential", "token"}}, static_cast<double>(*token));
	for (const CredentialEnd &one : certificate_ends(app.config()))
		out.sample({{"credential", one.name}}, static_cast<double>(one.ends));
}

void add_watches(MetricsText &out, const App &app)
{
	const auto add = [&](const char *name, const char *help, auto member) {
		out.family(name, MetricKind::counter, help);
		for (const Kind kind :
			{Kind::pods, Kind::foreign_pods, Kind::nodes, Kind::namespaces,
				Kind::claims, Kind::volumes, Kind::classes, Kind::slices,
				Kind::device_classes, Kind::taint_rules, Kind::resource_claims}) {
			if (const kube::WatchGroup *watch = app.sources().watch(kind))
				out.sample({{"kind", row_of(kind).list_text}},
					static_cast<double>(watch->counters().*member));
		}
	};
	add("slurm_kube_watch_streams_total", "Watch streams opened.",
		&kube::WatchCounters::streams);
	add("slurm_kube_watch_errors_total", "Lists and streams that failed.",
		&kube::WatchCounters::errors);
	add("slurm_kube_watch_lists_total", "Complete lists.", &kube::WatchCounters::lists);
	add("slurm_kube_watch_events_total", "Objects added, modified and deleted.",
		&kube::WatchCounters::events);
}

void add_plugin_costs(MetricsText &out, const core::PluginStats &stats)
{
	const std::pair<const char *, const core::Cost &> costs[] = {{"hook", stats.hook},
		{"lock_hold", stats.lock_hold}, {"lock_wait", stats.lock_wait},
		{"hook_cpu", stats.hook_cpu}, {"lock_cpu", stats.lock_cpu}};
	out.family("slurm_kube_plugin_calls_total", MetricKind::counter,
		"Hooks and lock holds of the plugin since slurmctld started.");
	for (const auto &[what, cost] : costs)
		out.sample({{"what", what}}, static_cast<double>(cost.count));
	out.family("slurm_kube_plugin_seconds_total", MetricKind::counter,
		"Time of the plugin's hooks and lock holds in slurmctld.");
	for (const auto &[what, cost] : costs)
		out.sample({{"what", what}}, cost.mean_us * static_cast<double>(cost.count) / 1e6);
	out.family("slurm_kube_plugin_longest_seconds", MetricKind::gauge,
		"The longest of them since slurmctld started.");
	for (const auto &[what, cost] : costs)
		out.sample({{"what", what}}, cost.max_us / 1e6);
	out.family("slurm_kube_plugin_lock_ratio", MetricKind::gauge,
		"Share of the last period in which the plugin held a lock of slurmctld.");
	out.sample(stats.duty_percent / 100);
}

void add_plugin(MetricsText &out, const core::PluginStats &stats)
{
	add_plugin_costs(out, stats);
	add_counters(out,
		{{"slurm_kube_plugin_refused_total", "Jobs that the plugin refused.",
			 stats.refused},
			{"slurm_kube_plugin_duplicates_refused_total",
				"Second jobs of a pod that the plugin refused.",
				stats.duplicates_refused},
			{"slurm_kube_link_reconnects_total",
				"Connections of the plugin to an agent after the first.",
				stats.reconnects},
			{"slurm_kube_link_dropped_total",
				"Messages that the plugin dropped because its queue was full.",
				stats.queue_drops}});
}

} // namespace

std::string metrics_page(const App &app)
{
	MetricsText out;
	add_state(out, app);
	const core::Census census = core::census_of(app.world().state());
	/* A standby sees the same pods as the agent that leads, and knows Slurm as it was when it
	 * led: sums over all agents would count twice. */
	const bool leads = app.world().state().sync.has_link();
	if (leads)
		add_census(out, app.world().state(), census);
	add_latencies(out, app.world().stage_latencies());
	add_actions(out, app.world().counters());
	add_requests(out, app);
	add_credentials(out, app);
	add_watches(out, app);
	if (leads)
		add_plugin(out, app.plugin_stats());
	add_scheduler(out, app, census);
	add_process(out, app.started().wall_s);
	return out.take_text();
}

} // namespace slurmkube::agent
