/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/checks.h"

#include "src/agent/app.h"

#include <cmath>
#include <cstdio>

namespace slurmkube::agent
{

namespace
{

constexpr double k_clock_skew_max_seconds = 5; /* what the server's whole seconds and a slow answer can explain, and some */

Check passed(const char *name, std::string text)
{
	return {name, true, std::move(text), ""};
}

Check failed(const char *name, std::string text, std::string remedy)
{
	return {name, false, std::move(text), std::move(remedy)};
}

Check slurmctld(const App &app)
{
	const std::string &trouble = app.findings().slurm_trouble;
	if (trouble.empty())
		return passed("slurmctld", "answers");
	return failed("slurmctld", trouble, "is slurmctld running, and is slurm.conf in slurmkubed.yaml the right one?");
}

Check plugin(const App &app)
{
	const core::PluginHello &hello = app.world().plugin();
	if (app.world().has_link())
		return passed("plugin", "version " + hello.plugin_version + " in Slurm " + hello.slurm_version + ", cluster " + hello.cluster_name +
						(hello.host.empty() ? "" : ", controller " + hello.host));
	return failed("plugin", "not connected to " + app.config().plugin_socket,
		      "add kube to JobSubmitPlugins in slurm.conf, restart slurmctld, and compare Socket in kube.conf with plugin_socket in slurmkubed.yaml; "
		      "with several SlurmctldHosts only the agent beside the active one is connected");
}

Check plugin_version(const App &app)
{
	const core::PluginHello &hello = app.world().plugin();
	if (!app.world().has_link() || hello.plugin_version == SLURMKUBE_VERSION)
		return passed("release", "agent " SLURMKUBE_VERSION);
	return failed("release", "agent " SLURMKUBE_VERSION ", plugin " + hello.plugin_version, "install both of one release and restart slurmctld and slurmkubed");
}

Check plugin_config(const App &app)
{
	const std::string &trouble = app.world().plugin().config_error;
	if (trouble.empty())
		return passed("kube.conf", "fine");
	return failed("kube.conf", trouble, "correct the file and run scontrol reconfigure");
}

Check api_server(const App &app)
{
	const Findings &f = app.findings();
	if (f.api_trouble.empty())
		return passed("API server", "Kubernetes " + f.api_version);
	return failed("API server", f.api_trouble, "look at kubeconfig in slurmkubed.yaml and at the server");
}

Check rights(const App &app)
{
	const Findings &f = app.findings();
	if (!f.rights_trouble.empty())
		return failed("rights", f.rights_trouble, "look at the API server first");
	std::string missing;
	for (const kube::Right &right : f.rights) {
		if (!right.allowed)
			missing += (missing.empty() ? "" : ", ") + right.verb + " " + right.resource;
	}
	if (missing.empty())
		return passed("rights", "all " + std::to_string(f.rights.size()) + " are granted");
	return failed("rights", "missing: " + missing, "kubectl apply -f rbac.yaml, and bind the role to the agent's user");
}

Check watch(const char *name, const kube::Watch *source)
{
	if (source && source->synced() && source->healthy())
		return passed(name, "list complete, watching");
	const std::string trouble = source ? source->trouble() : "";
	return failed(name, trouble.empty() ? "first list not complete" : trouble, "look at the API server and at the rights");
}

Check nodes(const App &app)
{
	const core::World &world = app.world();
	std::string absent;
	for (const auto &[name, node] : world.kube_nodes()) {
		if (!world.slurm_nodes().contains(name))
			absent += (absent.empty() ? "" : ", ") + name;
	}
	if (world.kube_nodes().empty())
		return failed("nodes", "no node of Kubernetes has the label " + app.config().nodes.selector_key,
			      "kubectl label node NAME " + app.config().nodes.selector_key + "=true");
	if (!absent.empty())
		return failed("nodes", "not in Slurm: " + absent,
			      core::has_dynamic_nodes(world.plugin()) ? "they are made when they are Ready; see the agent's log" :
									"write the lines of skube nodes --slurm-conf into an Include file of slurm.conf and run scontrol reconfigure");
	return passed("nodes", std::to_string(world.kube_nodes().size()) + " managed, all in Slurm");
}

Check differences(const App &app)
{
	const core::World &world = app.world();
	std::string text;
	for (const auto &[name, kube] : world.kube_nodes()) {
		const auto slurm = world.slurm_nodes().find(name);
		if (slurm == world.slurm_nodes().end())
			continue;
		const core::NodeSpec spec = core::node_spec(world.as_left(kube), world.settings().nodes, world.plugin());
		if (slurm->second.cpus > spec.cpus || slurm->second.memory_mib > spec.memory_mib)
			text += (text.empty() ? "" : ", ") + name;
	}
	if (text.empty())
		return passed("node sizes", "Slurm counts no more than is allocatable and not used by others");
	return failed("node sizes", "Slurm counts more CPUs or memory than is allocatable and not used by others: " + text, "write the node lines anew (skube nodes --slurm-conf)");
}

/* Ten to one is the factor of the two units; nodes differ by less for what others use of them. */
Check cpu_unit(const App &app)
{
	constexpr std::uint64_t k_factor = 4;
	const core::World &world = app.world();
	const std::string unit = app.config().nodes.cpu_unit == core::k_whole_cpu ? "1" : "100m";
	for (const auto &[name, kube] : world.kube_nodes()) {
		const auto slurm = world.slurm_nodes().find(name);
		if (slurm == world.slurm_nodes().end())
			continue;
		const std::uint64_t wanted = core::node_spec(kube, world.settings().nodes, world.plugin()).cpus, has = slurm->second.cpus;
		if (wanted > has * k_factor || has > wanted * k_factor)
			return failed("CPU unit", "node " + name + " has CPUs=" + std::to_string(has) + " in Slurm, and nodes.cpu_unit " + unit + " makes that " + std::to_string(wanted),
				      "write the node lines anew (skube nodes --slurm-conf), or change nodes.cpu_unit");
	}
	return passed("CPU unit", "Slurm's nodes are counted by " + unit);
}

Check partitions(const App &app)
{
	std::string names;
	for (const std::string &name : app.findings().mixed_partitions)
		names += (names.empty() ? "" : ", ") + name;
	if (names.empty())
		return passed("partitions", "none mixes nodes of Kubernetes with others");
	return failed("partitions", "nodes of Kubernetes and others in one partition: " + names,
		      "take the nodes out of it, or use a NodeSet: jobs that are no pods may be started where no slurmd is, and pods placed where no kubelet is");
}

Check identity(const App &app)
{
	const std::size_t rules = app.config().identity.rules.size();
	if (rules == 0)
		return failed("identity", "no namespace may submit", "add identity.rules to slurmkubed.yaml and restart slurmkubed");
	std::string unknown;
	for (const auto &[name, person] : app.world().settings().policy.identity_facts.people) {
		if (!person)
			unknown += (unknown.empty() ? "" : ", ") + name;
	}
	if (unknown.empty())
		return passed("identity", std::to_string(rules) + " rules");
	return failed("identity", "annotations of namespaces name users whom nobody here knows: " + unknown, "correct the annotations, or add the users to this machine");
}

Check clock(const App &app)
{
	const auto &ahead = app.findings().clock_ahead_seconds;
	if (!ahead)
		return failed("clock", "the API server's clock is not known", "look at the API server first");
	char text[96];
	(void)snprintf(text, sizeof(text), "the API server's clock differs by %.0f s", std::fabs(*ahead));
	if (std::fabs(*ahead) <= k_clock_skew_max_seconds)
		return passed("clock", text);
	return failed("clock", text, "synchronize both machines (chrony, systemd-timesyncd)");
}

} // namespace

std::vector<Check> checks_of(const App &app)
{
	return {
	    slurmctld(app),
	    plugin(app),
	    plugin_version(app),
	    plugin_config(app),
	    api_server(app),
	    rights(app),
	    watch("pods", app.pod_watch()),
	    watch("other pods", app.foreign_watch()),
	    watch("nodes watch", app.node_watch()),
	    nodes(app),
	    differences(app),
	    cpu_unit(app),
	    partitions(app),
	    watch("namespaces", app.namespace_watch()),
	    identity(app),
	    clock(app),
	};
}

} // namespace slurmkube::agent
