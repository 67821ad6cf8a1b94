/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/settings.h"

#include "src/base/text.h"
#include "src/node/confine.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include <strings.h>

namespace slurmkube::node
{

namespace
{

constexpr std::size_t k_quoted_max = 64, k_name_max = 255, k_socket_path_max = 107;
constexpr std::streamoff k_file_max = 65536;

std::string_view stripped(std::string_view text)
{
	const std::size_t first = text.find_first_not_of(" \t\r");
	if (first == std::string_view::npos)
		return {};
	return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool is_path(const std::string &value)
{
	return value.starts_with('/') && value.size() <= k_socket_path_max;
}

bool is_name(const std::string &value)
{
	return !value.empty() && value.size() <= k_name_max &&
		value.find_first_of("/ \t") == std::string::npos;
}

struct Key {
	const char *name;
	std::string Settings::*member;
	bool (*is_valid)(const std::string &);
	const char *remedy;
};

constexpr const char *k_wants_path = "an absolute path of at most 107 bytes";
const Key k_keys[] = {
	{"SystemCpus", &Settings::system_cpus,
		[](const std::string &value) { return is_cpu_list(value); },
		"a list of processors such as 0,32-33"},
	{"NodeName", &Settings::node_name, is_name, "the NodeName of slurm.conf"},
	{"NriSocket", &Settings::nri_socket, is_path, k_wants_path},
	{"StateDirectory", &Settings::state_directory, is_path, k_wants_path},
	{"CgroupRoot", &Settings::cgroup_root, is_path, k_wants_path},
	{"ContainerdRoot", &Settings::containerd_root, is_path, k_wants_path},
	{"PodsInNativeJobs", &Settings::pods_in_native_jobs,
		[](const std::string &value) { return value == "yes" || value == "no"; },
		"yes or no"},
};

std::string in_quotes(std::string_view text)
{
	return "\"" + printable(std::string(text.substr(0, k_quoted_max))) + "\"";
}

std::string key_names()
{
	std::string names;
	for (const Key &key : k_keys)
		names += (names.empty() ? "" : ", ") + std::string(key.name);
	return names;
}

/* What is wrong; empty: nothing. */
std::string set(Settings &settings, std::string_view line, Strictness strictness)
{
	const std::size_t equals = line.find('=');
	const std::string name(stripped(line.substr(0, equals)));
	const auto key = std::find_if(std::begin(k_keys), std::end(k_keys),
		[&](const Key &one) { return strcasecmp(one.name, name.c_str()) == 0; });
	if (equals == std::string_view::npos || key == std::end(k_keys))
		return in_quotes(line) + " is not one of the keys " + key_names() + " with a value";
	std::string value(stripped(line.substr(equals + 1)));
	if (!key->is_valid(value)) {
		const std::string wrong =
			std::string(key->name) + "=" + in_quotes(value) + ": write " + key->remedy;
		if (strictness == Strictness::all || key->member != &Settings::pods_in_native_jobs)
			return wrong;
		settings.ignored = wrong;
		value = "no";
	}
	settings.*key->member = std::move(value);
	return {};
}

} // namespace

Result<Settings> parse_settings(std::string_view text, Strictness strictness)
{
	Settings settings;
	for (std::size_t number = 1; !text.empty(); number++) {
		const std::size_t end = text.find('\n');
		std::string_view line = text.substr(0, end);
		text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
		line = stripped(line.substr(0, line.find('#')));
		const std::string wrong = line.empty() ? "" : set(settings, line, strictness);
		if (!wrong.empty())
			return Error{
				Errc::invalid, "line " + std::to_string(number) + ": " + wrong};
	}
	if (settings.system_cpus.empty())
		return Error{Errc::invalid,
			"SystemCpus is missing: write the processors that CpuSpecList of the node "
			"in slurm.conf keeps from jobs, as Linux numbers them (lscpu -e)"};
	return settings;
}

Result<Settings> read_settings(const std::string &file, Strictness strictness)
{
	std::ifstream in(file, std::ios::ate);
	if (!in)
		return Error{Errc::not_found, file + ": " + std::strerror(errno)};
	if (in.tellg() > k_file_max)
		return Error{Errc::too_large, file + ": more than 64 KiB"};
	in.seekg(0);
	const std::string text{std::istreambuf_iterator<char>(in), {}};
	Result<Settings> settings = parse_settings(text, strictness);
	if (!settings)
		return Error{settings.error().code, file + ": " + settings.error().what};
	return settings;
}

} // namespace slurmkube::node
