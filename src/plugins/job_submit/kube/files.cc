/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/files.h"

#include "src/base/owned.h"
#include "src/plugins/job_submit/kube/facts.h"

#include <cstdio>
#include <cstdlib>

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>

namespace slurmkube::plugin
{

namespace
{

constexpr std::size_t k_file_max = 8 * 1024 * 1024;

/* Whatever the path names, slurmctld must not wait for it: a FIFO would block. */
UniqueFd open_regular(const char *path)
{
	UniqueFd fd(path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1);
	struct stat about = {};
	if (fd && (fstat(fd.get(), &about) != 0 || !S_ISREG(about.st_mode))) {
		errno = EINVAL;
		fd.reset();
	}
	return fd;
}

std::string read_file(const char *path)
{
	UniqueFd fd = open_regular(path);
	std::string text;
	char buffer[16384];
	ssize_t n = 0;
	while (fd && text.size() < k_file_max && (n = read(fd.get(), buffer, sizeof(buffer))) > 0)
		text.append(buffer, static_cast<std::size_t>(n));
	return text;
}

} // namespace

std::string read_conf_file(const char *name)
{
	Owned<char, std::free> path(kube_seam_conf_path(name));
	return read_file(path.get());
}

std::string conf_file_trouble(const char *name)
{
	const Owned<char, std::free> path(kube_seam_conf_path(name));
	const UniqueFd fd = open_regular(path.get());
	char byte = 0;
	if (fd && read(fd.get(), &byte, 1) >= 0)
		return {};
	if (!path || errno == ENOENT)
		return {};
	return std::string(path.get()) +
		" cannot be read: " + std::generic_category().message(errno);
}

std::string read_state_file(const char *name)
{
	Owned<char, std::free> path(kube_seam_state_path(name));
	return read_file(path.get());
}

bool write_state_file(const char *name, std::string_view text)
{
	Owned<char, std::free> path(kube_seam_state_path(name));
	if (!path)
		return false;
	std::string fresh = std::string(path.get()) + ".new";
	UniqueFd fd(open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
	bool written = fd &&
		write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
	return written && rename(fresh.c_str(), path.get()) == 0;
}

} // namespace slurmkube::plugin
