/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/crio.h"

#include "src/codec/json.h"
#include "src/node/toml.h"

#include <algorithm>

namespace slurmkube::node
{

namespace
{

constexpr const char *k_hook_file = "50-slurm-kube.json";
constexpr const char *k_hooks_dir = "/usr/share/containers/oci/hooks.d"; /* the default */
constexpr std::size_t k_hook_max = 1U << 20;

bool is_set(const Toml &toml, const TomlPath &path)
{
	return value_of(toml, path) == "true";
}

void check_nri_of_crio(const Toml &toml, std::vector<std::string> &lacks)
{
	if (value_of(toml, {"crio", "nri", "enable_nri"}) == "false" ||
		is_set(toml, {"crio", "nri", "nri_disable_connections"}))
		lacks.emplace_back("NRI is off, so slurmkube-node cannot connect: set enable_nri = "
				   "true and nri_disable_connections = false in [crio.nri]");
	const auto at = [](const char *key) {
		return TomlPath{"crio", "nri", "default_validator", key};
	};
	if (!is_set(toml, at("nri_enable_default_validator")) ||
		!has_string(toml, at("nri_validator_required_plugins"), "slurm-kube"))
		lacks.emplace_back(
			"containers would start while slurmkube-node is not running: set "
			"nri_enable_default_validator = true and nri_validator_required_plugins = "
			"[\"slurm-kube\"] in [crio.nri.default_validator]");
	const std::string tolerate =
		value_of(toml, at("nri_validator_tolerate_missing_plugins_annotation"));
	if (!tolerate.empty())
		lacks.push_back("any user can start containers without slurmkube-node by the "
				"annotation " +
			tolerate +
			": remove nri_validator_tolerate_missing_plugins_annotation from "
			"[crio.nri.default_validator]");
}

/* The strings of an array; none if there is no such key. */
std::vector<std::string> strings_of(const Toml &toml, const TomlPath &path)
{
	std::vector<std::string> strings;
	const std::string array = value_of(toml, path);
	for (std::size_t at = array.find('"'); at != std::string::npos;) {
		const std::size_t end = array.find('"', at + 1);
		if (end == std::string::npos)
			break;
		strings.push_back(array.substr(at + 1, end - at - 1));
		at = array.find('"', end + 1);
	}
	return strings;
}

/* Whether the file has the hook that node-setup prints, for all containers. */
bool has_hook(const std::string &text)
{
	const Result<codec::Json> root = codec::parse_json(text, k_hook_max);
	if (!root)
		return false;
	return codec::get_string(codec::get(root->get(), "hook"), "path")
		       .ends_with("/slurmkube-node") &&
		codec::get_bool(codec::get(root->get(), "when"), "always");
}

void check_hook(const Toml &toml, const ReadFile &read, std::vector<std::string> &lacks)
{
	std::vector<std::string> folders = strings_of(toml, {"crio", "runtime", "hooks_dir"});
	if (folders.empty())
		folders.emplace_back(k_hooks_dir);
	const auto is_there = [&](const std::string &folder) {
		return has_hook(read(folder + "/" + k_hook_file));
	};
	if (std::ranges::none_of(folders, is_there))
		lacks.push_back("a container could start on processors of jobs if slurmkube-node "
				"dies: write " +
			folders.front() + "/" + k_hook_file +
			" with skube node-setup --only crio-hook");
}

void check_runtime_of_crio(const std::string &name, const std::string &key,
	const std::string &value, std::vector<std::string> &lacks)
{
	if (key == "runtime_path" &&
		value.substr(value.rfind('/') + 1).starts_with("nvidia-container-runtime"))
		lacks.push_back("runtime " + name + " runs " + value +
			", which gives a container GPUs of other jobs: remove this runtime, and "
			"give GPUs by resource claims (doc/hybrid.md, Devices)");
	if (key == "privileged_without_host_devices" && value == "true")
		lacks.push_back("runtime " + name + " has " + key +
			", so slurmkube-node sees no devices of privileged containers: set it to "
			"false");
}

/* A user chooses any of the runtimes by a RuntimeClass. */
void check_runtimes_of_crio(const Toml &toml, std::vector<std::string> &lacks)
{
	const TomlPath table = {"crio", "runtime", "runtimes"};
	for (const auto &[path, value] : toml)
		if (path.size() == table.size() + 2 &&
			std::equal(table.begin(), table.end(), path.begin()))
			check_runtime_of_crio(
				path[table.size()], path.back(), value_of(toml, path), lacks);
}

} // namespace

std::vector<std::string> crio_lacks(std::string_view configuration, const ReadFile &read)
{
	const Toml toml = parse_toml(configuration);
	std::vector<std::string> lacks;
	check_nri_of_crio(toml, lacks);
	check_hook(toml, read, lacks);
	check_runtimes_of_crio(toml, lacks);
	return lacks;
}

} // namespace slurmkube::node
