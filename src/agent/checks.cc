/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/checks.h"

#include "src/agent/checks_parts.h"
#include "src/agent/pages.h"

#include <algorithm>

namespace slurmkube::agent
{

std::string why_nodes_are_unknown(const App &app, const std::string &api_trouble)
{
	const kube::WatchGroup *watch = app.sources().watch(Kind::nodes);
	if (!api_trouble.empty())
		return "the API server: " + api_trouble;
	if (!watch || !watch->synced() || !watch->healthy())
		return watch && !watch->healthy() ? "the list of nodes: " + watch->trouble()
						  : "the first list of nodes is not complete";
	return app.world().state().sync.is_listed() ? ""
						    : "the first lists of pods are not complete";
}

namespace
{

using check::add_name;
using check::failed;
using check::passed;

std::string write_node_lines(const App &app)
{
	return "'skube nodes --slurm-conf --output FILE', FILE being what slurm.conf includes, "
	       "then " +
		how_slurmctld_rereads(app.world().state().sync.plugin());
}

std::string made_when_ready(const core::World &world)
{
	const std::string &feature = world.state().sync.plugin().cluster_feature;
	return std::string("they are made when they are Ready; see the agent's log") +
		(feature.empty() ? ""
				 : ". If Slurm has a record of that name, it lacks the feature " +
					feature + " or has that of another cluster");
}

/* Their names in Slurm, for commands of Slurm. */
std::string list_of(const App &app, const std::vector<std::string> &names)
{
	constexpr std::size_t k_named_most = 8;
	std::string text;
	for (std::size_t i = 0; i < names.size() && i < k_named_most; i++)
		text += (i == 0 ? "" : ", ") + app.world().names().in_slurm(names[i]);
	return names.size() > k_named_most
		? text + " and " + std::to_string(names.size() - k_named_most) + " more"
		: text;
}

/* Nodes that are in Slurm but not in Kubernetes. The remedy confirms the loss with commands of
 * Slurm, because these name the nodes. */
Check vanished_nodes(const App &app)
{
	const core::World &world = app.world();
	const core::NodeDoubts &absent = world.nodes().absent();
	const std::string selector = app.config().nodes.selector_key +
		(app.config().nodes.selector_value ? "=" + *app.config().nodes.selector_value : "");
	const std::size_t all = world.state().slurm_nodes.size(), unmanaged = absent.refuted();
	if (world.holds_absent_nodes())
		return failed("vanished nodes",
			std::to_string(absent.names().size()) + " of " + std::to_string(all) +
				" external nodes have vanished from Kubernetes, too many to be "
				"believed: " +
				list_of(app, absent.names()) +
				". They are drained; no pod is deleted, no node set DOWN",
			"if they should be there: compare kubeconfig and nodes.selector in "
			"slurmkubed.yaml with kubectl get nodes -l " +
				selector +
				"; they return by themselves. If they are gone for good: scontrol "
				"update NodeName=LIST State=DOWN Reason=gone, or raise "
				"nodes.max_gone_percent "
				"and reload slurmkubed");
	if (unmanaged >
		std::max<std::size_t>(1, all * world.state().settings.nodes.max_gone_percent / 100))
		return failed("vanished nodes",
			std::to_string(unmanaged) + " of " + std::to_string(all) +
				" external nodes are not managed: they exist in Kubernetes without "
				"the label " +
				selector + " and are drained in Slurm",
			"correct nodes.selector in slurmkubed.yaml and reload slurmkubed, or "
			"label them: kubectl label node NAME " +
				app.config().nodes.selector_key + "=" +
				app.config().nodes.selector_value.value_or("true") +
				"; or take them out of Slurm");
	const std::size_t gone = absent.names().size();
	return passed("vanished nodes",
		gone + unmanaged == 0 ? "none"
				      : std::to_string(gone + unmanaged) +
				" of Slurm's external nodes are not managed in Kubernetes any "
				"more; drained");
}

/* Pods on nodes that are not Ready may be running. Kubernetes does not evict pods either while a
 * whole zone is unreachable. */
Check unready_nodes(const App &app)
{
	const core::World &world = app.world();
	const std::vector<std::string> names = world.nodes().unready().names();
	if (!world.holds_unready_nodes())
		return passed("nodes not ready",
			names.empty() ? "none"
				      : std::to_string(names.size()) + ": " + list_of(app, names));
	return failed("nodes not ready",
		std::to_string(names.size()) + " of " +
			std::to_string(world.state().slurm_nodes.size()) +
			" external nodes are not Ready in Kubernetes, too many to be believed: " +
			list_of(app, names) +
			". They are drained; no node is set DOWN, and their pods go on",
		"see what lies between the API server and these nodes; they return by themselves. "
		"If they are lost: "
		"scontrol update NodeName=LIST State=DOWN Reason=lost, or raise "
		"nodes.max_gone_percent and reload slurmkubed");
}

Check nodes(const App &app, const Findings &found)
{
	const core::World &world = app.world();
	if (const std::string unknown = why_nodes_are_unknown(app, found.api_trouble);
		!unknown.empty())
		return failed("nodes", "not known: " + unknown, "look at the lines above first");
	if (!world.state().sync.has_link())
		return failed("nodes", "Slurm's are not known: the plugin is not connected",
			"look at the line plugin first");
	std::string absent;
	for (const auto &[name, node] : world.state().kube_nodes) {
		if (!world.state().slurm_nodes.contains(name))
			add_name(absent, name);
	}
	if (world.state().kube_nodes.empty())
		return failed("nodes",
			"no node of Kubernetes has the label " + app.config().nodes.selector_key,
			"'kubectl label node NAME " + app.config().nodes.selector_key + "=true'");
	if (!absent.empty())
		return failed("nodes", "not in Slurm: " + absent,
			core::has_dynamic_nodes(world.state().sync.plugin()) &&
					app.config().nodes.manage
				? made_when_ready(world)
				: write_node_lines(app));
	return passed("nodes",
		std::to_string(world.state().kube_nodes.size()) + " managed, all in Slurm");
}

Check differences(const App &app)
{
	const core::World &world = app.world();
	std::string text;
	for (const auto &[name, kube] : world.state().kube_nodes) {
		const auto slurm = world.state().slurm_nodes.find(name);
		if (slurm == world.state().slurm_nodes.end() || slurm->second.is_hybrid)
			continue;
		const core::NodeSpec spec = core::node_spec(world.as_left(kube),
			world.state().settings.nodes, world.state().sync.plugin());
		if (slurm->second.cpus > spec.cpus || slurm->second.memory_mib > spec.memory_mib)
			add_name(text, name);
	}
	if (text.empty())
		return passed("node sizes",
			"Slurm counts no more than is allocatable and not used by others");
	return failed("node sizes",
		"Slurm counts more CPUs or memory than is allocatable and not used by others: " +
			text,
		write_node_lines(app));
}

/* The units differ by a factor of ten. A node's CPUs also vary with what other pods use, but by a
 * smaller factor. */
Check cpu_unit(const App &app)
{
	constexpr std::uint64_t k_factor = 4;
	const core::World &world = app.world();
	const std::string unit = app.config().nodes.cpu_unit == core::k_whole_cpu ? "1" : "100m";
	for (const auto &[name, kube] : world.state().kube_nodes) {
		const auto slurm = world.state().slurm_nodes.find(name);
		if (slurm == world.state().slurm_nodes.end() || slurm->second.is_hybrid)
			continue;
		const std::uint64_t wanted = core::node_spec(kube, world.state().settings.nodes,
					    world.state().sync.plugin())
						     .cpus,
				    has = slurm->second.cpus;
		if (wanted > has * k_factor || has > wanted * k_factor)
			return failed("CPU unit",
				"node " + name + " has CPUs=" + std::to_string(has) +
					" in Slurm, and nodes.cpu_unit " + unit + " makes that " +
					std::to_string(wanted),
				write_node_lines(app) + "; or change nodes.cpu_unit");
	}
	return passed("CPU unit", "Slurm's nodes are counted by " + unit);
}

Check sharing(const App &app)
{
	std::string refused, suspending;
	for (const auto &[name, why] : app.sharing_partitions().refused)
		refused += (refused.empty() ? "" : ", ") + name;
	for (const std::string &name : app.sharing_partitions().suspending)
		suspending += (suspending.empty() ? "" : ", ") + name;
	if (!suspending.empty())
		return failed("sharing",
			"PreemptMode=SUSPEND in partitions with nodes of Kubernetes: " + suspending,
			"set PreemptMode=CANCEL or OFF: no pod is suspended with its job, and jobs "
			"that take its CPUs are charged until they give them back");
	if (!refused.empty())
		return passed("sharing",
			"pods are refused in partitions with OverSubscribe=FORCE: " + refused);
	return passed("sharing", "no partition for pods gives CPUs out twice");
}

Check identity(const App &app)
{
	const std::size_t rules = app.config().identity.rules.size();
	if (rules == 0)
		return failed("identity", "no namespace may submit",
			"add identity.rules to slurmkubed.yaml, then systemctl reload slurmkubed");
	std::string unknown;
	for (const auto &[name, person] :
		app.world().state().settings.policy.identity_facts.users) {
		if (!person)
			add_name(unknown, name);
	}
	if (unknown.empty())
		return passed("identity", std::to_string(rules) + " rules");
	return failed("identity",
		"annotations of namespaces name users that this machine does not have: " + unknown,
		"correct the annotations, or add the users to this machine");
}

/* Names of nodes, and the first reason. */
Check devices(const App &app)
{
	const core::State &state = app.world().state();
	if (!state.devices.unreadable().empty())
		return failed("devices", state.devices.unreadable(),
			"give the agent the rights that 'skube manifests' prints for the rules in "
			"devices; the API server must be 1.34 or later");
	std::string nodes, why;
	for (const auto &[name, node] : state.kube_nodes) {
		if (core::is_hybrid(state.slurm_node(name)))
			continue; /* see checks_hybrid.cc */
		const std::string trouble = state.devices
						    .on_node(name, state.settings.devices,
							    state.slurm_node(name), now().mono_us)
						    .trouble;
		if (trouble.empty())
			continue;
		add_name(nodes, name);
		why = why.empty() ? trouble : why;
	}
	if (nodes.empty())
		return passed("devices",
			std::to_string(state.settings.devices.size()) +
				" rules; all nodes have complete lists");
	return failed("devices", "no complete list of devices, so GRES stay as they are: " + nodes,
		"'skube show devices' says why of each; the first: " + why);
}

Check metrics(const App &app)
{
	const std::string &address = app.config().metrics.listen;
	const HttpService &http = app.http();
	if (!http.trouble().empty())
		return failed("metrics", "no metrics and no health by HTTP: " + http.trouble(),
			"set metrics.listen in slurmkubed.yaml to a free address, or to \"\" for "
			"none, then systemctl reload slurmkubed");
	if (!http.old_certificate().empty())
		return failed("metrics",
			"served with the old certificate: " + http.old_certificate(),
			"correct the files of metrics.tls_cert_file and metrics.tls_key_file; the "
			"agent reads them every 10 s");
	if (const std::string why = metrics_token_trouble(app); !address.empty() && !why.empty())
		return failed("metrics", "every scrape is refused: " + why,
			"write the bearer token of Prometheus into the file that "
			"metrics.token_file "
			"names");
	return passed("metrics", address.empty() ? "off" : "at " + address);
}

} // namespace

std::vector<Check> checks_of(const App &app, const Findings &found)
{
	std::vector<Check> all = {
		check::slurmctld(found),
		check::slurm_user(found),
		check::plugin(app),
		check::release(app),
		check::plugin_config(app, found),
		check::files(app),
		check::api_server(found),
		check::cluster(app),
		check::lease(app),
		check::token(app),
		check::certificates(app),
		check::rights(found),
		check::bindings(app),
		check::watch(app, Kind::pods, found),
		check::watch(app, Kind::foreign_pods, found),
		check::watch(app, Kind::nodes, found),
		nodes(app, found),
		vanished_nodes(app),
		unready_nodes(app),
		differences(app),
		cpu_unit(app),
		check::partitions(app, found),
		check::mixed_partitions(app, found),
		check::topology(found),
		check::power_saving(found),
		check::unmarked_jobs(app),
		sharing(app),
		check::watch(app, Kind::namespaces, found),
		identity(app),
		check::clock(found),
		metrics(app),
	};
	std::ranges::move(check::hybrid(app, found), std::back_inserter(all));
	if (!app.config().devices.empty())
		all.push_back(devices(app));
	return all;
}

} // namespace slurmkube::agent
