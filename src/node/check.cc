/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/check.h"

#include "src/base/programs.h"
#include "src/base/text.h"
#include "src/node/containerd.h"
#include "src/node/crio.h"
#include "src/node/device_access.h"

#include <cstdio>
#include <fstream>
#include <iterator>

#include <sys/stat.h>

namespace slurmkube::node
{

namespace
{

constexpr const char *k_crio_socket = "/run/crio/crio.sock";

std::string content_of(const std::string &file)
{
	std::ifstream in(file);
	return {std::istreambuf_iterator<char>(in), {}};
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
		"or CRI-O with enable_nri, or write NriSocket";
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

/* By hand, so what the unit forbids does not show here. */
std::string device_files_lack(const Settings &settings)
{
	const Result<Ok> made = try_device_file(settings.state_directory);
	return made ? std::string()
		    : made.error().what +
			", so containers with devices are refused: run as root, "
			"with CAP_MKNOD";
}

/* Jobs that run now, native ones too. */
std::string jobs_overlap(const Settings &settings, const Cgroups &cgroups)
{
	for (const auto &[job, set] : cgroups.cpusets())
		if (const std::string overlap = cpu_overlap(job, set.cpus, settings.system_cpus);
			!overlap.empty())
			return overlap;
	return {};
}

bool tell_all(const char *name, const std::vector<std::string> &lacks)
{
	for (const std::string &lack : lacks)
		(void)tell(name, lack);
	return lacks.empty() ? tell(name, {}) : false;
}

/* Not "crio config": 1.36.1 prints the validator's settings as comments, whatever they are. */
bool check_crio()
{
	const Result<std::string> configuration = output_of({"crio", "status", "config"});
	if (!configuration)
		return tell("crio", "crio status config: " + configuration.error().what);
	return tell_all("crio", crio_lacks(*configuration, content_of));
}

/* containerd may be there for other purposes. */
bool check_runtime(const Settings &settings)
{
	if (socket_lacks(k_crio_socket).empty())
		return check_crio();
	const Result<std::string> dump = output_of({"containerd", "config", "dump"});
	if (!dump && dump.error().code == Errc::not_found)
		return check_crio();
	if (!dump)
		return tell("containerd", "containerd config dump: " + dump.error().what);
	return tell_all("containerd", containerd_lacks(*dump, content_of, settings.system_cpus));
}

} // namespace

int check_node(const Settings &settings, const Cgroups &cgroups)
{
	bool ok = tell("socket", socket_lacks(settings.nri_socket));
	ok = tell("cgroups", cgroups_lack(settings, cgroups)) && ok;
	ok = tell("devices", device_files_lack(settings)) && ok;
	ok = tell("processors", jobs_overlap(settings, cgroups)) && ok;
	ok = check_runtime(settings) && ok;
	return ok ? 0 : 1;
}

} // namespace slurmkube::node
