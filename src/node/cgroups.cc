/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/cgroups.h"

#include "src/base/owned.h"
#include "src/node/systemd_units.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>

#include <fcntl.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

namespace slurmkube::node
{

namespace fs = std::filesystem;

namespace
{

/* A tree elsewhere is not systemd's. */
constexpr const char *k_systemd_root = "/sys/fs/cgroup";

std::string first_line(const fs::path &file)
{
	std::ifstream in(file);
	std::string line;
	std::getline(in, line);
	return line;
}

std::vector<fs::path> directories_in(const fs::path &parent)
{
	std::vector<fs::path> found;
	std::error_code error;
	for (fs::directory_iterator i(parent, error), end; !error && i != end; i.increment(error))
		if (std::error_code ignored; i->is_directory(ignored) && !i->is_symlink(ignored))
			found.push_back(i->path());
	return found;
}

std::vector<pid_t> processes_in(const fs::path &cgroup)
{
	std::vector<pid_t> pids;
	std::ifstream in(cgroup / "cgroup.procs");
	for (pid_t pid = 0; in >> pid;)
		pids.push_back(pid);
	return pids;
}

struct FileContent {
	int error = 0; /* errno */
	std::string text;
};

FileContent content_of_file(const fs::path &file)
{
	FileContent content;
	const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
	char buffer[4096];
	ssize_t size = fd ? 1 : -1;
	while (size > 0) {
		size = ::read(fd.get(), buffer, sizeof buffer);
		if (size > 0)
			content.text.append(buffer, static_cast<std::size_t>(size));
	}
	content.error = size < 0 ? errno : 0;
	return content;
}

/* What cannot be read, for whatever reason but that it is gone, counts as in use: otherwise a job
 * would end while its containers run. */
bool has_process_below(const fs::path &cgroup)
{
	const FileContent processes = content_of_file(cgroup / "cgroup.procs");
	if (processes.error != 0 || !processes.text.empty())
		return processes.error != ENOENT;
	std::error_code error;
	for (fs::directory_iterator i(cgroup, error), end; !error && i != end; i.increment(error))
		if (std::error_code ignored; i->is_directory(ignored) && !i->is_symlink(ignored) &&
			has_process_below(i->path()))
			return true;
	return error && error.value() != ENOENT;
}

/* The kernel looks at the groups below, too (cgroups(7), cgroup.events). */
bool is_populated(const fs::path &cgroup)
{
	const FileContent events = content_of_file(cgroup / "cgroup.events");
	if (events.error != 0)
		return events.error != ENOENT;
	return events.text.find("populated 0") == std::string::npos;
}

/* slurmd freezes cgroups of steps (Slurm's cgroup_v2.c, cgroup_p_step_suspend). */
bool has_frozen(const fs::path &cgroup)
{
	/* cgroup.events says so only when the last process has stopped. */
	if (first_line(cgroup / "cgroup.freeze") == "1" ||
		content_of_file(cgroup / "cgroup.events").text.find("frozen 1") !=
			std::string::npos)
		return true;
	return std::ranges::any_of(directories_in(cgroup), has_frozen);
}

bool is_there(const fs::path &path)
{
	std::error_code ignored;
	return fs::exists(path, ignored);
}

void kill_in(const fs::path &cgroup)
{
	for (const pid_t pid : processes_in(cgroup))
		if (pid > 1)
			(void)::kill(pid, SIGKILL);
}

void kill_below(const fs::path &cgroup)
{
	for (const fs::path &child : directories_in(cgroup))
		kill_below(child);
	kill_in(cgroup);
}

/* The directories of a cgroup can be removed, its files cannot. */
bool remove_tree(const fs::path &cgroup)
{
	for (const fs::path &child : directories_in(cgroup))
		(void)remove_tree(child);
	kill_in(cgroup);
	std::error_code error;
	fs::remove(cgroup, error);
	return !error;
}

} // namespace

Cgroups::Cgroups(fs::path root, std::string node_name)
    : root_(std::move(root)), node_name_(std::move(node_name)),
      is_v2_(is_there(root_ / "cgroup.controllers"))
{
}

std::vector<fs::path> Cgroups::hierarchies() const
{
	return is_v2_ ? std::vector<fs::path>{root_} : directories_in(root_);
}

std::vector<fs::path> Cgroups::parents_in(const fs::path &hierarchy) const
{
	if (is_v2_) {
		const fs::path slice = hierarchy / "system.slice";
		return {slice / (node_name_ + "_slurmstepd.scope"), slice / "slurmstepd.scope"};
	}
	std::vector<fs::path> parents;
	for (const std::string &top : {"slurm_" + node_name_, std::string("slurm")})
		for (const fs::path &user : directories_in(hierarchy / top))
			parents.push_back(user);
	return parents;
}

std::vector<fs::path> Cgroups::jobs_in(
	const fs::path &hierarchy, std::uint32_t job, std::optional<std::uint32_t> user) const
{
	const std::string name = "job_" + std::to_string(job);
	const std::string of_user = user ? "uid_" + std::to_string(*user) : std::string();
	std::vector<fs::path> found;
	for (const fs::path &parent : parents_in(hierarchy))
		if ((!user || is_v2_ || parent.filename() == of_user) && is_there(parent / name))
			found.push_back(parent / name);
	return found;
}

std::map<std::string, CpuSet> Cgroups::cpusets() const
{
	std::map<std::string, CpuSet> sets;
	for (const fs::path &parent : parents_in(is_v2_ ? root_ : root_ / "cpuset"))
		for (const fs::path &cgroup : directories_in(parent)) {
			const std::string name = cgroup.filename();
			CpuSet set = {first_line(cgroup / "cpuset.cpus"),
				first_line(cgroup / "cpuset.mems")};
			if (name.starts_with("job_") && is_cpu_list(set.cpus))
				sets[name.substr(4)] = std::move(set);
		}
	return sets;
}

std::optional<CpuSet> Cgroups::cpuset_of(std::uint32_t job, std::optional<std::uint32_t> user) const
{
	const fs::path hierarchy = is_v2_ ? root_ : root_ / "cpuset";
	for (const fs::path &cgroup : jobs_in(hierarchy, job, user)) {
		CpuSet set = {
			first_line(cgroup / "cpuset.cpus"), first_line(cgroup / "cpuset.mems")};
		if (is_cpu_list(set.cpus))
			return set;
	}
	return std::nullopt;
}

std::optional<fs::path> Cgroups::device_cgroup_of(std::uint32_t job) const
{
	const std::vector<fs::path> found = jobs_in(is_v2_ ? root_ : root_ / "devices", job);
	return found.empty() ? std::nullopt : std::optional(found.front());
}

void Cgroups::remove_probes() const
{
	for (const fs::path &parent : parents_in(is_v2_ ? root_ : root_ / "devices"))
		for (const fs::path &job : directories_in(parent))
			(void)::rmdir((job / k_probe_cgroup).c_str());
}

bool Cgroups::has_processes(const std::string &path) const
{
	const fs::path below = fs::path(path).relative_path();
	return is_v2_ ? is_populated(root_ / below) : has_process_below(root_ / "cpuset" / below);
}

void Cgroups::kill_processes(const std::string &path) const
{
	const fs::path below = fs::path(path).relative_path();
	/* never what has the cgroups of all containers, or of the machine */
	if (!below.has_parent_path())
		return;
	kill_below(is_v2_ ? root_ / below : root_ / "cpuset" / below);
}

std::optional<fs::path> Cgroups::memory_cgroup(const std::string &path) const
{
	const fs::path cgroup =
		(is_v2_ ? root_ : root_ / "memory") / fs::path(path).relative_path();
	return is_there(cgroup) ? std::optional(cgroup) : std::nullopt;
}

std::optional<fs::path> Cgroups::memory_cgroup_of(std::uint32_t job, std::uint32_t user) const
{
	const std::vector<fs::path> found = jobs_in(is_v2_ ? root_ : root_ / "memory", job, user);
	return found.empty() ? std::nullopt : std::optional(found.front());
}

bool Cgroups::is_frozen(std::uint32_t job) const
{
	if (is_v2_)
		return std::ranges::any_of(jobs_in(root_, job), has_frozen);
	for (const fs::path &cgroup : jobs_in(root_ / "freezer", job)) {
		std::vector<fs::path> all = directories_in(cgroup);
		all.push_back(cgroup);
		for (const fs::path &one : all)
			if (const std::string state = first_line(one / "freezer.state");
				!state.empty() && state != "THAWED")
				return true;
	}
	return false;
}

Result<Ok> Cgroups::limit_memory(const std::string &path, std::int64_t limit) const
{
	const fs::path below = fs::path(path).relative_path();
	const fs::path file = is_v2_ ? root_ / below / "memory.max"
				     : root_ / "memory" / below / "memory.limit_in_bytes";
	std::int64_t now = 0;
	std::ifstream(file) >> now; /* v2: "max" */
	if (now > 0 && now <= limit)
		return Ok{};
	const std::optional<std::string> slice = slice_of(path);
	if (slice && root_ == k_systemd_root && sd_booted() > 0)
		if (Result<Ok> set = limit_memory_of_unit(*slice, limit); !set)
			return set;
	std::ofstream out(file); /* systemd does it a moment later */
	out << limit << std::flush;
	if (!out)
		return Error{Errc::io, "cannot write " + file.string()};
	return Ok{};
}

bool Cgroups::remove(std::uint32_t job) const
{
	bool is_gone = true;
	for (const fs::path &hierarchy : hierarchies())
		for (const fs::path &cgroup : jobs_in(hierarchy, job))
			is_gone = remove_tree(cgroup) && is_gone;
	return is_gone;
}

} // namespace slurmkube::node
