/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checks_kube.cc - the lines of `skube check` about the API server and the agent's rights there.
 */
#include "src/agent/checks_parts.h"
#include "src/agent/config_trial.h"
#include "src/agent/credential_ends.h"
#include "src/core/inspect/sight.h"
#include "src/core/lease/lease_text.h"
#include "src/core/reconcile/report.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <system_error>
#include <unistd.h>

namespace slurmkube::agent::check
{

namespace
{

/* More than a server's clock in whole seconds and a slow answer can explain. */
constexpr double k_clock_skew_max_seconds = 5;
constexpr std::int64_t k_token_soon_seconds = 600;
/* Nobody renews certificates by itself. */
constexpr std::int64_t k_certificate_soon_seconds = 7 * std::int64_t{86'400};
/* A failed binding is retried much sooner: after this time the pod is gone, and the failure is not
 * reported as a problem. */
constexpr std::int64_t k_binding_fresh_seconds = 120;
constexpr char k_look_at_api[] = "look at the line API server first";

} // namespace

Check api_server(const Findings &found)
{
	if (found.api_trouble.empty())
		return passed("API server", "Kubernetes " + found.api_version);
	return failed("API server", found.api_trouble,
		"compare the server and the credentials of kubeconfig in slurmkubed.yaml with the "
		"API server's, and look whether it runs");
}

/* Only some tokens state their expiry; tokens of ServiceAccounts do. */
Check token(const App &app)
{
	const std::string trouble = app.credentials().trouble();
	const auto expires = app.client().token_expires();
	const std::int64_t left = expires ? *expires - now().wall_s : 0;
	if (!trouble.empty())
		return failed("token", trouble,
			"write a fresh one with 'skube kubeconfig', or into the file that "
			"tokenFile of the kubeconfig names");
	if (!expires)
		return passed("token", "without an expiry, or a client certificate");
	const std::string when = core::minute_text(*expires);
	if (left <= 0)
		return failed("token", "expired " + when,
			"write a fresh one with 'skube kubeconfig', which the agent renews by "
			"itself");
	if (left <= k_token_soon_seconds)
		return failed("token", "expires " + when + ", in " + std::to_string(left) + " s",
			"write a fresh one with 'skube kubeconfig', which the agent renews by "
			"itself");
	return passed("token", "expires " + when);
}

Check certificates(const App &app)
{
	constexpr char name[] = "certificates";
	std::string fine;
	for (const CredentialEnd &one : certificate_ends(app.config())) {
		const std::int64_t left = one.ends - now().wall_s;
		const std::string text = std::string(one.name) +
			(left <= 0 ? " ended " : " ends ") + core::minute_text(one.ends);
		const bool is_of_metrics = one.file == app.config().metrics.tls_cert_file;
		if (left <= k_certificate_soon_seconds && is_of_metrics)
			return failed(name, "the " + text + ": " + one.file,
				"write a new one and its key into metrics.tls_cert_file and "
				"metrics.tls_key_file, which the agent reads every 10 s");
		if (left <= k_certificate_soon_seconds)
			return failed(name, "the " + text + ": " + one.file,
				"write a new one into the kubeconfig or the file that it names, "
				"which the agent takes by itself; 'skube kubeconfig' makes a "
				"kubeconfig with the present CA and a token in place of a client "
				"certificate");
		add_name(fine, text);
	}
	return passed(name, fine.empty() ? "none" : fine);
}

/* Reads the files as at startup: a file that has disappeared does not disturb the running agent,
 * but its next start would fail. */
Check files(const App &app)
{
	if (!app.file_trouble().empty())
		return failed("files",
			"slurmkubed.yaml was not taken when it was last read again: " +
				app.file_trouble(),
			"correct it, then systemctl reload slurmkubed, before a restart reads it");
	std::string trouble;
	for (const std::string &text : try_credentials(app.config()))
		trouble += (trouble.empty() ? "" : "; ") + text;
	const std::string &slurm_conf = app.config().slurm.conf;
	if (!slurm_conf.empty() && ::access(slurm_conf.c_str(), R_OK) != 0)
		trouble += (trouble.empty() ? "" : "; ") + slurm_conf + ": " +
			std::generic_category().message(errno);
	if (trouble.empty() && !app.keys_for_restart_only().empty())
		return failed("files",
			"slurmkubed.yaml has changed since the agent was started: " +
				app.keys_for_restart_only(),
			"systemctl restart slurmkubed, which harms no pod; before a change of "
			"cluster, nodes.cpu_unit or nodes.name_prefix read the administration "
			"guide");
	if (trouble.empty())
		return passed("files", "all that slurmkubed.yaml names can be read");
	return failed("files", trouble,
		"make them readable for the agent's user: at its next start it needs them");
}

Check rights(const Findings &found)
{
	if (!found.rights_trouble.empty())
		return failed("rights", found.rights_trouble, k_look_at_api);
	std::string missing;
	for (const kube::Right &right : found.rights) {
		if (!right.allowed)
			add_name(missing, right.verb + " " + right.resource);
	}
	const std::string age = found.rights_age_seconds > 0
		? ", as of " + seconds_ago(found.rights_age_seconds)
		: "";
	if (missing.empty())
		return passed("rights",
			"all " + std::to_string(found.rights.size()) + " are granted" + age);
	return failed("rights", "missing: " + missing + age,
		"'skube manifests | kubectl apply -f -', and use the kubeconfig that 'skube "
		"kubeconfig' makes");
}

/* Whether the pods and the jobs belong to the same Kubernetes cluster. */
Check cluster(const App &app)
{
	const core::World &world = app.world();
	const std::string &uid = world.state().settings.policy.cluster_uid;
	if (!app.cluster_unknown().empty())
		return failed("cluster", app.cluster_unknown() + "; nothing is done meanwhile",
			"look at the lines API server and rights");
	if (uid.empty())
		return failed("cluster", "its uid is not known yet", k_look_at_api);
	if (const std::string text = core::other_cluster_text(world); !text.empty())
		return failed("cluster", text, core::other_cluster_remedy(world));
	if (world.held_absent_pods() > 0)
		return failed("cluster", core::absent_pods_text(world), core::absent_pods_remedy());
	if (const std::string text = core::other_name_text(world); !text.empty())
		return failed("cluster", text, core::other_name_remedy(world));
	return passed("cluster",
		world.state().settings.policy.cluster + ", uid " + uid +
			" (of namespace kube-system); no job is of another");
}

/* Whether another Slurm cluster, or a copy of this one, serves the same pods. */
Check lease(const App &app)
{
	constexpr char name[] = "lease";
	const core::LeaseState &state = app.world().state().lease;
	if (const std::string text = core::lease_hold_text(state); !text.empty())
		return failed(name, text, core::lease_hold_remedy(state));
	if (const std::string text = core::lease_trouble_text(state); !text.empty())
		return failed(name, text, core::lease_trouble_remedy());
	return passed(name, core::lease_holder_text(state));
}

Check bindings(const App &app)
{
	const LastBinding &last = app.last_binding();
	if (last.pod.empty())
		return passed("bindings", "none yet");
	const std::int64_t age = (now().mono_us - last.at.mono_us) / 1'000'000;
	if (last.trouble.empty())
		return passed("bindings", "the last one, " + seconds_ago(age) + ", was accepted");
	const std::string text = "the last one, of pod " + last.pod + ", " + seconds_ago(age) +
		", failed: " + last.trouble;
	if (age > k_binding_fresh_seconds)
		return passed("bindings", text + "; none was tried since");
	return failed("bindings", text,
		"look at the lines API server, token and rights, and at admission webhooks for "
		"pods/binding; it is tried again by itself");
}

Check watch(const App &app, Kind kind, const Findings &found)
{
	const char *name = row_of(kind).check_name;
	const kube::WatchGroup *source = app.sources().watch(kind);
	if (!source || !source->synced())
		return failed(name,
			source && !source->healthy() ? source->trouble()
						     : "first list not complete",
			k_look_at_api);
	if (!source->healthy())
		return failed(name, source->trouble(), "look at the lines API server and rights");
	if (!found.api_trouble.empty())
		return failed(name,
			"list complete, but nothing new comes while the API server does not answer",
			k_look_at_api);
	return passed(name, "list complete, watching");
}

namespace
{

/* Not those of nodes without a name: their labels are wrong, and the records may be right. */
std::string records_left_behind(const App &app)
{
	const core::NodeNames &names = app.world().names();
	std::string text;
	for (const auto &[node, record] : app.world().state().slurm_nodes) {
		const std::string name = names.in_slurm(node);
		if (names.is_left_behind(node) && !record.is_hybrid &&
			!names.has_no_name(std::string_view(name).substr(names.prefix.size())))
			add_name(text, name);
	}
	return text;
}

} // namespace

std::vector<Check> node_names(const App &app)
{
	constexpr char name[] = "node names";
	const core::NodeNames &names = app.world().names();
	std::string troubles;
	for (const std::string &one : app.world().nodes().namer().troubles())
		troubles += (troubles.empty() ? "" : "; ") + one;
	std::string remedy = troubles.empty()
		? ""
		: std::string("correct the label ") + names::k_slurm_node_label + " of the nodes";
	if (const std::string left = records_left_behind(app); !left.empty()) {
		add_name(troubles,
			"external nodes in Slurm whose nodes have another name by their label: " +
				left);
		add_name(remedy,
			"take the external nodes out of Slurm: scontrol delete NodeName=NAME, or "
			"their lines in slurm.conf");
	}
	if (!troubles.empty())
		return {failed(name, troubles, remedy)};
	if (!names.by_label)
		return {};
	return {passed(name,
		std::to_string(names.by_label->in_slurm.size()) +
			" nodes have another name in Slurm, by their label")};
}

Check clock(const Findings &found)
{
	if (!found.clock_ahead_seconds)
		return failed("clock", "the API server's clock is not known", k_look_at_api);
	char text[96];
	(void)snprintf(text, sizeof(text), "the API server's clock differs by %.0f s",
		std::fabs(*found.clock_ahead_seconds));
	if (std::fabs(*found.clock_ahead_seconds) <= k_clock_skew_max_seconds)
		return passed("clock", text);
	return failed("clock", text, "synchronize both machines (chrony, systemd-timesyncd)");
}

} // namespace slurmkube::agent::check
