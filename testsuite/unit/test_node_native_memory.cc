/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurmkube-node and the memory that pods take from native jobs. */
#include "src/base/owned.h"
#include "src/node/native_memory.h"
#include "testsuite/unit/check.h"
#include "testsuite/unit/native_machine.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

using namespace slurmkube;
using namespace slurmkube::check;
using namespace slurmkube::node;

namespace
{

/* While it lives, the limit of job 7 cannot be changed, as when the job uses all of it. */
class SealedLimit
{
      public:
	SealedLimit(const NativeMachine &machine, std::int64_t mib)
	    : machine_(machine), mib_(mib), file_(machine.limit_file()),
	      sealed_(::memfd_create("limit", MFD_CLOEXEC | MFD_ALLOW_SEALING))
	{
		const std::string text = std::to_string(mib * k_mib_bytes);
		CHECK(::write(sealed_.get(), text.c_str(), text.size()) > 0);
		CHECK(::fcntl(sealed_.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK) == 0);
		std::filesystem::remove(file_);
		std::filesystem::create_symlink("/proc/" + std::to_string(::getpid()) + "/fd/" +
				std::to_string(sealed_.get()),
			file_);
	}
	~SealedLimit()
	{
		std::filesystem::remove(file_);
		machine_.limit(mib_);
	}
	SealedLimit(const SealedLimit &) = delete;
	SealedLimit &operator=(const SealedLimit &) = delete;

      private:
	const NativeMachine &machine_;
	std::int64_t mib_;
	std::filesystem::path file_;
	UniqueFd sealed_;
};

struct Memory {
	NativeMachine machine;
	NativeJobs jobs = machine.jobs();
	Cgroups cgroups = machine.cgroups();
	NativeMemory memory{jobs, cgroups};
	core::NativeMark mark = life_of_job();
	Patience::Time now = Patience::Clock::now() + std::chrono::hours(1);

