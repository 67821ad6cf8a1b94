/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics.h - the page /metrics. doc/metrics.md lists the families.
 */
#ifndef SLURMKUBE_AGENT_METRICS_H
#define SLURMKUBE_AGENT_METRICS_H

#include <string>

namespace slurmkube::agent
{

class App;

/* In Prometheus' text format (codec/metrics_text.h). Asks neither Slurm nor Kubernetes. No label
 * has a value that users choose, so the number of lines has a limit. */
std::string metrics_page(const App &app);

} // namespace slurmkube::agent

#endif
