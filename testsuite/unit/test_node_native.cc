/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurmkube-node and pods that run within native jobs. */
#include "src/base/owned.h"
#include "src/node/files.h"
#include "src/node/message.h"
#include "src/node/native_scripts.h"
#include "src/node/plugin.h"
#include "src/node/settings.h"
#include "testsuite/unit/check.h"

#include <cstdlib>
#include <fstream>
#include <map>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace slurmkube;
using namespace slurmkube::node;
namespace fs = std::filesystem;

namespace
{

constexpr std::int64_t k_mib_bytes = std::int64_t{1} << 20;
constexpr EndLimits k_short_limits{std::chrono::milliseconds(100), std::chrono::seconds(5)};

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
	~NativeMachine() { fs::remove_all(directory_); }
	NativeMachine(const NativeMachine &) = delete;
	NativeMachine &operator=(const NativeMachine &) = delete;

	static std::string job() { return "slurm_n1/uid_1000/job_7"; }
	[[nodiscard]] fs::path state() const { return directory_ / "state"; }
	[[nodiscard]] Cgroups cgroups() const { return {directory_ / "cg", "n1"}; }
	[[nodiscard]] NativeJobs jobs() const { return NativeJobs(state()); }
	void write(const std::string &file, const std::string &text) const
	{
		fs::create_directories((directory_ / file).parent_path());
		std::ofstream(directory_ / file) << text;
	}
	void remove(const std::string &file) const { fs::remove_all(directory_ / file); }
	[[nodiscard]] fs::path limit_file() const
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
	fs::path directory_;
};

core::NativeMark life_of_job(std::uint32_t restarts = 0)
{
	return {{7}, 1000, restarts, seconds_since_epoch(), "main"};
}

/* ---- the life of a job ---- */

void a_mark_fits_one_life_of_one_user()
{
	const core::NativeMark mark{{7}, 1000, 1, 5000, "main"};
	const auto opened = [](std::uint32_t user, std::uint32_t restarts, std::int64_t start,
				    std::int64_t written) {
		return OpenedJob{{{7}, user, restarts, start, "main"}, written, ""};
	};
	CHECK(misfit(mark, opened(1000, 1, 5000, 0)).empty());
	CHECK(!misfit(mark, std::nullopt).empty());
	CHECK(!misfit(mark, OpenedJob{{{7}, 1000, 1, 5000, "other"}, 5000, ""}).empty());
	CHECK(!misfit(mark, opened(1001, 1, 5000, 5000)).empty());
	CHECK(!misfit(mark, opened(1000, 2, 5000, 5000)).empty());
	CHECK(!misfit(mark, opened(1000, 0, 5000, 5000)).empty());
	CHECK(!misfit(mark, opened(1000, 1, 5001, 5000)).empty());
	/* Slurm 22.05 does not say the start to Prolog */
	CHECK(misfit(mark, opened(1000, 1, 0, 5000)).empty());
	CHECK(misfit(mark, opened(1000, 1, 0, 4941)).empty());
	CHECK(misfit(mark, opened(1000, 1, 0, 5599)).empty());
	CHECK(!misfit(mark, opened(1000, 1, 0, 4939)).empty());
	CHECK(!misfit(mark, opened(1000, 1, 0, 5601)).empty());
}

using Variables = std::map<std::string, std::string>;

Variable reader_of(const Variables &variables)
{
	return [&variables](const char *name) -> const char * {
		const auto found = variables.find(name);
		return found == variables.end() ? nullptr : found->second.c_str();
	};
}

void a_prolog_says_whose_job_it_is()
{
	Variables all = {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_UID", "1000"},
		{"SLURM_JOB_RESTART_COUNT", "2"}, {"SLURM_JOB_START_TIME", "5000"},
		{"SLURM_CLUSTER_NAME", "main"}};
	CHECK(life_of_prolog(reader_of(all)) == (core::NativeMark{{7}, 1000, 2, 5000, "main"}));
	for (const char *name : {"SLURM_JOB_ID", "SLURM_JOB_UID", "SLURM_JOB_RESTART_COUNT"}) {
		Variables some = all;
		some.erase(name);
		CHECK(!life_of_prolog(reader_of(some)));
		some[name] = "x";
		CHECK(!life_of_prolog(reader_of(some)));
	}
	Variables nameless = all;
	nameless.erase("SLURM_CLUSTER_NAME");
	CHECK(!life_of_prolog(reader_of(nameless)));
	all["SLURM_JOB_START_TIME"] = "0";
	CHECK(!life_of_prolog(reader_of(all)));
	all.erase("SLURM_JOB_START_TIME");
	CHECK(life_of_prolog(reader_of(all)) == (core::NativeMark{{7}, 1000, 2, 0, "main"}));
}

