/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/files.h"

#include <algorithm>
#include <cctype>
#include <ctime>
#include <fstream>

#include <unistd.h>

namespace slurmkube::node
{

namespace fs = std::filesystem;

namespace
{

constexpr std::size_t k_plain_name_max = 128;

std::int64_t seconds_of(clockid_t clock)
{
	timespec now = {};
	(void)::clock_gettime(clock, &now);
	return now.tv_sec;
}

} // namespace

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

Result<Ok> replace_file(const fs::path &file, const std::string &content)
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
	if (!out || error) {
		std::error_code ignored;
		fs::remove(part, ignored);
		return Error{Errc::io, "cannot write " + file.string()};
	}
	return Ok{};
}

std::int64_t seconds_since_boot()
{
	return seconds_of(CLOCK_BOOTTIME);
}

std::int64_t seconds_since_epoch()
{
	return seconds_of(CLOCK_REALTIME);
}

bool is_plain_name(const std::string &name)
{
	return !name.empty() && name.size() <= k_plain_name_max &&
		std::ranges::all_of(name, [](unsigned char c) {
			return std::isalnum(c) != 0 || c == '-' || c == '_';
		});
}

} // namespace slurmkube::node
