/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurmkube-node and the containers of pods that run within native jobs. */
#include "src/node/message.h"
#include "src/node/plugin.h"
#include "testsuite/unit/check.h"
#include "testsuite/unit/native_machine.h"

using namespace slurmkube;
using namespace slurmkube::check;
using namespace slurmkube::node;

namespace
{

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
	const std::filesystem::path share = machine.jobs().directory() / "shares" / "u1";
	std::filesystem::rename(share, machine.state() / "u1");
	CHECK(has(daemon.answer("StartContainer", native_request(mark, plain_linux())),
		"does not leave its memory"));
	std::filesystem::rename(machine.state() / "u1", share);
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
}

/* As a slurmkube-node that knows nothing of native jobs sees their pods. */
void the_job_id_of_a_native_pod_is_refused_without_its_mark()
{
	Pod pod;
	pod.job = "native";
	CHECK(!job_of(pod).ok());
}

} // namespace

int main()
{
	return check::run_tests("node native containers",
		{
			TEST(a_container_gets_the_processors_of_the_job_when_its_memory_is_free),
			TEST(a_sandbox_announces_the_pod),
			TEST(containers_are_refused_outside_of_the_life_of_the_job),
			TEST(containers_are_refused_whatever_else_is_wrong),
			TEST(the_job_id_of_a_native_pod_is_refused_without_its_mark),
		});
}
