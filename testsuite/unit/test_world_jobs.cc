/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and unusual jobs: lost, restarted, duplicated, cancelled by users, ended before their
 * pod ran. */
#include "src/core/model/outcome.h"
#include "testsuite/unit/world_stage.h"

#include <algorithm>

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

void a_job_that_slurm_lost_is_taken_up_after_ten_seconds_and_not_before()
{
	Stage s;
	run_pod(s, "a", 7);
	s.connect({}); /* restored from an older state */
	CHECK_EQUAL(s.act(), "");
	s.pass(9 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#2@n1");
	s.allocate("a", 8);
	CHECK_EQUAL(s.act(), "");
	CHECK_EQUAL(s.world.counters().readopted, 1U);
}

/* slurmctld was killed before it saved the start. The job is pending again and may start on
 * another node, whose failure must not affect the pod. */
void a_job_that_slurm_starts_anew_elsewhere_is_not_the_running_pods()
{
	Stage s;
	run_pod(s, "a", 7);
	s.connect({Stage::job(7, "a", JobState::pending)});
	CHECK_EQUAL(s.act(), "");
	SlurmJob elsewhere = Stage::job(7, "a", JobState::running);
	elsewhere.nodes.front().node = "n2";
	s.world.observe(JobSeen{elsewhere}, s.now);
	s.pass(9 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#2@n1");
	s.allocate("a", 8);
	CHECK_EQUAL(s.act(), "cancel:7"); /* only now that the pod has a job again */
	s.world.answer(CompleteAnswered{{"a"}, Ok{}, true}, s.now);
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::cancelled)}, s.now);
	CHECK_EQUAL(s.act(), "");
}

void the_end_of_a_job_that_slurm_started_anew_elsewhere_is_not_the_pods()
{
	Stage s;
	run_pod(s, "a", 7);
	SlurmJob elsewhere = Stage::job(7, "a", JobState::running);
	elsewhere.nodes.front().node = "n2";
	s.connect({elsewhere});
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::node_fail)}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(11 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#2@n1");
}

/* A user who cancels the job wants the pod to end. */
void a_job_that_is_pending_again_may_be_cancelled_by_people()
{
	Stage s;
	run_pod(s, "a", 7);
	s.connect({Stage::job(7, "a", JobState::pending)});
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::cancelled)}, s.now);
	CHECK_EQUAL(s.act(), "remove:a");
}

