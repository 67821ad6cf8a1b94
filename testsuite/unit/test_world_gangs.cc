/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and gangs when something fails: restarts of agent and slurmctld, lost answers, pods that
 * others change. The simulator found most of these cases. */
#include "src/core/model/outcome.h"
#include "testsuite/unit/gang_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

using Stage = GangStage;

/* A pod as an earlier agent bound it. */
Pod bound(Pod pod, const char *node, std::uint32_t rank, std::uint32_t ranks)
{
	pod.node_name = node;
	pod.phase = PodPhase::running;
	pod.annotations = {{names::k_allocation_job_id, "7"}, {names::k_allocation_attempt, "1"},
		{names::k_allocation_rank, std::to_string(rank)},
		{names::k_allocation_size, std::to_string(ranks)},
		{names::k_allocation_gang, "train-uid"}};
	return pod;
}

/* slurmctld ends a job whose submitter did not receive the answer. That is no user's wish. */
void a_lost_answer_removes_no_pod_that_runs()
{
	Stage stage(4);
	stage.start(4);
	SlurmJob lost = stage.running({}, 2, 8);
	lost.state = JobState::failed;
	lost.submit_time = lost.end_time = stage.now.wall_s;
	stage.connect({lost});
	const auto actions = stage.take();
	CHECK(only<DeletePod>(actions).empty());
	stage.pass(11 * k_second);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.marker.attempt, 3U);
}

/* slurmctld restored a state in which the job is pending: the job could start on any node. */
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

/* The job ended for lack of pods while this pod was on its way. */
void a_job_that_we_ended_is_not_about_pods_that_wait()
{
	Stage stage(2);
	stage.start(2);
	for (std::uint32_t i : {0U, 1U})
		stage.end(i, PodPhase::failed, 1);
	(void)stage.take();
	stage.pass(11 * k_second);
	REQUIRE(only<Complete>(stage.take()).size() == 1);
	stage.world.answer(CompleteAnswered{{"train-uid"}, Ok{}, true}, stage.now);
	SlurmJob ended = stage.running({});
	ended.state = JobState::cancelled;
	ended.submit_time = stage.now.wall_s - 100;
	ended.end_time = stage.now.wall_s + 5;
	stage.world.observe(JobSeen{ended}, stage.now);
	stage.world.observe(PodSeen{stage.pod(0, "b")}, stage.now);
	stage.pass(4 * k_second);
	const auto actions = stage.take();
	CHECK(only<DeletePod>(actions).empty());
	CHECK_EQUAL(only<Submit>(actions).size(), 1U);
}

/* The same for an agent that starts later. An agent that runs as root cannot distinguish its own
 * cancellation from that of an administrator, so it takes the end for an administrator's. */
void a_job_that_an_agent_before_ended_is_not_either()
{
	for (const auto &[own, by, removed] : {std::tuple(64030U, 64030U, 0U),
		     std::tuple(64030U, 1000U, 1U), std::tuple(0U, 0U, 1U)}) {
		Settings settings = plain_settings();
		settings.own_uid = own;
		Stage stage(2, size(4000, 64), settings);
		SlurmJob ended = stage.running({});
		ended.state = JobState::cancelled;
		ended.ended_by = by;
		ended.submit_time = stage.now.wall_s - 100;
		ended.end_time = stage.now.wall_s + 5;
		stage.world.observe(JobSeen{ended}, stage.now);
		stage.world.observe(PodSeen{stage.pod(0)}, stage.now);
		CHECK_EQUAL(only<DeletePod>(stage.take()).size(), removed);
	}
}

/* kubectl delete --cascade=orphan, and a new agent: the annotations of the binding decide. */
void a_member_whose_owner_has_gone_keeps_its_job()
{
	Stage stage(2);
	for (std::uint32_t i : {0U, 1U})
		stage.world.observe(PodSeen{bound(stage.pod(i), "n1", i, 2)}, stage.now);
	stage.connect({stage.running(nodes({{"n1", 8}}))});
	for (int i = 0; i < 8; i++) {
		for (const OwnerId &id : stage.world.take_questions(stage.now))
			stage.world.observe(OwnerSeen{id, std::optional<Owner>()}, stage.now);
		const auto actions = stage.world.take_actions(stage.now);
		CHECK(only<Complete>(actions).empty() && only<Submit>(actions).empty());
		stage.pass(3 * k_second);
	}
}

/* The API server does not name the owner, so the pod may be a member. */
void no_allocation_is_let_go_while_an_owner_does_not_answer()
{
	Stage stage(2);
	stage.start(2);
	for (std::uint32_t i : {0U, 1U})
		stage.end(i, PodPhase::failed, 1);
	(void)stage.take();
	stage.pass(5 * k_second);
	stage.world.observe(PodSeen{stage.pod(0, "b")}, stage.now);
	for (int i = 0; i < 8; i++) {
		for (const OwnerId &id : stage.world.take_questions(stage.now))
			stage.world.observe(OwnerSeen{id, Error{Errc::io, "500"}}, stage.now);
		CHECK(only<Complete>(stage.world.take_actions(stage.now)).empty());
		stage.pass(3 * k_second);
	}
}