void prolog_opens_and_epilog_closes()
{
	const NativeMachine machine;
	const NativeJobs jobs = machine.jobs();
	const Variables variables = {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_UID", "1000"},
		{"SLURM_JOB_RESTART_COUNT", "0"}, {"SLURM_CLUSTER_NAME", "main"}};
	const Variable variable = reader_of(variables);
	CHECK(settle_native_pods(jobs, machine.cgroups(), variable, false).ok());
	CHECK(!jobs.is_used() && !jobs.opened(7));
	CHECK(settle_native_pods(jobs, machine.cgroups(), variable, true).ok());
	REQUIRE(jobs.opened(7).has_value());
	CHECK(misfit(life_of_job(), jobs.opened(7)).empty());
	/* --wait by hand */
	CHECK(end_native_pods(jobs, machine.cgroups(), 7, false).ok());
	CHECK(jobs.opened(7).has_value());
	CHECK(end_native_pods(jobs, machine.cgroups(), 7, true).ok());
	CHECK(!jobs.opened(7));
}

/* A full disk, or a file where the directory should be. */
void a_prolog_that_cannot_write_lets_the_job_start()
{
	const NativeMachine machine;
	const NativeJobs jobs = machine.jobs();
	machine.write("state/native", "in the way");
	const Variables variables = {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_UID", "1000"},
		{"SLURM_JOB_RESTART_COUNT", "0"}, {"SLURM_CLUSTER_NAME", "main"}};
	CHECK(settle_native_pods(jobs, machine.cgroups(), reader_of(variables), true).ok());
	CHECK(!jobs.opened(7));
	CHECK(end_native_pods(jobs, machine.cgroups(), 7, true).ok());
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

/* The agent may be away. The files of this machine do not lose a process that has ended, so the
 * limit is reached. */
void an_epilog_ends_containers_itself()
{
	const NativeMachine machine;
	const NativeJobs jobs = machine.jobs();
	REQUIRE(jobs.open(life_of_job()).ok());
	const Records records = *Records::open(jobs.directory());
	REQUIRE(records.keep_container(7, "c1", "/kubepods/podu1/c1", true).ok());
	REQUIRE(records.keep_container(8, "c2", "/kubepods/podu1/c2", true).ok());
	Process process;
	machine.write(
		"cg/cpuset/kubepods/podu1/c1/cgroup.procs", std::to_string(process.pid()) + "\n");
	machine.write("cg/cpuset/kubepods/podu1/c2/cgroup.procs", "1\n");
	const EndLimits limits{std::chrono::milliseconds(50), std::chrono::milliseconds(300)};
	const Result<Ok> ended = end_native_pods(jobs, machine.cgroups(), 7, true, limits);
	CHECK(!ended.ok());
	CHECK(process.has_ended());
	CHECK(!jobs.opened(7));
	machine.remove("cg/cpuset/kubepods/podu1/c1");
	CHECK(end_native_pods(jobs, machine.cgroups(), 7, true, k_short_limits).ok());
	CHECK_EQUAL(records.containers_of(7).size(), 0U);
	CHECK_EQUAL(records.containers_of(8).size(), 1U);
}

/* By hand, or in an epilog without Slurm's variables, which would otherwise end too early. */
void containers_of_a_job_that_may_live_are_only_waited_for()
{
	const NativeMachine machine;
	const NativeJobs jobs = machine.jobs();
	REQUIRE(jobs.open(life_of_job()).ok());
	const Records records = *Records::open(jobs.directory());
	REQUIRE(records.keep_container(7, "c1", "/kubepods/podu1/c1", true).ok());
	REQUIRE(records.keep_container(7, "c2", "/kubepods/podu1/c2", true).ok());
	const Process process;
	const std::string file = "cg/cpuset/kubepods/podu1/c1/cgroup.procs";
	machine.write(file, std::to_string(process.pid()) + "\n");
	const EndLimits limits{std::chrono::milliseconds(50), std::chrono::milliseconds(200)};
	const Result<Ok> ended = end_native_pods(jobs, machine.cgroups(), 7, false, limits);
	REQUIRE(!ended.ok());
	CHECK(ended.error().what.find("SLURM_SCRIPT_CONTEXT") != std::string::npos);
	CHECK(::waitpid(process.pid(), nullptr, WNOHANG) == 0);
	machine.write(file, "");
	CHECK(end_native_pods(jobs, machine.cgroups(), 7, false, limits).ok());
	CHECK(jobs.opened(7).has_value());
	CHECK_EQUAL(records.containers_of(7).size(), 2U);
}

void a_prolog_waits_for_containers_of_jobs_that_have_ended()
{
	const NativeMachine machine;
	const NativeJobs jobs = machine.jobs();
	REQUIRE(jobs.open(life_of_job()).ok());
	const Records records = *Records::open(jobs.directory());
	REQUIRE(records.keep_container(7, "c1", "/kubepods/podu1/c1", true).ok());
	machine.write("cg/cpuset/kubepods/podu1/c1/cgroup.procs", "1\n");
	const Variables other = {{"SLURM_JOB_ID", "8"}, {"SLURM_JOB_UID", "1000"},
		{"SLURM_JOB_RESTART_COUNT", "0"}, {"SLURM_CLUSTER_NAME", "main"}};
	const Variables same = {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_UID", "1000"},
		{"SLURM_JOB_RESTART_COUNT", "1"}, {"SLURM_CLUSTER_NAME", "main"}};
	const EndLimits limits{std::chrono::seconds(5), std::chrono::milliseconds(100)};
	const auto settles = [&](const Variables &variables) {
		return settle_native_pods(
			jobs, machine.cgroups(), reader_of(variables), true, limits)
			.ok();
	};
	CHECK(settles(other)); /* job 7 lives */
	CHECK(!settles(same)); /* a new life of this number */
	CHECK(!settles(other));
	machine.remove("cg/cpuset/kubepods/podu1/c1");
	CHECK(settles(same));
}

/* They run for every native job, whose node would be drained. */
void scripts_go_on_with_a_wrong_value_of_the_key()
{
	const char *text = "SystemCpus=0\nPodsInNativeJobs=true\n";
	CHECK(!parse_settings(text).ok());
	const Result<Settings> settings = parse_settings(text, Strictness::script);
	REQUIRE(settings.ok());
	CHECK(!settings->allows_native_pods() && !settings->ignored.empty());
	CHECK(!parse_settings("SystemCpus=x\n", Strictness::script).ok());
	CHECK(parse_settings("SystemCpus=0\nPodsInNativeJobs=yes\n", Strictness::script)
			->allows_native_pods());
}

/* ---- containers ---- */

Message native_pod(const core::NativeMark &mark, const char *mib)
{
	const auto annotation = [](const char *key, const std::string &value) {
		return Message().text(1, key).text(2, value);
	};
	return Message()
		.text(1, "p1")
		.text(2, "train")
		.text(3, "u1")
		.text(4, "lab")
		.message(6, annotation("allocation.slurm-kube.io/job-id", "native"))
		.message(6, annotation("allocation.slurm-kube.io/native-job", text_of(mark)))
		.message(6, annotation("allocation.slurm-kube.io/memory", mib))
		.message(8, Message().text(3, "/kubepods/podu1"));
}

Message native_request(const core::NativeMark &mark, const Message &linux, const char *mib = "64")
{
	return Message()
		.message(1, native_pod(mark, mib))
		.message(2, Message().text(1, "c1").text(2, "p1").message(11, linux));
}

Message plain_linux()
{
	return Message().text(5, "/kubepods/podu1/c1");
}

struct Daemon {
	const NativeMachine &machine;
	Records records = *Records::open(machine.state());
	Cgroups cgroups = machine.cgroups();
	NativePods native;
	Plugin plugin;
	NativeJobs jobs = machine.jobs();
	NativeMemory memory;

	explicit Daemon(const NativeMachine &of, bool is_allowed = true)
	    : machine(of), native(of.state(), cgroups, is_allowed),
	      plugin(records, cgroups, native, "0"), memory(jobs, cgroups)
	{
	}

	/* The text of the refusal; "": accepted. */
	std::string answer(const char *method, const Message &request)
	{
		const auto said = parse_rpc_response(plugin.answer({"", method, request.bytes()}));
		return said ? "" : said.error().what;
	}
	std::string create(const core::NativeMark &mark, const Message &linux = plain_linux(),
		const char *mib = "64")
	{
		return answer("CreateContainer", native_request(mark, linux, mib));
	}
	/* As the keeper does, after the first request. */
	std::string create_when_lowered(const core::NativeMark &mark)
	{
		(void)create(mark);
		(void)memory.keep();
		return create(mark);
	}
};

bool has(const std::string &text, const char *part)
{
	return text.find(part) != std::string::npos;
}

void a_container_gets_the_processors_of_the_job_when_its_memory_is_free()
{
	const NativeMachine machine;
	const core::NativeMark mark = life_of_job();
	REQUIRE(machine.jobs().open(mark).ok());
	Daemon daemon(machine);
	CHECK(has(daemon.create(mark), "does not leave 64 MiB of its memory"));
	CHECK_EQUAL(machine.limit(), 200);
	CHECK_EQUAL(daemon.native.records()->containers_of(7).size(), 0U);
	CHECK_EQUAL(daemon.memory.keep(), 1U);
	CHECK_EQUAL(machine.limit(), 136);
	const auto said = parse_rpc_response(daemon.plugin.answer(
		{"", "CreateContainer", native_request(mark, plain_linux()).bytes()}));
	REQUIRE(said.ok());
	CHECK_EQUAL(*said, adjustment({"1", "0", 64 * k_mib_bytes}));
	CHECK_EQUAL(daemon.native.records()->containers_of(7).size(), 1U);
	CHECK_EQUAL(daemon.records.containers_of(7).size(), 0U);
}

/* Most often the limit is lowered before the first container comes. */
void a_sandbox_announces_the_pod()
{
	const NativeMachine machine;
	const core::NativeMark mark = life_of_job();
	REQUIRE(machine.jobs().open(mark).ok());
	Daemon daemon(machine);
	CHECK_EQUAL(
		daemon.answer("RunPodSandbox", Message().message(1, native_pod(mark, "64"))), "");
	CHECK_EQUAL(daemon.memory.keep(), 1U);
	CHECK_EQUAL(daemon.create(mark), "");
}

void containers_are_refused_outside_of_the_life_of_the_job()
{
	const NativeMachine machine;
	const core::NativeMark mark = life_of_job();
	Daemon daemon(machine);
	CHECK(has(daemon.create(mark), "does not run on this node"));
	REQUIRE(machine.jobs().open(mark).ok());
	CHECK_EQUAL(daemon.create_when_lowered(mark), "");
	core::NativeMark other = mark;
	other.restarts++;
	CHECK(has(daemon.create(other), "is not the one that the pod was bound to"));
	other = mark;
	other.user_id++;
	CHECK(has(daemon.create(other), "is not the one that the pod was bound to"));
	machine.write("cg/freezer/" + NativeMachine::job() + "/step_0/freezer.state", "FROZEN\n");
	CHECK(has(daemon.create(mark), "is suspended"));
	machine.write("cg/freezer/" + NativeMachine::job() + "/step_0/freezer.state", "THAWED\n");
	CHECK_EQUAL(daemon.create(mark), "");
	CHECK_EQUAL(daemon.answer("StartContainer", native_request(mark, plain_linux())).empty(),
		false); /* no process of it is there */
	machine.write("cg/cpuset/kubepods/podu1/c1/cgroup.procs", "1\n");
	CHECK_EQUAL(daemon.answer("StartContainer", native_request(mark, plain_linux())), "");
	const fs::path share = machine.jobs().directory() / "shares" / "u1";
	fs::rename(share, machine.state() / "u1");
	CHECK(has(daemon.answer("StartContainer", native_request(mark, plain_linux())),
		"does not leave its memory"));
	fs::rename(machine.state() / "u1", share);
	CHECK_EQUAL(daemon.answer("StartContainer", native_request(mark, plain_linux())), "");
	machine.jobs().close(7);
	CHECK(has(daemon.answer("StartContainer", native_request(mark, plain_linux())),
		"does not run on this node"));
}

void containers_are_refused_whatever_else_is_wrong()
{
	const NativeMachine machine;
	const core::NativeMark mark = life_of_job();
	REQUIRE(machine.jobs().open(mark).ok());
	{
		Daemon off(machine, false);
		CHECK(has(off.create(mark), "are not allowed on this node"));
	}
	Daemon daemon(machine);
	const Message device =
		Message().text(1, "/dev/gpu0").text(2, "c").number(3, 195).number(4, 0);
	CHECK(has(daemon.create(mark, plain_linux().message(2, device)), "have no devices"));
	CHECK(has(daemon.create(mark, plain_linux(), "x"), "is not a size in MiB"));
	CHECK(has(daemon.create(mark, plain_linux(), ""), "is not known"));
	CHECK(has(daemon.create(mark, Message().text(5, "/elsewhere/c1")), "no cgroups of pods"));
	const std::pair<const char *, const char *> others[] = {
		{"9", "exclude each other"}, {"", "is not a mark of slurmkubed"}};
	for (const auto &[job, why] : others) {
		Message pod = native_pod(mark, "64");
		pod.message(6, Message().text(1, "allocation.slurm-kube.io/job-id").text(2, job));
		const Message both = Message().message(1, pod).message(
			2, Message().text(1, "c1").text(2, "p1").message(11, plain_linux()));
		CHECK(has(daemon.answer("CreateContainer", both), why));
	}
	machine.limit(std::int64_t{4} << 40);
	CHECK(has(daemon.create(mark), "slurmd does not limit the memory"));
	machine.limit(200);
	machine.write("cg/cgroup.controllers", "memory\n");
	Daemon v2(machine);
	CHECK(has(v2.create(mark), "cgroup version 1"));
}

/* As a slurmkube-node that knows nothing of native jobs sees their pods. */
void the_job_id_of_a_native_pod_is_refused_without_its_mark()
{
	Pod pod;
	pod.job = "native";
	CHECK(!job_of(pod).ok());
}

/* ---- memory ---- */

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
		fs::remove(file_);
		fs::create_symlink("/proc/" + std::to_string(::getpid()) + "/fd/" +
				std::to_string(sealed_.get()),
			file_);
	}
	~SealedLimit()
	{
		fs::remove(file_);
		machine_.limit(mib_);
	}
	SealedLimit(const SealedLimit &) = delete;
	SealedLimit &operator=(const SealedLimit &) = delete;

      private:
	const NativeMachine &machine_;
	std::int64_t mib_;
	fs::path file_;
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
	const fs::path file = m.jobs.directory() / "shares" / "a";
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
	const fs::path file = machine.state();
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
		fs::remove(m.jobs.directory() / "shares" / "a");
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
	return check::run_tests("node_native",
		{
			TEST(a_mark_fits_one_life_of_one_user),
			TEST(a_prolog_says_whose_job_it_is),
			TEST(prolog_opens_and_epilog_closes),
			TEST(a_prolog_that_cannot_write_lets_the_job_start),
			TEST(an_epilog_ends_containers_itself),
			TEST(containers_of_a_job_that_may_live_are_only_waited_for),
			TEST(a_prolog_waits_for_containers_of_jobs_that_have_ended),
			TEST(scripts_go_on_with_a_wrong_value_of_the_key),
			TEST(a_container_gets_the_processors_of_the_job_when_its_memory_is_free),
			TEST(a_sandbox_announces_the_pod),
			TEST(containers_are_refused_outside_of_the_life_of_the_job),
			TEST(containers_are_refused_whatever_else_is_wrong),
			TEST(the_job_id_of_a_native_pod_is_refused_without_its_mark),
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
