/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_yaml.cc - files that administrators write: slurmkubed.yaml and kubeconfig.
 */
#include "src/agent/config.h"
#include "src/agent/kube/access.h"
#include "src/agent/kube/files.h"
#include "testsuite/fuzz/fuzz.h"

using namespace slurmkube;
using namespace slurmkube::fuzz;

namespace
{

void check_config(std::string_view text)
{
	const agent::LoadedConfig loaded = agent::parse_config(text, "f");
	for (const std::string &error : loaded.errors)
		MUST(error.size() > 4 && error.starts_with("f:") && is_printable(error));
	if (!loaded.errors.empty())
		return;
	const agent::Config &config = loaded.config;
	MUST(!config.cluster.empty() && is_printable(config.cluster) &&
		is_printable(config.partition));
	MUST(config.slurm.workers >= 1 && config.slurm.workers <= 8);
	MUST(config.limits.writes_in_flight >= 1 && config.limits.writes_in_flight <= 64);
	MUST(config.plugin_socket.size() <= 107 && config.control_socket.size() <= 107);
	MUST(agent::parse_config(text, "f").config == config);
}

void check_kubeconfig(std::string_view text)
{
	const auto file = kube::memory_file("kubeconfig", text);
	MUST(file.ok());
	const auto access = kube::access_from_kubeconfig(kube::path_of(*file));
	MUST(says_why(access));
	MUST(access.ok() || is_printable(access.error().what));
	if (!access)
		return;
	MUST(access->server.starts_with("https://"));
	MUST(!access->token.empty() || !access->token_file.empty() ||
		!access->certificate_file.empty());
	MUST(access->certificate_file.empty() == access->key_file.empty());
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const std::string_view text = Input(data, size).rest();
	check_config(text);
	check_kubeconfig(text);
	return 0;
}
