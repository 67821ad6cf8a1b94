/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/health.h"

#include "src/agent/app.h"
#include "src/core/lease/lease_text.h"

#include <algorithm>

namespace slurmkube::agent
{

namespace
{

std::string link_trouble(const App &app)
{
	return app.world().state().sync.has_link()
		? ""
		: "standby: no slurmctld in control is connected with this agent";
}

std::string lists_trouble(const App &app)
{
	const core::Sync &sync = app.world().state().sync;
	if (!sync.is_listed())
		return "the first lists of pods and nodes are not complete";
	return sync.is_fresh() ? "" : "pods and nodes are being listed again after a takeover";
}

std::string cluster_trouble(const App &app)
{
	const core::State &state = app.world().state();
	if (!state.is_cluster_known())
		return "the Kubernetes cluster is not known: " +
			(app.cluster_unknown().empty() ? "its uid has not been read yet"
						       : app.cluster_unknown());
	return state.holds_other_cluster()
		? "live jobs stand for pods of another Kubernetes cluster; see skube check"
		: "";
}

} // namespace

std::string watch_trouble(const App &app)
{
	for (const Kind kind : {Kind::pods, Kind::foreign_pods, Kind::nodes}) {
		const kube::WatchGroup *watch = app.sources().watch(kind);
		if (!watch || !watch->healthy())
			return std::string(row_of(kind).list_text) + ": " +
				(watch ? watch->trouble() : "not started");
	}
	return {};
}

std::vector<HealthCheck> readiness(const App &app)
{
	return {
		{"link", link_trouble(app)},
		{"watches", watch_trouble(app)},
		{"lists", lists_trouble(app)},
		{"cluster", cluster_trouble(app)},
		{"lease", core::lease_hold_text(app.world().state().lease)},
	};
}

std::string first_trouble(const std::vector<HealthCheck> &checks)
{
	for (const HealthCheck &check : checks) {
		if (!check.trouble.empty())
			return check.trouble;
	}
	return {};
}

std::string health_line(const std::vector<HealthCheck> &checks)
{
	const std::string trouble = first_trouble(checks);
	return (trouble.empty() ? "ok" : trouble) + "\n";
}

bool is_healthy(const std::vector<HealthCheck> &checks)
{
	return std::all_of(checks.begin(), checks.end(),
		[](const HealthCheck &check) { return check.trouble.empty(); });
}

std::string health_list(const std::string &page, const std::vector<HealthCheck> &checks)
{
	std::string text;
	for (const HealthCheck &check : checks)
		text += check.trouble.empty()
			? "[+]" + std::string(check.name) + " ok\n"
			: "[-]" + std::string(check.name) + " failed: " + check.trouble + "\n";
	return text + page + (is_healthy(checks) ? " check passed\n" : " check failed\n");
}

} // namespace slurmkube::agent
