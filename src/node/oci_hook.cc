/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/oci_hook.h"

#include "src/codec/json.h"
#include "src/node/confine.h"

namespace slurmkube::node
{

namespace
{

/* Annotations and environments may be large. */
constexpr std::size_t k_state_max = std::size_t{16} << 20, k_config_max = std::size_t{256} << 20;

} // namespace

Result<Ok> check_confined(std::string_view state, const ReadFile &read)
{
	const Result<codec::Json> root = codec::parse_json(state, k_state_max);
	const std::string bundle = root ? codec::get_string(root->get(), "bundle") : std::string();
	if (bundle.empty())
		return Error{Errc::invalid, "standard input is not the state of an OCI container"};
	const std::string file = bundle + "/config.json";
	const Result<codec::Json> config = codec::parse_json(read(file), k_config_max);
	if (!config)
		return Error{Errc::invalid, file + ": " + config.error().what};
	if (!is_cpu_list(codec::get_string(
		    codec::get(config->get(), "linux", "resources", "cpu"), "cpus")))
		return Error{Errc::denied,
			"slurm-kube: slurmkube-node has not answered in time, so the container "
			"would run on processors of other jobs"};
	return Ok{};
}

} // namespace slurmkube::node
