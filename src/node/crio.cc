/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/crio.h"

#include "src/codec/json.h"
#include "src/node/toml.h"

#include <algorithm>
#include <array>

namespace slurmkube::node
{

namespace
{

constexpr const char *k_hook_file = "50-slurm-kube.json";
/* CRI-O's default. podman reads both of these, too (containers.conf(5)). */
constexpr std::array<std::string_view, 2> k_folders_of_podman = {
	"/usr/share/containers/oci/hooks.d", "/etc/containers/oci/hooks.d"};
constexpr const char *k_own_folder = "/etc/crio/hooks.d";
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

std::string text_at(json_object *array, std::size_t i)
{
	const char *text = json_object_get_string(codec::array_at(array, i));
	return text ? text : "";
}

/* Whether the file has the hook that node-setup prints, for all containers. */
bool has_hook(const std::string &text, const ReadFile &read)
{
	const Result<codec::Json> root = codec::parse_json(text, k_hook_max);
	if (!root)
		return false;
	json_object *hook = codec::get(root->get(), "hook");
	json_object *args = codec::get(hook, "args");
	json_object *stages = codec::get(root->get(), "stages");
	const std::string path = codec::get_string(hook, "path");
	return path.ends_with("/slurmkube-node") && !read(path).empty() &&
		text_at(args, 1) == "--confined" &&
		(codec::array_size(args) == 2 ||
			(codec::array_size(args) == 3 &&
				text_at(args, 2).starts_with("--config="))) &&
		codec::get_bool(codec::get(root->get(), "when"), "always") &&
		codec::array_size(stages) == 1 && text_at(stages, 0) == "createRuntime";
}

bool is_podmans(const std::string &folder)
{
	return std::ranges::find(k_folders_of_podman, folder) != k_folders_of_podman.end();
}

/* The last file of a name counts. */
void check_hook(const Toml &toml, const ReadFile &read, std::vector<std::string> &lacks)
{
	std::vector<std::string> folders = strings_of(toml, {"crio", "runtime", "hooks_dir"});
	if (folders.empty())
		folders.emplace_back(k_folders_of_podman[0]);
	const auto has_file = [&](const std::string &folder) {
		return !read(folder + "/" + k_hook_file).empty();
	};
	const auto last = std::find_if(folders.rbegin(), folders.rend(), has_file);
	const auto own = std::ranges::find_if_not(folders, is_podmans);
	const std::string remedy = (own == folders.end() ? k_own_folder : *own) +
		("/" + std::string(k_hook_file)) +
		(own == folders.end() ? ", and name the folder in hooks_dir of [crio.runtime]"
				      : "");
	if (last == folders.rend() || !has_hook(read(*last + "/" + k_hook_file), read))
		lacks.push_back("a container could start on processors of jobs if slurmkube-node "
				"dies: write the output of skube node-setup --only crio-hook to " +
			remedy);
	else if (is_podmans(*last))
		lacks.push_back("podman reads " + *last +
			", too, so all containers of podman are refused: move the hook to " +
			remedy);
}

void check_checkpoints(const Toml &toml, std::vector<std::string> &lacks)
{
	if (value_of(toml, {"crio", "runtime", "enable_criu_support"}) != "false")
		lacks.emplace_back(
			"a container that is restored from a checkpoint starts without a look at "
			"its job: set enable_criu_support = false in [crio.runtime]");
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
	check_checkpoints(toml, lacks);
	check_runtimes_of_crio(toml, lacks);
	return lacks;
}

} // namespace slurmkube::node
