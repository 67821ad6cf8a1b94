/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and bindings that fail, wait for a node or come too late, and pods that do not start. */
#include "src/core/model/outcome.h"
#include "testsuite/unit/world_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

void a_binding_that_failed_is_tried_again_on_the_same_allocation()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	(void)s.act();
	s.allocate("a", 7);
	CHECK_EQUAL(s.act(), "bind:a@n1");
	s.world.answer(BindAnswered{{"a"}, Error{Errc::again, "503"}}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(k_second);
	CHECK_EQUAL(s.act(), "bind:a@n1");
}

/* A stalled API server may carry out a binding after the agent has given it up. The share is
 * therefore held for a while, whatever becomes of the job. */
void a_binding_that_failed_holds_its_share_for_a_while()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a", 3000)}, s.now);
	s.world.observe(PodSeen{s.pod("b", 3000)}, s.now);
	(void)s.act();
	s.allocate("a", 7);
	CHECK_EQUAL(s.act(), "bind:a@n1");
	s.world.answer(BindAnswered{{"a"}, Error{Errc::denied, "403"}}, s.now);
	s.world.observe(PodGone{{"a"}, std::nullopt}, s.now);
	s.allocate("b", 8);
	CHECK(s.act().find("bind:b") == std::string::npos);
	s.pass(5 * k_second + k_second / 2);
	/* from here on as after a forced deletion */
	CHECK(s.act().find("bind:b") == std::string::npos);
	s.pass(3 * k_second + k_second / 2);
	CHECK_EQUAL(s.act(), "bind:b@n1");
}

/* The API server's answer was lost, and a user cancels the job in the meantime: Slurm gives the
 * node to another job. */
struct LostAnswer : Stage {
	LostAnswer()
	{
		world.observe(PodSeen{pod("a", 3000)}, now);
		world.observe(PodSeen{pod("b", 3000)}, now);
		(void)act();
		allocate("a", 7);
		CHECK_EQUAL(act(), "bind:a@n1");
		world.answer(BindAnswered{{"a"}, Error{Errc::io, "connection reset"}}, now);
		SlurmJob ended = job(7, "a", JobState::cancelled);
		ended.ended_by = 1000;
		world.observe(JobSeen{ended}, now);
		allocate("b", 8);
		world.observe(JobSeen{job(8, "b", JobState::running)}, now);
		pass(6 * k_second);
		const std::string actions = act();
		CHECK(actions.find("bind:b") == std::string::npos);
		CHECK(actions.find("look:a") != std::string::npos);
	}
};

void a_lost_binding_holds_its_share_until_the_api_server_denies_it()
{
	LostAnswer s;
	s.world.answer(LookUpAnswered{{"a"}, Error{Errc::io, "connection refused"}}, s.now);
	s.pass(10 * k_second);
	const std::string actions = s.act();
	CHECK(actions.find("bind:b") == std::string::npos);
	CHECK(actions.find("look:a") != std::string::npos);
	s.world.answer(LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
	CHECK_EQUAL(s.act(), "bind:b@n1");
}

void a_lost_binding_that_worked_keeps_its_share()
{
	LostAnswer s;
	s.world.answer(LookUpAnswered{{"a"}, PodLookup::bound}, s.now);
	s.pass(10 * k_second);
	CHECK(s.act().find("bind:b") == std::string::npos);
	Pod bound = s.pod("a", 3000);
	bound.node_name = "n1";
	s.world.observe(PodSeen{bound}, s.now);
	s.pass(10 * k_second);
	const std::string actions = s.act();
	CHECK(actions.find("bind:b") == std::string::npos);
	CHECK(actions.find("look:a") == std::string::npos);
	s.world.observe(PodSeen{end_of(bound, PodPhase::failed, 137)}, s.now);
	CHECK_EQUAL(s.act(), "bind:b@n1");
}

/* An API server that has just started forbids every request until it has read its roles. */
void a_binding_that_was_forbidden_is_tried_again_soon()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	(void)s.act();
	s.allocate("a", 7);
	CHECK_EQUAL(s.act(), "bind:a@n1");
	s.world.answer(BindAnswered{{"a"}, Error{Errc::denied, "403"}}, s.now);
	s.pass(k_second);
	CHECK_EQUAL(s.act(), "bind:a@n1");
}

void a_binding_that_worked_after_all_does_not_delay_the_end()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	(void)s.act();
	s.allocate("a", 7);
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::running)}, s.now);
	CHECK_EQUAL(s.act(), "bind:a@n1");
	for (int i = 0; i < 8; i++) {
		s.world.answer(BindAnswered{{"a"}, Error{Errc::io, "no answer"}}, s.now);
		s.pass(40 * k_second);
		std::string did = s.act();
		if (did.starts_with("look:a")) {
			s.world.answer(LookUpAnswered{{"a"}, Error{Errc::io, "no answer"}}, s.now);
			did = s.act();
		}
		CHECK_EQUAL(did, "bind:a@n1");
	}
	s.world.answer(BindAnswered{{"a"}, Error{Errc::io, "no answer"}}, s.now);
	s.world.observe(PodSeen{end_of(s.pod("a"), PodPhase::succeeded, 0)}, s.now);
	CHECK_EQUAL(s.act(), "complete:7=0");
}

