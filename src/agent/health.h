/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * health.h - what /livez, /readyz and /healthz say about the agent.
 */
#ifndef SLURMKUBE_AGENT_HEALTH_H
#define SLURMKUBE_AGENT_HEALTH_H

#include <string>
#include <vector>

namespace slurmkube::agent
{

class App;

struct HealthCheck {
	const char *name;
	std::string trouble; /* one line; empty: passed */
};

/* Whether this agent schedules pods: it leads, and both sides are in sync. The first trouble is the
 * cause of those after it. */
std::vector<HealthCheck> readiness(const App &app);

/* Which list of Kubernetes cannot be read, and why; empty: all are being read. */
std::string watch_trouble(const App &app);
/* empty: all passed */
std::string first_trouble(const std::vector<HealthCheck> &checks);
/* "ok", or the first trouble in one line. */
std::string health_line(const std::vector<HealthCheck> &checks);
/* One line per check, as Kubernetes components write it: "[+]link ok", "[-]link failed: WHY". */
std::string health_list(const std::string &page, const std::vector<HealthCheck> &checks);
bool is_healthy(const std::vector<HealthCheck> &checks);

} // namespace slurmkube::agent

#endif
