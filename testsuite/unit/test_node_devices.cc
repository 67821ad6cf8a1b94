/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The question whether a cgroup denies devices: when it cannot be asked, and how long it takes.
 * Device files need root, so what a real cgroup denies is in the e2e test hybrid_devices. */
#include "src/node/cgroups.h"
#include "src/node/device_access.h"
#include "testsuite/unit/check.h"

#include <cerrno>
#include <cstdlib>
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace slurmkube;
using namespace slurmkube::node;
namespace fs = std::filesystem;

namespace
{

class Directory
{
      public:
	Directory()
	{
		char name[] = "/tmp/node-devices.XXXXXX";
		path_ = ::mkdtemp(name);
	}
	~Directory() { fs::remove_all(path_); }
	Directory(const Directory &) = delete;
	Directory &operator=(const Directory &) = delete;
	[[nodiscard]] const fs::path &path() const { return path_; }

      private:
	fs::path path_;
};

bool has(const std::string &text, const std::string &part)
{
	return text.find(part) != std::string::npos;
}

const std::vector<Device> k_two = {{"/dev/gpu0", 'c', 195, 0}, {"/dev/gpu1", 'c', 195, 1}};

void only_eperm_is_a_denial()
{
	const auto found = [](const DeviceAnswer &answer) {
		return denied_by(answer, "/cg/job_7", k_two);
	};
	REQUIRE(found({true, 2, 0}).ok());
	CHECK(!*found({true, 2, 0}));
	REQUIRE(found({true, 1, EPERM}).ok());
	CHECK(*found({true, 1, EPERM}) == &k_two[1]);
	const auto unknown = found({true, 0, EACCES});
	REQUIRE(!unknown.ok());
	CHECK_EQUAL(unknown.error().what,
		std::string("whether /cg/job_7 denies device /dev/gpu0 is not known: "
			    "Permission denied"));
	CHECK(unknown.error().code == Errc::io);
	/* the process was not allowed into the cgroup, which denies no device */
	const auto outside = found({false, 0, EPERM});
	REQUIRE(!outside.ok());
	CHECK_EQUAL(outside.error().what,
		std::string("no process can be put into /cg/job_7: Operation not permitted"));
}

void errors_say_their_cause()
{
	const Directory directory;
	const auto files = denied_device(directory.path(), k_two, directory.path() / "none");
	REQUIRE(!files.ok());
	CHECK(has(files.error().what, "no device file can be made in "));
	CHECK(has(files.error().what, "for /dev/gpu0: No such file or directory"));
	const auto cgroup = denied_device(directory.path() / "job_7", {}, directory.path());
	REQUIRE(!cgroup.ok());
	CHECK(has(cgroup.error().what, "job_7/slurm-kube-probe: No such file or directory"));
	const Result<Ok> tried = try_device_file(directory.path() / "none");
	REQUIRE(!tried.ok());
	CHECK(has(tried.error().what, "for a device: No such file or directory"));
}

/* As in a frozen cgroup. */
void a_child_that_does_not_answer_is_killed()
{
	using Clock = std::chrono::steady_clock;
	const Directory directory;
	const fs::path processes = directory.path() / k_probe_cgroup / "cgroup.procs";
	fs::create_directories(processes.parent_path());
	REQUIRE(::mkfifo(processes.c_str(), S_IRUSR | S_IWUSR) == 0);
	const int reader = ::open(processes.c_str(), O_RDONLY | O_NONBLOCK);
	const int writer = ::open(processes.c_str(), O_WRONLY | O_NONBLOCK);
	REQUIRE(reader >= 0 && writer >= 0);
	while (::write(writer, "full", 4) == 4) {
	}
	while (::write(writer, "f", 1) == 1) {
	}
	const Clock::time_point begin = Clock::now();
	const auto got = denied_device(directory.path(), {}, directory.path());
	REQUIRE(!got.ok());
	CHECK(has(got.error().what, "no answer within 500 ms"));
	CHECK(Clock::now() - begin >= k_answer_limit);
	CHECK(Clock::now() - begin < std::chrono::seconds(2));
	CHECK(::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD);
	(void)::close(reader);
	(void)::close(writer);
}

/* Another thread has children, too, and kills them by their numbers. */
void children_of_others_are_left_to_them()
{
	const Directory directory;
	const pid_t child = ::fork();
	if (child == 0)
		::_exit(7);
	siginfo_t ended = {};
	REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
	CHECK(!denied_device(directory.path() / "job_7", {}, directory.path()).ok());
	int status = 0;
	CHECK(::waitpid(child, &status, WNOHANG) == child && WEXITSTATUS(status) == 7);
}

/* `--check` by hand may run at the same time. */
void a_check_leaves_the_files_of_others()
{
	const Directory directory;
	std::ofstream(directory.path() / ".try0") << "of another process";
	(void)try_device_file(directory.path());
	CHECK(fs::exists(directory.path() / ".try0"));
}

/* Of a daemon that was killed, or whose removal came too early. */
void what_is_left_is_removed()
{
	const Directory directory;
	const fs::path jobs = directory.path() / "devices/slurm_n1/uid_1000";
	for (const char *job : {"job_7", "job_8"})
		fs::create_directories(jobs / job / k_probe_cgroup);
	fs::create_directories(jobs / "job_9");
	Cgroups(directory.path(), "n1").remove_probes();
	for (const char *job : {"job_7", "job_8", "job_9"})
		CHECK(fs::exists(jobs / job) && fs::is_empty(jobs / job));
}

} // namespace

int main()
{
	return check::run_tests("node_devices",
		{TEST(only_eperm_is_a_denial), TEST(errors_say_their_cause),
			TEST(a_child_that_does_not_answer_is_killed),
			TEST(children_of_others_are_left_to_them),
			TEST(a_check_leaves_the_files_of_others), TEST(what_is_left_is_removed)});
}
