/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/check.h"

#include "src/base/programs.h"
#include "src/base/text.h"

#include <cstdio>
#include <fstream>
#include <iterator>

#include <sys/stat.h>

namespace slurmkube::node
{

namespace
{

/* "key = value" in TOML as containerd prints it, with one space on both sides. */
bool has_line(const std::string &configuration, const std::string &key, const std::string &part)
{
	for (std::size_t at = configuration.find(key + " = "); at != std::string::npos;
		at = configuration.find(key + " = ", at + 1)) {
		const std::size_t end = configuration.find('\n', at);
		if (configuration.substr(at, end - at).find(part) != std::string::npos)
			return true;
	}
	return false;
}

std::string content_of(const std::string &file)
{
	std::ifstream in(file);
	return {std::istreambuf_iterator<char>(in), {}};
}

/* The JSON of containerd has blanks or not, according to what has written it. */
std::string without_blanks(const std::string &text)
{
	std::string out;
	for (const char c : text)
		if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
			out.push_back(c);
	return out;
}

bool tell(const char *name, const std::string &wrong)
{
	std::printf(
		"%-6s %-10s %s\n", wrong.empty() ? "ok" : "FAILED", name, printable(wrong).c_str());
	return wrong.empty();
}

std::string socket_lacks(const std::string &path)
{
	struct stat status = {};
	if (::stat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode))
		return {};
	return path +
		" is no socket: start containerd with the plugin io.containerd.nri.v1.nri, "
		"or write NriSocket";
}

std::string cgroups_lack(const Settings &settings, const Cgroups &cgroups)
{
	struct stat status = {};
	const std::string cpuset = settings.cgroup_root + "/cpuset";
	if (cgroups.is_v2() || ::stat(cpuset.c_str(), &status) == 0)
		return {};
	return settings.cgroup_root +
		" has neither cgroup.controllers nor cpuset: write CgroupRoot";
}

std::string containerd_check(const Settings &settings)
{
	const Result<std::string> dump = output_of({"containerd", "config", "dump"});
	if (!dump)
		return "containerd config dump: " + dump.error().what +
			" (with CRI-O compare its configuration with slurmkube-node(8))";
	const std::string file = base_spec_file(*dump);
	return containerd_lacks(
		*dump, file.empty() ? std::string() : content_of(file), settings.system_cpus);
}

} // namespace

std::string base_spec_file(const std::string &configuration)
{
	constexpr std::string_view k_key = "base_runtime_spec = ";
	std::string file;
	for (std::size_t at = configuration.find(k_key); at != std::string::npos;
		at = configuration.find(k_key, at + 1)) {
		const std::size_t first = at + k_key.size() + 1;
		const std::size_t last = configuration.find(configuration[first - 1], first);
		if (last != std::string::npos && last > first)
			file = configuration.substr(first, last - first);
	}
	return file;
}

std::string containerd_lacks(
	const std::string &configuration, const std::string &spec, const std::string &system_cpus)
{
	if (!has_line(configuration, "required_plugins", "slurm-kube"))
		return "containers would start while slurmkube-node is not running: set "
		       "required_plugins = [\"slurm-kube\"] and enable = true in "
		       "[plugins.'io.containerd.nri.v1.nri'.default_validator]";
	if (without_blanks(spec).find("\"cpus\":\"" + system_cpus + "\"") == std::string::npos)
		return "a container could start on all processors if slurmkube-node dies: set "
		       "base_runtime_spec to a file in which linux.resources.cpu.cpus is \"" +
			system_cpus + "\", as SystemCpus";
	return {};
}

int check_node(const Settings &settings, const Cgroups &cgroups)
{
	bool ok = tell("socket", socket_lacks(settings.nri_socket));
	ok = tell("cgroups", cgroups_lack(settings, cgroups)) && ok;
	ok = tell("containerd", containerd_check(settings)) && ok;
	return ok ? 0 : 1;
}

} // namespace slurmkube::node
