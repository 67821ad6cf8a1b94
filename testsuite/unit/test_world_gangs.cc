/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and gangs when something goes wrong: restarts of agent and slurmctld, lost answers, pods that others touch. Most of it was found by the simulator. */
#include "src/core/outcome.h"
#include "testsuite/unit/gang_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

using Stage = GangStage;

/* Owner of loose pods, of which so many start together. */
void make_pod_group(Stage &stage, std::uint32_t minimum)
{
	stage.job.id = {"scheduling.x-k8s.io/v1alpha1", "PodGroup", "a", "group"};
	stage.job.roles.clear();
	stage.job.minimum = minimum;
}

Pod loose(const std::string &name, std::int64_t milli_cpu = 4000)
{
	Pod p;
	p.uid = {name};
	p.name_space = "a";
	p.name = name;
	p.requests = size(milli_cpu, 64);
	p.labels = {{"scheduling.x-k8s.io/pod-group", "group"}};
	return p;
}

SlurmJob group_job(const Stage &stage, std::vector<NodeAllocation> on)
{
	SlurmJob job = stage.running(std::move(on));
	job.marker.kind = "PodGroup";
	job.marker.name = "group";
	return job;
}

/* As an agent before this one bound it. */
Pod bound(Pod pod, const char *node, std::uint32_t rank, std::uint32_t seats)
{
	pod.node_name = node;
	pod.phase = PodPhase::running;
	pod.annotations = {{names::k_allocation_job_id, "7"}, {names::k_allocation_attempt, "1"}, {names::k_allocation_rank, std::to_string(rank)},
			   {names::k_allocation_size, std::to_string(seats)}, {names::k_allocation_gang, "train-uid"}};
	return pod;
}

/* slurmctld ends a job whose submitter it could not answer: nobody wanted that. */
void a_lost_answer_removes_no_pod_that_runs()
{
	Stage stage(4);
	stage.start(4);
	SlurmJob lost = stage.running({}, 2, 8);
	lost.state = JobState::failed;
	lost.submit_time = lost.end_time = stage.now.wall_s;
	stage.connect({lost});
	const auto actions = stage.take();
	CHECK(only<Remove>(actions).empty());
	stage.pass(11 * k_second);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.marker.attempt, 3U);
}

/* slurmctld took a state in which the job waits: it would start anywhere. */
void a_job_that_forgot_its_start_is_asked_for_again()
{
	Stage stage(4);
	stage.start(4);
	stage.connect({stage.running({})});
	(void)stage.take();
	stage.pass(11 * k_second);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.required_node, "n1,n2");
}

/* It ended for want of pods, and this one was on its way. */
void a_job_that_we_ended_is_not_about_pods_that_wait()
{
	Stage stage(2);
	stage.start(2);
	for (std::uint32_t i : {0U, 1U})
		stage.end(i, PodPhase::failed, 1);
	(void)stage.take();
	stage.pass(11 * k_second);
	REQUIRE(only<Complete>(stage.take()).size() == 1);
	stage.world.completed({"train-uid"}, Ok{}, true, stage.now);
	SlurmJob ended = stage.running({});
	ended.state = JobState::cancelled;
	ended.submit_time = stage.now.wall_s - 100;
	ended.end_time = stage.now.wall_s + 5;
	stage.world.job_seen(ended, stage.now);
	stage.world.pod_seen(stage.pod(0, "b"), stage.now);
	stage.pass(4 * k_second);
	const auto actions = stage.take();
	CHECK(only<Remove>(actions).empty());
	CHECK_EQUAL(only<Submit>(actions).size(), 1U);
}

/* The same, told by an agent that comes after. One that runs as root cannot tell its own deed from an administrator's, who means it. */
void a_job_that_an_agent_before_ended_is_not_either()
{
	for (const auto &[own, by, removed] : {std::tuple(64030U, 64030U, 0U), std::tuple(64030U, 1000U, 1U), std::tuple(0U, 0U, 1U)}) {
		Settings settings = plain_settings();
		settings.own_uid = own;
		Stage stage(2, size(4000, 64), settings);
		SlurmJob ended = stage.running({});
		ended.state = JobState::cancelled;
		ended.ended_by = by;
		ended.submit_time = stage.now.wall_s - 100;
		ended.end_time = stage.now.wall_s + 5;
		stage.world.job_seen(ended, stage.now);
		stage.world.pod_seen(stage.pod(0), stage.now);
		CHECK_EQUAL(only<Remove>(stage.take()).size(), removed);
	}
}

/* kubectl delete --cascade=orphan, and a new agent: what the binding says counts. */
void a_member_whose_owner_has_gone_keeps_its_job()
{
	Stage stage(2);
	for (std::uint32_t i : {0U, 1U})
		stage.world.pod_seen(bound(stage.pod(i), "n1", i, 2), stage.now);
	stage.connect({stage.running(nodes({{"n1", 8}}))});
	for (int i = 0; i < 8; i++) {
		for (const OwnerId &id : stage.world.take_questions(stage.now))
			stage.world.owner_seen(id, std::optional<Owner>(), stage.now);
		const auto actions = stage.world.take_actions(stage.now);
		CHECK(only<Complete>(actions).empty() && only<Submit>(actions).empty());
		stage.pass(3 * k_second);
	}
}

