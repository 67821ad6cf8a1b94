/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/records.h"

#include "src/node/files.h"

#include <charconv>
#include <set>

namespace slurmkube::node
{

namespace fs = std::filesystem;

namespace
{

constexpr const char *k_cleared = "cleared", *k_started = "started", *k_creating = "creating";
constexpr const char *k_folders[] = {"closed", "containers", "graces"};

std::string now_line()
{
	return std::to_string(seconds_since_boot()) + "\n";
}

/* Since the time in the last line. What is from before a reboot is old, whatever it says. */
std::chrono::seconds age_of(const std::vector<std::string> &lines)
{
	std::int64_t then = 0;
	if (lines.empty() ||
		std::from_chars(
			lines.back().data(), lines.back().data() + lines.back().size(), then)
				.ec != std::errc())
		return {};
	const std::int64_t age = seconds_since_boot() - then;
	return age < 0 ? std::chrono::seconds::max() : std::chrono::seconds(age);
}

/* JOB or JOB.ID; 0: no name of ours */
std::uint32_t job_in(const fs::path &file)
{
	const std::string name = file.filename();
	std::uint32_t job = 0;
	std::from_chars(name.data(), name.data() + name.size(), job);
	return job;
}

std::string id_in(const fs::path &file)
{
	const std::string extension = file.extension();
	return extension.empty() ? extension : extension.substr(1);
}

} // namespace

Result<Records> Records::open(const fs::path &directory)
{
	std::error_code error;
	fs::create_directories(directory, error);
	fs::permissions(directory, fs::perms::owner_all, error);
	for (const char *folder : k_folders)
		if (!error)
			fs::create_directory(directory / folder, error);
	if (error)
		return Error{Errc::io, directory.string() + ": " + error.message()};
	return Records(directory);
}

Result<Ok> Records::close(std::uint32_t job, bool is_cleared) const
{
	return replace_file(directory_ / "closed" / std::to_string(job),
		std::string(is_cleared ? k_cleared : "closed") + "\n" + now_line());
}

Records::JobState Records::state_of(std::uint32_t job) const
{
	const fs::path file = directory_ / "closed" / std::to_string(job);
	/* a file that cannot be looked at counts as there: then no container starts */
	if (std::error_code error; !fs::exists(file, error) && !error)
		return JobState::open;
	const std::vector<std::string> lines = lines_in(file);
	return !lines.empty() && lines[0] == k_cleared ? JobState::cleared : JobState::closed;
}

void Records::reopen(std::uint32_t job) const
{
	std::error_code ignored;
	fs::remove(directory_ / "closed" / std::to_string(job), ignored);
}

void Records::prune(std::chrono::seconds age) const
{
	std::error_code ignored;
	for (const fs::path &file : files_in(directory_ / "closed")) {
		const std::vector<std::string> lines = lines_in(file);
		if (lines.empty() || lines[0] != k_cleared || age_of(lines) < age)
			continue;
		fs::remove(directory_ / "graces" / file.filename(), ignored);
		fs::remove(file, ignored);
	}
}

Result<Ok> Records::keep_grace(std::uint32_t job, const std::string &grace) const
{
	return replace_file(directory_ / "graces" / std::to_string(job), grace + "\n");
}

void Records::forget_grace(std::uint32_t job) const
{
	std::error_code ignored;
	fs::remove(directory_ / "graces" / std::to_string(job), ignored);
}

std::optional<std::string> Records::grace_of(std::uint32_t job) const
{
	const std::vector<std::string> lines =
		lines_in(directory_ / "graces" / std::to_string(job));
	return lines.empty() ? std::nullopt : std::optional(lines[0]);
}

Result<Ok> Records::keep_container(
	std::uint32_t job, const std::string &id, const std::string &cgroup, bool is_started) const
{
	if (!is_plain_name(id))
		return Error{Errc::invalid, "a container's id that is no file name"};
	return replace_file(directory_ / "containers" / (std::to_string(job) + "." + id),
		cgroup + "\n" + (is_started ? k_started : k_creating) + "\n" + now_line());
}

void Records::forget_container(const std::string &id) const
{
	std::error_code ignored;
	for (const fs::path &file : files_in(directory_ / "containers"))
		if (file.extension() == "." + id)
			fs::remove(file, ignored);
}

std::map<std::uint32_t, std::vector<std::string>> Records::containers() const
{
	std::map<std::uint32_t, std::vector<std::string>> found;
	for (const fs::path &file : files_in(directory_ / "containers"))
		if (job_in(file) != 0 && is_plain_name(id_in(file)))
			found[job_in(file)].push_back(id_in(file));
	return found;
}

std::optional<ContainerRecord> Records::container(std::uint32_t job, const std::string &id) const
{
	const std::vector<std::string> lines =
		lines_in(directory_ / "containers" / (std::to_string(job) + "." + id));
	if (lines.empty())
		return std::nullopt;
	return ContainerRecord{
		id, lines[0], lines.size() > 1 && lines[1] == k_started, age_of(lines)};
}

std::vector<ContainerRecord> Records::containers_of(std::uint32_t job) const
{
	std::vector<ContainerRecord> found;
	const std::vector<std::string> ids = containers()[job];
	for (const std::string &id : ids)
		if (std::optional<ContainerRecord> record = container(job, id))
			found.push_back(*std::move(record));
	return found;
}

std::vector<std::uint32_t> Records::jobs() const
{
	std::set<std::uint32_t> jobs;
	for (const char *folder : k_folders)
		for (const fs::path &file : files_in(directory_ / folder))
			if (job_in(file) != 0)
				jobs.insert(job_in(file));
	return {jobs.begin(), jobs.end()};
}

} // namespace slurmkube::node
