/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/native_jobs.h"

#include "src/node/epilog.h"
#include "src/node/files.h"

#include <poll.h>

namespace slurmkube::node
{

namespace fs = std::filesystem;

namespace
{

using SteadyClock = std::chrono::steady_clock;

/* Without the start of the job, Prolog must have run that long after it, or so much before it by
 * another clock. */
constexpr std::int64_t k_after_start = 600, k_before_start = 60;
constexpr int k_pause_ms = 50;

fs::path file_of(const fs::path &directory, std::uint32_t job)
{
	return directory / "opened" / std::to_string(job);
}

/* The cgroups of containers that may have processes. */
std::vector<ContainerRecord> live_containers(const Records &containers, const Cgroups &cgroups,
	const std::function<bool(std::uint32_t job)> &has_ended, bool may_forget,
	const ContainerdStatus &containerd)
{
	std::vector<ContainerRecord> live;
	for (const auto &[job, ids] : containers.containers()) {
		if (!has_ended(job))
			continue;
		for (const std::string &id : ids) {
			const std::optional<ContainerRecord> one = containers.container(job, id);
			if (one && is_live(*one, cgroups, containerd))
				live.push_back(*one);
			else if (may_forget)
				containers.forget_container(id);
		}
	}
	return live;
}

} // namespace

std::string misfit(const core::NativeMark &mark, const std::optional<OpenedJob> &opened)
{
	const std::string job = "Slurm job " + std::to_string(mark.job.number);
	if (!opened)
		return job +
			" does not run on this node, or its Prolog did not run slurmkube-node "
			"--settle";
	core::NativeMark life = opened->life;
	if (life.start == 0 && opened->written >= mark.start - k_before_start &&
		opened->written <= mark.start + k_after_start)
		life.start = mark.start;
	return life == mark ? "" : job + " on this node is not the one that the pod was bound to";
}

NativeJobs::NativeJobs(const fs::path &state_directory) : directory_(state_directory / "native") {}

bool NativeJobs::is_used() const
{
	std::error_code ignored;
	return fs::exists(directory_, ignored);
}

Result<Ok> NativeJobs::open(const core::NativeMark &life) const
{
	std::error_code error;
	fs::create_directories(directory_ / "opened", error);
	fs::permissions(directory_, fs::perms::owner_all, error);
	return replace_file(file_of(directory_, life.job.number),
		std::to_string(life.user_id) + "\n" + std::to_string(life.restarts) + "\n" +
			std::to_string(life.start) + "\n" + std::to_string(seconds_since_epoch()) +
			"\n" + std::to_string(seconds_since_boot()) + "\n" + life.cluster + "\n");
}

/* Needs no room, unlike a file that would say the same. */
void NativeJobs::close(std::uint32_t job) const
{
	std::error_code ignored;
	fs::remove(file_of(directory_, job), ignored);
}

std::optional<OpenedJob> NativeJobs::opened(std::uint32_t job) const
{
	const std::vector<std::string> lines = lines_in(file_of(directory_, job));
	OpenedJob opened;
	opened.life.job = {job};
	if (lines.size() < 6 || !read_number(lines[0].c_str(), opened.life.user_id) ||
		!read_number(lines[1].c_str(), opened.life.restarts) ||
		!read_number(lines[2].c_str(), opened.life.start) ||
		!read_number(lines[3].c_str(), opened.written))
		return std::nullopt;
	opened.life.cluster = lines[5];
	for (const std::string &line : lines)
		opened.text += (opened.text.empty() ? "" : " ") + line;
	return opened;
}

void NativeJobs::prune(const Cgroups &cgroups, std::chrono::seconds age) const
{
	for (const fs::path &file : files_in(directory_ / "opened")) {
		const std::vector<std::string> lines = lines_in(file);
		const std::string name = file.filename();
		std::uint32_t job = 0;
		std::int64_t then = 0;
		const bool is_known = read_number(name.c_str(), job) && lines.size() >= 5 &&
			read_number(lines[4].c_str(), then);
		if (is_known && !cgroups.cpuset_of(job) &&
			seconds_since_boot() - then > age.count())
			close(job);
	}
}

Result<Ok> end_containers(const Records &containers, const Cgroups &cgroups,
	const std::function<bool(std::uint32_t job)> &has_ended, const EndLimits &limits,
	const ContainerdStatus &containerd)
{
	const SteadyClock::time_point begin = SteadyClock::now();
	for (;;) {
		const std::vector<ContainerRecord> live = live_containers(
			containers, cgroups, has_ended, !limits.only_waits, containerd);
		if (live.empty())
			return Ok{};
		const auto waited = SteadyClock::now() - begin;
		if (waited >= limits.all)
			return Error{Errc::again, "container " + live.front().id + " still runs"};
		for (const ContainerRecord &one : live)
			if (waited >= limits.grace && !limits.only_waits)
				cgroups.kill_processes(one.cgroup);
		(void)::poll(nullptr, 0, k_pause_ms);
	}
}

} // namespace slurmkube::node
