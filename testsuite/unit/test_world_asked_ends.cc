/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and ends of jobs that were asked for and have not come yet: no pod is bound to such a job,
 * and the end is neither lost nor applied to a later allocation. */
#include "testsuite/unit/end_stage.h"
#include "testsuite/unit/unlike_stage.h"
#include "testsuite/unit/world_stage.h"

#include <algorithm>

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

/* ---- a pod alone ---- */

/* Job 6 has n1, which is not Ready for so long that the end of the job is asked for. */
void ask_for_end_of_6(Stage &s)
{
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	(void)s.act();
	s.node(false);
	s.allocate("a", 6);
	s.world.observe(JobSeen{Stage::job(6, "a", JobState::running)}, s.now);
	const auto end = wait_for<Complete>(s);
	REQUIRE(end.has_value());
	CHECK_EQUAL(end->job.number, 6U);
}

void an_end_is_remembered_while_another_job_is_cancelled()
{
	Stage s;
	ask_for_end_of_6(s);
	s.world.answer(CompleteAnswered{{"a"}, k_no_answer, false}, s.now);
	s.world.observe(JobSeen{Stage::job(9, "a", JobState::pending)}, s.now);
	const auto cancel = wait_for<Cancel>(s);
	REQUIRE(cancel.has_value());
	CHECK_EQUAL(cancel->job.number, 9U);
	s.world.answer(CompleteAnswered{{"a"}, Ok{}, true}, s.now);
	s.world.observe(JobSeen{Stage::job(9, "a", JobState::cancelled)}, s.now);
	s.node(true);
	const auto end = wait_for<Complete>(s, 100);
	REQUIRE(end.has_value());
	CHECK_EQUAL(end->job.number, 6U);
	s.world.answer(CompleteAnswered{{"a"}, k_no_answer, false}, s.now);
	CHECK(!wait_for<Bind>(s, 40).has_value());
}

/* Another agent submitted it after a restored slurmctld had forgotten the first job. */
void a_number_that_is_used_again_is_another_job()
{
	Stage s;
	ask_for_end_of_6(s);
	s.world.answer(CompleteAnswered{{"a"}, Ok{}, false}, s.now);
	SlurmJob ended = Stage::job(6, "a", JobState::failed);
	ended.submit_time = s.now.wall_s - 100;
	s.world.observe(JobSeen{ended}, s.now);
	s.world.observe(LinkLost{}, s.now);
	s.node(true);
	s.pass(30 * k_second);
	SlurmJob again = Stage::job(6, "a", JobState::running);
	again.submit_time = s.now.wall_s;
	s.connect({again});
	const auto bind = wait_for<Bind>(s, 40);
	REQUIRE(bind.has_value());
	CHECK_EQUAL(bind->job.number, 6U);
	s.world.answer(BindAnswered{{"a"}, Ok{}}, s.now);
	CHECK(!wait_for<Complete>(s, 40).has_value());
}

/* After a reconfiguration the new process carries out what waits in the listening socket. */
void a_new_process_of_slurmctld_may_carry_it_out()
{
	Stage s;
	ask_for_end_of_6(s);
	s.world.answer(CompleteAnswered{{"a"}, k_no_answer, false}, s.now);
	s.world.observe(LinkLost{}, s.now);
	s.node(true);
	s.pass(30 * k_second);
	PluginHello hello;
	hello.pid = 99;
	s.world.observe(LinkOpened{hello});
	s.world.observe(SlurmNodeSeen{slurm_node("n1", 0)});
	s.world.observe(JobSeen{Stage::job(6, "a", JobState::running)}, s.now);
	s.world.observe(SnapshotEnded{}, s.now);
	CHECK(wait_for<Complete>(s, 40).has_value());
	s.world.answer(CompleteAnswered{{"a"}, k_refused, false}, s.now);
	CHECK(!wait_for<Bind>(s, 4).has_value());
}

/* slurmctld was restored from a state in which the job still waited. */
void an_end_that_was_seen_does_not_end_the_job_again()
{
	Stage s;
	ask_for_end_of_6(s);
	s.world.answer(CompleteAnswered{{"a"}, Ok{}, false}, s.now);
	s.world.observe(JobSeen{Stage::job(6, "a", JobState::failed)}, s.now);
	s.node(true);
	s.world.observe(JobSeen{Stage::job(6, "a", JobState::pending)}, s.now);
	CHECK(!wait_for<Cancel>(s, 40).has_value());
}

