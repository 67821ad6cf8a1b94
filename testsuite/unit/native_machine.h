/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * native_machine.h - a machine with a native job, for tests of slurmkube-node.
 */
#ifndef SLURMKUBE_TESTSUITE_UNIT_NATIVE_MACHINE_H
#define SLURMKUBE_TESTSUITE_UNIT_NATIVE_MACHINE_H

#include "src/node/files.h"
#include "src/node/native_scripts.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace slurmkube::check
{

inline constexpr std::int64_t k_mib_bytes = std::int64_t{1} << 20;

/* A directory with cgroups of version 1 and the daemon's state, removed at the end. Job 7 of user
 * 1000 has processor 1 and 200 MiB. */
class NativeMachine
{
      public:
	NativeMachine()
	{
		char name[] = "/tmp/node-native.XXXXXX";
		directory_ = ::mkdtemp(name);
		write("cg/cpuset/" + job() + "/cpuset.cpus", "1\n");
		write("cg/cpuset/" + job() + "/cpuset.mems", "0\n");
		limit(200);
		usage(50);
		write("cg/memory/kubepods/podu1/memory.limit_in_bytes", "9223372036854771712\n");
	}
	~NativeMachine() { std::filesystem::remove_all(directory_); }
	NativeMachine(const NativeMachine &) = delete;
	NativeMachine &operator=(const NativeMachine &) = delete;

	static std::string job() { return "slurm_n1/uid_1000/job_7"; }
	[[nodiscard]] std::filesystem::path state() const { return directory_ / "state"; }
	[[nodiscard]] node::Cgroups cgroups() const { return {directory_ / "cg", "n1"}; }
	[[nodiscard]] node::NativeJobs jobs() const { return node::NativeJobs(state()); }
	void write(const std::string &file, const std::string &text) const
	{
		std::filesystem::create_directories((directory_ / file).parent_path());
		std::ofstream(directory_ / file) << text;
	}
	void remove(const std::string &file) const
	{
		std::filesystem::remove_all(directory_ / file);
	}
	[[nodiscard]] std::filesystem::path limit_file() const
	{
		return directory_ / "cg/memory" / job() / "memory.limit_in_bytes";
	}
	/* of the job, in MiB */
	void limit(std::int64_t mib) const
	{
		write("cg/memory/" + job() + "/memory.limit_in_bytes",
			std::to_string(mib * k_mib_bytes));
	}
	void usage(std::int64_t mib) const
	{
		write("cg/memory/" + job() + "/memory.usage_in_bytes",
			std::to_string(mib * k_mib_bytes));
	}
	[[nodiscard]] std::int64_t limit() const
	{
		std::int64_t bytes = -1;
		std::ifstream(limit_file()) >> bytes;
		return bytes / k_mib_bytes;
	}

      private:
	std::filesystem::path directory_;
};

inline core::NativeMark life_of_job(std::uint32_t restarts = 0)
{
	return {{7}, 1000, restarts, node::seconds_since_epoch(), "main"};
}

/* A process in the cgroup of a container, which a test may look for. */
class Process
{
      public:
	Process() : pid_(::fork())
	{
		if (pid_ == 0)
			for (;;)
				::pause();
	}
	~Process()
	{
		(void)::kill(pid_, SIGKILL);
		(void)has_ended();
	}
	Process(const Process &) = delete;
	Process &operator=(const Process &) = delete;
	[[nodiscard]] pid_t pid() const { return pid_; }
	/* by SIGKILL, or will soon */
	bool has_ended()
	{
		int status = 0;
		for (int i = 0; i < 100 && !is_over_; i++) {
			is_over_ = ::waitpid(pid_, &status, WNOHANG) == pid_;
			(void)::poll(nullptr, 0, is_over_ ? 0 : 10);
		}
		return is_over_ && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	}

      private:
	pid_t pid_;
	bool is_over_ = false;
};

} // namespace slurmkube::check

#endif
