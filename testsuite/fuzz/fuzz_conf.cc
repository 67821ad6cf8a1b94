/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_conf.cc - the files beside slurm.conf that the plugin reads inside slurmctld: kube.conf and gres.conf.
 */
#include "src/plugins/job_submit/kube/gres_conf.h"
#include "src/plugins/job_submit/kube/kube_conf.h"
#include "testsuite/fuzz/fuzz.h"

using namespace slurmkube;
using namespace slurmkube::fuzz;

namespace
{

constexpr std::size_t k_socket_path_max = 107;

void check_kube_conf(std::string_view text)
{
	const plugin::Config config = plugin::parse_config(text);
	MUST(!config.socket.empty() && config.socket.front() == '/' && config.socket.size() <= k_socket_path_max);
	MUST(config.socket.find('\0') == std::string::npos);
	MUST(!config.feature.empty() && config.feature.find_first_of(std::string_view(" ,\t\0", 4)) == std::string::npos);
	MUST(config.sink_port >= 0 && config.sink_port <= 65535);
	for (const std::string &partition : config.partitions)
		MUST(!partition.empty() && partition.find(',') == std::string::npos);
}

void check_gres_conf(std::string_view text)
{
	const plugin::GresConf conf = plugin::parse_gres_conf(text);
	/* "\#" is a character of the value, as in Slurm's own parser; else a comment begins there */
	const char *ends = text.find("\\#") == std::string_view::npos ? " \t\n#" : " \t\n";
	for (const std::string &hosts : conf.hosts)
		MUST(!hosts.empty() && hosts.find_first_of(ends) == std::string::npos);
	/* Slurm's loader would end slurmctld: a line that says so is seen, whatever stands around it and however it is broken */
	MUST(plugin::parse_gres_conf(std::string(text) + "\n\nAutoDetect=nvml").unsafe);
	MUST(plugin::parse_gres_conf("autodetect=NVML\n" + std::string(text)).unsafe);
	std::string split = "AutoDetect=nvml";
	split.insert(text.size() % split.size(), "\\\n");
	MUST(plugin::parse_gres_conf(std::string(text) + "\n\n" + split).unsafe);
	/* comments count for nothing */
	MUST(conf.unsafe || !plugin::parse_gres_conf("# AutoDetect=nvml Include\n" + std::string(text)).unsafe);
	MUST(plugin::parse_gres_conf("# NodeName=x\n" + std::string(text)).hosts == conf.hosts);
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const std::string_view text = Input(data, size).rest();
	check_kube_conf(text);
	check_gres_conf(text);
	return 0;
}
