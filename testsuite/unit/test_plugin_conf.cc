/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/gres_conf.h"
#include "src/plugins/job_submit/kube/kube_conf.h"
#include "testsuite/unit/check.h"

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
		CHECK_EQUAL(config.sink_port, 6899);
		CHECK(config.partitions == std::vector<std::string>{"kube"});
		CHECK_EQUAL(config.error, "");
	}
}

void every_key_is_read()
{
	Config config = parse_config("Socket=/tmp/s # why\nfeature = pods\r\n SINKPORT=0\nPartitions=a, b,,c\n");
	CHECK_EQUAL(config.socket, "/tmp/s");
	CHECK_EQUAL(config.feature, "pods");
	CHECK_EQUAL(config.sink_port, 0);
	CHECK(config.partitions == (std::vector<std::string>{"a", "b", "c"}));
	CHECK_EQUAL(config.error, "");
}

void no_partition_at_all_is_possible()
{
	CHECK(parse_config("Partitions=").partitions.empty());
}

void a_wrong_line_is_named_and_its_default_stands()
{
	Config config = parse_config("\nSinkPort=70000\nSocket=relative\nFeature=a,b\nColour=blue\nword\nPartitions=x");
	CHECK_EQUAL(config.error, "kube.conf line 2: SinkPort must be a number from 0 to 65535; "
				  "kube.conf line 3: Socket must be an absolute path of at most 107 bytes; "
				  "kube.conf line 4: Feature must be one plain word; "
				  "kube.conf line 5: no such key: 'Colour'; "
				  "kube.conf line 6: not of the form Key=Value");
	CHECK_EQUAL(config.sink_port, 6899);
	CHECK_EQUAL(config.feature, "kube");
	CHECK(config.partitions == std::vector<std::string>{"x"});
	for (const char *port : {"SinkPort=-1", "SinkPort=", "SinkPort=1x", "SinkPort=99999999999999999999"})
		CHECK(!parse_config(port).error.empty());
	CHECK(!parse_config("Socket=/" + std::string(200, 'x')).error.empty());
}

void gres_conf_names_its_nodes()
{
	GresConf conf = parse_gres_conf("# NodeName=no\nNodeName=g[1-2] Name=gpu File=/dev/nvidia[0-1]\nName=gpu nodename=h1,h2 Count=2\n");
	CHECK(conf.hosts == (std::vector<std::string>{"g[1-2]", "h1,h2"}));
	CHECK(!conf.unsafe);
	CHECK(parse_gres_conf("").hosts.empty());
}

void gres_conf_with_autodetect_or_include_is_left_alone()
{
	CHECK(parse_gres_conf("AutoDetect=nvml\n").unsafe);
	CHECK(parse_gres_conf("NodeName=g1 autodetect=RSMI Name=gpu\n").unsafe);
	CHECK(parse_gres_conf("Include other.conf\n").unsafe);
	CHECK(!parse_gres_conf("AutoDetect=off\n").unsafe);
	CHECK(!parse_gres_conf("# AutoDetect=nvml\n").unsafe);
	CHECK(!parse_gres_conf("NodeName=g1 Name=gpu # AutoDetect=nvml \\\nNodeName=g2\n").unsafe);
}

/* What Slurm reads as AutoDetect ends slurmctld, so it is found however it is written. */
void gres_conf_is_read_as_slurm_reads_it()
{
	for (const char *text : {"Auto\\\nDetect=nvml", "Auto\\ \nDetect=nvml", "AutoDetect+=nvml", "AutoDetect = nvml", "Auto\\Detect=nvml",
				 "Name=gpu File=/x\\#1 AutoDetect=nvml", "AutoDetect\f=\fnvml", "Name=gpu\fAutoDetect=nvml", "AutoDetect=\"nvml\""})
		CHECK(parse_gres_conf(text).unsafe);
	CHECK(parse_gres_conf(std::string_view("NodeName=a\0 NodeName=b", 22)).unsafe);
	CHECK(parse_gres_conf("NodeName=g\\\n1 Name=gpu").hosts == std::vector<std::string>{"g1"});
	CHECK(parse_gres_conf("NodeName=g1 \\\n Name=gpu\nNodeName=g2").hosts == (std::vector<std::string>{"g1", "g2"}));
	CHECK(parse_gres_conf("Name=\"x NodeName=g1 \"").hosts.empty());
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
	return check::run_tests("plugin conf", {
						       TEST(an_empty_file_gives_the_defaults),
						       TEST(every_key_is_read),
						       TEST(no_partition_at_all_is_possible),
						       TEST(a_wrong_line_is_named_and_its_default_stands),
						       TEST(gres_conf_names_its_nodes),
						       TEST(gres_conf_with_autodetect_or_include_is_left_alone),
						       TEST(gres_conf_is_read_as_slurm_reads_it),
						       TEST(control_characters_are_refused),
					       });
}
