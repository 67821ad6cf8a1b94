/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/metrics_scheduler.h"

#include "src/agent/app.h"
#include "src/core/model/names.h"

namespace slurmkube::agent
{

namespace
{

using codec::MetricKind;

/* kube-scheduler's queue for a pod that waits. A pod in Slurm's queue counts as active: to wait
 * there is normal, and alerts on unschedulable pods are for pods that need a correction. */
const char *queue_of(core::PodPlace place, std::string_view reason)
{
	if (place == core::PodPlace::gated)
		return "gated";
	if (reason == names::k_reason_refused || reason == names::k_reason_no_node)
		return "unschedulable";
	return reason == names::k_reason_retrying ? "backoff" : "active";
}

void add_pending(codec::MetricsText &out, const core::Census &census)
{
	std::map<std::string_view, std::size_t> queues{
		{"active", 0}, {"backoff", 0}, {"gated", 0}, {"unschedulable", 0}};
	for (const auto &[key, count] : census.pods) {
		if (key.first == core::PodPlace::gated || key.first == core::PodPlace::waiting)
			queues[queue_of(key.first, key.second)] += count;
	}
	out.family("scheduler_pending_pods", MetricKind::gauge,
		"Pods that are not bound, by queue; those in Slurm's queue are active.");
	for (const auto &[queue, count] : queues)
		out.sample({{"queue", queue}}, static_cast<double>(count));
}

codec::Histogram attempts_of(const core::BindAttempts &attempts)
{
	codec::Histogram out;
	for (std::size_t i = 0; i < core::BindAttempts::k_bounds.size(); i++)
		out.buckets.push_back(
			{static_cast<double>(core::BindAttempts::k_bounds[i]), attempts.up_to(i)});
	out.count = attempts.count();
	out.sum = static_cast<double>(attempts.sum());
	return out;
}

} // namespace

codec::Histogram histogram_of(const core::Latency &latency)
{
	codec::Histogram out;
	for (unsigned power = 0; power < core::Latency::k_histogram_powers; power++)
		out.buckets.push_back(
			{static_cast<double>(1U << power) / 1000, latency.up_to_ms(power)});
	out.count = latency.count();
	out.sum = static_cast<double>(latency.sum_us()) / 1e6;
	return out;
}

void add_scheduler(codec::MetricsText &out, const App &app, const core::Census &census)
{
	const core::Counters &counters = app.world().counters();
	const std::string &profile = app.config().scheduler_name;
	if (app.world().state().sync.has_link())
		add_pending(out, census);
	out.family("scheduler_schedule_attempts_total", MetricKind::counter,
		"Bindings, by result: scheduled, or error if the API server did not accept it.");
	out.sample({{"result", "scheduled"}, {"profile", profile}},
		static_cast<double>(counters.bound));
	out.sample({{"result", "error"}, {"profile", profile}},
		static_cast<double>(counters.bind_failed));
	out.family("scheduler_pod_scheduling_sli_duration_seconds", MetricKind::histogram,
		"Time from the moment at which the agent saw the pod to its binding.");
	out.histogram(histogram_of(app.world().stage_latencies().seen_to_bound));
	out.family("scheduler_pod_scheduling_attempts", MetricKind::histogram,
		"Number of attempts to successfully schedule a pod.");
	out.histogram(attempts_of(app.world().bind_attempts()));
}

} // namespace slurmkube::agent
