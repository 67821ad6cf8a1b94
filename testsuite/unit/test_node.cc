/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/log.h"
#include "src/base/owned.h"
#include "src/node/confine.h"
#include "src/node/epilog.h"
#include "src/node/message.h"
#include "src/node/plugin.h"
#include "src/node/settings.h"
#include "src/node/systemd_units.h"
#include "testsuite/unit/check.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace slurmkube;
using namespace slurmkube::node;
namespace fs = std::filesystem;

namespace
{

/* A refused start kills: no process has this number, which is above every pid_max. */
constexpr const char *k_no_process = "4194305\n";

/* A directory with records and cgroups of version 1, removed at the end. */
class Machine
{
      public:
	Machine()
	{
		char name[] = "/tmp/node-test.XXXXXX";
		directory_ = ::mkdtemp(name);
		fs::create_directories(directory_ / "cg/cpuset");
	}
	~Machine() { fs::remove_all(directory_); }
	Machine(const Machine &) = delete;
	Machine &operator=(const Machine &) = delete;

	[[nodiscard]] const fs::path &directory() const { return directory_; }
	[[nodiscard]] Records records() const { return *Records::open(directory_ / "state"); }
	[[nodiscard]] Cgroups cgroups() const { return {directory_ / "cg", "n1"}; }
	void start_job(const std::string &job, const std::string &cpus) const
	{
		const fs::path cgroup = directory_ / "cg/cpuset/slurm_n1/uid_1000" / ("job_" + job);
		fs::create_directories(cgroup);
		std::ofstream(cgroup / "cpuset.cpus") << cpus << "\n";
		std::ofstream(cgroup / "cpuset.mems") << "0\n";
	}
	[[nodiscard]] std::string read(const std::string &file) const
	{
		std::string line;
		std::ifstream in(directory_ / file);
		std::getline(in, line);
		return line;
	}
	void touch(const std::string &file, fs::file_time_type time) const
	{
		fs::last_write_time(directory_ / "state" / file, time);
	}
	void write(const std::string &file, const std::string &text) const
	{
		fs::create_directories((directory_ / file).parent_path());
		std::ofstream(directory_ / file) << text;
	}
	void end_job() const { fs::remove_all(directory_ / "cg/cpuset/slurm_n1"); }

