/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/device_access.h"

#include "src/base/owned.h"

#include <cerrno>
#include <cstdint>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

namespace slurmkube::node
{

namespace fs = std::filesystem;

namespace
{

/* The child's answer; other values are the number of devices that it may use. */
constexpr std::uint32_t k_not_joined = UINT32_MAX;

/* Removed at the end. */
class DeviceFiles
{
      public:
	explicit DeviceFiles(fs::path directory) : directory_(std::move(directory)) {}
	~DeviceFiles()
	{
		for (const fs::path &file : files_)
			(void)::unlink(file.c_str());
	}
	DeviceFiles(const DeviceFiles &) = delete;
	DeviceFiles &operator=(const DeviceFiles &) = delete;

	bool make(const Device &device)
	{
		files_.push_back(directory_ / ("." + std::to_string(files_.size()) + ".device"));
		(void)::unlink(files_.back().c_str()); /* of a daemon that was killed */
		const mode_t kind = device.kind == 'b' ? S_IFBLK : S_IFCHR;
		return ::mknod(files_.back().c_str(), kind | S_IRUSR | S_IWUSR,
			       makedev(device.major, device.minor)) == 0;
	}
	[[nodiscard]] const std::vector<fs::path> &all() const { return files_; }

      private:
	fs::path directory_;
	std::vector<fs::path> files_;
};

/* A cgroup of its own, because one of version 2 with children takes no process. */
class ProbeCgroup
{
      public:
	explicit ProbeCgroup(const fs::path &parent) : path_(parent / "slurm-kube-probe")
	{
		(void)::mkdir(path_.c_str(), S_IRWXU);
		processes_ =
			UniqueFd(::open((path_ / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
	}
	~ProbeCgroup()
	{
		processes_.reset();
		(void)::rmdir(path_.c_str());
	}
	ProbeCgroup(const ProbeCgroup &) = delete;
	ProbeCgroup &operator=(const ProbeCgroup &) = delete;

	/* Async-signal-safe. */
	[[nodiscard]] bool join() const { return ::write(processes_.get(), "0", 1) == 1; }

      private:
	fs::path path_;
	UniqueFd processes_;
};

/* The child after fork(): async-signal-safe calls only. */
[[noreturn]] void answer_as_child(
	const ProbeCgroup &cgroup, const std::vector<fs::path> &files, int out)
{
	std::uint32_t usable = k_not_joined;
	if (cgroup.join()) {
		usable = 0;
		while (usable < files.size() && ::access(files[usable].c_str(), R_OK) == 0)
			usable++;
	}
	(void)!::write(out, &usable, sizeof usable);
	::_exit(0);
}

std::optional<std::uint32_t> usable_in(
	const ProbeCgroup &cgroup, const std::vector<fs::path> &files)
{
	int ends[2];
	if (::pipe2(ends, O_CLOEXEC) != 0)
		return std::nullopt;
	const UniqueFd in(ends[0]);
	UniqueFd out(ends[1]);
	const pid_t child = ::fork();
	if (child == 0)
		answer_as_child(cgroup, files, out.get());
	out.reset();
	std::uint32_t usable = k_not_joined;
	const bool is_answered =
		child > 0 && ::read(in.get(), &usable, sizeof usable) == sizeof usable;
	while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
	}
	if (!is_answered || usable == k_not_joined)
		return std::nullopt;
	return usable;
}

} // namespace

Result<const Device *> denied_device(
	const fs::path &cgroup, const std::vector<Device> &devices, const fs::path &scratch)
{
	DeviceFiles files(scratch);
	for (const Device &device : devices)
		if (!files.make(device))
			return Error{Errc::io,
				"no device file can be made in " + scratch.string() + " for " +
					device.path};
	const ProbeCgroup probe(cgroup);
	const std::optional<std::uint32_t> usable = usable_in(probe, files.all());
	if (!usable)
		return Error{Errc::io, "no process can be put into " + cgroup.string()};
	return *usable < devices.size() ? &devices[*usable] : nullptr;
}

} // namespace slurmkube::node
