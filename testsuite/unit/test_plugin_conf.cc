/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/gres_conf.h"
#include "src/plugins/job_submit/kube/kube_conf.h"
#include "testsuite/unit/check.h"

#include <algorithm>

using namespace slurmkube;
using namespace slurmkube::plugin;

namespace
{

void an_empty_file_gives_the_defaults()
{
	for (const char *text : {"", "\n\n", "# only words\n   # more"}) {
		Config config = parse_config(text);
		CHECK_EQUAL(config.socket, "/run/slurmkubed/plugin.sock");
		CHECK_EQUAL(config.feature, "kube");
		CHECK_EQUAL(config.hybrid_feature, "kube-hybrid");
		CHECK_EQUAL(config.sink_port, 6899);
		CHECK(config.partitions == std::vector<std::string>{"kube"});
		CHECK_EQUAL(config.error, "");
	}
}

void every_key_is_read()
{
	Config config = parse_config(
		"Socket=/tmp/s # why\nfeature = pods\r\n SINKPORT=0\nPartitions=a, b,,c\n");
	CHECK_EQUAL(config.socket, "/tmp/s");
	CHECK_EQUAL(config.feature, "pods");
	CHECK_EQUAL(config.sink_port, 0);
	CHECK(config.partitions == (std::vector<std::string>{"a", "b", "c"}));
	CHECK_EQUAL(config.error, "");
}

void hybrid_nodes_have_a_feature_of_their_own()
{
	CHECK_EQUAL(parse_config("HybridFeature=both").hybrid_feature, "both");
	CHECK_EQUAL(parse_config("HybridFeature=a b").error,
		"kube.conf line 1: HybridFeature must be one plain word of at most 255 characters");
	CHECK(!parse_config("HybridFeature=" + std::string(256, 'x')).error.empty());
	CHECK(parse_config("HybridFeature=" + std::string(255, 'x')).error.empty());
	const Config same = parse_config("Feature=k\nHybridFeature=k\n");
	CHECK_EQUAL(same.hybrid_feature, "");
	CHECK_EQUAL(
		same.error, "kube.conf: Feature and HybridFeature must differ; no node is hybrid");
}

void no_partition_at_all_is_possible()
{
	CHECK(parse_config("Partitions=").partitions.empty());
}

void a_wrong_line_is_named_and_its_default_stands()
{
	Config config = parse_config(
		"\nSinkPort=70000\nSocket=relative\nFeature=a,b\nColour=blue\nword\nPartitions=x");
	CHECK_EQUAL(config.error,
		"kube.conf line 2: SinkPort must be a number from 0 to 65535; "
		"kube.conf line 3: Socket must be an absolute path of at most 107 bytes; "
		"kube.conf line 4: Feature must be one plain word of at most 255 characters; "
		"kube.conf line 5: no such key: 'Colour'; "
		"kube.conf line 6: not of the form Key=Value");
	CHECK_EQUAL(config.sink_port, 6899);
	CHECK_EQUAL(config.feature, "kube");
	CHECK(config.partitions == std::vector<std::string>{"x"});
	for (const char *port :
		{"SinkPort=-1", "SinkPort=", "SinkPort=1x", "SinkPort=99999999999999999999"})
		CHECK(!parse_config(port).error.empty());
	CHECK(!parse_config("Socket=/" + std::string(200, 'x')).error.empty());
}

void clusters_have_a_socket_each()
{
	Config config = parse_config("Cluster=alpha Socket=/run/a.sock\n"
				     "cluster = b-2.x\tsocket = /run/b.sock # why\n");
	CHECK_EQUAL(config.error, "");
	CHECK(config.has_clusters);
	CHECK(config.clusters ==
		(std::vector<ClusterSocket>{{"alpha", "/run/a.sock"}, {"b-2.x", "/run/b.sock"}}));
	CHECK_EQUAL(cluster_feature(config.feature, "alpha"), "kube-alpha");
	CHECK(!parse_config("Socket=/run/a.sock").has_clusters);
	CHECK_EQUAL(parse_config("Cluster=a Socket=/1\nSocket=/2").error,
		"kube.conf: Socket has no effect beside lines with Cluster");
}

void a_wrong_cluster_line_is_named_and_no_agent_hears_of_all()
{
	struct Row {
		const char *line, *error;
	};
	for (const Row &row : {
		     Row{"Cluster=",
			     "Cluster must be a name of at most 63 letters, digits, '-', "
			     "'_' and '.'"},
		     Row{"Cluster=a&b Socket=/s",
			     "Cluster must be a name of at most 63 letters, digits, '-', '_' and "
			     "'.'"},
		     Row{"Cluster=a", "Cluster=a must be followed by Socket=PATH"},
		     Row{"Cluster=a Feature=x", "Cluster=a must be followed by Socket=PATH"},
		     Row{"Cluster=a Socket=/s SinkPort=0",
			     "Cluster=a Socket=PATH must stand alone"},
		     Row{"Cluster=a Socket=s",
			     "Socket must be an absolute path of at most 107 bytes"},
	     }) {
		Config config = parse_config(row.line);
		CHECK_EQUAL(config.error, std::string("kube.conf line 1: ") + row.error);
		CHECK(config.has_clusters);
		CHECK(config.clusters.empty());
	}
	for (const char *twice : {"Cluster=a Socket=/1\nCluster=a Socket=/2",
		     "Cluster=a Socket=/1\nCluster=b Socket=/1",
		     "Cluster=a Socket=/1\nCluster=b Socket=/x/..//1"}) {
		Config config = parse_config(twice);
		CHECK_EQUAL(config.error,
			"kube.conf line 2: cluster a has this name or socket already");
		CHECK_EQUAL(config.clusters.size(), 1U);
	}
	std::string many;
	for (std::size_t i = 0; i <= k_clusters_max; i++)
		many += "Cluster=c" + std::to_string(i) + " Socket=/" + std::to_string(i) + "\n";
	CHECK_EQUAL(
		parse_config(many).error, "kube.conf line 17: at most 16 clusters are possible");
	CHECK(!parse_config("Cluster=" + std::string(64, 'x') + " Socket=/s").error.empty());
}

/* Handles "a[1-3]" and commas; component test plugin covers Slurm's own host lists. */
std::vector<std::string> expanded(const std::string &hosts, std::size_t most)
{
	std::vector<std::string> names;
	std::size_t open = hosts.find('['), dash = hosts.find('-', open);
	if (open == std::string::npos) {
		for (std::size_t at = 0; at <= hosts.size();) {
			std::size_t comma = std::min(hosts.find(',', at), hosts.size());
			names.push_back(hosts.substr(at, comma - at));
			at = comma + 1;
		}
	} else {
		for (int i = std::stoi(hosts.substr(open + 1));
			i <= std::stoi(hosts.substr(dash + 1)); i++)
			names.push_back(hosts.substr(0, open) + std::to_string(i));
	}
	return names.size() <= most ? names : std::vector<std::string>();
}

const HostLists k_lists = {
	[](const std::string &hosts, const std::string &name) {
		auto names = expanded(hosts, 100);
		return std::find(names.begin(), names.end(), name) != names.end();
	},
	expanded,
};

std::string why_not(const std::string &text)
{
	return why_not_to_load(parse_gres_conf(text), {"g1", 4}, k_lists);
}

void gres_conf_names_its_nodes()
{
	GresConf conf =
		parse_gres_conf("# NodeName=no\nNodeName=g[1-2] Name=gpu "
				"File=/dev/nvidia[0-1]\nNODENAME=h1,h2 Name=gpu Count=2\nName=nic");
	CHECK_EQUAL(conf.trouble, "");
	for (const char *name : {"g1", "g2", "h1", "h2"})
		CHECK(names_node(conf, name, k_lists));
	CHECK(!names_node(conf, "no", k_lists));
	CHECK(!names_node(parse_gres_conf(""), "g1", k_lists));
}

void plain_gres_lines_may_be_loaded()
{
	for (const char *text : {"", "AutoDetect=off\n", "# AutoDetect=nvml\\\nName=gpu",
		     "NodeName=g1 Name=gpu", "NodeName=g1 Name=gpu File=/dev/a[0-1]\r\n",
		     "NodeName=g1 Name=gpu Count=2 Files=/dev/a[0-1] Cores=0-1,3",
		     "NodeName=g1 Name=gpu Type=t File=/dev/a0\nName=gpu Type=u File=/dev/a1",
		     "NodeName=g1 Name=gpu Type=t Count=2\nNodeName=g1 Name=gpu Type=u Count=3",
		     "NodeName=g1\tName=nic CPUs=3",
		     "NodeName=g2 Name=gpu Flags=no_gpu_env,opencl_env Links=1 "
		     "MultipleFiles=/dev/a Cores=900\nNodeName=g1 Name=gpu"})
		CHECK_EQUAL(why_not(text), "");
}

/* Slurm's own loader ends slurmctld on each of these lines, or might. */
void gres_lines_that_end_slurmctld_are_not_loaded()
{
	const std::string g1 = "NodeName=g1 Name=gpu ";
	for (const std::string &text : {
		     g1 + "Cores=2-4",
		     g1 + "Cores=4",
		     g1 + "Cores=1-0",
		     g1 + "Cores=0,",
		     g1 + "CPUs=a",
		     g1 + "Cores=0 CPUs=0",
		     g1 + "Cores=-1",
		     g1 + "Count=two",
		     g1 + "Count=0",
		     g1 + "Count=2K",
		     g1 + "Count=99999999999999999999",
		     g1 + "Count=3 File=/dev/a[0-1]",
		     g1 + "File=/dev/a0,/dev/a0",
		     g1 + "File=a0",
		     g1 + "File=/dev/a[0-1]\n" + g1 + "File=/dev/a1",
		     g1 + "File=/a Files=/b",
		     g1 + "File=/dev/a[0-5000]",
		     g1 + "File=/dev/a[0-9][0-9]",
		     g1 + "MultipleFiles=/dev/a0",
		     g1 + "Flags=nvidia_gpu_env",
		     g1 + "Links=0",
		     g1 + "File=/dev/a0\n" + g1 + "Count=1",
		     g1 + "Type=a File=/dev/a0\n" + g1 + "File=/dev/a1",
		     g1 + "\n" + g1,
		     g1 + "\nName=GPU",
		     std::string("NodeName=g1 Name=mps Count=100"),
		     std::string("NodeName=g1 Name=shard"),
		     std::string("NodeName=g1 Count=2"),
	     })
		CHECK(!why_not(text).empty());
	CHECK_EQUAL(why_not("\n" + g1 + "Cores=0-63"),
		"line 2: its Cores are not among the node's 4 CPUs");
}

/* Slurm cannot parse these lines, or joins or unescapes them differently. An error is fatal for
 * every node, so the whole file is left alone. */
void gres_conf_that_is_not_plain_is_left_alone()
{
	for (const char *text : {"AutoDetect=nvml\n", "NodeName=g1 autodetect=RSMI Name=gpu\n",
		     "Include other.conf\n", "Auto\\\nDetect=nvml", "Auto\\ \nDetect=nvml",
		     "AutoDetect+=nvml", "AutoDetect = nvml", "Auto\\Detect=nvml",
		     "Name=gpu File=/x\\#1 AutoDetect=nvml", "AutoDetect\f=\fnvml",
		     "Name=gpu\fAutoDetect=nvml", "AutoDetect=\"nvml\"", "Name=\"x NodeName=g1 \"",
		     "Count=2 Name=gpu", "Name=gpu NodeName=g1", "NodeName=g1 Name=gpu Core=1",
		     "NodeName=g1 Name=", "Name=gpu Name=gpu", "NodeName=g[1-2][1-2] Name=gpu",
		     "gpu", "=", "NodeName= Name=gpu", "Name=gpu Count=\xc3\xa4"})
		CHECK(!parse_gres_conf(text).trouble.empty());
	CHECK(!parse_gres_conf(std::string_view("NodeName=a\0 Name=b", 18)).trouble.empty());
	CHECK(!parse_gres_conf("Name=" + std::string(5000, 'x')).trouble.empty());
}

/* The text is part of the first line of each link, whose length is limited: another file may have
 * been copied over kube.conf. */
void a_long_list_of_errors_is_cut_off()
{
	std::string wrong;
	for (int i = 0; i < 60'000; i++)
		wrong += "no setting at all\n";
	const Config config = parse_config(wrong + "Cluster=alpha Socket=/run/a.sock");
	CHECK(config.error.size() < 3000);
	CHECK(config.error.starts_with("kube.conf line 1: not of the form Key=Value; "));
	CHECK(config.error.ends_with(" more wrong lines"));
	CHECK_EQUAL(config.clusters.size(), 1U);
	CHECK(parse_config(std::string(100'000, 'k') + "=1").error.size() < 200);
	CHECK(parse_config("Cluster=a " + std::string(100'000, 'k') + "=1").error.size() < 200);
}

void control_characters_are_refused()
{
	CHECK(!parse_config(std::string_view("Socket=/a\0b", 11)).error.empty());
	CHECK(!parse_config("Feature=a\x01").error.empty());
	CHECK_EQUAL(parse_config("Feature=a\x01").feature, "kube");
}

} // namespace

int main()
{
	return check::run_tests("plugin conf",
		{
			TEST(an_empty_file_gives_the_defaults),
			TEST(every_key_is_read),
			TEST(hybrid_nodes_have_a_feature_of_their_own),
			TEST(no_partition_at_all_is_possible),
			TEST(a_wrong_line_is_named_and_its_default_stands),
			TEST(clusters_have_a_socket_each),
			TEST(a_wrong_cluster_line_is_named_and_no_agent_hears_of_all),
			TEST(gres_conf_names_its_nodes),
			TEST(plain_gres_lines_may_be_loaded),
			TEST(gres_lines_that_end_slurmctld_are_not_loaded),
			TEST(gres_conf_that_is_not_plain_is_left_alone),
			TEST(a_long_list_of_errors_is_cut_off),
			TEST(control_characters_are_refused),
		});
}