/* A new leader may see a pod as unbound that already runs under this very job. It therefore does
 * not decide at first sight, and restarts the clock with each snapshot. */
void an_allocation_goes_back_only_for_a_pod_that_has_long_had_no_job()
{
	Stage s;
	run_pod(s, "a", 7, 4000);
	s.world.observe(PodSeen{s.pod("b", 4000)}, s.now);
	CHECK_EQUAL(s.act(), "submit:b#1");
	s.connect({}); /* an older state: job 7 is lost */
	s.allocate("b", 8);
	s.world.observe(JobSeen{Stage::job(8, "b", JobState::running)}, s.now);
	(void)s.act();
	s.world.answer(ReportAnswered{{"b"}, Ok{}}, s.now);
	s.pass(11 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#2@n1 report:b:SlurmPending");
	s.world.answer(ReportAnswered{{"b"}, Ok{}}, s.now);
	(void)s.act();
	s.world.answer(SubmitAnswered{{"a"}, Submitted{.job = {9}, .node = "", .cpus = 0}}, s.now);
	(void)s.act();
	s.pass(4 * k_second); /* nothing happens to b, so the agent must look on its own */
	CHECK_EQUAL(s.act(), "");
	s.pass(4 * k_second);
	CHECK_EQUAL(s.act(), "look:b");
	s.world.answer(LookUpAnswered{{"b"}, PodLookup::bound}, s.now); /* the watch is behind */
	CHECK_EQUAL(s.act(), "");
	s.connect(
		{Stage::job(8, "b", JobState::running), Stage::job(9, "a", JobState::pending, 2)});
	CHECK_EQUAL(s.act(), "");
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.pass(4 * k_second);
	CHECK_EQUAL(s.act(), "look:b");
	s.world.answer(LookUpAnswered{{"b"}, PodLookup::unbound}, s.now);
	CHECK_EQUAL(s.act(), "complete:8=256");
}

/* For example with SUSPEND: Slurm charges b's job for CPUs that a uses. */
void an_allocation_is_given_back_when_others_stay_in_its_way()
{
	Stage s;
	run_pod(s, "a", 7, 4000);
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::suspended)}, s.now);
	(void)s.act();
	s.world.observe(PodSeen{s.pod("b")}, s.now);
	CHECK_EQUAL(s.act(), "submit:b#1");
	s.allocate("b", 8);
	s.world.observe(JobSeen{Stage::job(8, "b", JobState::running)}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(59 * k_second);
	CHECK_EQUAL(s.act(), "report:b:SlurmPending");
	CHECK_EQUAL(s.world.state().pods.at({"b"}).reported.message,
		"Slurm job 8 has node n1, where an earlier pod still runs: default/pod-a. Slurm "
		"has suspended its job 7, which stops no pod: an "
		"administrator should set PreemptMode=CANCEL for its partition");
	s.world.answer(ReportAnswered{{"b"}, Ok{}}, s.now);
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "look:b");
	s.world.answer(LookUpAnswered{{"b"}, PodLookup::unbound}, s.now);
	CHECK_EQUAL(s.act(), "complete:8=256");
	s.world.answer(CompleteAnswered{{"b"}, Ok{}, false}, s.now);
	s.world.observe(JobSeen{Stage::job(8, "b", JobState::failed)}, s.now);
	s.pass(40 * k_second);
	CHECK_EQUAL(s.act(), "report:b:SlurmNoNode");
	CHECK(s.world.state().pods.at({"b"}).reported.message.find("n1") == std::string::npos &&
		s.world.state().pods.at({"b"}).reported.message.find(
			"an earlier pod still runs: default/pod-a") != std::string::npos);
	s.world.answer(ReportAnswered{{"b"}, Ok{}}, s.now);
	s.pass(1000 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.world.observe(PodSeen{end_of(s.pod("a", 4000), PodPhase::succeeded, 0)}, s.now);
	CHECK_EQUAL(s.act(), "complete:7=0 submit:b#2");
}

