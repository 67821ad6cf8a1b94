/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pods in native jobs with cgroup version 2: what differs from test_node_native_memory. */
#include "src/node/native_memory.h"
#include "testsuite/unit/check.h"
#include "testsuite/unit/native_machine.h"

using namespace slurmkube;
using namespace slurmkube::check;
using namespace slurmkube::node;

namespace
{

const std::string k_job = "cg/system.slice/n1_slurmstepd.scope/job_7/";
const std::string k_pod = "cg/kubepods.slice/kubepods-podu1.slice/";

struct Memory {
	NativeMachine machine;
	NativeJobs jobs = machine.jobs();
	core::NativeMark mark = life_of_job();

	Memory()
	{
		machine.write("cg/cgroup.controllers", "cpuset memory\n");
		machine.write(k_job + "cpuset.cpus", "1\n");
		machine.write(k_job + "cpuset.mems", "0\n");
		machine.write(k_pod + "memory.max", "max\n");
		set("memory.max", 200);
		set("memory.current", 50);
		(void)jobs.open(mark);
	}
	/* of the job, in MiB */
	void set(const std::string &file, std::int64_t mib) const
	{
		machine.write(k_job + file, std::to_string(mib * k_mib_bytes) + "\n");
	}
	[[nodiscard]] std::int64_t number(const std::string &file) const
	{
		std::int64_t bytes = -1;
		std::ifstream(machine.state().parent_path() / (k_job + file)) >> bytes;
		return bytes;
	}
	[[nodiscard]] std::int64_t limit() const { return number("memory.max") / k_mib_bytes; }
	/* The keeper of a daemon that was started anew, and whether the pod has its share. */
	[[nodiscard]] bool has_share(std::int64_t mib) const
	{
		const Cgroups cgroups = machine.cgroups();
		NativeMemory memory(jobs, cgroups);
		CHECK(memory.ask({"u1", mark, mib * k_mib_bytes,
					 "/kubepods.slice/kubepods-podu1.slice"})
				.ok());
		(void)memory.keep();
		const auto share = memory.share_of("u1");
		return share && share->is_low;
	}
};

void a_job_has_what_its_user_has()
{
	const Memory m;
	const Cgroups cgroups = m.machine.cgroups();
	const auto set = cgroups.cpuset_of(7, 1000);
	REQUIRE(set.has_value());
	CHECK_EQUAL(set->cpus, "1");
	const NativeMemory memory(m.jobs, cgroups);
	CHECK(memory.is_limited(m.mark));
	m.machine.write(k_job + "memory.max", "max\n");
	CHECK(!memory.is_limited(m.mark));
}

void the_limit_is_lowered_and_raised()
{
	const Memory m;
	CHECK(m.has_share(64));
	CHECK_EQUAL(m.limit(), 136);
	m.machine.remove(k_pod);
	const Cgroups cgroups = m.machine.cgroups();
	(void)NativeMemory(m.jobs, cgroups).keep();
	CHECK_EQUAL(m.limit(), 200);
}

void a_pod_waits_for_what_the_job_uses()
{
	const Memory m;
	m.set("memory.current", 130);
	CHECK(!m.has_share(64));
	CHECK_EQUAL(m.limit(), 200);
	m.set("memory.current", 119);
	CHECK(m.has_share(64));
}

/* The kernel would kill its processes. slurmd has written the old limit for a step that began. */
void no_limit_is_written_below_what_the_job_uses()
{
	const Memory m;
	REQUIRE(m.has_share(64));
	m.set("memory.max", 200);
	m.set("memory.current", 150);
	CHECK(m.has_share(64));
	CHECK_EQUAL(m.limit(), 200);
	m.set("memory.reclaim", 0); /* a kernel that has it; here it does nothing */
	CHECK(m.has_share(64));
	CHECK_EQUAL(m.limit(), 200);
	CHECK_EQUAL(m.number("memory.reclaim"), (150 + 16 - 136) * k_mib_bytes);
	m.machine.remove(k_job + "memory.current");
	CHECK(m.has_share(64));
	CHECK_EQUAL(m.limit(), 200);
	m.set("memory.current", 135);
	CHECK(m.has_share(64));
	CHECK_EQUAL(m.limit(), 136);
	m.machine.remove(k_job + "memory.current"); /* a higher limit kills nothing */
	m.machine.remove(k_pod);
	const Cgroups cgroups = m.machine.cgroups();
	(void)NativeMemory(m.jobs, cgroups).keep();
	CHECK_EQUAL(m.limit(), 200);
}

/* slurmd freezes cgroups of steps. */
void a_suspended_job_is_seen()
{
	const Memory m;
	const Cgroups cgroups = m.machine.cgroups();
	CHECK(!cgroups.is_frozen(7));
	const std::string events = k_job + "step_0/user/cgroup.events";
	m.machine.write(events, "populated 1\nfrozen 1\n");
	CHECK(cgroups.is_frozen(7));
	m.machine.write(events, "populated 1\nfrozen 0\n");
	CHECK(!cgroups.is_frozen(7));
	m.machine.write(k_job + "step_0/user/cgroup.freeze", "1\n"); /* a process does not stop */
	CHECK(cgroups.is_frozen(7));
	m.machine.write(k_job + "step_0/user/cgroup.freeze", "0\n");
	CHECK(!cgroups.is_frozen(7));
}

} // namespace

int main()
{
	return check::run_tests("node_native_v2",
		{TEST(a_job_has_what_its_user_has), TEST(the_limit_is_lowered_and_raised),
			TEST(a_pod_waits_for_what_the_job_uses),
			TEST(no_limit_is_written_below_what_the_job_uses),
			TEST(a_suspended_job_is_seen)});
}
