/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics_scheduler.h - families under the names of kube-scheduler, so that alerts and dashboards
 * that a site has for it show pods of Slurm, too. doc/metrics.md says what each value means here.
 *
 * Source of the names and labels: pkg/scheduler/metrics/metrics.go of Kubernetes.
 */
#ifndef SLURMKUBE_AGENT_METRICS_SCHEDULER_H
#define SLURMKUBE_AGENT_METRICS_SCHEDULER_H

#include "src/codec/metrics_text.h"
#include "src/core/inspect/census.h"
#include "src/core/model/latency.h"

namespace slurmkube::agent
{

class App;

void add_scheduler(codec::MetricsText &out, const App &app, const core::Census &census);

/* In seconds; the buckets are powers of two of a millisecond. */
codec::Histogram histogram_of(const core::Latency &latency);

} // namespace slurmkube::agent

#endif
