/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and jobs that go other ways: lost, started anew, doubled, cancelled by people, ended before their pod ran. */
#include "src/core/outcome.h"
#include "testsuite/unit/world_stage.h"

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

/* slurmctld killed before it saved the start: the job is pending again and may start on another node, whose failure is not the pod's. */
void a_job_that_slurm_starts_anew_elsewhere_is_not_the_running_pods()
{
	Stage s;
	run_pod(s, "a", 7);
	s.connect({Stage::job(7, "a", JobState::pending)});
	CHECK_EQUAL(s.act(), "");
	SlurmJob elsewhere = Stage::job(7, "a", JobState::running);
	elsewhere.nodes.front().node = "n2";
	s.world.job_seen(elsewhere, s.now);
	s.pass(9 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#2@n1");
	s.allocate("a", 8);
	CHECK_EQUAL(s.act(), "cancel:7"); /* only now that the pod has a job again */
	s.world.completed({"a"}, Ok{}, true, s.now);
	s.world.job_seen(Stage::job(7, "a", JobState::cancelled), s.now);
	CHECK_EQUAL(s.act(), "");
}

void the_end_of_a_job_that_slurm_started_anew_elsewhere_is_not_the_pods()
{
	Stage s;
	run_pod(s, "a", 7);
	SlurmJob elsewhere = Stage::job(7, "a", JobState::running);
	elsewhere.nodes.front().node = "n2";
	s.connect({elsewhere});
	s.world.job_seen(Stage::job(7, "a", JobState::node_fail), s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(11 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#2@n1");
}

/* Whoever cancels it means the pod. */
void a_job_that_is_pending_again_may_be_cancelled_by_people()
{
	Stage s;
	run_pod(s, "a", 7);
	s.connect({Stage::job(7, "a", JobState::pending)});
	s.world.job_seen(Stage::job(7, "a", JobState::cancelled), s.now);
	CHECK_EQUAL(s.act(), "remove:a");
}

void a_job_pinned_to_the_pods_node_may_wait()
{
	Stage s;
	run_pod(s, "a", 7);
	s.connect({Stage::job(8, "a", JobState::pending, 2)});
	s.pass(11 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.world.job_seen(Stage::job(8, "a", JobState::node_fail, 2), s.now);
	CHECK_EQUAL(s.act(), "remove:a");
}

void two_live_jobs_of_one_pod_become_one()
{
	Stage s;
	run_pod(s, "a", 7);
	s.world.job_seen(Stage::job(9, "a", JobState::running, 2), s.now);
	CHECK_EQUAL(s.act(), "cancel:9"); /* the Binding names 7 */
}

void a_job_that_ends_before_its_pod_runs_is_replaced_ever_more_slowly()
{
	Stage s;
	s.world.pod_seen(s.pod("a"), s.now);
	CHECK_EQUAL(s.act(), "submit:a#1");
	s.world.submitted({"a"}, Error{Errc::io, "the agent was restarted"}, s.now);
	s.world.job_seen(Stage::job(1, "a", JobState::failed), s.now);
	s.pass(k_second);
	CHECK_EQUAL(s.act(), "submit:a#2");
	s.allocate("a", 2);
	s.world.job_seen(Stage::job(2, "a", JobState::failed, 2), s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#3");
	s.allocate("a", 3);
	s.world.job_seen(Stage::job(3, "a", JobState::failed, 3), s.now);
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.pass(3 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#4");
}

void a_job_that_somebody_cancelled_takes_its_pod_along()
{
	Stage s;
	s.world.link_lost(); /* while the agent was away */
	s.world.pod_seen(s.pod("a"), s.now);
	s.connect({cancelled_job(s, 1, "a", 60)});
	CHECK_EQUAL(s.act(), "remove:a");
	Stage t; /* at once, but after we had the answer */
	t.world.pod_seen(t.pod("a"), t.now);
	CHECK_EQUAL(t.act(), "submit:a#1");
	t.world.submitted({"a"}, Submitted{.job = {1}, .node = "", .cpus = 0}, t.now);
	t.world.job_seen(cancelled_job(t, 1, "a", 0), t.now);
	CHECK_EQUAL(t.act(), "remove:a");
}

void a_running_pod_outlives_an_earlier_job_of_its_own()
{
	Stage s;
	run_pod(s, "a", 7);
	Pod p = *s.world.pod_of({"a"});
	p.annotations[names::k_allocation_attempt] = "2";
	s.world.pod_seen(p, s.now);
	SlurmJob first = Stage::job(6, "a", JobState::node_fail, 1); /* before the binding */
	s.connect({first});
	CHECK_EQUAL(s.act(), "");
	s.pass(11 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#3@n1");
}

/* Slurm gave a number again, and we are told of it without a new snapshot: who had it before has none. */
void a_number_that_is_used_again_is_the_next_pods_job()
{
	Stage s;
	run_pod(s, "a", 7);
	CHECK_EQUAL(s.act(), "");
	s.world.pod_seen(s.pod("b"), s.now);
	CHECK_EQUAL(s.act(), "submit:b#1");
	s.world.job_seen(Stage::job(7, "b", JobState::running), s.now);
	s.allocate("b", 7);
	CHECK_EQUAL(s.act(), "bind:b@n1");
	s.world.bound({"b"}, Ok{}, s.now);
	s.pass(11 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#2@n1");
}

} // namespace

int main()
{
	return check::run_tests("world jobs", {
						 TEST(a_job_that_slurm_lost_is_taken_up_after_ten_seconds_and_not_before),
						 TEST(a_job_that_slurm_starts_anew_elsewhere_is_not_the_running_pods),
						 TEST(the_end_of_a_job_that_slurm_started_anew_elsewhere_is_not_the_pods),
						 TEST(a_job_that_is_pending_again_may_be_cancelled_by_people),
						 TEST(a_job_pinned_to_the_pods_node_may_wait),
						 TEST(two_live_jobs_of_one_pod_become_one),
						 TEST(a_job_that_ends_before_its_pod_runs_is_replaced_ever_more_slowly),
						 TEST(a_job_that_somebody_cancelled_takes_its_pod_along),
						 TEST(a_running_pod_outlives_an_earlier_job_of_its_own),
						TEST(a_number_that_is_used_again_is_the_next_pods_job),
					 });
}
