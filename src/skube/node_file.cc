/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/node_file.h"

#include "src/base/owned.h"
#include "src/base/programs.h"
#include "src/core/model/names.h"
#include "src/skube/asker.h"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sstream>
#include <system_error>
#include <unistd.h>

namespace slurmkube::skube
{

namespace
{

constexpr std::size_t k_node_file_max = std::size_t{64} << 20;
constexpr mode_t k_mode = 0644; /* of a new file; every user may read slurm.conf */

Error file_error(const std::string &path, const char *what, int error)
{
	return Error{Errc::io,
		path + ": " + what + ": " + std::generic_category().message(error) +
			"; the file is as it was"};
}

/* The target of a symbolic link, so that the link itself stays. */
std::string real_path(const std::string &path)
{
	char real[PATH_MAX];
	return realpath(path.c_str(), real) ? real : path;
}

struct OldFile {
	bool exists = false;
	struct stat status = {};
	std::string text;
};

Result<OldFile> read_old(const std::string &path)
{
	OldFile old;
	const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	if (!fd && errno == ENOENT)
		return old;
	if (!fd || fstat(fd.get(), &old.status) != 0)
		return file_error(path, "cannot be read", errno);
	if (!S_ISREG(old.status.st_mode))
		return Error{Errc::io,
			path + " is not a regular file: leave --output out to print the lines"};
	old.exists = true;
	std::array<char, 65536> piece;
	ssize_t got = 0;
	while (old.text.size() <= k_node_file_max &&
		(got = read(fd.get(), piece.data(), piece.size())) > 0)
		old.text.append(piece.data(), static_cast<std::size_t>(got));
	if (got != 0)
		return file_error(path, "cannot be read", got < 0 ? errno : EFBIG);
	return old;
}

bool write_all(int fd, const std::string &text)
{
	for (std::size_t done = 0; done < text.size();) {
		const ssize_t put = write(fd, text.data() + done, text.size() - done);
		if (put < 0 && errno != EINTR)
			return false;
		done += put > 0 ? static_cast<std::size_t>(put) : 0;
	}
	return fsync(fd) == 0;
}

/* Gives the file the mode and owner of the old file, as far as permitted. */
bool take_over_rights(int fd, const OldFile &old)
{
	if (!old.exists)
		return fchmod(fd, k_mode) == 0;
	if (fchown(fd, old.status.st_uid, old.status.st_gid) != 0 && errno != EPERM)
		return false;
	return fchmod(fd, old.status.st_mode & 07777) == 0;
}

void sync_directory_of(const std::string &path)
{
	const auto slash = path.rfind('/');
	const std::string directory = slash == std::string::npos ? "."
		: slash == 0                                     ? "/"
								 : path.substr(0, slash);
	const UniqueFd fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (fd)
		(void)fsync(fd.get()); /* may fail: the rename is atomic in any case */
}

Status replace(const std::string &path, const std::string &text, const OldFile &old)
{
	std::string name = path + ".XXXXXX";
	UniqueFd fd(mkostemp(name.data(), O_CLOEXEC));
	if (!fd)
		return file_error(path, "no file can be made beside it", errno);
	if (write_all(fd.get(), text) && take_over_rights(fd.get(), old) &&
		rename(name.c_str(), path.c_str()) == 0) {
		sync_directory_of(path);
		return Ok{};
	}
	const int error = errno;
	(void)unlink(name.c_str());
	return file_error(path, "cannot be replaced", error);
}

std::string count_text(std::size_t nodes)
{
	return std::to_string(nodes) + (nodes == 1 ? " node" : " nodes");
}

} // namespace

std::size_t node_lines(const std::string &text)
{
	constexpr std::string_view key = "NodeName=";
	std::size_t count = 0;
	for (std::size_t line = 0; line < text.size();) {
		count += text.compare(line, key.size(), key) == 0 ? 1U : 0U;
		const auto end = text.find('\n', line);
		line = end == std::string::npos ? text.size() : end + 1;
	}
	return count;
}

std::set<std::string> cluster_features(const std::string &text)
{
	const std::string start = names::k_node_feature + std::string("-");
	std::set<std::string> found;
	std::istringstream lines(text);
	for (std::string line; std::getline(lines, line);) {
		if (!line.starts_with("NodeName="))
			continue;
		for (const std::string &feature : listed(scontrol_value(line, "Feature"))) {
			if (feature.starts_with(start))
				found.insert(feature);
		}
	}
	return found;
}

namespace
{

/* A file for all clusters, as a site may have that began with one. */
Status check_clusters(const std::string &path, const std::string &old, const std::string &text)
{
	const std::set<std::string> now = cluster_features(text);
	for (const std::string &feature : cluster_features(old)) {
		if (!now.contains(feature))
			return Error{Errc::invalid,
				path + " has nodes with the feature " + feature +
					", of another Kubernetes cluster, which would lose them; "
					"the "
					"file is as it was. Give each cluster a file of its own. "
					"--force overrules this"};
	}
	return Ok{};
}

} // namespace

Result<std::string> replace_node_file(const std::string &given, const std::string &text, bool force)
{
	const std::string path = real_path(given);
	const auto old = read_old(path);
	if (!old)
		return old.error();
	const std::size_t before = node_lines(old->text), nodes = node_lines(text);
	if (nodes == 0 && before > 0 && !force)
		return Error{Errc::invalid,
			path + " has " + count_text(before) +
				" and would have none, which fails the pods on them; the file is "
				"as it was. --force overrules this"};
	if (const Status fits = check_clusters(path, old->text, text); !fits && !force && nodes > 0)
		return fits.error();
	if (old->exists && old->text == text)
		return path + ": " + count_text(nodes) + ", nothing has changed\n";
	if (const Status replaced = replace(path, text, *old); !replaced)
		return replaced.error();
	return path + ": " + count_text(nodes) +
		(old->exists ? " (before: " + std::to_string(before) + ")" : "") + "\n";
}

} // namespace slurmkube::skube
