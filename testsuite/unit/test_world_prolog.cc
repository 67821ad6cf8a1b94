/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and PrologSlurmctld: no pod is bound while it runs, and its failure ends no pod. */
#include "testsuite/unit/gang_stage.h"
#include "testsuite/unit/world_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

PluginHello with_prolog()
{
	PluginHello hello;
	hello.slurm_version_number = 22U << 16;
	hello.has_prolog = true;
	return hello;
}

SlurmJob configuring(SlurmJob job, bool is_so)
{
	job.configuring = is_so;
	return job;
}

struct PrologStage : Stage {
	PrologStage()
	{
		world.observe(LinkOpened{with_prolog()});
		world.observe(SlurmNodeSeen{slurm_node("n1", 0)});
		world.observe(SnapshotEnded{}, now);
		world.observe(PodSeen{pod("a")}, now);
		CHECK_EQUAL(act(), "submit:a#1");
	}

	/* The end as slurmctld records it when the script fails: cancelled by root, before the
	 * job was configured. */
	void end(std::uint32_t uid, bool while_configuring, std::uint32_t attempt = 1)
	{
		SlurmJob ended = job(6 + attempt, "a", JobState::cancelled, attempt);
		ended.configuring = while_configuring;
		ended.ended_by = uid;
		ended.submit_time = now.wall_s;
		ended.end_time = now.wall_s + 60; /* too late for a lost answer */
		ended.nodes = {make_allocation("n1", 1, 64)};
		world.observe(JobSeen{ended}, now);
	}
};

void nothing_is_bound_while_the_prolog_runs()
{
	PrologStage s;
	s.allocate("a", 7); /* the answer does not say whether it runs */
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "report:a:SlurmPending");
	CHECK(s.world.state().pods.at({"a"}).reported.message.find("PrologSlurmctld runs") !=
		std::string::npos);
	s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
	s.world.observe(JobSeen{configuring(Stage::job(7, "a", JobState::running), true)}, s.now);
	s.pass(3600 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::running)}, s.now);
	CHECK_EQUAL(s.act(), "bind:a@n1");
}

void without_a_prolog_the_answer_is_enough()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	(void)s.act();
	s.allocate("a", 7);
	CHECK_EQUAL(s.act(), "bind:a@n1");
}

void a_prolog_that_fails_ends_no_pod()
{
	PrologStage s;
	s.allocate("a", 7);
	(void)s.act();
	s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
	s.end(0, true);
	CHECK_EQUAL(s.act(), "submit:a#2");
	s.world.answer(SubmitAnswered{{"a"}, Error{Errc::again, "busy"}}, s.now);
	s.end(0, true, 7); /* and again; each pause is longer */
	s.pass(20 * k_second);
	CHECK_EQUAL(s.act(), "report:a:SlurmRetrying");
	CHECK(s.world.state().pods.at({"a"}).reported.message.find(
		      "ended before PrologSlurmctld was over") != std::string::npos);
	s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
	s.pass(600 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#8");
}

/* There Prolog is slurmd's, and each failure drains a node. */
void each_failure_on_a_hybrid_node_is_waited_for_longer()
{
	PrologStage s;
	SlurmNode node = slurm_node("n1", 0);
	node.is_hybrid = true;
	s.world.observe(SlurmNodeSeen{node}, s.now);
	s.allocate("a", 7);
	(void)s.act();
	s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
	s.end(0, true);
	CHECK_EQUAL(s.act(), "submit:a#2");
	s.world.answer(SubmitAnswered{{"a"}, Error{Errc::again, "busy"}}, s.now);
	s.end(0, true, 3);
	s.pass(110 * k_second);
	CHECK_EQUAL(s.act(), "report:a:SlurmRetrying");
	s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
	s.pass(15 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#4");
}

/* slurmctld restarted, or the script failed before the plugin had looked at the job: the plugin
 * does not know whether the job was configured. */
void the_end_of_a_job_that_was_never_configured_is_remembered()
{
	PrologStage s;
	s.allocate("a", 7);
	(void)s.act();
	s.end(0, false);
	CHECK_EQUAL(s.act(), "submit:a#2");
	s.end(0, false); /* reported again when the job is no longer completing */
	CHECK_EQUAL(s.act(), "");
}

/* A user's scancel, and root's scancel of a configured job whose pod was about to be bound. */
void a_cancelled_job_ends_its_pod()
{
	for (const auto &[uid, while_configuring] :
		{std::pair(1000U, true), std::pair(0U, false)}) {
		PrologStage s;
		s.allocate("a", 7);
		s.world.observe(JobSeen{configuring(
					Stage::job(7, "a", JobState::running), while_configuring)},
			s.now);
		(void)s.act();
		if (!while_configuring)
			s.world.answer(BindAnswered{{"a"}, Error{Errc::again, "503"}}, s.now);
		s.end(uid, while_configuring);
		s.pass(3 * k_second);
		CHECK_EQUAL(s.act(), "remove:a");
	}
}

struct GangWithProlog : GangStage {
	GangWithProlog() : GangStage(2)
	{
		for (std::uint32_t i : {0U, 1U})
			world.observe(PodSeen{pod(i)}, now);
		REQUIRE(only<Submit>(take()).size() == 1);
		world.answer(SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, now);
		world.observe(JobSeen{configuring(running(nodes({{"n1", 8}})), true)}, now);
	}
};

void a_gang_waits_for_the_prolog()
{
	GangWithProlog s;
	s.pass(2 * k_second);
	const auto actions = s.take();
	CHECK(only<Bind>(actions).empty());
	REQUIRE(!only<Report>(actions).empty());
	CHECK(only<Report>(actions).front().second.not_scheduled.message.find(
		      "PrologSlurmctld runs") != std::string::npos);
	s.world.observe(JobSeen{s.running(nodes({{"n1", 8}}))}, s.now);
	CHECK_EQUAL(only<Bind>(s.take()).size(), 2U);
}

void a_prolog_that_fails_ends_no_gang()
{
	GangWithProlog s;
	(void)s.take();
	SlurmJob ended = configuring(s.running({}), true);
	ended.state = JobState::cancelled;
	ended.ended_by = 0;
	ended.submit_time = s.now.wall_s;
	ended.end_time = s.now.wall_s + 60;
	s.world.observe(JobSeen{ended}, s.now);
	const auto actions = s.take();
	CHECK(only<DeletePod>(actions).empty());
	const auto submits = only<Submit>(actions);
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.marker.attempt, 2U);
}

} // namespace

int main()
{
	return check::run_tests("world prolog",
		{
			TEST(nothing_is_bound_while_the_prolog_runs),
			TEST(without_a_prolog_the_answer_is_enough),
			TEST(a_prolog_that_fails_ends_no_pod),
			TEST(each_failure_on_a_hybrid_node_is_waited_for_longer),
			TEST(the_end_of_a_job_that_was_never_configured_is_remembered),
			TEST(a_cancelled_job_ends_its_pod),
			TEST(a_gang_waits_for_the_prolog),
			TEST(a_prolog_that_fails_ends_no_gang),
		});
}
