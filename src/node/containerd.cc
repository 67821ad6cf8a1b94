/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/containerd.h"

#include "src/codec/json.h"
#include "src/node/confine.h"
#include "src/node/toml.h"

#include <algorithm>
#include <set>

namespace slurmkube::node
{

namespace
{

constexpr const char *k_plugin = "slurm-kube", *k_nri = "io.containerd.nri.v1.nri";
constexpr std::size_t k_spec_max = 1U << 20;

void check_nri(const Toml &toml, std::vector<std::string> &lacks)
{
	const TomlPath nri = {"plugins", k_nri};
	const auto is_true = [&](const char *key) {
		return value_of(toml, {"plugins", k_nri, key}) == "true";
	};
	const bool is_there = std::ranges::any_of(toml, [&](const auto &entry) {
		return entry.first.size() > 2 &&
			std::equal(nri.begin(), nri.end(), entry.first.begin());
	});
	if (!is_there || is_true("disable") || is_true("disable_connections") ||
		has_string(toml, {"disabled_plugins"}, k_nri))
		lacks.emplace_back("NRI is off, so slurmkube-node cannot connect: set disable = "
				   "false and disable_connections = false in "
				   "[plugins.'io.containerd.nri.v1.nri'], and remove it from "
				   "disabled_plugins");
}

void check_validator(const Toml &toml, std::vector<std::string> &lacks)
{
	const TomlPath table = {"plugins", k_nri, "default_validator"};
	const auto at = [&](const char *key) {
		TomlPath path = table;
		path.emplace_back(key);
		return path;
	};
	if (value_of(toml, at("enable")) != "true" ||
		!has_string(toml, at("required_plugins"), k_plugin))
		lacks.emplace_back(
			"containers would start while slurmkube-node is not running: set enable = "
			"true and required_plugins = [\"slurm-kube\"] in "
			"[plugins.'io.containerd.nri.v1.nri'.default_validator] (containerd reads "
			"a file in conf.d only if imports in config.toml names it)");
	const std::string tolerate = value_of(toml, at("tolerate_missing_plugins_annotation"));
	if (!tolerate.empty())
		lacks.push_back("any user can start containers without slurmkube-node by the "
				"annotation " +
			tolerate +
			": remove tolerate_missing_plugins_annotation from "
			"[plugins.'io.containerd.nri.v1.nri'.default_validator]");
}

bool has_system_cpus(const std::string &spec, const std::string &system_cpus)
{
	const Result<codec::Json> root = codec::parse_json(spec, k_spec_max);
	if (!root)
		return false;
	const std::set<std::uint32_t> cpus = cpus_in(
		codec::get_string(codec::get(root->get(), "linux", "resources", "cpu"), "cpus"));
	return !cpus.empty() && std::ranges::includes(cpus_in(system_cpus), cpus);
}

std::set<std::string> runtimes_in(const Toml &toml)
{
	const TomlPath prefix = {
		"plugins", "io.containerd.cri.v1.runtime", "containerd", "runtimes"};
	std::set<std::string> names;
	for (const auto &[path, value] : toml)
		if (path.size() > prefix.size() + 1 &&
			std::equal(prefix.begin(), prefix.end(), path.begin()))
			names.insert(path[prefix.size()]);
	return names;
}

/* It adds the devices that the image's environment names, and slurmkube-node does not see them. */
void check_binary(const Toml &toml, const std::string &name, std::vector<std::string> &lacks)
{
	const std::string binary = value_of(toml,
		{"plugins", "io.containerd.cri.v1.runtime", "containerd", "runtimes", name,
			"options", "BinaryName"});
	if (binary.substr(binary.rfind('/') + 1).starts_with("nvidia-container-runtime"))
		lacks.push_back("runtime " + name + " runs " + binary +
			", which gives a container GPUs of other jobs: remove this runtime, and "
			"give GPUs by resource claims (doc/hybrid.md, Devices)");
}

/* containerd then lists no devices of a privileged container, which may make all of them. */
void check_privileged(const Toml &toml, const std::string &name, std::vector<std::string> &lacks)
{
	for (const char *key : {"privileged_without_host_devices",
		     "privileged_without_host_devices_all_devices_allowed"}) {
		if (value_of(toml,
			    {"plugins", "io.containerd.cri.v1.runtime", "containerd", "runtimes",
				    name, key}) == "true")
			lacks.push_back("runtime " + name + " has " + key +
				", so slurmkube-node sees no devices of privileged containers: "
				"set it to false");
	}
}

/* A user chooses any of the runtimes by a RuntimeClass. */
void check_runtimes(const Toml &toml, const ReadFile &read, const std::string &system_cpus,
	std::vector<std::string> &lacks)
{
	const std::set<std::string> runtimes = runtimes_in(toml);
	if (runtimes.empty())
		lacks.emplace_back(
			"the configuration has no table "
			"[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.NAME]");
	for (const std::string &name : runtimes) {
		check_binary(toml, name, lacks);
		check_privileged(toml, name, lacks);
		const std::string file = value_of(toml,
			{"plugins", "io.containerd.cri.v1.runtime", "containerd", "runtimes", name,
				"base_runtime_spec"});
		if (file.empty() || !has_system_cpus(read(file), system_cpus))
			lacks.push_back("a container of runtime " + name +
				" could start on processors of jobs if slurmkube-node dies: set "
				"its base_runtime_spec to a file in which "
				"linux.resources.cpu.cpus is \"" +
				system_cpus + "\", as SystemCpus");
	}
}

} // namespace

std::vector<std::string> containerd_lacks(
	std::string_view configuration, const ReadFile &read, const std::string &system_cpus)
{
	const Toml toml = parse_toml(configuration);
	std::vector<std::string> lacks;
	check_nri(toml, lacks);
	check_validator(toml, lacks);
	check_runtimes(toml, read, system_cpus, lacks);
	return lacks;
}

} // namespace slurmkube::node
