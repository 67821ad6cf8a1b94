/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checks_slurm.cc - the lines of `skube check` about slurmctld, its plugin, and Slurm's partitions.
 */
#include "src/agent/checks_parts.h"
#include "src/base/slurm_versions.h"

#include <algorithm>
#include <set>
#include <unistd.h>

namespace slurmkube::agent
{

namespace
{

constexpr char k_look_at_slurmctld[] = "look at the line slurmctld first";

/* The default partition and those that the rules of identity name. */
std::set<std::string> wanted_partitions(const Config &config)
{
	std::set<std::string> names = {config.partition};
	for (const core::NamespaceRule &rule : config.identity.rules)
		names.insert(rule.partitions.begin(), rule.partitions.end());
	return names;
}

/* Partitions with external nodes only that kube.conf does not list: the plugin lets native jobs in.
 * The line "partitions" reports mixed partitions. */
std::string open_partitions(
	const core::PluginHello &hello, const std::vector<slurm::Partition> &all)
{
	std::string open;
	const std::string guarded = "," + hello.partitions + ",";
	for (const slurm::Partition &partition : all) {
		if (partition.external > 0 && partition.others == 0 && !hello.partitions.empty() &&
			guarded.find("," + partition.name + ",") == std::string::npos)
			check::add_name(open, partition.name);
	}
	return open;
}

/* What is wrong with a partition of pods that exists. has_link: the nodes' kinds are known. */
std::optional<Check> unusable(const char *name, const slurm::Partition &partition, bool has_link)
{
	const std::string others = std::to_string(partition.others);
	if (partition.external + partition.hybrid == 0 && has_link)
		return check::failed(name,
			"partition '" + partition.name + "' has no node of Kubernetes: " + others +
				" others, where no pod can run",
			"name a partition of external nodes in slurmkubed.yaml, or add them to it "
			"in slurm.conf");
	if (partition.hybrid > 0 && partition.others > 0)
		return check::failed(name,
			"partition '" + partition.name + "' has " + others +
				" nodes without a kubelet beside hybrid nodes, so jobs of pods are "
				"refused there",
			"name a partition of hybrid nodes only in slurmkubed.yaml, and add it to "
			"slurm.conf; native jobs may have both in another one");
	if (!partition.is_up)
		return check::failed(name,
			"partition '" + partition.name + "' is not UP: Slurm starts no job there",
			"'scontrol update partitionname=" + partition.name + " state=up'");
	return std::nullopt;
}

} // namespace

std::string how_slurmctld_rereads(const core::PluginHello &plugin)
{
	return KUBE_SLURM_RECONFIGURE_IS_RESTART(plugin.slurm_version_number)
		? "run 'scontrol reconfigure'"
		: "restart slurmctld ('systemctl restart slurmctld')";
}

namespace check
{

Check slurmctld(const Findings &found)
{
	if (found.slurm_trouble.empty())
		return passed("slurmctld", "answers");
	return failed("slurmctld", found.slurm_trouble,
		"start slurmctld and munged ('systemctl status slurmctld munge'), and compare "
		"slurm.conf in slurmkubed.yaml with slurmctld's");
}

Check slurm_user(const Findings &found)
{
	constexpr char name[] = "SlurmUser";
	const std::uint32_t own = geteuid();
	if (!found.slurm_trouble.empty())
		return failed(name, "not known: slurmctld does not answer", k_look_at_slurmctld);
	if (own == 0 || own == found.slurm.slurm_user_id)
		return passed(name, "the agent runs as uid " + std::to_string(own));
	return failed(name,
		"the agent runs as uid " + std::to_string(own) + ", SlurmUser is " +
			found.slurm.slurm_user + " (uid " +
			std::to_string(found.slurm.slurm_user_id) +
			"): Slurm refuses its jobs and the plugin its socket",
		"set User= of slurmkubed.service to SlurmUser and restart slurmkubed");
}

Check plugin(const App &app)
{
	const core::PluginHello &hello = app.world().state().sync.plugin();
	if (app.world().state().sync.has_link())
		return passed("plugin",
			"version " + hello.plugin_version + " in Slurm " + hello.slurm_version +
				", cluster " + hello.cluster_name +
				(hello.kube_cluster.empty() ? ""
							    : ", for Kubernetes cluster " +
							hello.kube_cluster + " only") +
				(hello.host.empty() ? "" : ", controller " + hello.host));
	if (!app.link_refusal().empty())
		return failed("plugin", "refused: " + app.link_refusal(),
			"make both say the same: Cluster and Socket in kube.conf beside "
			"slurm.conf; cluster, plugin_socket and slurm.conf in slurmkubed.yaml; "
			"then restart slurmctld or slurmkubed");
	if (app.link_waits())
		return failed("plugin",
			"connected, and waits until this agent knows its Kubernetes cluster",
			"look at the lines API server, rights and cluster");
	return failed("plugin", "not connected to " + app.config().plugin_socket,
		"add kube to JobSubmitPlugins in slurm.conf, restart slurmctld, and compare Socket "
		"in kube.conf with plugin_socket in slurmkubed.yaml; "
		"with several SlurmctldHosts only the agent beside the active one is connected");
}

Check release(const App &app)
{
	const core::PluginHello &hello = app.world().state().sync.plugin();
	if (!app.world().state().sync.has_link() || hello.plugin_version == SLURMKUBE_VERSION)
		return passed("release", "agent " SLURMKUBE_VERSION);
	return failed("release", "agent " SLURMKUBE_VERSION ", plugin " + hello.plugin_version,
		"install both of one release and restart slurmctld and slurmkubed");
}

/* Reports kube.conf as the plugin has read it; the file may have changed since. */
Check plugin_config(const App &app, const Findings &found)
{
	const core::PluginHello &hello = app.world().state().sync.plugin();
	if (!app.world().state().sync.has_link())
		return failed("kube.conf", "not known: the plugin is not connected",
			"look at the line plugin first");
	if (!hello.config_error.empty())
		return failed("kube.conf", "as slurmctld has read it: " + hello.config_error,
			"correct the file and " + how_slurmctld_rereads(hello));
	if (const std::string open = open_partitions(hello, found.slurm.partitions); !open.empty())
		return failed("kube.conf",
			"Partitions=" + hello.partitions + " leaves out " + open +
				": native jobs may go where pods run",
			"add " + open +
				" to Partitions in kube.conf and run 'scontrol reconfigure'");
	return passed("kube.conf",
		"as slurmctld has read it: Feature=" + hello.node_feature +
			(hello.cluster_feature.empty() ? "" : "," + hello.cluster_feature) +
			" SinkPort=" + std::to_string(hello.sink_port) +
			" Partitions=" + hello.partitions);
}

/* Each partition must exist, be up and have nodes where pods can run. */
Check partitions(const App &app, const Findings &found)
{
	constexpr char name[] = "partition";
	if (!found.slurm_trouble.empty())
		return failed(name, "not known: slurmctld does not answer", k_look_at_slurmctld);
	const std::set<std::string> wanted = wanted_partitions(app.config());
	std::string fine;
	for (const std::string &partition : wanted) {
		const auto record = std::ranges::find(
			found.slurm.partitions, partition, &slurm::Partition::name);
		if (record == found.slurm.partitions.end())
			return failed(name,
				"Slurm has no partition '" + partition +
					"', which slurmkubed.yaml names",
				"correct partition and identity.rules in slurmkubed.yaml, or add "
				"the partition to slurm.conf");
		if (auto wrong = unusable(name, *record, app.world().state().sync.has_link()))
			return *std::move(wrong);
		add_name(fine,
			partition + " (" + std::to_string(record->external + record->hybrid) +
				" nodes)");
	}
	return passed(name, fine);
}

Check mixed_partitions(const App &app, const Findings &found)
{
	constexpr char name[] = "partitions";
	if (!app.world().state().sync.has_link())
		return failed(name, "not known: which nodes are Kubernetes' the plugin tells",
			"look at the line plugin first");
	if (!found.slurm_trouble.empty())
		return failed(name, "not known: slurmctld does not answer", k_look_at_slurmctld);
	std::string mixed, hybrid;
	for (const slurm::Partition &partition : found.slurm.partitions) {
		const bool is_with_hybrid = partition.external > 0 && partition.hybrid > 0;
		if (partition.external > 0 && partition.others > 0)
			add_name(mixed, partition.name);
		else if (is_with_hybrid)
			add_name(hybrid, partition.name);
	}
	if (!hybrid.empty())
		return failed(name, "external nodes and hybrid nodes in one partition: " + hybrid,
			"give the hybrid nodes a partition of their own in slurm.conf: from Slurm "
			"25.05 on, jobs of pods are refused there, and native jobs may start on "
			"nodes without slurmd");
	if (mixed.empty())
		return passed(name, "none mixes nodes of Kubernetes with others");
	if (!app.world().state().sync.plugin().kube_cluster.empty())
		return failed(name,
			"nodes of this Kubernetes cluster and others in one partition: " + mixed,
			"give the cluster partitions of its own: pods are refused in partitions "
			"with nodes of another cluster, and native jobs may start on nodes without "
			"slurmd");
	return failed(name, "nodes of Kubernetes and others in one partition: " + mixed,
		"take the nodes out of it, or use a NodeSet: native jobs may start on nodes "
		"without slurmd, and pods on nodes without a kubelet");
}

Check power_saving(const Findings &found)
{
	constexpr char name[] = "power saving";
	if (!found.slurm_trouble.empty())
		return failed(name, "not known: slurmctld does not answer", k_look_at_slurmctld);
	const std::set<std::string> &nodes = found.slurm.to_suspend;
	if (nodes.empty())
		return passed(name, "no external node is suspended by Slurm");
	return failed(name,
		"SuspendProgram would switch off " + std::to_string(nodes.size()) +
			" nodes of Kubernetes while Slurm has no job there, for example " +
			*nodes.begin(),
		"add their partition to SuspendExcParts in slurm.conf, or the nodes to "
		"SuspendExcNodes, and run 'scontrol reconfigure'");
}

Check topology(const Findings &found)
{
	constexpr char name[] = "topology";
	if (!found.slurm_trouble.empty())
		return failed(name, "not known: slurmctld does not answer", k_look_at_slurmctld);
	if (!found.slurm.topology_trouble.empty())
		return failed(name, "not known: " + found.slurm.topology_trouble,
			"slurmkubed runs 'scontrol show topology': make scontrol work in its "
			"environment, or set PATH there");
	const std::set<std::string> &nodes = found.slurm.outside_topology;
	if (nodes.empty())
		return passed(name, "no external node is outside of Slurm's topology");
	return failed(name,
		std::to_string(nodes.size()) +
			" nodes of Kubernetes are in no switch of Slurm's topology, for example " +
			*nodes.begin() + ": Slurm starts no job there",
		"add them to topology.conf or topology.yaml, below a switch of their own or their "
		"real one, and "
		"restart slurmctld");
}

/* The agent knows only jobs with a marker, so an administrator must end other jobs on these
 * nodes. */
Check unmarked_jobs(const App &app)
{
	constexpr char name[] = "jobs without pod";
	if (!app.world().state().sync.has_link())
		return failed(name, "not known: which jobs hold nodes the plugin tells",
			"look at the line plugin first");
	const std::string &ids = app.plugin_stats().unmarked;
	if (ids.empty())
		return passed(name, "no job without a marker holds a node of Kubernetes");
	return failed(name, "jobs without a marker on nodes of Kubernetes: " + ids,
		"look at them with 'scontrol show job ID': no pod belongs to them, and a native "
		"job cannot run "
		"there; end them with 'scancel ID', and take these nodes out of partitions of "
		"native jobs");
}

} // namespace check

} // namespace slurmkube::agent