/* The API server does not say whose a pod is: it may be one of them. */
void no_allocation_is_let_go_while_an_owner_does_not_answer()
{
	Stage stage(2);
	stage.start(2);
	for (std::uint32_t i : {0U, 1U})
		stage.end(i, PodPhase::failed, 1);
	(void)stage.take();
	stage.pass(5 * k_second);
	stage.world.pod_seen(stage.pod(0, "b"), stage.now);
	for (int i = 0; i < 8; i++) {
		for (const OwnerId &id : stage.world.take_questions(stage.now))
			stage.world.owner_seen(id, Error{Errc::io, "500"}, stage.now);
		CHECK(only<Complete>(stage.world.take_actions(stage.now)).empty());
		stage.pass(3 * k_second);
	}
}

/* Slurm was asked for three: the fourth is not squeezed in. */
void a_pod_that_comes_during_the_submission_runs_alone()
{
	Stage stage(1);
	make_pod_group(stage, 3);
	for (const char *name : {"a", "b", "c"})
		stage.world.pod_seen(loose(name), stage.now);
	REQUIRE(only<Submit>(stage.take()).size() == 1);
	stage.world.pod_seen(loose("d"), stage.now);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().first.text, "d");
	stage.world.submitted({"train-uid"}, Submitted{.job = {7}, .node = ""}, stage.now);
	stage.world.job_seen(group_job(stage, nodes({{"n1", 8}, {"n2", 4}})), stage.now);
	CHECK_EQUAL(only<Bind>(stage.take()).size(), 3U);
}

/* A new agent takes four for the gang, and Slurm has given room for three. */
void what_slurm_allocated_is_not_exceeded()
{
	Stage stage(1);
	make_pod_group(stage, 3);
	for (const char *name : {"a", "b", "c", "d"})
		stage.world.pod_seen(loose(name, 2000), stage.now);
	stage.connect({group_job(stage, nodes({{"n1", 6}}))});
	const auto actions = stage.take();
	CHECK_EQUAL(only<Bind>(actions).size(), 3U);
	const auto submits = only<Submit>(actions);
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().first.text, "d");
}

/* A new agent hears of the pods first. */
void a_pod_with_a_job_of_its_own_keeps_it()
{
	Stage stage(1);
	make_pod_group(stage, 2);
	for (const char *name : {"a", "b", "c"})
		stage.world.pod_seen(loose(name), stage.now);
	for (const OwnerId &id : stage.world.take_questions(stage.now))
		stage.world.owner_seen(id, std::optional<Owner>(stage.job), stage.now);
	SlurmJob own = stage.running(nodes({{"n3", 4}}), 1, 9);
	own.marker = {.cluster = "main", .name_space = "a", .name = "b", .kind = k_pod_kind, .uid = "b", .attempt = 1};
	stage.connect({group_job(stage, nodes({{"n1", 8}})), own});
	const auto binds = only<Bind>(stage.take());
	REQUIRE(binds.size() == 3);
	for (const auto &[pod, bind] : binds)
		CHECK_EQUAL(bind.node, pod.text == "b" ? "n3" : "n1");
}

void ranks_of_pods_that_run_stay()
{
	Stage stage(1);
	make_pod_group(stage, 2);
	stage.world.pod_seen(bound(loose("z"), "n1", 0, 3), stage.now);
	stage.world.pod_seen(loose("a"), stage.now);
	stage.world.pod_seen(loose("b"), stage.now);
	stage.connect({group_job(stage, nodes({{"n1", 8}, {"n2", 4}}))});
	const auto binds = only<Bind>(stage.take());
	REQUIRE(binds.size() == 2);
	CHECK(binds[0].second.rank == 1U && binds[1].second.rank == 2U);
}

/* Those that run alone, or have ended, are pods of the group all the same. */
void pods_that_run_alone_count_for_the_minimum()
{
	Stage stage(1);
	make_pod_group(stage, 2);
	SlurmJob own = stage.running(nodes({{"n3", 4}}), 1, 9);
	own.marker = {.cluster = "main", .name_space = "a", .name = "b", .kind = k_pod_kind, .uid = "b", .attempt = 1};
	stage.connect({own});
	stage.world.pod_seen(loose("b"), stage.now);
	(void)stage.take();
	stage.world.pod_seen(loose("c"), stage.now);
	CHECK_EQUAL(only<Submit>(stage.take()).size(), 1U);
}

/* Names of a PodGroup's pods say nothing of its uid. */
void another_group_of_the_same_name_is_asked_for()
{
	Stage stage(1);
	make_pod_group(stage, 1);
	stage.world.pod_seen(loose("a"), stage.now);
	(void)stage.take();
	stage.pass(k_second);
	stage.job.uid = "other-uid";
	stage.world.pod_seen(loose("b"), stage.now);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().first.text, "other-uid");
}

