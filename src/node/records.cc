/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/records.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>

#include <unistd.h>

namespace slurmkube::node
{

namespace fs = std::filesystem;

namespace
{

constexpr std::size_t k_id_max = 128;
constexpr const char *k_cleared = "cleared", *k_started = "started", *k_creating = "creating";
constexpr const char *k_folders[] = {"closed", "containers", "graces"};

bool is_container_id(const std::string &id)
{
	return !id.empty() && id.size() <= k_id_max &&
		std::all_of(id.begin(), id.end(), [](unsigned char c) {
			return std::isalnum(c) != 0 || c == '-' || c == '_';
		});
}

std::vector<std::string> lines_in(const fs::path &file)
{
	std::ifstream in(file);
	std::vector<std::string> lines;
	for (std::string line; std::getline(in, line);)
		lines.push_back(line);
	return lines;
}

std::vector<fs::path> files_in(const fs::path &directory)
{
	std::vector<fs::path> found;
	std::error_code error;
	for (fs::directory_iterator i(directory, error), end; !error && i != end;
		i.increment(error))
		if (!i->path().filename().string().starts_with('.'))
			found.push_back(i->path());
	return found;
}

std::chrono::seconds age_of(const fs::path &file)
{
	std::error_code error;
	const auto written = fs::last_write_time(file, error);
	if (error)
		return {};
	return std::chrono::duration_cast<std::chrono::seconds>(
		fs::file_time_type::clock::now() - written);
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

Result<Ok> Records::write(const fs::path &file, const std::string &content) const
{
	/* a name of its own for each writer: the daemon and epilogs write at the same time */
	const fs::path part = file.parent_path() /
		("." + file.filename().string() + "." + std::to_string(::getpid()));
	std::ofstream out(part, std::ios::trunc);
	out << content;
	out.close();
	std::error_code error;
	if (out)
		fs::rename(part, file, error);
	if (!out || error)
		return Error{Errc::io, "cannot write " + file.string()};
	return Ok{};
}

Result<Ok> Records::close(std::uint32_t job, bool is_cleared) const
{
	return write(directory_ / "closed" / std::to_string(job),
		std::string(is_cleared ? k_cleared : "closed") + "\n");
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
		if (lines.empty() || lines[0] != k_cleared || age_of(file) < age)
			continue;
		for (const fs::path &container : files_in(directory_ / "containers"))
			if (container.stem() == file.filename())
				fs::remove(container, ignored);
		fs::remove(directory_ / "graces" / file.filename(), ignored);
		/* closed/ last: until then no container of the job is created */
		fs::remove(file, ignored);
	}
}

Result<Ok> Records::keep_grace(std::uint32_t job, const std::string &grace) const
{
	return write(directory_ / "graces" / std::to_string(job), grace + "\n");
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
	if (!is_container_id(id))
		return Error{Errc::invalid, "a container's id that is no file name"};
	return write(directory_ / "containers" / (std::to_string(job) + "." + id),
		cgroup + "\n" + (is_started ? k_started : k_creating) + "\n");
}

void Records::forget_container(const std::string &id) const
{
	std::error_code ignored;
	for (const fs::path &file : files_in(directory_ / "containers"))
		if (file.extension() == "." + id)
			fs::remove(file, ignored);
}

std::vector<ContainerRecord> Records::containers_of(std::uint32_t job) const
{
	std::vector<ContainerRecord> found;
	for (const fs::path &file : files_in(directory_ / "containers")) {
		const std::vector<std::string> lines = lines_in(file);
		if (file.stem() != std::to_string(job) || lines.empty() || !file.has_extension())
			continue;
		found.push_back({file.extension().string().substr(1), lines[0],
			lines.size() > 1 && lines[1] == k_started, age_of(file)});
	}
	return found;
}

std::vector<std::uint32_t> Records::jobs() const
{
	std::set<std::uint32_t> jobs;
	for (const char *folder : k_folders)
		for (const fs::path &file : files_in(directory_ / folder)) {
			const std::string stem = file.stem();
			std::uint32_t job = 0;
			std::from_chars(stem.data(), stem.data() + stem.size(), job);
			if (job != 0)
				jobs.insert(job);
		}
	return {jobs.begin(), jobs.end()};
}

} // namespace slurmkube::node