void a_job_pinned_to_the_pods_node_may_wait()
{
	Stage s;
	run_pod(s, "a", 7);
	s.connect({Stage::job(8, "a", JobState::pending, 2)});
	s.pass(11 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.world.observe(JobSeen{Stage::job(8, "a", JobState::node_fail, 2)}, s.now);
	CHECK_EQUAL(s.act(), "remove:a");
}

void two_live_jobs_of_one_pod_become_one()
{
	Stage s;
	run_pod(s, "a", 7);
	s.world.observe(JobSeen{Stage::job(9, "a", JobState::running, 2)}, s.now);
	CHECK_EQUAL(s.act(), "cancel:9"); /* the Binding names 7 */
}

void a_job_that_ends_before_its_pod_runs_is_replaced_ever_more_slowly()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a#1");
	s.world.answer(SubmitAnswered{{"a"}, Error{Errc::io, "the agent was restarted"}}, s.now);
	s.world.observe(JobSeen{Stage::job(1, "a", JobState::failed)}, s.now);
	s.pass(k_second);
	CHECK_EQUAL(s.act(), "submit:a#2");
	s.allocate("a", 2);
	s.world.observe(JobSeen{Stage::job(2, "a", JobState::failed, 2)}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#3");
	s.allocate("a", 3);
	s.world.observe(JobSeen{Stage::job(3, "a", JobState::failed, 3)}, s.now);
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.pass(3 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#4");
}

void a_job_that_somebody_cancelled_takes_its_pod_along()
{
	Stage s;
	s.world.observe(LinkLost{}); /* the job was cancelled while the agent was away */
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	s.connect({cancelled_job(s, 1, "a", 60)});
	CHECK_EQUAL(s.act(), "remove:a");
	Stage t; /* cancelled immediately, but after the agent had the answer */
	t.world.observe(PodSeen{t.pod("a")}, t.now);
	CHECK_EQUAL(t.act(), "submit:a#1");
	t.world.answer(SubmitAnswered{{"a"}, Submitted{.job = {1}, .node = "", .cpus = 0}}, t.now);
	t.world.observe(JobSeen{cancelled_job(t, 1, "a", 0)}, t.now);
	CHECK_EQUAL(t.act(), "remove:a");
}

void a_running_pod_outlives_an_earlier_job_of_its_own()
{
	Stage s;
	run_pod(s, "a", 7);
	Pod p = *s.world.state().pod({"a"});
	p.annotations[names::k_allocation_attempt] = "2";
	s.world.observe(PodSeen{p}, s.now);
	SlurmJob first = Stage::job(6, "a", JobState::node_fail, 1); /* before the binding */
	s.connect({first});
	CHECK_EQUAL(s.act(), "");
	s.pass(11 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#3@n1");
}

/* Slurm assigned a job number again, and the agent learns of it without a new snapshot. The pod
 * that had the number before has no job. */
void a_number_that_is_used_again_is_the_next_pods_job()
{
	Stage s;
	run_pod(s, "a", 7);
	CHECK_EQUAL(s.act(), "");
	s.world.observe(PodSeen{s.pod("b")}, s.now);
	CHECK_EQUAL(s.act(), "submit:b#1");
	s.world.observe(JobSeen{Stage::job(7, "b", JobState::running)}, s.now);
	s.allocate("b", 7);
	CHECK_EQUAL(s.act(), "bind:b@n1");
	s.world.answer(BindAnswered{{"b"}, Ok{}}, s.now);
	s.pass(11 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#2@n1");
}

/* The plugin never reports the job that slurmctld answered with: a site's script removed its
 * marker, or it is a bug. The agent must leave no job behind, nor submit a new one every few
 * seconds. */
void jobs_that_vanish_are_cancelled_and_replaced_ever_more_slowly()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	for (std::uint32_t id = 1; id <= 2; id++) {
		CHECK_EQUAL(s.act(), "submit:a#1");
		s.world.answer(SubmitAnswered{{"a"}, Submitted{.job = {id}, .node = "", .cpus = 0}},
			s.now);
		(void)s.act();
		s.pass(11 * k_second);
		CHECK_EQUAL(s.act(), "cancel:" + std::to_string(id));
		s.world.answer(CompleteAnswered{{"a"}, Ok{}, true}, s.now);
		s.pass(4 * k_second);
	}
	unsigned submitted = 0;
	for (int second = 0; second < 3600; second++) {
		const std::string actions = s.act();
		if (actions.find("submit:a") != std::string::npos) {
			submitted++;
			s.world.answer(
				SubmitAnswered{{"a"},
					Submitted{.job = {100 + submitted}, .node = "", .cpus = 0}},
				s.now);
		}
		if (actions.find("cancel:") != std::string::npos)
			s.world.answer(CompleteAnswered{{"a"}, Ok{}, true}, s.now);
		if (actions.find("report:a") != std::string::npos)
			s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
		s.pass(k_second);
	}
	CHECK(submitted >= 5 && submitted <= 10);
}

/* slurmctld has answered with it, and shows no marker that is ours, so it must not be ended. */
void a_job_that_is_never_reported_does_not_stop_its_pod_for_ever()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a#1");
	s.world.answer(SubmitAnswered{{"a"}, Submitted{.job = {7}, .node = "", .cpus = 0}}, s.now);
	(void)s.act();
	s.pass(11 * k_second);
	unsigned cancels = 0;
	std::string actions = s.act();
	for (int i = 0; i < 100 && actions.find("submit:a#1") == std::string::npos; i++) {
		if (actions.find("cancel:7") != std::string::npos) {
			cancels++;
			CHECK_EQUAL(s.world.state().marker_of({"a"}, {7}).uid, "a");
			s.world.answer(
				CompleteAnswered{{"a"}, Error{Errc::again, "?"}, true}, s.now);
		}
		s.pass(5 * k_second);
		actions = s.act();
	}
	CHECK(cancels >= 3 && cancels <= 10);
	CHECK(actions.find("submit:a#1") != std::string::npos);
	CHECK_EQUAL(s.world.state().marker_of({"a"}, {7}).uid, "");
}

/* The same if the plugin reports the jobs first and then withdraws them. */
void live_jobs_that_the_plugin_takes_back_are_replaced_ever_more_slowly()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	unsigned submitted = 0;
	for (int second = 0; second < 600; second++) {
		const std::string actions = s.act();
		if (actions.find("submit:a") != std::string::npos) {
			const JobId id{++submitted};
			s.world.answer(
				SubmitAnswered{{"a"}, Submitted{.job = id, .node = "", .cpus = 0}},
				s.now);
			s.world.observe(
				JobSeen{Stage::job(id.number, "a", JobState::pending)}, s.now);
			s.world.observe(JobGone{id}, s.now);
		}
		if (actions.find("report:a") != std::string::npos)
			s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
		s.pass(k_second);
	}
	CHECK(submitted >= 5 && submitted <= 10);
}

/* A script that runs after the plugin has moved the job to another partition. */
void the_allocation_of_a_native_node_is_given_back()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a#1");
	SlurmJob job = Stage::job(1, "a", JobState::running);
	job.nodes.front().node = "native1";
	s.world.answer(
		SubmitAnswered{{"a"}, Submitted{.job = {1}, .node = "native1", .cpus = 1}}, s.now);
	s.world.observe(JobSeen{job}, s.now);
	s.pass(k_second);
	CHECK_EQUAL(s.act(), "report:a:SlurmRetrying"); /* it may be new, and told of in a moment */
	s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
	s.pass(5 * k_second);
	CHECK_EQUAL(s.act(), "look:a");
	s.world.answer(LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
	CHECK_EQUAL(s.act(), "complete:1=" + std::to_string(k_status_given_back));
	s.world.answer(CompleteAnswered{{"a"}, Ok{}, false}, s.now);
	job.state = JobState::failed;
	s.world.observe(JobSeen{job}, s.now);
	s.pass(4 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#2");
}

/* A grace period of ten years on a node that Slurm considers free. The agent also shortens the
 * grace period of a deletion that another client requested. */
void a_pod_without_a_job_has_no_endless_grace()
{
	for (const std::int64_t grace : {std::int64_t{30}, std::int64_t{315'360'000}}) {
		Stage s;
		run_pod(s, "a", 7);
		Pod p = *s.world.state().pod({"a"});
		p.deleting = true;
		p.deletion_grace_seconds = grace;
		s.world.observe(PodSeen{p}, s.now);
		CHECK_EQUAL(s.act(), ""); /* it is charged */
		s.world.observe(JobSeen{Stage::job(7, "a", JobState::timeout)}, s.now);
		CHECK_EQUAL(s.act(), grace > 3600 ? "remove:a" : "");
		p.deletion_grace_seconds = std::min<std::int64_t>(grace, 3600);
		s.world.observe(PodSeen{p}, s.now);
		s.world.answer(DeletePodAnswered{{"a"}, Ok{}}, s.now);
		s.pass(60 * k_second);
		CHECK_EQUAL(s.act(), "");
	}
}

const Error k_no_answer{Errc::io, "Socket timed out on send/recv operation"};

/* Seconds until the pod is submitted again. Answers for other pods arrive in between, or not. */
std::int64_t seconds_to_next_try(Stage &s, bool are_others_answered)
{
	for (std::int64_t seconds = 0; seconds < 2000; seconds++) {
		if (s.act().find("submit:bad#1") != std::string::npos)
			return seconds;
		s.pass(k_second);
		if (are_others_answered)
			s.world.observe(SlurmAnswered{}, s.now);
	}
	return -1;
}

void a_request_that_slurmctld_does_not_answer_is_tried_less_and_less()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("bad")}, s.now);
	CHECK_EQUAL(s.act(), "submit:bad#1");
	s.world.answer(SubmitAnswered{{"bad"}, k_no_answer}, s.now);
	std::vector<std::int64_t> waits;
	for (int i = 0; i < 9; i++) {
		waits.push_back(seconds_to_next_try(s, true));
		s.pass(10 * k_second); /* libslurm's timeout */
		s.world.answer(SubmitAnswered{{"bad"}, k_no_answer}, s.now);
	}
	CHECK((waits == std::vector<std::int64_t>{1, 10, 20, 40, 80, 160, 320, 600, 600}));
	s.pass(2 * k_second);
	const std::string told = s.world.state().components.at({"bad"}).trouble->message;
	CHECK(told.find("(10 times in a row)") != std::string::npos &&
		told.find("the next try is in 600 s") != std::string::npos);
	s.connect({}); /* a restart of slurmctld does not shorten the wait */
	CHECK(s.act().find("submit:bad") == std::string::npos);
	s.pass(600 * k_second);
	CHECK_EQUAL(s.act(), "submit:bad#1");
	s.allocate("bad", 7);
	CHECK_EQUAL(s.world.unanswered().count({"bad"}), 0U);
}

