/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and ends of jobs that come late: after an error that looked final, after a reconfiguration
 * of slurmctld, or asked for by an agent that is gone. No pod that is bound is deleted for one. */
#include "src/core/model/outcome.h"
#include "testsuite/unit/end_stage.h"
#include "testsuite/unit/unlike_stage.h"

#include <algorithm>

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

const Error k_again{Errc::again, "connection refused"};

void restart_slurmctld(EndStage &s, const SlurmJob &job, int pid)
{
	s.world.observe(LinkLost{}, s.now);
	s.pass(5 * k_second);
	PluginHello hello;
	hello.pid = pid;
	s.world.observe(LinkOpened{hello});
	for (const char *name : {"n1", "n2", "n3", "n4"})
		s.world.observe(SlurmNodeSeen{slurm_node(name, 8)});
	s.world.observe(JobSeen{job}, s.now);
	s.world.observe(SnapshotEnded{}, s.now);
}

/* Job 7 has nodes for two pods, of which one never comes; the end of the job is asked for. */
void wait_in_vain(EndStage &s, SlurmJob &job)
{
	job.configuring = true; /* so that nothing is bound */
	s.world.observe(PodSeen{s.pod(0)}, s.now);
	(void)s.take();
	s.world.answer(SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, s.now);
	job.submit_time = job.start_time = s.now.wall_s;
	s.world.observe(JobSeen{job}, s.now);
	CHECK(wait_for<Complete>(s, 4000).has_value());
}

void come_after_all(EndStage &s, SlurmJob &job)
{
	s.world.observe(PodSeen{s.pod(1)}, s.now);
	job.configuring = false;
	s.world.observe(JobSeen{job}, s.now);
}

std::string end_as_never_came(EndStage &s, SlurmJob &job)
{
	job.state = JobState::failed;
	job.exit_status = k_status_never_came;
	job.end_time = s.now.wall_s;
	s.world.observe(JobSeen{job}, s.now);
	return s.steps(8);
}

void an_error_after_a_lost_answer_does_not_withdraw_the_end()
{
	for (const Status &first : {Status(k_no_answer), Status(Ok{})}) {
		for (const Error &next : {k_again, k_refused}) {
			EndStage s(2);
			SlurmJob job = s.running(nodes({{"n1", 4}, {"n2", 4}}));
			wait_in_vain(s, job);
			s.world.answer(CompleteAnswered{{"train-uid"}, first, false}, s.now);
			s.end_answer = next;
			come_after_all(s, job);
			CHECK(!says(s.steps(40), "bind"));
			CHECK(!says(end_as_never_came(s, job), "delete"));
		}
	}
}

void it_withdraws_it_when_no_request_can_live_any_more()
{
	EndStage s(2);
	SlurmJob job = s.running(nodes({{"n1", 4}, {"n2", 4}}));
	wait_in_vain(s, job);
	s.world.answer(CompleteAnswered{{"train-uid"}, k_no_answer, false}, s.now);
	s.end_answer = k_refused;
	come_after_all(s, job);
	CHECK(says(s.steps(4 * 120), "bind:u0"));
}

/* Requests in the listening socket reach the new process. */
void a_reconfigured_slurmctld_carries_out_an_old_request()
{
	EndStage s(2);
	SlurmJob job = s.running(nodes({{"n1", 4}, {"n2", 4}}));
	wait_in_vain(s, job);
	s.pass(10 * k_second);
	s.world.answer(CompleteAnswered{{"train-uid"}, k_no_answer, false}, s.now);
	s.world.observe(PodSeen{s.pod(1)}, s.now);
	job.configuring = false;
	restart_slurmctld(s, job, 99);
	CHECK(!says(s.steps(2), "bind"));
	CHECK(!says(end_as_never_came(s, job), "delete"));
}

/* It ends the job that a new agent has bound pods to. */
void an_end_that_an_agent_before_asked_for_deletes_nothing()
{
	EndStage s(2);
	SlurmJob job = s.running(nodes({{"n1", 4}, {"n2", 4}}));
	job.submit_time = job.start_time = s.now.wall_s - 700;
	s.all_pods(2);
	s.connect({job});
	CHECK(says(s.steps(8), "bind:u0 bind:u1"));
	CHECK(!says(end_as_never_came(s, job), "delete"));
}

/* The same in a workload of two components. */
void nor_pods_of_other_components()
{
	LivingStage s(600);
	s.all_come();
	(void)s.submit();
	s.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	(void)s.submit();
	s.allocate("ray-uid", nodes({{"n1", 1}}));
	(void)s.bind();
	s.pass(2 * k_second);
	SlurmJob &job = s.jobs.at("ray-uid+1");
	job.state = JobState::failed;
	job.exit_status = k_status_never_came;
	job.end_time = s.now.wall_s;
	s.world.observe(JobSeen{job}, s.now);
	const std::string log = s.step() + " " + s.steps(2);
	CHECK(!has(log, "Delete h"));
}

/* The agent that ended the job is gone; the successors of the pods that reached their deadline
 * wait. */