/* The request was not even sent, or slurmctld has died with it. */
void a_job_that_waits_again_is_not_ended_for_what_it_was()
{
	Stage s;
	ask_for_end_of_6(s);
	s.node(true);
	s.world.observe(JobSeen{Stage::job(6, "a", JobState::pending)}, s.now);
	s.world.answer(CompleteAnswered{{"a"}, k_no_answer, false}, s.now);
	CHECK(!wait_for<Cancel>(s, 40).has_value());
	Stage t;
	ask_for_end_of_6(t);
	t.node(true);
	t.world.answer(CompleteAnswered{{"a"}, Error{Errc::again, "away"}, false}, t.now);
	CHECK(wait_for<Bind>(t, 4).has_value());
}

/* ---- gangs ---- */

/* The agent that asked for it is gone. slurmctld has moved the end of the job to now, and the job
 * is still RUNNING until slurmctld looks at time limits. */
void no_pod_is_bound_to_a_job_whose_time_is_over()
{
	EndStage s(2);
	SlurmJob job = s.running(nodes({{"n1", 4}, {"n2", 4}}));
	job.submit_time = job.start_time = s.now.wall_s - 600;
	job.end_time = s.now.wall_s - 3;
	for (std::uint32_t i = 0; i < 2; i++) {
		Pod old = s.pod(i);
		old.created -= 600;
		old.node_name = "n1";
		old.phase = PodPhase::failed;
		old.status_reason = "DeadlineExceeded";
		s.world.observe(PodSeen{old}, s.now);
	}
	s.replace_pods("b");
	s.connect({job});
	const std::string log = s.steps(40);
	CHECK(!says(log, "bind"));
	CHECK(says(log, "end:7"));
	job.state = JobState::timeout;
	job.end_time = s.now.wall_s;
	s.world.observe(JobSeen{job}, s.now);
	CHECK(!says(s.steps(80), "delete"));
}

/* A job that is suspended until after its end time gets more time when it is resumed. */
void a_suspended_job_is_not_over()
{
	EndStage s(2);
	SlurmJob job = s.running(nodes({{"n1", 4}, {"n2", 4}}));
	job.state = JobState::suspended;
	job.end_time = s.now.wall_s - 3;
	s.submit(job);
	CHECK(!says(s.steps(40), "end"));
}

/* A binding by the agent before this one turns up, while slurmctld may still carry out the end that
 * it has not answered. */