void a_pod_that_ends_in_time_is_waited_for()
{
	Stage s;
	run_pod(s, "a", 7, 4000);
	Pod ending = s.world.state().pods.at({"a"}).pod.value();
	ending.deleting = true;
	s.world.observe(PodSeen{ending}, s.now);
	(void)s.act();
	s.world.observe(PodSeen{s.pod("b")}, s.now);
	CHECK_EQUAL(s.act(), "submit:b#1");
	s.allocate("b", 8);
	s.world.observe(JobSeen{Stage::job(8, "b", JobState::running)}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(30 * k_second);
	CHECK_EQUAL(s.act(), "report:b:SlurmPending");
	CHECK_EQUAL(s.world.state().pods.at({"b"}).reported.message,
		"Slurm job 8 has node n1, where an earlier pod is still ending: default/pod-a");
	s.world.observe(PodGone{{"a"}, end_of(ending, PodPhase::succeeded, 0)}, s.now);
	const std::string acts = s.act();
	CHECK(acts.find("bind:b@n1") != std::string::npos);
}

void partitions_in_which_no_pod_can_run_are_refused()
{
	Stage s;
	s.world.observe(PartitionsRefused{{{"kube", "has OverSubscribe=FORCE:2"}}});
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "report:a:SlurmRefused");
	CHECK_EQUAL(s.world.state().pods.at({"a"}).reported.message,
		"partition 'kube' has OverSubscribe=FORCE:2");
	s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
	s.world.observe(PartitionsRefused{{}});
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#1");
}

void a_binding_waits_for_its_node_to_be_ready()
{
	Stage s;
	s.node(false);
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	(void)s.act();
	s.allocate("a", 7);
	CHECK_EQUAL(s.act(), "");
	s.node(true);
	CHECK_EQUAL(s.act(), "bind:a@n1");
}

void a_pod_that_does_not_start_is_given_up_after_the_limit()
{
	Stage s(10 * k_second);
	run_pod(s, "u1", 7);
	s.world.observe(PodSeen{starting(s, "u1", 7)}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(6 * k_second);
	Pod init = starting(s, "u1", 7);
	init.container_runs = true;
	/* an init container runs: the clock stops, and restarts from zero afterwards */
	s.world.observe(PodSeen{init}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(20 * k_second);
	s.world.observe(PodSeen{starting(s, "u1", 7)}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(6 * k_second);
	s.node(false); /* on a NotReady node the start could not be reported */
	CHECK_EQUAL(s.act(), "");
	s.pass(6 * k_second);
	s.node(true);
	CHECK_EQUAL(s.act(), "");
	s.pass(10 * k_second - 1);
	CHECK_EQUAL(s.act(), "");
	s.pass(1);
	CHECK_EQUAL(s.act(), "remove:u1"); /* by the clock alone */
	s.world.answer(DeletePodAnswered{{"u1"}, Error{Errc::conflict, "it has changed"}}, s.now);
	init.phase = PodPhase::running;
	s.world.observe(PodSeen{init}, s.now);
	s.pass(30 * k_second);
	CHECK_EQUAL(s.act(), ""); /* it runs after all */
}

void a_pod_that_was_given_up_ends_its_job_failed()
{
	Stage s(10 * k_second);
	run_pod(s, "u1", 7);
	Pod p = starting(s, "u1", 7);
	p.start_limit = Condition{names::k_reason_start_limit, "said by an agent that died then"};
	s.world.observe(PodSeen{p}, s.now);
	CHECK_EQUAL(s.act(), "remove:u1");
	s.world.answer(DeletePodAnswered{{"u1"}, Ok{}}, s.now);
	p.deleting = true;
	s.world.observe(PodSeen{p}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.world.observe(PodGone{{"u1"}, p}, s.now);
	CHECK_EQUAL(s.act(), "complete:7=" + std::to_string(125U << 8));
}

/* The pod failed with code 3 while slurmctld was away, and was deleted later: the deletion did
 * not end it. */
void a_deletion_after_the_end_does_not_change_the_result()
{
	Stage s;
	run_pod(s, "a", 7);
	s.world.observe(LinkLost{});
	Pod p = end_of(s.pod("a"), PodPhase::failed, 3);
	s.world.observe(PodSeen{p}, s.now);
	p.deleting = true;
	s.world.observe(PodSeen{p}, s.now);
	s.world.observe(PodGone{{"a"}, p}, s.now);
	s.connect({Stage::job(7, "a", JobState::running)});
	CHECK_EQUAL(s.act(), "complete:7=768");
}

} // namespace

int main()
{
	return check::run_tests("world binding",
		{
			TEST(a_binding_that_failed_is_tried_again_on_the_same_allocation),
			TEST(a_binding_that_failed_holds_its_share_for_a_while),
			TEST(a_lost_binding_holds_its_share_until_the_api_server_denies_it),
			TEST(a_lost_binding_that_worked_keeps_its_share),
			TEST(a_binding_that_was_forbidden_is_tried_again_soon),
			TEST(a_binding_that_worked_after_all_does_not_delay_the_end),
			TEST(an_allocation_is_given_back_when_others_stay_in_its_way),
			TEST(a_pod_that_ends_in_time_is_waited_for),
			TEST(partitions_in_which_no_pod_can_run_are_refused),
			TEST(an_allocation_goes_back_only_for_a_pod_that_has_long_had_no_job),
			TEST(a_binding_waits_for_its_node_to_be_ready),
			TEST(a_pod_that_does_not_start_is_given_up_after_the_limit),
			TEST(a_pod_that_was_given_up_ends_its_job_failed),
			TEST(a_deletion_after_the_end_does_not_change_the_result),
		});
}
