/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/device_access.h"

#include "src/base/owned.h"
#include "src/node/cgroups.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

namespace slurmkube::node
{

namespace fs = std::filesystem;

namespace
{

using ProbeClock = std::chrono::steady_clock;

/* The kernel may need a moment after a process has ended, until its cgroup can be removed. */
constexpr std::chrono::milliseconds k_removal_limit{50};

Error probe_error(const std::string &what, int error)
{
	return {Errc::io, what + ": " + std::strerror(error)};
}

/* Tries each millisecond; false: in vain. */
template <class Try> bool is_done_within(std::chrono::milliseconds limit, Try is_done)
{
	const ProbeClock::time_point end = ProbeClock::now() + limit;
	while (!is_done()) {
		if (ProbeClock::now() >= end)
			return false;
		(void)::poll(nullptr, 0, 1);
	}
	return true;
}

/* Removed at the end. */
class DeviceFiles
{
      public:
	/* name: of this use; a check by hand may run beside the daemon */
	DeviceFiles(fs::path directory, std::string name)
	    : directory_(std::move(directory)), name_(std::move(name))
	{
	}
	~DeviceFiles()
	{
		for (const fs::path &file : files_)
			(void)::unlink(file.c_str());
	}
	DeviceFiles(const DeviceFiles &) = delete;
	DeviceFiles &operator=(const DeviceFiles &) = delete;

	Result<Ok> make(const Device &device)
	{
		files_.push_back(directory_ / ("." + name_ + std::to_string(files_.size())));
		(void)::unlink(files_.back().c_str()); /* of a daemon that was killed */
		const mode_t kind = device.kind == 'b' ? S_IFBLK : S_IFCHR;
		if (::mknod(files_.back().c_str(), kind | S_IRUSR | S_IWUSR,
			    makedev(device.major, device.minor)) == 0)
			return Ok{};
		return probe_error("no device file can be made in " + directory_.string() +
				" for " + device.path,
			errno);
	}
	[[nodiscard]] const std::vector<fs::path> &all() const { return files_; }

      private:
	fs::path directory_;
	std::string name_;
	std::vector<fs::path> files_;
};

/* A cgroup of its own, because one of version 2 with children takes no process. */
class ProbeCgroup
{
      public:
	explicit ProbeCgroup(const fs::path &parent) : path_(parent / k_probe_cgroup)
	{
		if (::mkdir(path_.c_str(), S_IRWXU) != 0 && errno != EEXIST)
			error_ = errno;
		else {
			processes_ = UniqueFd(
				::open((path_ / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
			error_ = processes_ ? 0 : errno;
		}
	}
	~ProbeCgroup()
	{
		processes_.reset();
		(void)is_done_within(k_removal_limit,
			[this] { return ::rmdir(path_.c_str()) == 0 || errno != EBUSY; });
	}
	ProbeCgroup(const ProbeCgroup &) = delete;
	ProbeCgroup &operator=(const ProbeCgroup &) = delete;

	[[nodiscard]] Result<Ok> made() const
	{
		if (error_ == 0)
			return Ok{};
		return probe_error("no cgroup can be made as " + path_.string(), error_);
	}
	/* Async-signal-safe. */
	[[nodiscard]] bool join() const { return ::write(processes_.get(), "0", 1) == 1; }

      private:
	fs::path path_;
	UniqueFd processes_;
	int error_ = 0;
};

/* The child after fork(): async-signal-safe calls only. */
[[noreturn]] void answer_as_child(
	const ProbeCgroup &cgroup, const std::vector<fs::path> &files, int out)
{
	DeviceAnswer answer;
	answer.is_joined = cgroup.join();
	answer.error = answer.is_joined ? 0 : errno;
	while (answer.error == 0 && answer.usable < files.size()) {
		if (::access(files[answer.usable].c_str(), R_OK) == 0)
			answer.usable++;
		else
			answer.error = errno;
	}
	(void)!::write(out, &answer, sizeof answer);
	::_exit(0);
}

Result<DeviceAnswer> read_answer(int in)
{
	const ProbeClock::time_point end = ProbeClock::now() + k_answer_limit;
	pollfd entry = {in, POLLIN, 0};
	int ready = 0;
	do {
		const auto left =
			std::chrono::ceil<std::chrono::milliseconds>(end - ProbeClock::now());
		ready = ::poll(&entry, 1, std::max(0, static_cast<int>(left.count())));
	} while (ready < 0 && errno == EINTR);
	if (ready == 0)
		return Error{Errc::io,
			"no answer within " + std::to_string(k_answer_limit.count()) + " ms"};
	DeviceAnswer answer;
	/* in a job's cgroup of version 2 the kernel may choose it when memory is short */
	if (ready < 0 || ::read(in, &answer, sizeof answer) != sizeof answer)
		return Error{Errc::io, "the process that asks has ended without an answer"};
	return answer;
}

/* Those that did not end in time once they were killed. Of one thread. Other children are not
 * waited for: what knows them may still kill them by their numbers. */
std::vector<pid_t> &late_children()
{
	static std::vector<pid_t> late;
	return late;
}

void reap_late_children()
{
	std::erase_if(late_children(),
		[](pid_t child) { return ::waitpid(child, nullptr, WNOHANG) != 0; });
}

Result<DeviceAnswer> ask_in(const ProbeCgroup &cgroup, const std::vector<fs::path> &files)
{
	int ends[2];
	if (::pipe2(ends, O_CLOEXEC) != 0)
		return probe_error("no pipe", errno);
	const UniqueFd in(ends[0]);
	UniqueFd out(ends[1]);
	const pid_t child = ::fork();
	if (child == 0)
		answer_as_child(cgroup, files, out.get());
	if (child < 0)
		return probe_error("no process can be started", errno);
	out.reset();
	const Result<DeviceAnswer> answer = read_answer(in.get());
	(void)::kill(child, SIGKILL); /* not waited for yet, so the id is its own */
	if (!is_done_within(
		    k_removal_limit, [child] { return ::waitpid(child, nullptr, WNOHANG) != 0; }))
		late_children().push_back(child);
	return answer;
}

} // namespace

Result<const Device *> denied_by(
	const DeviceAnswer &answer, const fs::path &cgroup, const std::vector<Device> &devices)
{
	if (!answer.is_joined)
		return probe_error("no process can be put into " + cgroup.string(), answer.error);
	if (answer.usable >= devices.size())
		return nullptr;
	const Device &device = devices[answer.usable];
	if (answer.error != EPERM)
		return probe_error("whether " + cgroup.string() + " denies device " + device.path +
				" is not known",
			answer.error);
	return &device;
}

Result<const Device *> denied_device(
	const fs::path &cgroup, const std::vector<Device> &devices, const fs::path &scratch)
{
	reap_late_children();
	DeviceFiles files(scratch, "device");
	for (const Device &device : devices)
		if (const Result<Ok> made = files.make(device); !made)
			return made.error();
	const ProbeCgroup probe(cgroup);
	if (const Result<Ok> made = probe.made(); !made)
		return made.error();
	const Result<DeviceAnswer> answer = ask_in(probe, files.all());
	if (!answer)
		return Error{answer.error().code,
			"whether " + cgroup.string() +
				" denies devices is not known: " + answer.error().what};
	return denied_by(*answer, cgroup, devices);
}

/* A number for local use, which DevicePolicy=closed does not allow by itself. */
Result<Ok> try_device_file(const fs::path &scratch)
{
	const std::string name = "try" + std::to_string(::getpid()) + "-";
	return DeviceFiles(scratch, name).make({"a device", 'c', 240, 0});
}

} // namespace slurmkube::node