/* The jobs are not known yet. If the pod joined the gang, the gang would share the pod's end,
 * and its job would end CANCELLED. */
void a_pod_that_was_bound_alone_joins_no_gang()
{
	GangStage stage(3);
	Pod pod = stage.pod(0);
	pod.node_name = "n1";
	pod.phase = PodPhase::succeeded;
	pod.annotations = allocation_annotations(9);
	stage.world.observe(PodSeen{pod}, stage.now);
	(void)stage.take();
	CHECK(!stage.world.state().pods.at(pod.uid).component);
	CHECK(stage.world.state().gangs.empty());
}

/* Slurm was not asked for that pod. It has its rank, and the other pods go on. */
void a_member_bound_by_somebody_else_is_in_nobodys_way()
{
	Stage stage(2);
	Pod theirs = stage.pod(0);
	theirs.node_name = "n4";
	stage.world.observe(PodSeen{theirs}, stage.now);
	stage.world.observe(PodSeen{stage.pod(1)}, stage.now);
	CHECK_EQUAL(only<Submit>(stage.take()).size(), 1U);
}

void a_gated_member_is_one_that_has_not_come()
{
	Stage stage(2);
	stage.start(1);
	Pod gated = stage.pod(1);
	gated.gated = true;
	stage.world.observe(PodSeen{gated}, stage.now);
	(void)stage.take();
	stage.pass(601 * k_second);
	CHECK(only<Complete>(stage.take()).empty()); /* the other rank runs */
	stage.end(0, PodPhase::succeeded);
	(void)stage.take();
	stage.pass(601 * k_second);
	const auto ends = only<Complete>(stage.take());
	REQUIRE(ends.size() == 1);
	CHECK_EQUAL(ends.front().second.wait_status, k_status_never_came);
}

/* An elastic Indexed Job: while its job is pending, a job of the new size replaces it; while its
 * job runs, nothing changes. */
void a_waiting_job_follows_the_size_of_its_owner()
{
	for (const std::uint32_t pods : {5U, 2U}) {
		Stage stage(3);
		stage.all_pods(3);
		REQUIRE(only<Submit>(stage.take()).size() == 1);
		stage.world.answer(SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}},
			stage.now);
		stage.world.observe(JobSeen{stage.running({})}, stage.now);
		CHECK(only<Cancel>(stage.take()).empty());
		stage.job.roles.front().pods = pods;
		stage.pass(31 * k_second); /* the interval after which the owner is asked again */
		for (std::uint32_t i = 3; i < pods; i++)
			stage.world.observe(PodSeen{stage.pod(i)}, stage.now);
		if (pods == 2)
			stage.world.observe(PodGone{{"u2"}, std::nullopt}, stage.now);
		const auto cancels = only<Cancel>(stage.take());
		REQUIRE(cancels.size() == 1);
		CHECK_EQUAL(cancels.front().second.job.number, 7U);
		stage.world.answer(CompleteAnswered{{"train-uid"}, Ok{}, true}, stage.now);
		SlurmJob ended = stage.running({});
		ended.state = JobState::cancelled;
		ended.end_time = stage.now.wall_s;
		stage.world.observe(JobSeen{ended}, stage.now);
		stage.pass(5 * k_second);
		const auto actions = stage.take();
		CHECK(only<DeletePod>(actions).empty());
		const auto submits = only<Submit>(actions);
		REQUIRE(submits.size() == 1);
		CHECK_EQUAL(submits.front().second.spec.tasks, pods);
		CHECK_EQUAL(submits.front().second.spec.marker.attempt, 2U);
	}
	Stage stage(2);
	stage.start(2);
	stage.job.roles.front().pods = 1;
	stage.pass(31 * k_second);
	const auto actions = stage.take();
	CHECK(only<Cancel>(actions).empty() && only<Complete>(actions).empty());
}

/* The way out of a refusal, without recreating the pods. */
void a_gang_whose_owner_wants_none_is_single_pods()
{
	Stage stage(9);
	stage.all_pods(9);
	CHECK(only<Submit>(stage.take()).empty()); /* the nodes hold only eight */
	stage.job.annotations = {{"slurm-kube.io/gang", "false"}};
	stage.pass(31 * k_second);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 9);
	CHECK_EQUAL(submits.front().second.spec.marker.kind, k_pod_kind);
}

void the_deadline_of_its_job_is_a_time_limit()
{
	for (const bool is_gang : {true, false}) {
		Stage stage(2);
		stage.job.deadline_seconds = 90;
		stage.job.starts_together = is_gang;
		stage.all_pods(2);
		const auto submits = only<Submit>(stage.take());
		REQUIRE(submits.size() == (is_gang ? 1 : 2));
		CHECK_EQUAL(submits.front().second.spec.time_limit_minutes, 2U);
	}
}

