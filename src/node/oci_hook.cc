/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/oci_hook.h"

#include "src/codec/json.h"
#include "src/core/model/names.h"

#include <algorithm>

namespace slurmkube::node
{

namespace
{

/* Annotations and environments may be large. */
constexpr std::size_t k_state_max = std::size_t{16} << 20, k_config_max = std::size_t{256} << 20;

/* CRI-O adds the processors that this variable names, which a user may write, when it updates the
 * container. */
bool names_shared_cpus(json_object *env)
{
	for (std::size_t i = 0; i < codec::array_size(env); i++) {
		const char *entry = json_object_get_string(codec::array_at(env, i));
		if (entry && std::string_view(entry).starts_with("OPENSHIFT_SHARED_CPUS="))
			return true;
	}
	return false;
}

/* Files of cgroup version 2, which runtimes write after the list. */
bool names_cpuset_files(json_object *unified)
{
	return std::ranges::any_of(codec::get_strings(unified),
		[](const auto &one) { return one.first.starts_with("cpuset."); });
}

} // namespace

std::string id_of_state(std::string_view state)
{
	const Result<codec::Json> root = codec::parse_json(state, k_state_max);
	return root ? codec::get_string(root->get(), "id") : std::string();
}

Result<CreatedContainer> created_container(std::string_view state, const ReadFile &read)
{
	const Result<codec::Json> root = codec::parse_json(state, k_state_max);
	CreatedContainer container;
	container.id = root ? codec::get_string(root->get(), "id") : std::string();
	const std::string bundle = root ? codec::get_string(root->get(), "bundle") : std::string();
	if (container.id.empty() || bundle.empty())
		return Error{Errc::invalid, "standard input is not the state of an OCI container"};
	const std::string file = bundle + "/config.json";
	const Result<codec::Json> config = codec::parse_json(read(file), k_config_max);
	if (!config)
		return Error{Errc::invalid, file + ": " + config.error().what};
	container.cpus =
		codec::get_string(codec::get(config->get(), "linux", "resources", "cpu"), "cpus");
	if (!is_cpu_list(container.cpus))
		return Error{Errc::denied,
			"slurm-kube: slurmkube-node has not answered in time, so the container "
			"would run on processors of other jobs"};
	if (names_shared_cpus(codec::get(config->get(), "process", "env")) ||
		names_cpuset_files(codec::get(config->get(), "linux", "resources", "unified")))
		return Error{Errc::denied,
			"slurm-kube: OPENSHIFT_SHARED_CPUS in the environment of the container, or "
			"cpuset in an annotation unified-cgroup.crio.io, could give it processors "
			"of other jobs: remove it"};
	return container;
}

Result<Ok> check_processors(
	const std::string &cpus, const std::optional<JobFacts> &job, const std::string &system_cpus)
{
	if (job && (job->is_closed || !job->cpuset))
		return Error{Errc::denied,
			std::string("slurm-kube: the Slurm job of the container has ended, or ") +
				names::k_refused_no_processors};
	const std::set<std::uint32_t> own = cpus_in(cpus),
				      may = cpus_in(job ? job->cpuset->cpus : system_cpus);
	if (job ? own == may : std::ranges::includes(may, own))
		return Ok{};
	return Error{Errc::denied,
		"slurm-kube: the container would run on processors " + cpus + " instead of " +
			(job ? job->cpuset->cpus : system_cpus) +
			": they are not from slurmkube-node, see CRI-O in doc/hybrid.md"};
}

} // namespace slurmkube::node
