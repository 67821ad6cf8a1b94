/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages.h - what the agent answers by HTTP: /livez, /readyz, /healthz, /metrics, and Slurm's own
 * metrics at the paths of slurmctld (slurm_metrics.h).
 */
#ifndef SLURMKUBE_AGENT_PAGES_H
#define SLURMKUBE_AGENT_PAGES_H

#include "src/agent/http/server.h"

namespace slurmkube::agent
{

class App;

/* Does no I/O, except that it reads metrics.token_file for metrics. A scrape of Slurm's own metrics
 * may start a request to slurmctld, whose answer is for the next scrape. The other paths are those
 * of Kubernetes components. */
http::Answer page_of(App &app, const http::Request &request);

/* Why metrics.token_file lets no client read metrics; empty: it does not. */
std::string metrics_token_trouble(const App &app);

} // namespace slurmkube::agent

#endif
