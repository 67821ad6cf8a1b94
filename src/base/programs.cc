/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/programs.h"

#include "src/base/owned.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sstream>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

extern char **environ; // NOLINT: POSIX has it in no header

namespace slurmkube
{

namespace
{

constexpr std::size_t k_input_max = std::size_t{16} << 10;
constexpr std::size_t k_output_max = std::size_t{256} << 20;

/* in, out: become the program's standard input and output; -1: the caller's, and with in -1 also
 * its process group. */
Result<pid_t> start(const Words &words, int in, int out)
{
	std::vector<char *> argv;
	for (const std::string &word : words)
		argv.push_back(
			const_cast<char *>(word.c_str())); // NOLINT: posix_spawn changes nothing
	argv.push_back(nullptr);
	posix_spawn_file_actions_t actions;
	(void)posix_spawn_file_actions_init(&actions); /* cannot fail with glibc */
	for (const auto &[fd, becomes] :
		{std::pair(in, STDIN_FILENO), std::pair(out, STDOUT_FILENO)}) {
		if (fd >= 0)
			/* if it fails, the program is not started */
			(void)posix_spawn_file_actions_adddup2(&actions, fd, becomes);
	}
	posix_spawnattr_t attributes;
	(void)posix_spawnattr_init(&attributes); /* these cannot fail with glibc either */
	/* The agent's threads block all signals and ignore SIGPIPE; a child would inherit that, and
	 * SIGTERM would not end it. SIGHUP stays ignored below nohup. */
	sigset_t none, defaults;
	(void)sigemptyset(&none);
	(void)sigemptyset(&defaults);
	(void)sigaddset(&defaults, SIGPIPE);
	(void)posix_spawnattr_setsigmask(&attributes, &none);
	(void)posix_spawnattr_setsigdefault(&attributes, &defaults);
	(void)posix_spawnattr_setflags(&attributes,
		static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
			(in >= 0 ? POSIX_SPAWN_SETPGROUP : 0)));
	pid_t pid = 0;
	const int error = posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ);
	(void)posix_spawnattr_destroy(&attributes);
	(void)posix_spawn_file_actions_destroy(&actions);
	if (error == ENOENT)
		return Error{Errc::not_found, "there is no " + words[0] + " in PATH"};
	if (error != 0)
		return Error{Errc::internal,
			"cannot run " + words[0] + ": " + std::generic_category().message(error)};
	return pid;
}

using Clock = std::chrono::steady_clock;
using Deadline = std::optional<Clock::time_point>;

/* False: the deadline is over. */
bool wait_readable(int fd, const Deadline &deadline)
{
	if (!deadline)
		return true;
	pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
	int ready = 0;
	do {
		const auto left =
			std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now());
		ready = left.count() > 0 ? poll(&entry, 1, static_cast<int>(left.count())) : 0;
	} while (ready < 0 && errno == EINTR);
	return ready != 0;
}

/* Waits until the program has ended, and kills it at the deadline, or if it is late already. */
Status ended(pid_t pid, const Words &words, const Deadline &deadline, bool is_late)
{
	/* Without the descriptor (Linux before 5.3) the wait has no deadline. */
	const UniqueFd end(deadline ? static_cast<int>(syscall(SYS_pidfd_open, pid, 0)) : -1);
	is_late = is_late || (end && !wait_readable(end.get(), deadline));
	if (is_late)
		(void)kill(pid, SIGKILL); /* not waited for yet, so the id is its own */
	int status = 0;
	pid_t done = 0;
	do
		done = waitpid(pid, &status, 0);
	while (done < 0 && errno == EINTR);
	if (done < 0)
		return Error{Errc::internal, "how " + command_line(words) + " ended is not known"};
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return Ok{};
	if (is_late)
		return Error{Errc::io, "no end in time: " + command_line(words)};
	const std::string how = WIFSIGNALED(status)
		? "ended by signal " + std::to_string(WTERMSIG(status))
		: "failed";
	return Error{Errc::invalid, how + ": " + command_line(words)};
}

/* False: the deadline was over before the end of the output. */
bool read_all(const UniqueFd &from, const Deadline &deadline, std::string &all)
{
	std::array<char, 65536> piece;
	while (all.size() <= k_output_max) {
		if (!wait_readable(from.get(), deadline))
			return false;
		const ssize_t got = read(from.get(), piece.data(), piece.size());
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		all.append(piece.data(), static_cast<std::size_t>(got));
	}
	return true;
}

struct Pipe {
	UniqueFd from, to;
};

Result<Pipe> new_pipe()
{
	int ends[2];
	if (pipe2(&ends[0], O_CLOEXEC) != 0)
		return Error{Errc::internal, "no pipe: " + std::generic_category().message(errno)};
	return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/* in: the program's standard input, which is closed here; -1: the caller's own. */
Result<std::string> output_with(
	const Words &words, UniqueFd in, std::optional<std::chrono::milliseconds> limit)
{
	auto output = new_pipe();
	if (!output)
		return output.error();
	auto &[from, to] = *output;
	const Deadline deadline = limit ? Deadline(Clock::now() + *limit) : std::nullopt;
	const auto pid = start(words, in ? in.get() : -1, to.get());
	in.reset();
	to.reset();
	if (!pid)
		return pid.error();
	std::string all;
	const bool is_whole = read_all(from, deadline, all);
	from.reset(); /* a program that prints more gets SIGPIPE instead of waiting for a reader */
	const Status done = ended(*pid, words, deadline, !is_whole);
	if (!is_whole)
		return Error{Errc::io, "no end in time: " + command_line(words)};
	if (all.size() > k_output_max)
		return Error{Errc::too_large, words[0] + " printed more than 256 MiB"};
	return done ? Result<std::string>(std::move(all)) : done.error();
}

} // namespace

Result<std::string> output_of(const Words &words, std::optional<std::chrono::milliseconds> limit)
{
	return output_with(words, UniqueFd(), limit);
}

/* A pipe holds 64 KiB, so that the text fits before anybody reads. */
Result<std::string> output_apart(const Words &words, const std::string &input)
{
	if (input.size() > k_input_max)
		return Error{Errc::too_large, "more than 16 KiB for " + words[0]};
	auto pipe = new_pipe();
	if (!pipe)
		return pipe.error();
	if (write(pipe->to.get(), input.data(), input.size()) != static_cast<ssize_t>(input.size()))
		return Error{Errc::internal,
			"cannot write to a pipe: " + std::generic_category().message(errno)};
	pipe->to.reset();
	return output_with(words, std::move(pipe->from), std::nullopt);
}

Status run_program(const Words &words)
{
	const auto pid = start(words, -1, -1);
	return pid ? ended(*pid, words, std::nullopt, false) : Status(pid.error());
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

std::string scontrol_value(const std::string &row, const std::string &key)
{
	const std::string line = " " + row + " ", wanted = " " + key + "=";
	const std::size_t at = line.find(wanted);
	if (at == std::string::npos)
		return "";
	const std::size_t begin = at + wanted.size();
	return line.substr(begin, line.find_first_of(" \n", begin) - begin);
}

} // namespace slurmkube
