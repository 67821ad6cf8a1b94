/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_conf.cc - the files next to slurm.conf that the plugin reads inside slurmctld: kube.conf and
 * gres.conf.
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
	MUST(!config.socket.empty() && config.socket.front() == '/' &&
		config.socket.size() <= k_socket_path_max);
	MUST(config.socket.find('\0') == std::string::npos);
	MUST(!config.feature.empty() &&
		config.feature.find_first_of(std::string_view(" ,\t\0", 4)) == std::string::npos);
	MUST(config.sink_port >= 0 && config.sink_port <= 65535);
	for (const std::string &partition : config.partitions)
		MUST(!partition.empty() && partition.find(',') == std::string::npos);
}

void check_gres_conf(std::string_view text)
{
	const plugin::GresConf conf = plugin::parse_gres_conf(text);
	for (const plugin::GresLine &line : conf.lines)
		for (const auto &[key, value] : line.keys)
			MUST(!key.empty() && !value.empty() &&
				value.find_first_of(" \t\r\n#\\\"") == std::string::npos);
	/* Slurm's loader would end slurmctld. The plugin must therefore find such a line
	 * whatever precedes or follows it, and however the line is split. */
	MUST(!plugin::parse_gres_conf(std::string(text) + "\n\nAutoDetect=nvml").trouble.empty());
	MUST(!plugin::parse_gres_conf("autodetect=NVML\n" + std::string(text)).trouble.empty());
	std::string split = "AutoDetect=nvml";
	split.insert(text.size() % split.size(), "\\\n");
	MUST(!plugin::parse_gres_conf(std::string(text) + "\n\n" + split).trouble.empty());
	/* comments are ignored */
	MUST(!conf.trouble.empty() ||
		plugin::parse_gres_conf("# AutoDetect=nvml Include\n" + std::string(text))
			.trouble.empty());
	const plugin::HostLists lists = {
		[](const std::string &, const std::string &) { return true; },
		[](const std::string &hosts, std::size_t) {
			return std::vector<std::string>{hosts};
		}};
	/* a node with one CPU, to which every line applies */
	std::string why = plugin::why_not_to_load(conf, {"k1", 1}, lists);
	MUST(!why.empty() || conf.trouble.empty());
	MUST(!why.empty() || text.find("Cores=1") == std::string_view::npos ||
		text.find('#') != std::string_view::npos);
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const std::string_view text = Input(data, size).rest();
	check_kube_conf(text);
	check_gres_conf(text);
	return 0;
}