void while_nobody_is_answered_it_is_nobodys_fault()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("bad")}, s.now);
	CHECK_EQUAL(s.act(), "submit:bad#1");
	s.world.answer(SubmitAnswered{{"bad"}, k_no_answer}, s.now);
	std::vector<std::int64_t> waits;
	for (int i = 0; i < 6; i++) {
		waits.push_back(seconds_to_next_try(s, false));
		s.pass(10 * k_second);
		s.world.answer(SubmitAnswered{{"bad"}, k_no_answer}, s.now);
	}
	CHECK((waits == std::vector<std::int64_t>{1, 10, 20, 40, 60, 60}));
}

void others_go_on_beside_it_and_suspects_are_tried_one_at_a_time()
{
	Stage s;
	for (const char *uid : {"bad", "b", "c"})
		s.world.observe(PodSeen{s.pod(uid)}, s.now);
	CHECK_EQUAL(s.act(), "submit:b#1 submit:bad#1 submit:c#1");
	for (const char *uid : {"bad", "b", "c"})
		s.world.answer(SubmitAnswered{{uid}, k_no_answer}, s.now);
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "submit:b#1 report:bad:SlurmRetrying report:c:SlurmRetrying");
	s.world.observe(PodSeen{s.pod("d")}, s.now);
	CHECK_EQUAL(s.act(), "submit:d#1");
	s.allocate("b", 7);
	CHECK_EQUAL(s.act(), "bind:b@n1 submit:bad#1");
	s.world.answer(SubmitAnswered{{"bad"}, k_no_answer}, s.now);
	CHECK_EQUAL(s.act(), "submit:c#1");
}

