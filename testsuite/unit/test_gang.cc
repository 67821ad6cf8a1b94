/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shape of a gang's job, the nodes of its pods, and the actions for them: first the pure
 * functions, then World with all of them. */
#include "src/core/inspect/why.h"
#include "src/core/model/outcome.h"
#include "testsuite/unit/gang_stage.h"

#include <algorithm>

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

using Stage = GangStage;

/* ---- World ---- */

/* Sizes come from the owner, because a controller may create the other pods only when the first
 * is Ready. */
void one_pod_is_enough_to_ask_for_all()
{
	Stage stage(4);
	stage.world.observe(PodSeen{stage.pod(0)}, stage.now);
	/* nothing happens before the owner is known */
	CHECK(stage.world.take_actions(stage.now).empty());
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	const JobSpec &spec = submits.front().second.spec;
	CHECK_EQUAL(spec.tasks, 4U);
	CHECK_EQUAL(spec.cpus, 4U);
	CHECK_EQUAL(spec.marker.uid, "train-uid");
	CHECK_EQUAL(spec.marker.kind, "Job");
	CHECK_EQUAL(spec.name, "train");
}

/* slurmctld keeps dynamic nodes in the order of their registration, and sorts them when it
 * restarts. Ranks must not depend on that order. */
void pods_are_bound_by_rank_and_name_of_node()
{
	Stage stage(4);
	stage.all_pods(4);
	(void)stage.take();
	stage.world.answer(
		SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, stage.now);
	CHECK(stage.take().empty());
	stage.world.observe(JobSeen{stage.running(nodes({{"n3", 8}, {"n1", 8}}))}, stage.now);
	const auto binds = only<Bind>(stage.take());
	REQUIRE(binds.size() == 4);
	for (const auto &[pod, bind] : binds) {
		CHECK_EQUAL(pod.text, "u" + std::to_string(*bind.rank));
		CHECK_EQUAL(bind.node, *bind.rank < 2 ? "n1" : "n3");
	}
}

/* 25 pods of a tenth of a CPU: three tasks of nine pods each. */
void more_than_the_pods_ask_for_is_told()
{
	constexpr const char *k_excess = "; the job has more than its pods ask for (1728 MiB for "
					 "1600 MiB), because all tasks of a job have one size";
	Stage stage(25, size(100, 64));
	stage.all_pods(25);
	(void)stage.take();
	stage.world.answer(
		SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, stage.now);
	SlurmJob waiting = stage.running({});
	waiting.reason = "Priority";
	stage.world.observe(JobSeen{waiting}, stage.now);
	stage.pass(10 * k_second);
	const auto reports = only<Report>(stage.take());
	CHECK(!reports.empty());
	for (const auto &[pod, report] : reports)
		CHECK_EQUAL(report.not_scheduled.message,
			std::string("Slurm job 7 is pending: Priority") + k_excess);
	const auto lines = why(stage.world, "a", "train-3", stage.now);
	CHECK(std::ranges::any_of(lines, [&](const WhyLine &line) {
		return line.about == std::string("asks for") && line.text.ends_with(k_excess);
	}));
	stage.world.observe(JobSeen{stage.running(nodes({{"n1", 3}}))}, stage.now);
	const auto binds = only<Bind>(stage.take());
	CHECK_EQUAL(binds.size(), 25U);
	for (const auto &[pod, bind] : binds) /* only rank 0 carries the remark */
		CHECK_EQUAL(bind.remark, bind.rank == 0U ? k_excess + 2 : "");
}

void more_than_all_nodes_hold_is_refused_on_every_pod()
{
	Stage stage(9);
	stage.all_pods(9);
	CHECK(only<Submit>(stage.take()).empty());
	stage.pass(5 * k_second);
	const auto told = only<Report>(stage.take());
	REQUIRE(told.size() == 9);
	CHECK_EQUAL(told.front().second.not_scheduled.reason, names::k_reason_no_node);
	/* the message also says whether the pods would fit without the job's excess */
	Stage uneven(401, size(100, 64));
	uneven.all_pods(401);
	(void)uneven.take();
	uneven.pass(5 * k_second);
	const auto reports = only<Report>(uneven.take());
	REQUIRE(!reports.empty());
	const std::string &said = reports.front().second.not_scheduled.message;
	CHECK(said.find("; the job has more than its pods ask for (") != std::string::npos);
}

void the_job_is_complete_when_every_rank_has_succeeded()
{
	Stage stage(4);
	stage.start(4);
	for (std::uint32_t i = 0; i < 3; i++)
		stage.end(i, PodPhase::succeeded);
	CHECK(only<Complete>(stage.take()).empty());
	stage.end(3, PodPhase::succeeded);
	const auto ends = only<Complete>(stage.take());
	REQUIRE(ends.size() == 1);
	CHECK_EQUAL(ends.front().second.wait_status, 0U);
}

