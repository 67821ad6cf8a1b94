/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/limit_writers.h"

#include <charconv>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace slurmkube::node
{

namespace
{

/* How long write() waits. */
constexpr int k_write_waits = 50, k_write_pause_ms = 1;
constexpr unsigned k_writer_seconds = 1;

/* What a process may allocate in the moment before the limit is written. */
constexpr std::int64_t k_slack = std::int64_t{1} << 20;
constexpr std::int64_t k_headroom = std::int64_t{16} << 20; /* of a reclaim */
constexpr int k_reclaims = 8;

bool write_text(int folder, const char *file, const char *text, std::size_t size)
{
	const int fd = ::openat(folder, file, O_WRONLY | O_TRUNC | O_CLOEXEC);
	return fd >= 0 && ::write(fd, text, size) == static_cast<ssize_t>(size);
}

/* -1: not known, or no number */
std::int64_t number_in(int folder, const char *file)
{
	char text[32] = {};
	const int fd = ::openat(folder, file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	const bool is_read = ::read(fd, text, sizeof text - 1) > 0;
	(void)::close(fd);
	std::int64_t number = -1;
	if (is_read)
		(void)std::from_chars(text, text + sizeof text, number);
	return number;
}

/* false: the kernel has no such file. It may reclaim less. */
bool reclaim(int folder, std::int64_t bytes)
{
	const int fd = ::openat(folder, "memory.reclaim", O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return false;
	char text[32] = {};
	const auto end = std::to_chars(text, text + sizeof text, bytes);
	(void)!::write(fd, text, static_cast<std::size_t>(end.ptr - text));
	(void)::close(fd);
	return true;
}

/* Whether the limit kills nothing. Processes read and write files meanwhile. */
bool has_room(int folder, std::int64_t limit)
{
	if (const std::int64_t now = number_in(folder, k_memory_files_v2.limit);
		now >= 0 && now <= limit)
		return true;
	for (int i = 0;; i++) {
		const std::int64_t usage = number_in(folder, k_memory_files_v2.usage);
		if (usage < 0 || usage + k_slack <= limit)
			return usage >= 0;
		if (i == k_reclaims || !reclaim(folder, usage + k_headroom - limit))
			return false;
	}
}

/* In a child, which has no descriptor of ours, so that the runtime sees the daemon end. */
[[noreturn]] void write_and_exit(
	const char *cgroup, const char *file, const char *text, std::int64_t limit)
{
	(void)::close_range(0, ~0U, 0);
	/* the daemon blocks SIGTERM; a signal ends the kernel's work */
	sigset_t none;
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, nullptr);
	(void)::alarm(k_writer_seconds);
	const int folder = ::open(cgroup, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const bool may = std::strcmp(file, k_memory_files_v2.limit) != 0 || has_room(folder, limit);
	::_exit(may && write_text(folder, file, text, std::strlen(text)) ? 0 : 1);
}

} // namespace

void LimitWriters::write(const std::filesystem::path &file, std::int64_t limit)
{
	if (is_writing(file))
		return;
	const std::string path = file, text = std::to_string(limit), cgroup = file.parent_path(),
			  name = file.filename();
	const pid_t child = ::fork();
	if (child == 0)
		write_and_exit(cgroup.c_str(), name.c_str(), text.c_str(), limit);
	if (child < 0)
		return;
	children_[path] = child;
	for (int i = 0; i < k_write_waits && is_writing(file); i++)
		(void)::poll(nullptr, 0, k_write_pause_ms);
}

bool LimitWriters::is_writing(const std::filesystem::path &file)
{
	const auto child = children_.find(file);
	if (child == children_.end())
		return false;
	if (::waitpid(child->second, nullptr, WNOHANG) == 0)
		return true;
	children_.erase(child);
	return false;
}

void LimitWriters::stop(const std::filesystem::path &file)
{
	if (is_writing(file))
		(void)::kill(children_.at(file), SIGKILL);
}

void LimitWriters::reap()
{
	std::erase_if(children_,
		[](const auto &one) { return ::waitpid(one.second, nullptr, WNOHANG) != 0; });
}

} // namespace slurmkube::node