/* Nobody asked Slurm: it has its seat, and the others go on. */
void a_member_bound_by_somebody_else_is_in_nobodys_way()
{
	Stage stage(2);
	Pod theirs = stage.pod(0);
	theirs.node_name = "n4";
	stage.world.pod_seen(theirs, stage.now);
	stage.world.pod_seen(stage.pod(1), stage.now);
	CHECK_EQUAL(only<Submit>(stage.take()).size(), 1U);
}

void a_gated_member_is_one_that_has_not_come()
{
	Stage stage(2);
	stage.start(1);
	Pod gated = stage.pod(1);
	gated.gated = true;
	stage.world.pod_seen(gated, stage.now);
	(void)stage.take();
	stage.pass(601 * k_second);
	const auto ends = only<Complete>(stage.take());
	REQUIRE(ends.size() == 1);
	CHECK_EQUAL(ends.front().second.wait_status, k_status_never_came);
}

/* Slurm must not hold nodes for pods that nobody knows when to come. */
void nothing_is_asked_for_while_a_member_is_gated()
{
	Stage stage(2);
	Pod gated = stage.pod(1);
	gated.gated = true;
	stage.world.pod_seen(stage.pod(0), stage.now);
	stage.world.pod_seen(gated, stage.now);
	CHECK(only<Submit>(stage.take()).empty());
	stage.pass(2 * k_second);
	stage.world.pod_seen(stage.pod(0), stage.now);
	const auto told = only<Report>(stage.take());
	REQUIRE(told.size() == 1);
	CHECK_EQUAL(told.front().second.not_scheduled.message, "1 pods of Job train have scheduling gates");
	stage.world.pod_seen(stage.pod(1), stage.now);
	CHECK_EQUAL(only<Submit>(stage.take()).size(), 1U);
}

void who_waits_for_the_end_of_earlier_pods_says_so()
{
	Stage stage(2);
	stage.start(2);
	Pod stopping = *stage.world.pod_of({"u0"});
	stopping.deleting = true;
	stage.world.pod_seen(stopping, stage.now);
	stage.end(1, PodPhase::failed, 1);
	SlurmJob ended = stage.running({});
	ended.state = JobState::node_fail;
	ended.end_time = stage.now.wall_s;
	stage.world.job_seen(ended, stage.now);
	stage.world.pod_seen(stage.pod(1, "b"), stage.now);
	(void)stage.take();
	stage.pass(2 * k_second);
	stage.world.pod_seen(stage.pod(1, "b"), stage.now);
	const auto told = only<Report>(stage.take());
	REQUIRE(told.size() == 1);
	CHECK_EQUAL(told.front().second.not_scheduled.message, "earlier pods of the gang are still ending");
}

/* Slurm lists dynamic nodes as they happened to register. */
void ranks_follow_the_names_of_nodes()
{
	Stage stage(4);
	stage.all_pods(4);
	(void)stage.take();
	stage.world.submitted({"train-uid"}, Submitted{.job = {7}, .node = ""}, stage.now);
	stage.world.job_seen(stage.running(nodes({{"n3", 8}, {"n1", 8}})), stage.now);
	std::string places;
	for (const auto &[pod, bind] : only<Bind>(stage.take()))
		places += pod.text + "=" + std::to_string(*bind.rank) + "@" + bind.node + " ";
	CHECK_EQUAL(places, "u0=0@n1 u1=1@n1 u2=2@n3 u3=3@n3 ");
}

} // namespace

int main()
{
	return check::run_tests("world_gangs", {
						       TEST(a_lost_answer_removes_no_pod_that_runs),
						       TEST(a_job_that_forgot_its_start_is_asked_for_again),
						       TEST(a_job_that_we_ended_is_not_about_pods_that_wait),
						       TEST(a_job_that_an_agent_before_ended_is_not_either),
						       TEST(a_member_whose_owner_has_gone_keeps_its_job),
						       TEST(no_allocation_is_let_go_while_an_owner_does_not_answer),
						       TEST(a_pod_that_comes_during_the_submission_runs_alone),
						       TEST(what_slurm_allocated_is_not_exceeded),
						       TEST(a_pod_with_a_job_of_its_own_keeps_it),
						       TEST(ranks_of_pods_that_run_stay),
						       TEST(pods_that_run_alone_count_for_the_minimum),
						       TEST(another_group_of_the_same_name_is_asked_for),
						       TEST(a_member_bound_by_somebody_else_is_in_nobodys_way),
						       TEST(a_gated_member_is_one_that_has_not_come),
						       TEST(nothing_is_asked_for_while_a_member_is_gated),
						       TEST(who_waits_for_the_end_of_earlier_pods_says_so),
						       TEST(ranks_follow_the_names_of_nodes),
					       });
}
