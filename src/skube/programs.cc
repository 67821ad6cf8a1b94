/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/programs.h"

#include "src/base/owned.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

extern char **environ; // NOLINT: POSIX has it in no header

namespace slurmkube::skube
{

namespace
{

constexpr std::size_t k_output_max = std::size_t{256} << 20;

/* fd: becomes the program's standard output; -1: skube's own. */
Result<pid_t> start(const Words &words, int fd)
{
	std::vector<char *> argv;
	for (const std::string &word : words)
		argv.push_back(
			const_cast<char *>(word.c_str())); // NOLINT: posix_spawn changes nothing
	argv.push_back(nullptr);
	posix_spawn_file_actions_t actions;
	(void)posix_spawn_file_actions_init(&actions); /* cannot fail with glibc */
	if (fd >= 0)
		/* if it fails, the program is not started */
		(void)posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
	pid_t pid = 0;
	const int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	if (error == ENOENT)
		return Error{Errc::not_found, "there is no " + words[0] + " in PATH"};
	if (error != 0)
		return Error{Errc::internal,
			"cannot run " + words[0] + ": " + std::generic_category().message(error)};
	return pid;
}

Status ended(pid_t pid, const Words &words)
{
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return Ok{};
	return Error{Errc::invalid, "failed: " + command_line(words)};
}

std::string read_all(const UniqueFd &from)
{
	std::string all;
	std::array<char, 65536> piece;
	for (ssize_t got = 0; all.size() <= k_output_max;
		all.append(piece.data(), static_cast<std::size_t>(got))) {
		do
			got = read(from.get(), piece.data(), piece.size());
		while (got < 0 && errno == EINTR);
		if (got <= 0)
			break;
	}
	return all;
}

} // namespace

Result<std::string> output_of(const Words &words)
{
	int ends[2];
	if (pipe2(&ends[0], O_CLOEXEC) != 0)
		return Error{Errc::internal, "no pipe: " + std::generic_category().message(errno)};
	UniqueFd from(ends[0]);
	UniqueFd to(ends[1]);
	const auto pid = start(words, to.get());
	to.reset();
	if (!pid)
		return pid.error();
	std::string all = read_all(from);
	from.reset(); /* a program that prints more gets SIGPIPE instead of waiting for a reader */
	const Status done = ended(*pid, words);
	if (all.size() > k_output_max)
		return Error{Errc::too_large, words[0] + " printed more than 256 MiB"};
	return done ? Result<std::string>(std::move(all)) : done.error();
}

Status run_program(const Words &words)
{
	const auto pid = start(words, -1);
	return pid ? ended(*pid, words) : Status(pid.error());
}

std::string command_line(const Words &words)
{
	std::string all;
	for (const std::string &word : words) {
		const bool plain = !word.empty() &&
			word.find_first_of(" \t\n'\"\\$&|;<>(){}*?[]#~`!") == std::string::npos;
		all += (all.empty() ? "" : " ") + (plain ? word : "'" + word + "'");
	}
	return all;
}

std::vector<std::string> lines_of(const std::string &text)
{
	std::vector<std::string> lines;
	std::istringstream in(text);
	for (std::string line; std::getline(in, line);) {
		if (!line.empty())
			lines.push_back(line);
	}
	return lines;
}

} // namespace slurmkube::skube