/* Suspects of another namespace do not wait for these. The sender of requests decides which
 * namespace goes first. */
void suspects_of_another_namespace_are_tried_beside_them()
{
	Stage s;
	for (const char *uid : {"a", "b"})
		s.world.observe(PodSeen{s.pod(uid)}, s.now);
	Pod other = s.pod("c");
	other.name_space = "other";
	s.world.observe(PodSeen{other}, s.now);
	CHECK_EQUAL(s.act(), "submit:a#1 submit:b#1 submit:c#1");
	for (const char *uid : {"a", "b", "c"})
		s.world.answer(SubmitAnswered{{uid}, k_no_answer}, s.now);
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#1 report:b:SlurmRetrying submit:c#1");
}

/* The job may exist, so that its pod's end must not wait for the next attempt. */
void a_job_without_an_answer_is_cancelled_at_once_with_its_pod()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("bad")}, s.now);
	CHECK_EQUAL(s.act(), "submit:bad#1");
	for (int i = 0; i < 8; i++) {
		s.world.answer(SubmitAnswered{{"bad"}, k_no_answer}, s.now);
		(void)seconds_to_next_try(s, true);
	}
	s.world.answer(SubmitAnswered{{"bad"}, k_no_answer}, s.now);
	s.world.observe(JobSeen{Stage::job(9, "bad", JobState::pending)}, s.now);
	s.world.observe(PodGone{{"bad"}, s.pod("bad")}, s.now);
	s.pass(31 * k_second);
	CHECK_EQUAL(s.act(), "cancel:9");
}

} // namespace

int main()
{
	return check::run_tests("world jobs",
		{
			TEST(a_job_that_slurm_lost_is_taken_up_after_ten_seconds_and_not_before),
			TEST(a_job_that_slurm_starts_anew_elsewhere_is_not_the_running_pods),
			TEST(the_end_of_a_job_that_slurm_started_anew_elsewhere_is_not_the_pods),
			TEST(a_job_that_is_pending_again_may_be_cancelled_by_people),
			TEST(a_job_pinned_to_the_pods_node_may_wait),
			TEST(two_live_jobs_of_one_pod_become_one),
			TEST(a_job_that_ends_before_its_pod_runs_is_replaced_ever_more_slowly),
			TEST(a_job_that_somebody_cancelled_takes_its_pod_along),
			TEST(a_running_pod_outlives_an_earlier_job_of_its_own),
			TEST(jobs_that_vanish_are_cancelled_and_replaced_ever_more_slowly),
			TEST(a_job_that_is_never_reported_does_not_stop_its_pod_for_ever),
			TEST(live_jobs_that_the_plugin_takes_back_are_replaced_ever_more_slowly),
			TEST(the_allocation_of_a_native_node_is_given_back),
			TEST(a_number_that_is_used_again_is_the_next_pods_job),
			TEST(a_request_that_slurmctld_does_not_answer_is_tried_less_and_less),
			TEST(while_nobody_is_answered_it_is_nobodys_fault),
			TEST(a_pod_without_a_job_has_no_endless_grace),
			TEST(others_go_on_beside_it_and_suspects_are_tried_one_at_a_time),
			TEST(suspects_of_another_namespace_are_tried_beside_them),
			TEST(a_job_without_an_answer_is_cancelled_at_once_with_its_pod),
		});
}