void nothing_is_bound_while_an_end_may_still_come()
{
	EndStage s(2);
	SlurmJob job = s.running(nodes({{"n1", 4}, {"n2", 4}}));
	s.node("n2", false);
	s.submit(job);
	REQUIRE(wait_for<Complete>(s).has_value());
	s.world.answer(CompleteAnswered{{"train-uid"}, k_no_answer, false}, s.now);
	s.show_bound({"u0"}, "n1", 0);
	s.node("n2", true);
	CHECK_EQUAL(s.steps(40), "");
	/* slurmctld has lost the request: the job is theirs */
	CHECK(says(s.steps(400), "bind:u1"));
	/* and the old end does not end it when their successors come */
	s.pass(86'400 * k_second);
	(void)s.steps(4);
	for (std::uint32_t i = 0; i < 2; i++)
		s.end(i, PodPhase::failed, 1);
	s.replace_pods("b");
	CHECK_EQUAL(s.steps(40), "bind:u0b bind:u1b");
}

/* Pods have gone, their pending job is cancelled, and pods come again. */
void cancel_without_pods(EndStage &s, SlurmJob &job, const Error &answer)
{
	s.submit(job);
	for (std::uint32_t i = 0; i < 2; i++)
		s.world.observe(PodGone{s.pod(i).uid, s.pod(i)}, s.now);
	for (int i = 0; i < 400; i++) {
		const auto cancels = only<Cancel>(s.take());
		s.pass(k_second / 4);
		if (cancels.empty())
			continue;
		s.world.answer(CompleteAnswered{{"train-uid"}, answer, true}, s.now);
		return s.replace_pods("b");
	}
	const bool is_cancelled = false;
	CHECK(is_cancelled);
}

/* Otherwise its pods would wait in the queue for a job that is ended when it starts. */
void a_cancel_without_an_answer_is_repeated_while_the_job_waits()
{
	EndStage s(2);
	SlurmJob job = s.running({});
	cancel_without_pods(s, job, k_no_answer);
	CHECK(s.steps(40).starts_with("cancel:7"));
}

void a_job_whose_cancel_was_refused_is_that_of_its_pods_again()
{
	EndStage s(2);
	SlurmJob job = s.running({});
	cancel_without_pods(s, job, k_refused);
	CHECK_EQUAL(s.steps(8), "");
	job.state = JobState::running;
	job.start_time = s.now.wall_s;
	job.nodes = nodes({{"n1", 4}, {"n2", 4}});
	s.world.observe(JobSeen{job}, s.now);
	CHECK_EQUAL(s.steps(8), "bind:u0b bind:u1b");
	s.pass(3'600 * k_second);
	(void)s.steps(4);
	job.state = JobState::cancelled; /* scancel by a user */
	job.ended_by = 1000;
	job.end_time = s.now.wall_s;
	s.world.observe(JobSeen{job}, s.now);
	CHECK_EQUAL(s.steps(8), "delete:u0b delete:u1b");
}

/* Another agent has submitted the next job, and slurmctld had lost the number of the first. */
void a_given_up_number_that_is_used_again_is_another_job()
{
	EndStage s(2);
	SlurmJob job = s.running({});
	cancel_without_pods(s, job, k_no_answer);
	job.state = JobState::cancelled;
	job.end_time = s.now.wall_s;
	s.world.observe(JobSeen{job}, s.now);
	s.pass(10 * k_second);
	job = s.running(nodes({{"n1", 4}, {"n2", 4}}));
	job.submit_time = job.start_time = s.now.wall_s;
	s.world.observe(JobSeen{job}, s.now);
	CHECK_EQUAL(s.steps(8), "bind:u0b bind:u1b");
	s.pass(60 * k_second);
	job.state = JobState::cancelled; /* scancel by a user */
	job.ended_by = 1000;
	job.end_time = s.now.wall_s;
	s.world.observe(JobSeen{job}, s.now);
	CHECK_EQUAL(s.steps(8), "delete:u0b delete:u1b");
}

/* Each count makes the next pause longer. */
void an_end_that_is_refused_again_and_again_counts_once()
{
	EndStage s(2);
	SlurmJob job = s.running(nodes({{"n1", 4}, {"n2", 4}}));
	s.submit(job);
	int refused = 0;
	for (int i = 0; i < 4000 && refused < 3; i++) {
		for (const auto &[uid, action] : s.take()) {
			if (std::holds_alternative<Bind>(action))
				s.world.answer(BindAnswered{uid, k_refused}, s.now);
			if (std::holds_alternative<LookUp>(action))
				s.world.answer(LookUpAnswered{uid, PodLookup::unbound}, s.now);
			if (!std::holds_alternative<Complete>(action))
				continue;
			s.world.answer(CompleteAnswered{uid, k_refused, false}, s.now);
			refused++;
		}
		s.pass(k_second / 4);
	}
	CHECK_EQUAL(refused, 3);
	CHECK_EQUAL(s.world.state().component_of({"train-uid"}).failed_bindings, 1U);
}

/* ---- unlike components ---- */

/* The allocation of the workers is given back because n3 is not Ready; then n3 becomes Ready, while
 * slurmctld has not ended the job. */
void give_workers_back(LivingStage &s, const Status &answer)
{
	const auto ready = [&](bool is_ready) {
		KubeNode node = kube_node("n3", "n3-uid", 8000);
		node.labels["pool"] = "b";
		node.ready = is_ready;
		s.world.observe(NodeSeen{node}, s.now);
	};
	s.all_come();
	(void)s.submit();
	s.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	ready(false);
	(void)s.submit();
	s.allocate("ray-uid", nodes({{"n1", 1}}));
	const auto end = wait_for<Complete>(s);
	REQUIRE(end.has_value());
	CHECK_EQUAL(end->job.number, s.jobs.at("ray-uid+1").id.number);
	s.world.answer(CompleteAnswered{{"ray-uid+1"}, answer, false}, s.now);
	ready(true);
}

void no_component_starts_while_the_job_of_another_is_being_ended()
{
	for (const Status &answer : {Status(k_no_answer), Status(Ok{})}) {
		LivingStage s(600);
		give_workers_back(s, answer);
		CHECK(!wait_for<Bind>(s, 2).has_value());
		s.end_job("ray-uid+1", JobState::failed);
		CHECK(!wait_for<Bind>(s, 4).has_value());
	}
}

} // namespace

int main()
{
	return check::run_tests("world asked ends",
		{
			TEST(an_end_is_remembered_while_another_job_is_cancelled),
			TEST(a_number_that_is_used_again_is_another_job),
			TEST(a_new_process_of_slurmctld_may_carry_it_out),
			TEST(an_end_that_was_seen_does_not_end_the_job_again),
			TEST(a_job_that_waits_again_is_not_ended_for_what_it_was),
			TEST(no_pod_is_bound_to_a_job_whose_time_is_over),
			TEST(a_suspended_job_is_not_over),
			TEST(nothing_is_bound_while_an_end_may_still_come),
			TEST(a_cancel_without_an_answer_is_repeated_while_the_job_waits),
			TEST(a_job_whose_cancel_was_refused_is_that_of_its_pods_again),
			TEST(a_given_up_number_that_is_used_again_is_another_job),
			TEST(an_end_that_is_refused_again_and_again_counts_once),
			TEST(no_component_starts_while_the_job_of_another_is_being_ended),
		});
}