	Memory() { (void)jobs.open(mark); }
	void ask(const std::string &pod, std::int64_t mib)
	{
		machine.write("cg/memory/kubepods/pod" + pod + "/memory.usage_in_bytes", "0\n");
		CHECK(memory.ask({pod, mark, mib * k_mib_bytes, "/kubepods/pod" + pod}).ok());
		(void)memory.keep(now);
	}
	[[nodiscard]] bool is_low(const std::string &pod) const
	{
		const auto share = memory.share_of(pod);
		return share && share->is_low;
	}
	void use(const std::string &pod, std::int64_t mib) const
	{
		machine.write("cg/memory/kubepods/pod" + pod + "/memory.usage_in_bytes",
			std::to_string(mib * k_mib_bytes) + "\n");
	}
	/* The keeper's looks for so long, one each second. */
	void look(std::chrono::seconds time)
	{
		for (std::chrono::seconds i{0}; i < time; i++)
			(void)memory.keep(now += std::chrono::seconds(1));
	}
	/* The same, while the job uses memory that its pods have. Whether the pod lives. */
	bool survives(const std::string &pod, std::chrono::seconds time)
	{
		bool lives = false;
		machine.usage(190);
		{
			const SealedLimit sealed(machine, 200);
			(void)memory.keep(now);
			look(time);
			lives = is_low(pod);
		}
		machine.usage(50);
		look(std::chrono::seconds(1));
		return lives;
	}
	void end(const std::string &pod)
	{
		machine.remove("cg/memory/kubepods/pod" + pod);
		(void)memory.keep(now);
	}
};

void a_limit_is_lowered_by_each_pod_and_raised_again()
{
	Memory m;
	m.ask("a", 64);
	CHECK(m.is_low("a"));
	m.ask("b", 32);
	CHECK(m.is_low("b"));
	CHECK_EQUAL(m.machine.limit(), 104);
	m.end("a");
	CHECK_EQUAL(m.machine.limit(), 168);
	m.end("b");
	CHECK_EQUAL(m.machine.limit(), 200);
	CHECK(!m.memory.share_of("a"));
	m.machine.remove("cg/memory/" + NativeMachine::job());
	m.jobs.close(7);
	(void)m.memory.keep();
	CHECK(files_in(m.jobs.directory() / "limits").empty());
}

/* The kernel may take longer for it than the pod lives, or than a daemon that was killed. */
void a_limit_that_is_lowered_late_is_raised()
{
	Memory m;
	m.ask("a", 64);
	m.end("a");
	CHECK_EQUAL(m.machine.limit(), 200);
	m.machine.limit(136);
	(void)m.memory.keep();
	CHECK_EQUAL(m.machine.limit(), 200);
}

/* They use memory that the job has again. */
void processes_are_killed_until_there_is_none()
{
	Memory m;
	m.ask("a", 64);
	const std::filesystem::path file = m.jobs.directory() / "shares" / "a";
	std::vector<std::string> lines = lines_in(file);
	REQUIRE(lines.size() >= 5);
	lines[3] = "ending";
	std::ofstream out(file);
	for (const std::string &line : lines)
		out << line << "\n";
	out.close();
	for (int i = 0; i < 2; i++) { /* the second one as if it had been forked meanwhile */
		Process process;
		m.machine.write("cg/cpuset/kubepods/poda/cgroup.procs",
			std::to_string(process.pid()) + "\n");
		(void)m.memory.keep();
		CHECK(process.has_ended());
		CHECK(!m.is_low("a"));
		CHECK_EQUAL(m.machine.limit(), 200);
	}
	m.machine.remove("cg/cpuset/kubepods/poda");
	(void)m.memory.keep();
	(void)m.memory.keep();
	CHECK(m.is_low("a"));
}

/* Whatever has closed the job: it may live. */
void the_limit_of_a_closed_job_is_raised()
{
	Memory m;
	m.ask("a", 64);
	m.jobs.close(7);
	(void)m.memory.keep();
	CHECK_EQUAL(m.machine.limit(), 200);
}

/* Steps start on a node whose /run is full, too, and the record of the limit is right already. */
void a_limit_is_lowered_again_where_nothing_can_be_written()
{
	Memory m;
	m.ask("a", 64);
	m.machine.limit(200);
	/* replace_file() writes there first */
	m.machine.write("state/native/limits/.7." + std::to_string(::getpid()) + "/x", "");
	(void)m.memory.keep(m.now);
	CHECK_EQUAL(m.machine.limit(), 136);
	m.machine.limit(180); /* another record would be needed */
	(void)m.memory.keep(m.now);
	CHECK_EQUAL(m.machine.limit(), 180);
}

void pods_end_if_the_job_keeps_their_memory()
{
	Memory m;
	m.ask("a", 64);
	m.use("a", 20);
	const SealedLimit sealed(m.machine, 200);
	m.machine.usage(190);
	(void)m.memory.keep(m.now);
	m.look(std::chrono::seconds(9));
	CHECK(m.is_low("a"));
	m.look(std::chrono::seconds(1));
	CHECK(!m.is_low("a"));
}

/* An agent refuses volumes in memory, but a kubelet may have its directory on tmpfs. */
void what_a_pod_without_processes_keeps_is_the_jobs_loss()
{
	Memory m;
	m.ask("a", 64);
	m.use("a", 64);
	const auto keeps = [&m](std::int64_t mib) {
		m.machine.write("cg/memory/kubepods/poda/memory.stat",
			"cache 9\ntotal_cache 999999999\ntotal_shmem " +
				std::to_string(mib * k_mib_bytes) + "\ntotal_swap 0\n");
	};
	keeps(60);
	m.machine.usage(190);
	{
		const SealedLimit sealed(m.machine, 200);
		(void)m.memory.keep(m.now);
		m.look(std::chrono::seconds(11));
		CHECK(!m.is_low("a"));
		m.ask("b", 1); /* the job has all of the memory */
		CHECK(!m.is_low("b"));
	}
	m.machine.usage(130);
	m.look(std::chrono::seconds(1));
	CHECK_EQUAL(m.machine.limit(), 140); /* 130 + 16 + 1 are more */
	CHECK(!m.is_low("a") && !m.is_low("b"));
	m.machine.usage(50);
	m.look(std::chrono::seconds(1));
	CHECK(m.is_low("a") && m.is_low("b"));
	CHECK_EQUAL(m.machine.limit(), 135);
}

/* Otherwise a job could have its pods' memory for nearly all of the time. */
void a_job_that_gives_memory_back_for_a_moment_does_not_begin_anew()
{
	for (const int minutes : {0, 1, 8}) {
		Memory m;
		m.ask("a", 64);
		m.use("a", 20);
		CHECK(m.survives("a", std::chrono::seconds(8)));
		CHECK_EQUAL(m.machine.limit(), 136);
		m.look(std::chrono::minutes(minutes));
		CHECK_EQUAL(m.survives("a", std::chrono::seconds(4)), minutes == 8);
	}
}

/* Their limits are high, but nothing of others is used. */
void a_job_and_pods_within_its_memory_may_take_their_time()
{
	Memory m;
	m.ask("a", 64);
	m.use("a", 20);
	const SealedLimit sealed(m.machine, 200);
	m.machine.usage(180);
	(void)m.memory.keep(m.now);
	m.look(std::chrono::seconds(30));
	CHECK(m.is_low("a"));
	m.use("a", 21);
	m.look(std::chrono::seconds(10));
	CHECK(!m.is_low("a"));
}

/* The number of a requeued job is the same. */
void another_life_of_the_job_has_its_own_patience()
{
	Memory m;
	m.ask("a", 64);
	m.use("a", 20);
	CHECK(m.survives("a", std::chrono::seconds(8)));
	m.mark.restarts++;
	REQUIRE(m.jobs.open(m.mark).ok());
	m.machine.limit(200);
	m.ask("b", 64);
	m.use("b", 20);
	REQUIRE(m.is_low("b"));
	CHECK(m.survives("b", std::chrono::seconds(4)));
}

/* The kernel may reclaim for minutes, and would keep the job's cgroup from being removed. Here it
 * waits for a reader. */
void a_write_that_hangs_ends_after_a_second()
{
	const NativeMachine machine;
	const std::filesystem::path file = machine.state();
	REQUIRE(::mkfifo(file.c_str(), S_IRWXU) == 0);
	LimitWriters writers;
	writers.write(file, 1);
	CHECK(writers.is_writing(file));
	for (int i = 0; i < 300 && writers.is_writing(file); i++)
		(void)::poll(nullptr, 0, 10);
	CHECK(!writers.is_writing(file));
	writers.write(file, 1);
	CHECK(writers.is_writing(file));
	writers.stop(file);
	for (int i = 0; i < 50 && writers.is_writing(file); i++)
		(void)::poll(nullptr, 0, 10);
	CHECK(!writers.is_writing(file));
}

void nothing_is_reclaimed_for_a_new_pod()
{
	Memory m;
	m.machine.usage(121); /* 200 - 64 - 16 = 120 */
	m.ask("a", 64);
	CHECK(!m.is_low("a"));
	CHECK_EQUAL(m.machine.limit(), 200);
	m.machine.usage(120);
	(void)m.memory.keep();
	CHECK(m.is_low("a"));
	CHECK_EQUAL(m.machine.limit(), 136);
}

/* slurmd writes it with each step. */
void a_limit_that_is_written_anew_is_lowered_again()
{
	Memory m;
	m.ask("a", 64);
	m.machine.limit(200);
	(void)m.memory.keep();
	CHECK_EQUAL(m.machine.limit(), 136);
	m.machine.limit(180); /* the job was changed */
	(void)m.memory.keep();
	CHECK_EQUAL(m.machine.limit(), 116);
	m.end("a");
	CHECK_EQUAL(m.machine.limit(), 180);
}

/* Its daemon missed the end of the pod. */
void another_daemon_raises_the_limit()
{
	Memory m;
	m.ask("a", 64);
	m.machine.remove("cg/memory/kubepods/poda");
	NativeMemory other(m.jobs, m.cgroups);
	(void)other.keep();
	CHECK_EQUAL(m.machine.limit(), 200);
}

/* It was killed between the record and the limit, or after the limit and before the share. */
void a_daemon_that_was_killed_in_between_is_followed()
{
	for (const std::int64_t limit : {200, 136}) {
		Memory m;
		m.ask("a", 64);
		std::filesystem::remove(m.jobs.directory() / "shares" / "a");
		m.machine.limit(limit);
		NativeMemory other(m.jobs, m.cgroups);
		(void)other.keep();
		CHECK_EQUAL(m.machine.limit(), 200);
	}
}

/* A new life of the number has a limit of its own. */
void limits_of_another_life_are_left_alone()
{
	Memory m;
	m.ask("a", 64);
	m.jobs.close(7);
	core::NativeMark next = m.mark;
	next.restarts++;
	REQUIRE(m.jobs.open(next).ok());
	m.machine.limit(136); /* as the limit that we had written for the earlier life */
	(void)m.memory.keep();
	CHECK_EQUAL(m.machine.limit(), 136);
	CHECK(m.memory.share_of("a").has_value()); /* the pod's cgroup is still there */
	m.end("a");
	CHECK_EQUAL(m.machine.limit(), 136);
}

} // namespace

int main()
{
	return check::run_tests("node native memory",
		{
			TEST(a_limit_is_lowered_by_each_pod_and_raised_again),
			TEST(a_limit_that_is_lowered_late_is_raised),
			TEST(processes_are_killed_until_there_is_none),
			TEST(the_limit_of_a_closed_job_is_raised),
			TEST(a_limit_is_lowered_again_where_nothing_can_be_written),
			TEST(pods_end_if_the_job_keeps_their_memory),
			TEST(what_a_pod_without_processes_keeps_is_the_jobs_loss),
			TEST(a_job_that_gives_memory_back_for_a_moment_does_not_begin_anew),
			TEST(a_job_and_pods_within_its_memory_may_take_their_time),
			TEST(another_life_of_the_job_has_its_own_patience),
			TEST(a_write_that_hangs_ends_after_a_second),
			TEST(nothing_is_reclaimed_for_a_new_pod),
			TEST(a_limit_that_is_written_anew_is_lowered_again),
			TEST(another_daemon_raises_the_limit),
			TEST(a_daemon_that_was_killed_in_between_is_followed),
			TEST(limits_of_another_life_are_left_alone),
		});
}