/* Answers this pass's look-ups; returns their number. */
std::size_t look_up(Stage &stage, PodLookup sight)
{
	const auto looks = only<LookUp>(stage.take());
	stage.pass(k_second / 10);
	for (const auto &[uid, look] : looks)
		stage.world.answer(LookUpAnswered{uid, sight}, stage.now);
	return looks.size();
}

/* An earlier agent may have bound members that no watch has shown yet. */
void a_forbidden_allocation_is_given_back_when_no_member_is_bound()
{
	Stage stage(2);
	stage.all_pods(2);
	(void)stage.take();
	stage.world.answer(
		SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, stage.now);
	KubeNode tainted = kube_node("n1", "n1-uid", 8000);
	tainted.taints = {{"gpu", "", "NoSchedule"}};
	stage.world.observe(NodeSeen{tainted}, stage.now);
	stage.world.observe(JobSeen{stage.running(nodes({{"n1", 8}}))}, stage.now);
	CHECK_EQUAL(look_up(stage, PodLookup::bound), 2U);
	CHECK(only<Complete>(stage.take()).empty());
	stage.pass(30 * k_second);
	CHECK_EQUAL(look_up(stage, PodLookup::unbound), 2U);
	const auto ends = only<Complete>(stage.take());
	REQUIRE(ends.size() == 1);
	CHECK_EQUAL(ends.front().second.wait_status, k_status_given_back);
}

/* Slurm must not hold nodes for pods that come at an unknown time. */
void nothing_is_asked_for_while_a_member_is_gated()
{
	Stage stage(2);
	Pod gated = stage.pod(1);
	gated.gated = true;
	stage.world.observe(PodSeen{stage.pod(0)}, stage.now);
	stage.world.observe(PodSeen{gated}, stage.now);
	CHECK(only<Submit>(stage.take()).empty());
	stage.pass(2 * k_second);
	stage.world.observe(PodSeen{stage.pod(0)}, stage.now);
	const auto told = only<Report>(stage.take());
	REQUIRE(told.size() == 1);
	CHECK_EQUAL(told.front().second.not_scheduled.message,
		"1 pods of Job train have scheduling gates");
	stage.world.observe(PodSeen{stage.pod(1)}, stage.now);
	CHECK_EQUAL(only<Submit>(stage.take()).size(), 1U);
}

void who_waits_for_the_end_of_earlier_pods_says_so()
{
	Stage stage(2);
	stage.start(2);
	Pod stopping = *stage.world.state().pod({"u0"});
	stopping.deleting = true;
	stage.world.observe(PodSeen{stopping}, stage.now);
	stage.end(1, PodPhase::failed, 1);
	SlurmJob ended = stage.running({});
	ended.state = JobState::node_fail;
	ended.end_time = stage.now.wall_s;
	stage.world.observe(JobSeen{ended}, stage.now);
	stage.world.observe(PodSeen{stage.pod(1, "b")}, stage.now);
	(void)stage.take();
	stage.pass(2 * k_second);
	stage.world.observe(PodSeen{stage.pod(1, "b")}, stage.now);
	const auto told = only<Report>(stage.take());
	REQUIRE(told.size() == 1);
	CHECK_EQUAL(told.front().second.not_scheduled.message,
		"earlier pods of the gang are still ending");
}

/* Slurm lists dynamic nodes in the order of their registration. */
void ranks_follow_the_names_of_nodes()
{
	Stage stage(4);
	stage.all_pods(4);
	(void)stage.take();
	stage.world.answer(
		SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, stage.now);
	stage.world.observe(JobSeen{stage.running(nodes({{"n3", 8}, {"n1", 8}}))}, stage.now);
	std::string places;
	for (const auto &[pod, bind] : only<Bind>(stage.take()))
		places += pod.text + "=" + std::to_string(*bind.rank) + "@" + bind.node + " ";
	CHECK_EQUAL(places, "u0=0@n1 u1=1@n1 u2=2@n3 u3=3@n3 ");
}

} // namespace

int main()
{
	return check::run_tests("world_gangs",
		{
			TEST(a_lost_answer_removes_no_pod_that_runs),
			TEST(a_job_that_forgot_its_start_is_asked_for_again),
			TEST(a_job_that_we_ended_is_not_about_pods_that_wait),
			TEST(a_job_that_an_agent_before_ended_is_not_either),
			TEST(a_member_whose_owner_has_gone_keeps_its_job),
			TEST(no_allocation_is_let_go_while_an_owner_does_not_answer),
			TEST(a_pod_that_was_bound_alone_joins_no_gang),
			TEST(a_member_bound_by_somebody_else_is_in_nobodys_way),
			TEST(a_gated_member_is_one_that_has_not_come),
			TEST(a_waiting_job_follows_the_size_of_its_owner),
			TEST(a_gang_whose_owner_wants_none_is_single_pods),
			TEST(the_deadline_of_its_job_is_a_time_limit),
			TEST(a_forbidden_allocation_is_given_back_when_no_member_is_bound),
			TEST(nothing_is_asked_for_while_a_member_is_gated),
			TEST(who_waits_for_the_end_of_earlier_pods_says_so),
			TEST(ranks_follow_the_names_of_nodes),
		});
}