/* The other pods were stopped because of the failed one. */
void a_failure_is_told_and_not_what_it_brought_about()
{
	Stage stage(4);
	stage.start(4);
	stage.end(2, PodPhase::failed, 3);
	for (std::uint32_t i : {0U, 1U, 3U}) {
		Pod last = *stage.world.state().pod({"u" + std::to_string(i)});
		last.deleting = true;
		stage.world.observe(PodGone{last.uid, last}, stage.now);
	}
	(void)stage.take();
	stage.pass(4 * k_second); /* a forced deletion holds its share for a while */
	stage.job.is_finished = true;
	/* the first call asks for the owner; GangStage answers in the next take() */
	(void)stage.world.take_actions(stage.now);
	const auto ends = only<Complete>(stage.take());
	REQUIRE(ends.size() == 1);
	CHECK_EQUAL(ends.front().second.wait_status, 3U << 8);
}

void a_replacement_gets_the_rank_when_its_predecessor_is_gone()
{
	Stage stage(4);
	stage.start(4);
	Pod old = *stage.world.state().pod({"u1"});
	old.deleting = true;
	stage.world.observe(PodSeen{old}, stage.now);
	stage.world.observe(PodSeen{stage.pod(1, "b")}, stage.now);
	CHECK(only<Bind>(stage.take()).empty());
	old.phase = PodPhase::failed;
	stage.world.observe(PodSeen{old}, stage.now);
	const auto binds = only<Bind>(stage.take());
	REQUIRE(binds.size() == 1);
	CHECK_EQUAL(binds.front().first.text, "u1b");
	CHECK_EQUAL(binds.front().second.node, "n1");
	CHECK(binds.front().second.rank == 1U);
}

void the_allocation_is_held_for_a_restart_and_then_let_go()
{
	Stage stage(2);
	stage.start(2);
	for (std::uint32_t i : {0U, 1U})
		stage.end(i, PodPhase::failed, 1);
	(void)stage.take();
	stage.pass(5 * k_second);
	CHECK(only<Complete>(stage.take()).empty());
	stage.pass(6 * k_second);
	CHECK_EQUAL(only<Complete>(stage.take()).size(), 1U);
}

/* A failed pod may have been deleted before this agent started. An unseen end is not reported as
 * success. */
void an_end_that_nobody_saw_is_no_success()
{
	Stage old(2);
	old.start(2);
	old.end(0, PodPhase::succeeded);
	Stage stage(2);
	stage.world.observe(PodSeen{*old.world.state().pod({"u0"})}, stage.now);
	stage.connect({stage.running(nodes({{"n1", 8}}))});
	(void)stage.take();
	stage.pass(11 * k_second);
	const auto completes = only<Complete>(stage.take());
	REQUIRE(completes.size() == 1);
	CHECK_EQUAL(completes.front().second.wait_status, k_status_cancelled);
}

void scancel_removes_all_pods_and_nothing_is_submitted_for_those()
{
	Stage stage(4);
	stage.start(4);
	SlurmJob ended = stage.running(nodes({{"n1", 8}, {"n2", 8}}));
	ended.state = JobState::cancelled;
	ended.submit_time = stage.now.wall_s;
	ended.end_time = stage.now.wall_s + 60;
	stage.pass(60 * k_second);
	stage.world.observe(JobSeen{ended}, stage.now);
	const auto actions = stage.take();
	CHECK_EQUAL(only<DeletePod>(actions).size(), 4U);
	CHECK(only<Submit>(actions).empty());
}

/* Both sides count in seconds. Within the same second, the pods that were seen before the end
 * are removed. */
void scancel_in_the_second_of_its_pods_removes_those_that_were_there()
{
	Stage stage(4);
	stage.all_pods(3);
	(void)stage.take();
	stage.world.answer(
		SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, stage.now);
	SlurmJob job = stage.running({});
	job.state = JobState::pending;
	stage.world.observe(JobSeen{job}, stage.now);
	(void)stage.take();
	stage.now.mono_us += 1000;
	job.state = JobState::cancelled;
	job.submit_time = job.end_time = stage.now.wall_s;
	stage.world.observe(JobSeen{job}, stage.now);
	stage.now.mono_us += 1000;
	stage.world.observe(PodSeen{stage.pod(3)}, stage.now);
	CHECK_EQUAL(only<DeletePod>(stage.take()).size(), 3U);
}

void pods_made_after_the_end_are_about_the_next_job()
{
	Stage stage(2);
	stage.start(2);
	SlurmJob ended = stage.running(nodes({{"n1", 8}, {"n2", 8}}));
	ended.state = JobState::preempted;
	ended.end_time = stage.now.wall_s;
	stage.world.observe(JobSeen{ended}, stage.now);
	for (const auto &[pod, remove] : only<DeletePod>(stage.take())) {
		stage.world.answer(DeletePodAnswered{pod, Ok{}}, stage.now);
		Pod last = *stage.world.state().pod(pod);
		last.phase = PodPhase::failed;
		last.deleting = true;
		stage.world.observe(PodGone{pod, last}, stage.now);
	}
	stage.pass(5 * k_second);
	for (std::uint32_t i : {0U, 1U})
		stage.world.observe(PodSeen{stage.pod(i, "b")}, stage.now);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.marker.attempt, 2U);
}