void successors_outlive_the_deadline_of_pods_before_them()
{
	for (const bool is_over_before : {false, true}) {
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
			old.annotations[names::k_allocation_job_id] = "7";
			old.annotations[names::k_allocation_attempt] = "1";
			old.annotations[names::k_allocation_rank] = std::to_string(i);
			old.annotations[names::k_allocation_gang] = "train-uid";
			s.world.observe(PodSeen{old}, s.now);
		}
		s.replace_pods("b");
		if (is_over_before) {
			s.pass(3 * k_second);
			job.state = JobState::timeout;
			job.end_time = s.now.wall_s;
			s.connect({job});
			const std::string log = s.steps(80);
			CHECK(!says(log, "delete"));
			continue;
		}
		s.connect({job});
		(void)s.steps(40);
		job.state = JobState::timeout;
		job.end_time = s.now.wall_s;
		s.world.observe(JobSeen{job}, s.now);
		const std::string log = s.steps(80);
		CHECK(!says(log, "delete"));
	}
}

/* MessageTimeout may be more than the time for which an unanswered request counts. */
void nothing_is_bound_while_the_request_is_under_way()
{
	EndStage s(2);
	SlurmJob job = s.running(nodes({{"n1", 4}, {"n2", 4}}));
	s.node("n2", false);
	s.submit(job);
	REQUIRE(wait_for<Complete>(s).has_value());
	/* not answered: MessageTimeout=100 */
	s.show_bound({"u0"}, "n1", 0);
	s.node("n2", true);
	const std::string log = s.steps(4 * 70);
	CHECK(!says(log, "bind:u1"));
}

/* A pod turned out to be bound, so the end is withdrawn after a minute; then the job's time is
 * over. */
void nothing_is_bound_to_a_job_whose_time_is_over_meanwhile()
{
	EndStage s(2);
	SlurmJob job = s.running(nodes({{"n1", 4}, {"n2", 4}}));
	job.end_time = s.now.wall_s + 600;
	s.node("n2", false);
	s.submit(job);
	REQUIRE(wait_for<Complete>(s).has_value());
	s.world.answer(CompleteAnswered{{"train-uid"}, k_no_answer, false}, s.now);
	s.show_bound({"u0"}, "n1", 0);
	job.end_time = s.now.wall_s - 1; /* scontrol update TimeLimit, or time passes */
	s.world.observe(JobSeen{job}, s.now);
	s.node("n2", true);
	const std::string log = s.steps(4 * 90);
	CHECK(!says(log, "bind:u1"));
}

/* A binding by an agent before turns up while the end of the workers' job may come. */
void no_component_starts_beside_one_whose_end_may_come()
{
	LivingStage s(600);
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
	s.world.answer(CompleteAnswered{{"ray-uid+1"}, k_no_answer, false}, s.now);
	Pod w0 = *s.world.state().pod({"w0"});
	for (const std::string &key : s.world.state().pods.at({"w0"}).inherited_keys)
		w0.annotations.erase(key);
	w0.node_name = "n4";
	w0.phase = PodPhase::running;
	w0.annotations[names::k_allocation_job_id] = std::to_string(end->job.number);
	w0.annotations[names::k_allocation_attempt] = "1";
	w0.annotations[names::k_allocation_rank] = "1";
	w0.annotations[names::k_allocation_gang] = "ray-uid+1";
	s.world.observe(PodSeen{w0}, s.now);
	const std::string log = s.step();
	CHECK(!has(log, "Bind h"));
}

/* Its end was asked for because it had no pods. It has, and runs on. */
void a_job_that_goes_on_is_its_pods_again()
{
	EndStage s(2);
	SlurmJob job = s.running(nodes({{"n1", 4}, {"n2", 4}}));
	job.submit_time = job.start_time = s.now.wall_s;
	s.submit(job);
	(void)s.steps(4);
	for (std::uint32_t i = 0; i < 2; i++) {
		const Pod p = *s.world.state().pod(s.pod(i).uid);
		s.world.observe(PodGone{p.uid, p}, s.now);
	}
	CHECK(wait_for<Complete>(s, 400).has_value());
	s.world.answer(CompleteAnswered{{"train-uid"}, k_no_answer, false}, s.now);
	s.replace_pods("b");
	s.show_bound({"u0b"}, "n1", 0);
	s.show_bound({"u1b"}, "n2", 1);
	s.end_answer = k_no_answer;
	(void)s.steps(400);
	job.state = JobState::cancelled;
	job.ended_by = 1000;
	job.end_time = s.now.wall_s;
	s.world.observe(JobSeen{job}, s.now);
	CHECK(says(s.steps(8), "delete:u0b"));
}

} // namespace

int main()
{
	return check::run_tests("world late ends",
		{
			TEST(an_error_after_a_lost_answer_does_not_withdraw_the_end),
			TEST(it_withdraws_it_when_no_request_can_live_any_more),
			TEST(a_reconfigured_slurmctld_carries_out_an_old_request),
			TEST(an_end_that_an_agent_before_asked_for_deletes_nothing),
			TEST(nor_pods_of_other_components),
			TEST(successors_outlive_the_deadline_of_pods_before_them),
			TEST(nothing_is_bound_while_the_request_is_under_way),
			TEST(nothing_is_bound_to_a_job_whose_time_is_over_meanwhile),
			TEST(no_component_starts_beside_one_whose_end_may_come),
			TEST(a_job_that_goes_on_is_its_pods_again),
		});
}