      private:
	fs::path directory_;
};

void containers_get_the_processors_of_their_job()
{
	Pod pod{"p1", "train", "u", "lab", "7", "64"};
	Container container{"c1", "p1", "main", ContainerState::created, "/k/c1", 0};
	const JobFacts job{false, CpuSet{"2-3", "0"}};
	auto got = confinement_of(pod, container, job, "0");
	REQUIRE(got.ok());
	CHECK((*got == Confinement{"2-3", "0", 64 << 20}));
	container.memory_limit = 1;
	got = confinement_of(pod, container, job, "0");
	REQUIRE(got.ok());
	CHECK((*got == Confinement{"2-3", "0", 0}));
	container.memory_limit = 65 << 20;
	CHECK((*confinement_of(pod, container, job, "0") == Confinement{"2-3", "0", 64 << 20}));
	pod.memory = "";
	CHECK((*confinement_of(pod, container, job, "0") == Confinement{"2-3", "0", 0}));
	got = confinement_of(pod, container, std::nullopt, "0");
	REQUIRE(got.ok());
	CHECK((*got == Confinement{"0", "", 0}));
	CHECK_EQUAL(
		confinement_of(pod, container, JobFacts{true, CpuSet{"2", "0"}}, "0").error().what,
		std::string("slurm-kube: pod lab/train: Slurm job 7 has ended on this node"));
	CHECK_EQUAL(confinement_of(pod, container, JobFacts{false, {}}, "0").error().what,
		std::string(
			"slurm-kube: pod lab/train: Slurm job 7 has no processors on this node"));
}

void only_numbers_are_jobs()
{
	Pod pod;
	CHECK(job_of(pod).ok() && *job_of(pod) == 0);
	pod.job = "4711";
	CHECK(job_of(pod).ok() && *job_of(pod) == 4711);
	for (const char *wrong : {"0", "-1", "+1", " 1", "1 ", "x", "4294967296"}) {
		pod.job = wrong;
		CHECK(!job_of(pod).ok());
	}
}

void only_sizes_are_memory()
{
	Pod pod{"p1", "train", "u", "lab", "7", ""};
	CHECK_EQUAL(*memory_share_of(pod), 0);
	pod.memory = "64";
	CHECK_EQUAL(*memory_share_of(pod), 64 << 20);
	for (const char *wrong :
		{"0", "-1", "x", "64Mi", "8796093022208", "99999999999999999999"}) {
		pod.memory = wrong;
		CHECK(!memory_share_of(pod).ok());
		CHECK(!confinement_of(pod, {}, JobFacts{false, CpuSet{"1", "0"}}, "0").ok());
	}
}

void cgroups_of_pods()
{
	const Pod pod{"p1", "train", "u-1", "lab", "7", "64"};
	CHECK(pod_cgroup_of(pod, "/kubepods/besteffort/podu-1/c1") ==
		"/kubepods/besteffort/podu-1");
	CHECK(pod_cgroup_of(pod, "/kubepods.slice/kubepods-podu_1.slice/cri-containerd-c1.scope") ==
		"/kubepods.slice/kubepods-podu_1.slice");
	for (const char *other : {"/k8s.io/c1", "/kubepods/podu-12/c1", "/podu-1", "c1"})
		CHECK(!pod_cgroup_of(pod, other));
	CHECK(!pod_cgroup_of(Pod{}, "/kubepods/pod/c1"));
}

void lists_of_processors()
{
	for (const char *good : {"0", "0-1", "0,2-5,7"})
		CHECK(is_cpu_list(good));
	for (const char *wrong : {"", "\n", "-1", "3-1", "0,", ",0", "0-", "a", "65536", "0 1"})
		CHECK(!is_cpu_list(wrong));
}

void processors_of_jobs_are_not_the_systems()
{
	CHECK(cpu_overlap("7", "2-5,9", "0-1").empty());
	CHECK(cpu_overlap("7", "2-5", "0,5")
			.starts_with("Slurm has given processor 5 of SystemCpus to job 7"));
	const Machine machine;
	machine.start_job("7", "0-1");
	machine.start_job("8", ""); /* slurmd is just making it */
	CHECK((machine.cgroups().cpusets() ==
		std::map<std::string, CpuSet>{{"7", CpuSet{"0-1", "0"}}}));
}

void cgroups_of_both_drivers()
{
	CHECK_EQUAL(*cgroup_of("/kubepods/podU/c1"), std::string("/kubepods/podU/c1"));
	CHECK_EQUAL(*cgroup_of("kubepods-burstable-podU_1.slice:cri-containerd:c1"),
		std::string("/kubepods.slice/kubepods-burstable.slice/"
			    "kubepods-burstable-podU_1.slice/cri-containerd-c1.scope"));
	for (const char *wrong : {"", "x", "a.slice", "a.slice:b", "/a/../b", "/a\nb"})
		CHECK(!cgroup_of(wrong).ok());
}

void settings_are_read_and_errors_say_what_to_write()
{
	const auto good = parse_settings("# a node\nsystemcpus = 0-1 # two\nNodeName=n1\n");
	REQUIRE(good.ok());
	CHECK(good->system_cpus == "0-1" && good->node_name == "n1" &&
		good->nri_socket == "/run/nri/nri.sock");
	struct Case {
		const char *text, *want;
	};
	const Case cases[] = {
		{"", "SystemCpus is missing"},
		{"SystemCpus=a", "line 1: SystemCpus=\"a\": write a list of processors"},
		{"\nNriSocket=x", "line 2: NriSocket=\"x\": write an absolute path"},
		{"NodeName=a/b", "line 1: NodeName=\"a/b\": write the NodeName of slurm.conf"},
		{"Cpus=1", "line 1: \"Cpus=1\" is not one of the keys SystemCpus"},
		{"SystemCpus", "line 1: \"SystemCpus\" is not one of the keys"},
	};
	for (const Case &one : cases) {
		const auto got = parse_settings(one.text);
		REQUIRE(!got.ok());
		CHECK(got.error().what.starts_with(one.want));
	}
}

void epilogs_wait_as_long_as_pods_may_take()
{
	using std::chrono::seconds;
	CHECK(epilog_limit("5") == seconds(65));
	CHECK(epilog_limit("100000") == seconds(86460));
	for (const char *wrong : {"", "x", "5x", "-5", "99999999999"})
		CHECK(epilog_limit(wrong) == seconds(90));
	CHECK(epilog_limit(nullptr) == seconds(90));
	const Machine machine;
	const Cgroups cgroups = machine.cgroups();
	machine.write("cg/cpuset/c/cgroup.procs", k_no_process);
	const auto is_live = [&](const ContainerRecord &one) {
		return node::is_live(one, cgroups, {});
	};
	CHECK(is_live({"c", "/c", true, seconds(1)}));
	CHECK(is_live({"c", "/c", false, seconds(61)}));
	CHECK(!is_live({"c", "/none", true, seconds(1)}));
	CHECK(is_live({"c", "/none", false, seconds(1)}));
	CHECK(!is_live({"c", "/none", false, seconds(61)}));
}

void records_outlive_the_daemon()
{
	const Machine machine;
	const Records records = machine.records();
	using State = Records::JobState;
	CHECK(records.state_of(7) == State::open);
	REQUIRE(records.close(7, false).ok());
	CHECK(machine.records().state_of(7) == State::closed);
	REQUIRE(records.close(7, true).ok());
	CHECK(records.state_of(7) == State::cleared);
	REQUIRE(records.keep_container(7, "c1", "/k/c1", false).ok());
	REQUIRE(records.keep_container(71, "c2", "/k/c2", true).ok());
	REQUIRE(records.containers_of(7).size() == 1);
	CHECK(records.containers_of(7)[0].cgroup == "/k/c1" &&
		!records.containers_of(7)[0].is_started);
	CHECK(records.containers_of(71)[0].is_started);
	records.forget_container("c1");
	CHECK(records.containers_of(7).empty());
	CHECK(!records.keep_container(7, "../x", "/k", true).ok());
	CHECK((records.jobs() == std::vector<std::uint32_t>{7, 71}));
}

void only_cleared_jobs_are_forgotten()
{
	const Machine machine;
	const Records records = machine.records();
	REQUIRE(records.close(7, true).ok());
	REQUIRE(records.close(71, false).ok());
	REQUIRE(records.keep_container(72, "c2", "/k/c2", true).ok());
	records.prune(std::chrono::hours(1));
	CHECK((records.jobs() == std::vector<std::uint32_t>{7, 71, 72}));
	records.prune(std::chrono::seconds(0));
	CHECK((records.jobs() == std::vector<std::uint32_t>{71, 72}));
}

Message pod_of_job()
{
	const auto annotation = [](const char *key, const char *value) {
		return Message().text(1, key).text(2, value);
	};
	return Message()
		.text(1, "p1")
		.text(3, "u1")
		.message(6, annotation("allocation.slurm-kube.io/job-id", "7"))
		.message(6, annotation("allocation.slurm-kube.io/memory", "1"));
}

Message container_in(const std::string &pod_cgroup)
{
	return Message().text(1, "c1").text(2, "p1").message(
		11, Message().text(5, pod_cgroup + "/c1"));
}

Message request_of(const std::string &pod_cgroup)
{
	return Message().message(1, pod_of_job()).message(2, container_in(pod_cgroup));
}

/* The same as a runtime with NRI before 0.12 says most things. */
Message event_of(int number)
{
	return Message()
		.number(1, number)
		.message(2, pod_of_job())
		.message(3, container_in("/kubepods"));
}

Result<std::string> answer_to(const Machine &machine, const char *method, const Message &request)
{
	const Records records = machine.records();
	const Cgroups cgroups = machine.cgroups();
	const NativePods native(records.directory(), cgroups, false);
	Plugin plugin(records, cgroups, native, "0");
	return parse_rpc_response(plugin.answer({"", method, request.bytes()}));
}

/* Whether the plugin accepts that request for a container of job 7. */
bool accepts(const Machine &machine, const char *method)
{
	return answer_to(machine, method, request_of("/kubepods")).ok();
}

void a_removed_container_with_processes_is_remembered()
{
	const Machine machine;
	const Records records = machine.records();
	for (const bool as_event : {false, true}) {
		const Message request = as_event ? event_of(11) : request_of("/kubepods");
		const char *method = as_event ? "StateChange" : "RemoveContainer";
		REQUIRE(records.keep_container(7, "c1", "/kubepods/c1", true).ok());
		machine.write("cg/cpuset/kubepods/c1/cgroup.procs", k_no_process);
		CHECK(answer_to(machine, method, request).ok());
		CHECK_EQUAL(records.containers_of(7).size(), 1U);
		machine.write("cg/cpuset/kubepods/c1/cgroup.procs", "");
		CHECK(answer_to(machine, method, request).ok());
		CHECK(records.containers_of(7).empty());
	}
}

void containers_of_a_pod_share_its_memory()
{
	const Machine machine;
	machine.start_job("7", "1");
	const std::string file = "cg/memory/kubepods/podu1/memory.limit_in_bytes";
	const Message request = request_of("/kubepods/podu1");
	const auto accepted = [&](const char *method) {
		return answer_to(machine, method, request).ok();
	};
	CHECK(!accepted("CreateContainer")); /* it cannot be limited */
	machine.write(file, "9223372036854771712\n");
	CHECK(accepted("CreateContainer"));
	CHECK_EQUAL(machine.read(file), std::string("1048576"));
	machine.write(file, "4096\n");
	CHECK(accepted("CreateContainer"));
	CHECK_EQUAL(machine.read(file), std::string("4096"));
	machine.write(file, "2097152\n"); /* the kubelet resizes the pod */
	CHECK(accepted("UpdateContainer"));
	CHECK_EQUAL(machine.read(file), std::string("1048576"));
	machine.write("cg/cgroup.controllers", "memory\n");
	machine.write("cg/kubepods/podu1/memory.max", "max\n");
	CHECK(machine.cgroups().limit_memory("/kubepods/podu1", 1 << 20).ok());
	CHECK_EQUAL(machine.read("cg/kubepods/podu1/memory.max"), std::string("1048576"));
}

/* systemd keeps the limits of its units only if they are set there. */
void the_cgroup_of_a_pod_is_a_unit()
{
	const std::string pods = "/kubepods.slice/kubepods-burstable.slice";
	const std::string pod = "kubepods-burstable-podu1.slice";
	CHECK_EQUAL(slice_of(pods + "/" + pod).value_or("none"), pod);
	CHECK(!slice_of(pods + "/" + pod + "/cri-containerd-c1.scope"));
	CHECK(!slice_of("/kubepods/podu1"));
}

/* The runtime holds up all containers of the node for as long, and drops us after 2 s. */
void a_bus_that_does_not_answer_takes_a_second()
{
	const Machine machine;
	const std::string path = machine.directory() / "bus";
	sockaddr_un address = {};
	address.sun_family = AF_UNIX;
	path.copy(address.sun_path, sizeof address.sun_path - 1);
	const UniqueFd bus(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
	REQUIRE(::bind(bus.get(), reinterpret_cast<const sockaddr *>(&address), sizeof address) ==
		0);
	REQUIRE(::listen(bus.get(), 1) == 0); /* it connects, and no more */
	REQUIRE(::setenv("DBUS_SYSTEM_BUS_ADDRESS", ("unix:path=" + path).c_str(), 1) == 0);
	const auto begin = std::chrono::steady_clock::now();
	const Result<Ok> limited = limit_memory_of_unit("kubepods-podu1.slice", 1 << 20);
	const auto took = std::chrono::steady_clock::now() - begin;
	(void)::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
	REQUIRE(!limited.ok());
	CHECK(limited.error().what.starts_with("systemd does not set MemoryMax of"));
	CHECK(took >= std::chrono::milliseconds(900) && took < std::chrono::milliseconds(1900));
}

/* LinuxDevice of nri's api.proto, as containerd writes the devices of CDI into the container. */
void devices_of_containers_are_read()
{
	const auto device = [](const char *path, const char *kind, int major, int minor) {
		return Message().text(1, path).text(2, kind).number(3, major).number(4, minor);
	};
	const Message linux = Message()
				      .message(2, device("/dev/gpu1", "c", 195, 1))
				      .message(2, device("/dev/disk", "b", 8, 0))
				      .message(2, device("/dev/pipe", "p", 0, 0))
				      .message(2, device("/dev/raw", "u", 7, 1))
				      .message(2, device("/dev/odd", "", 7, 2))
				      .text(5, "/k/c1");
	const auto request = parse_container_request(
		Message()
			.message(1, pod_of_job())
			.message(2, Message().text(1, "c1").message(11, linux))
			.bytes());
	REQUIRE(request.ok());
	CHECK((request->container.devices ==
		std::vector<Device>{{"/dev/gpu1", 'c', 195, 1}, {"/dev/disk", 'b', 8, 0},
			{"/dev/pipe", 'p', 0, 0}, {"/dev/raw", 'c', 7, 1},
			{"/dev/odd", '?', 7, 2}}));
}

/* Where slurmd denies nothing, another job's device would not be denied either. */
void devices_need_a_cgroup_that_denies_them()
{
	const Machine machine;
	machine.start_job("7", "1");
	for (const char *kind : {"c", "u", "p", "x"}) {
		const Message linux =
			Message()
				.message(2, Message().text(1, "/dev/gpu1").text(2, kind))
				.text(5, "/kubepods/c1");
		const auto got = answer_to(machine, "CreateContainer",
			Message()
				.message(1, pod_of_job().text(2, "train").text(4, "lab"))
				.message(2, Message().text(1, "c1").message(11, linux)));
		CHECK_EQUAL(got.ok(), *kind == 'p');
		if (*kind == 'x')
			CHECK(got.error().what.find("/dev/gpu1 is of a kind that is not known") !=
				std::string::npos);
		else
			CHECK(got.ok() ||
				got.error().what.find(
					"slurmd does not keep devices from Slurm job 7, so "
					"/dev/gpu1 may be another job's: "
					"ConstrainDevices=yes") != std::string::npos);
	}
}

Message with_device()
{
	return Message().text(1, "c1").text(2, "p1").number(4, 2).message(11,
		Message()
			.message(2, Message().text(1, "/dev/gpu1").text(2, "c").number(3, 195))
			.text(5, "/kubepods/c1"));
}

std::vector<std::string> &log_lines()
{
	static std::vector<std::string> lines;
	return lines;
}

/* A container whose creation the plugin did not answer starts, or runs already. */
void devices_are_looked_at_whenever_they_can_be()
{
	const Machine machine;
	machine.start_job("7", "1");
	machine.write("cg/cpuset/kubepods/c1/cgroup.procs", k_no_process);
	const Message pod = pod_of_job().text(2, "train").text(4, "lab");
	const auto started = answer_to(
		machine, "StartContainer", Message().message(1, pod).message(2, with_device()));
	REQUIRE(!started.ok());
	CHECK(started.error().what.find("/dev/gpu1 may be another job's") != std::string::npos);
	log_lines().clear();
	log_open(
		[](LogLevel level, const char *line) {
			if (level == LogLevel::error)
				log_lines().emplace_back(line);
		},
		LogLevel::error);
	const auto updated = answer_to(
		machine, "Synchronize", Message().message(1, pod).message(2, with_device()));
	log_open(nullptr, LogLevel::error);
	REQUIRE(updated.ok());
	CHECK_EQUAL(*updated, updates({{"c1", {"1", "0", 0}}}));
	REQUIRE(log_lines().size() == 1);
	CHECK(log_lines()[0].find(
		      "container c1 goes on: slurm-kube: pod lab/train: slurmd does "
		      "not keep devices from Slurm job 7, so /dev/gpu1") != std::string::npos);
}

void no_resize_is_above_the_share()
{
	const Machine machine;
	machine.start_job("7", "1");
	const struct {
		std::int64_t asked, given;
	} rows[] = {{0, 0}, {1 << 20, 0}, {(1 << 20) + 1, 1 << 20}, {-1, 1 << 20}};
	for (const auto &row : rows) {
		const Message memory =
			Message().message(1, Message().message(1, Message().number(1, row.asked)));
		const Result<std::string> got = answer_to(
			machine, "UpdateContainer", request_of("/kubepods").message(3, memory));
		REQUIRE(got.ok());
		CHECK_EQUAL(*got, updates({{"c1", {"1", "0", row.given}}}));
	}
	REQUIRE(machine.records().close(7, false).ok());
	CHECK(!accepts(machine, "UpdateContainer"));
}

bool may_create(const Machine &machine)
{
	const Records records = machine.records();
	const bool may = accepts(machine, "CreateContainer");
	CHECK_EQUAL(records.containers_of(7).size(), std::size_t{may ? 1U : 0U});
	records.forget_container("c1");
	return may;
}

void containers_start_where_their_processes_are_seen()
{
	const Machine machine;
	machine.start_job("7", "1");
	CHECK(!accepts(machine, "StartContainer"));
	machine.write("cg/cpuset/kubepods/c1/cgroup.procs", "");
	CHECK(!accepts(machine, "StartContainer"));
	machine.write("cg/cpuset/kubepods/c1/cgroup.procs", k_no_process);
	CHECK(accepts(machine, "StartContainer"));
	machine.end_job();
	CHECK(!accepts(machine, "StartContainer"));
}

/* CRI-O 1.36 and containerd 2.2. */
void a_start_may_be_an_event()
{
	const Machine machine;
	machine.start_job("7", "1");
	const auto may_start = [&] { return answer_to(machine, "StateChange", event_of(6)).ok(); };
	CHECK(!may_start());
	machine.write("cg/cpuset/kubepods/c1/cgroup.procs", k_no_process);
	CHECK(may_start());
	REQUIRE(machine.records().close(7, false).ok());
	CHECK(!may_start());
	CHECK(!answer_to(machine, "StateChange", Message().number(1, 6)).ok());
}

/* CRI-O would start it all the same. */
void a_container_that_may_not_start_is_killed()
{
	const Machine machine;
	machine.start_job("7", "1");
	const pid_t child = ::fork();
	if (child == 0) {
		::alarm(10); /* another signal, if it is not killed */
		for (;;)
			::pause();
	}
	machine.write("cg/cpuset/kubepods/c1/cgroup.procs", k_no_process);
	machine.write("cg/cpuset/kubepods/c1/below/cgroup.procs", std::to_string(child) + "\n");
	CHECK(accepts(machine, "StartContainer"));
	CHECK_EQUAL(::waitpid(child, nullptr, WNOHANG), 0);
	machine.end_job();
	CHECK(!accepts(machine, "StartContainer"));
	int status = 0;
	CHECK_EQUAL(::waitpid(child, &status, 0), child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

void only_a_cgroup_that_is_gone_has_surely_ended()
{
	const Machine machine;
	CHECK(!machine.cgroups().has_processes("/k/c1"));
	machine.write("cg/cpuset/k/c1/below/cgroup.procs", "");
	machine.write("cg/cpuset/k/c1/cgroup.procs", "");
	CHECK(!machine.cgroups().has_processes("/k/c1"));
	machine.write("cg/cpuset/k/c1/below/cgroup.procs", k_no_process);
	CHECK(machine.cgroups().has_processes("/k/c1"));
	/* ENOTDIR, EISDIR */
	CHECK(machine.cgroups().has_processes("/k/c1/cgroup.procs"));
	machine.write("cg/cpuset/k/c2/cgroup.procs/x", "");
	CHECK(machine.cgroups().has_processes("/k/c2"));
}

void version_2_says_whether_a_cgroup_is_populated()
{
	const Machine machine;
	machine.write("cg/cgroup.controllers", "cpuset\n");
	CHECK(!machine.cgroups().has_processes("/k/c1"));
	machine.write("cg/k/c1/cgroup.events", "populated 1\nfrozen 0\n");
	CHECK(machine.cgroups().has_processes("/k/c1"));
	machine.write("cg/k/c1/cgroup.events", "populated 0\nfrozen 1\n");
	CHECK(!machine.cgroups().has_processes("/k/c1"));
	machine.write("cg/k/c2/cgroup.events/x", "");
	CHECK(machine.cgroups().has_processes("/k/c2"));
}

void a_job_is_closed_until_its_number_is_another_jobs()
{
	const Machine machine;
	CHECK(!may_create(machine));
	machine.start_job("7", "");
	CHECK(!may_create(machine)); /* slurmd is just making it */
	machine.start_job("7", "1");
	CHECK(may_create(machine));
	machine.end_job();
	CHECK(!may_create(machine)); /* its epilog begins after that */
	machine.start_job("7", "1");
	REQUIRE(machine.records().close(7, false).ok());
	CHECK(!may_create(machine));
	machine.end_job();
	REQUIRE(end_job(machine.records(), machine.cgroups(), 7, std::chrono::seconds(0), true)
			.ok());
	CHECK(!may_create(machine));
	/* the number may be a native job's now, of which no prolog says that it is a pod's */
	REQUIRE(machine.records().keep_grace(7, "30").ok());
	REQUIRE(end_job(machine.records(), machine.cgroups(), 7, std::chrono::seconds(0), true)
			.ok());
	machine.start_job("7", "0");
	CHECK(!may_create(machine));
	REQUIRE(machine.records().keep_grace(7, "30").ok());
	CHECK(may_create(machine));
}

void the_end_waits_for_containers()
{
	const Machine machine;
	const Records records = machine.records();
	REQUIRE(records.keep_container(7, "c1", "/k/c1", false).ok());
	const auto waited = end_job(records, machine.cgroups(), 7, std::chrono::seconds(0), false);
	REQUIRE(!waited.ok());
	CHECK_EQUAL(waited.error().what, std::string("container c1 still runs"));
	CHECK(records.state_of(7) == Records::JobState::closed);
	records.forget_container("c1");
	CHECK(end_job(records, machine.cgroups(), 7, std::chrono::seconds(0), false).ok());
}

/* Whether the end of a job waits for a container that was about to start, when containerd has
 * written that of it. */
bool ends_with(const std::string &status)
{
	const Machine machine;
	const Records records = machine.records();
	CHECK(records.keep_container(7, "c1", "/k/c1", false).ok());
	machine.write("root/io.containerd.grpc.v1.cri/containers/c1/status", status);
	const ContainerdStatus containerd(records.directory().parent_path() / "root");
	const bool over =
		end_job(records, machine.cgroups(), 7, std::chrono::seconds(0), false, containerd)
			.ok();
	CHECK_EQUAL(
		wait_for_ended_jobs(records, machine.cgroups(), std::chrono::seconds(0), containerd)
			.ok(),
		over);
	machine.write("cg/cpuset/k/c1/cgroup.procs", k_no_process);
	CHECK(!end_job(records, machine.cgroups(), 7, std::chrono::seconds(0), false, containerd)
			.ok());
	return over;
}

void the_end_does_not_wait_for_a_start_that_has_failed()
{
	const std::string rest = R"("StartedAt":0,"ExitCode":128,"Reason":"StartError",)";
	CHECK(ends_with(R"({"Version":"v1",)" + rest + R"("FinishedAt":1764398121000000000})"));
	for (const char *unknown : {"", "{", R"({"Version":"v1","FinishedAt":0})",
		     R"({"Version":"v2","FinishedAt":1})", R"({"FinishedAt":1})", "[]"})
		CHECK(!ends_with(unknown));
	const ContainerdStatus none;
	CHECK(!none.has_ended("c1"));
	CHECK(!ContainerdStatus("/").has_ended("../c1"));
}

void a_cleared_job_has_no_containers()
{
	const Machine machine;
	const Records records = machine.records();
	REQUIRE(records.keep_container(7, "c1", "/k/c1", true).ok());
	REQUIRE(records.keep_container(71, "c2", "/k/c2", true).ok());
	REQUIRE(end_job(records, machine.cgroups(), 7, std::chrono::seconds(0), false).ok());
	CHECK_EQUAL(records.containers_of(7).size(), 1U); /* by hand: slurmd has not ended it */
	REQUIRE(end_job(records, machine.cgroups(), 7, std::chrono::seconds(0), true).ok());
	CHECK(records.containers_of(7).empty());
	CHECK_EQUAL(records.containers_of(71).size(), 1U);
}

/* The wall clock of a node makes a step when it is set at boot, or a virtual machine goes on. */
void ages_do_not_depend_on_the_wall_clock()
{
	const Machine machine;
	const Records records = machine.records();
	REQUIRE(records.keep_container(7, "c1", "/k/c1", false).ok());
	REQUIRE(records.close(8, true).ok());
	for (const std::chrono::hours step : {std::chrono::hours(-48), std::chrono::hours(48)}) {
		for (const char *file : {"containers/7.c1", "closed/8"})
			machine.touch(file, fs::file_time_type::clock::now() + step);
		CHECK(is_live(records.containers_of(7).at(0), machine.cgroups(), {}));
		records.prune(std::chrono::hours(1));
		CHECK(records.state_of(8) == Records::JobState::cleared);
	}
	machine.write("state/containers/7.c1", "/k/c1\ncreating\n0\n");
	CHECK(!is_live(records.containers_of(7).at(0), machine.cgroups(), {}));
	machine.write("state/containers/7.c1", "/k/c1\ncreating\n999999999999\n");
	CHECK(!is_live(
		records.containers_of(7).at(0), machine.cgroups(), {})); /* of another boot */
}

void strange_files_harm_nothing()
{
	const Machine machine;
	const Records records = machine.records();
	for (const char *name : {"7", "7.", "x.c1", "0.c1", ".7.c1"})
		machine.write(std::string("state/containers/") + name, "/k/c1\n");
	CHECK(records.containers().empty());
	CHECK(wait_for_ended_jobs(records, machine.cgroups(), std::chrono::seconds(0)).ok());
}

void pods_jobs_are_known_without_variables()
{
	const Machine machine;
	const Records records = machine.records();
	CHECK(!is_pods_job(records, 7));
	CHECK(!records.grace_of(7));
	REQUIRE(records.keep_grace(7, "45").ok());
	CHECK(is_pods_job(records, 7) && records.grace_of(7) == "45");
	CHECK(!is_pods_job(records, 71));
	REQUIRE(records.keep_container(71, "c1", "/k/c1", true).ok());
	CHECK(is_pods_job(records, 71));
	REQUIRE(records.close(7, true).ok());
	records.prune(std::chrono::seconds(0));
	CHECK(!is_pods_job(records, 7));
	REQUIRE(records.close(7, false).ok());
	CHECK(is_pods_job(records, 7));
}

void new_jobs_wait_for_containers_of_ended_ones()
{
	const Machine machine;
	const Records records = machine.records();
	const auto settled = [&] {
		return wait_for_ended_jobs(records, machine.cgroups(), std::chrono::seconds(0))
			.ok();
	};
	CHECK(settled());
	machine.start_job("7", "1");
	REQUIRE(records.keep_container(7, "c1", "/k/c1", false).ok());
	CHECK(settled()); /* the job runs */
	REQUIRE(records.close(7, false).ok());
	CHECK(!settled());
	records.reopen(7);
	machine.end_job();
	CHECK(!settled()); /* its epilog was killed before it began */
	records.forget_container("c1");
	CHECK(settled());
}

} // namespace

int main()
{
	return check::run_tests("node",
		{TEST(containers_get_the_processors_of_their_job), TEST(only_numbers_are_jobs),
			TEST(only_sizes_are_memory), TEST(cgroups_of_pods),
			TEST(a_removed_container_with_processes_is_remembered),
			TEST(containers_of_a_pod_share_its_memory),
			TEST(devices_of_containers_are_read),
			TEST(devices_need_a_cgroup_that_denies_them),
			TEST(devices_are_looked_at_whenever_they_can_be),
			TEST(no_resize_is_above_the_share), TEST(lists_of_processors),
			TEST(processors_of_jobs_are_not_the_systems), TEST(cgroups_of_both_drivers),
			TEST(settings_are_read_and_errors_say_what_to_write),
			TEST(epilogs_wait_as_long_as_pods_may_take),
			TEST(records_outlive_the_daemon), TEST(only_cleared_jobs_are_forgotten),
			TEST(a_job_is_closed_until_its_number_is_another_jobs),
			TEST(containers_start_where_their_processes_are_seen),
			TEST(a_start_may_be_an_event),
			TEST(a_container_that_may_not_start_is_killed),
			TEST(only_a_cgroup_that_is_gone_has_surely_ended),
			TEST(version_2_says_whether_a_cgroup_is_populated),
			TEST(the_end_waits_for_containers),
			TEST(the_end_does_not_wait_for_a_start_that_has_failed),
			TEST(a_cleared_job_has_no_containers),
			TEST(ages_do_not_depend_on_the_wall_clock),
			TEST(strange_files_harm_nothing), TEST(the_cgroup_of_a_pod_is_a_unit),
			TEST(a_bus_that_does_not_answer_takes_a_second),
			TEST(pods_jobs_are_known_without_variables),
			TEST(new_jobs_wait_for_containers_of_ended_ones)});
}
