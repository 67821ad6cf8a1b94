/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/limit_writers.h"

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

/* In a child, which has no descriptor of ours, so that the runtime sees the daemon end. */
[[noreturn]] void write_and_exit(const char *file, const char *text, std::size_t size)
{
	(void)::close_range(0, ~0U, 0);
	/* the daemon blocks SIGTERM; a signal ends the kernel's work */
	sigset_t none;
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, nullptr);
	(void)::alarm(k_writer_seconds);
	const int fd = ::open(file, O_WRONLY | O_TRUNC | O_CLOEXEC);
	::_exit(fd >= 0 && ::write(fd, text, size) == static_cast<ssize_t>(size) ? 0 : 1);
}

} // namespace

void LimitWriters::write(const std::filesystem::path &file, std::int64_t limit)
{
	if (is_writing(file))
		return;
	const std::string path = file, text = std::to_string(limit);
	const pid_t child = ::fork();
	if (child == 0)
		write_and_exit(path.c_str(), text.c_str(), text.size());
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
