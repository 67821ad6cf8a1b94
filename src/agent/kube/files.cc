/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/kube/files.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace slurmkube::kube
{

namespace
{

Error file_error(const std::string &name, int number)
{
	const Errc code = number == ENOENT || number == ENOTDIR ? Errc::not_found
		: number == EACCES || number == EPERM           ? Errc::denied
								: Errc::io;
	char text[128];
	return Error{code, "cannot read '" + name + "': " + strerror_r(number, text, sizeof(text))};
}

} // namespace

Result<std::string> read_small_file(const std::string &name)
{
	/* O_NONBLOCK: if the file is a named pipe, open() must not block */
	const UniqueFd fd(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	if (!fd)
		return file_error(name, errno);
	std::string contents;
	char buffer[8192];
	for (;;) {
		const ssize_t n = read(fd.get(), buffer, sizeof(buffer));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return file_error(name, errno);
		if (n == 0)
			return contents;
		contents.append(buffer, static_cast<std::size_t>(n));
		if (contents.size() > k_largest_file)
			return Error{Errc::too_large, "'" + name + "' is larger than 1 MiB"};
	}
}

Result<UniqueFd> memory_file(const char *label, std::string_view contents)
{
	UniqueFd fd(memfd_create(label, MFD_CLOEXEC));
	if (!fd)
		return Error{Errc::internal, "cannot make a file in memory"};
	while (!contents.empty()) {
		const ssize_t n = write(fd.get(), contents.data(), contents.size());
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return Error{Errc::internal, "cannot write a file in memory"};
		contents.remove_prefix(static_cast<std::size_t>(n));
	}
	return fd;
}

std::string path_of(const UniqueFd &fd)
{
	return "/proc/self/fd/" + std::to_string(fd.get());
}

std::string beside(const std::string &base, const std::string &name)
{
	const std::size_t slash = base.rfind('/');
	if (name.empty() || name[0] == '/' || slash == std::string::npos)
		return name;
	return base.substr(0, slash + 1) + name;
}

std::string trimmed(std::string_view text)
{
	constexpr std::string_view blanks = " \t\r\n";
	const std::size_t first = text.find_first_not_of(blanks);
	if (first == std::string_view::npos)
		return {};
	return std::string(text.substr(first, text.find_last_not_of(blanks) - first + 1));
}

} // namespace slurmkube::kube