/* A new agent finds job, pods and owner as its predecessor left them. */
void a_new_agent_goes_on()
{
	Stage old(4);
	old.start(4);
	Stage stage(4);
	for (std::uint32_t i = 0; i < 3; i++)
		stage.world.observe(
			PodSeen{*old.world.state().pod({"u" + std::to_string(i)})}, stage.now);
	stage.world.observe(PodSeen{stage.pod(3)}, stage.now);
	stage.connect({stage.running(nodes({{"n1", 8}, {"n2", 8}}))});
	const auto actions = stage.take();
	CHECK(only<Submit>(actions).empty() && only<Cancel>(actions).empty() &&
		only<Complete>(actions).empty());
	const auto binds = only<Bind>(actions);
	REQUIRE(binds.size() == 1);
	CHECK_EQUAL(binds.front().second.node, "n2");
}

void pods_that_never_come_end_the_job()
{
	Stage stage(4);
	stage.world.observe(PodSeen{stage.pod(0)}, stage.now);
	(void)stage.take();
	stage.world.answer(
		SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, stage.now);
	SlurmJob job = stage.running(nodes({{"n1", 8}, {"n2", 8}}));
	job.configuring = true; /* its prolog takes long, so nothing is bound */
	stage.world.observe(JobSeen{job}, stage.now);
	CHECK(only<Bind>(stage.take()).empty());
	stage.pass(599 * k_second);
	CHECK(only<Complete>(stage.take()).empty());
	stage.pass(2 * k_second);
	const auto ends = only<Complete>(stage.take_unbound());
	REQUIRE(ends.size() == 1);
	CHECK_EQUAL(ends.front().second.wait_status, k_status_never_came);
}

/* For example, a leader that loads a large model: its workers are created when the leader is
 * Ready. */
void pods_that_run_are_not_ended_for_those_that_never_come()
{
	Stage stage(4);
	stage.start(1);
	(void)stage.take();
	stage.pass(3601 * k_second);
	CHECK(only<Complete>(stage.take()).empty());
	stage.world.observe(PodSeen{stage.pod(1)}, stage.now);
	CHECK_EQUAL(only<Bind>(stage.take()).size(), 1U);
}

void a_pod_beyond_the_ranks_runs_alone()
{
	Stage stage(4);
	stage.start(4);
	stage.world.observe(PodSeen{stage.pod(4)}, stage.now);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.marker.kind, k_pod_kind);
}

/* The pods that exist when the minimum is reached start together. */
void a_pod_group_waits_for_its_minimum()
{
	Stage stage(1);
	stage.job.id = {"scheduling.x-k8s.io/v1alpha1", "PodGroup", "a", "group"};
	stage.job.roles.clear();
	stage.job.minimum = 3;
	const auto member = [&](const char *name) {
		Pod p = make_pod("a", name, name, size(1000, 64));
		p.labels = {{"scheduling.x-k8s.io/pod-group", "group"}};
		return p;
	};
	stage.world.observe(PodSeen{member("a")}, stage.now);
	stage.world.observe(PodSeen{member("b")}, stage.now);
	CHECK(only<Submit>(stage.take()).empty());
	stage.world.observe(PodSeen{member("c")}, stage.now);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.tasks, 3U);
}

} // namespace

int main()
{
	return check::run_tests("gang",
		{
			TEST(one_pod_is_enough_to_ask_for_all),
			TEST(pods_are_bound_by_rank_and_name_of_node),
			TEST(more_than_the_pods_ask_for_is_told),
			TEST(more_than_all_nodes_hold_is_refused_on_every_pod),
			TEST(the_job_is_complete_when_every_rank_has_succeeded),
			TEST(a_failure_is_told_and_not_what_it_brought_about),
			TEST(a_replacement_gets_the_rank_when_its_predecessor_is_gone),
			TEST(the_allocation_is_held_for_a_restart_and_then_let_go),
			TEST(an_end_that_nobody_saw_is_no_success),
			TEST(scancel_removes_all_pods_and_nothing_is_submitted_for_those),
			TEST(scancel_in_the_second_of_its_pods_removes_those_that_were_there),
			TEST(pods_made_after_the_end_are_about_the_next_job),
			TEST(a_new_agent_goes_on),
			TEST(pods_that_never_come_end_the_job),
			TEST(pods_that_run_are_not_ended_for_those_that_never_come),
			TEST(a_pod_beyond_the_ranks_runs_alone),
			TEST(a_pod_group_waits_for_its_minimum),
		});
}
