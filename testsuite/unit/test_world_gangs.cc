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

bool has(const std::string &text, const char *words)
{
	return text.find(words) != std::string::npos;
}

/* Owner of pods without an owner, of which so many start together. */
void make_pod_group(Stage &stage, std::uint32_t minimum)
{
	stage.job.id = {"scheduling.x-k8s.io/v1alpha1", "PodGroup", "a", "group"};
	stage.job.roles.clear();
	stage.job.minimum = minimum;
}

Pod group_pod(const std::string &name, std::int64_t milli_cpu = 4000)
{
	Pod p = make_pod("a", name, name, size(milli_cpu, 64));
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

/* The job was sized for three pods. A fourth must not be squeezed in. */
void a_pod_that_comes_during_the_submission_runs_alone()
{
	Stage stage(1);
	make_pod_group(stage, 3);
	for (const char *name : {"a", "b", "c"})
		stage.world.observe(PodSeen{group_pod(name)}, stage.now);
	REQUIRE(only<Submit>(stage.take()).size() == 1);
	stage.world.observe(PodSeen{group_pod("d")}, stage.now);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().first.text, "d");
	stage.world.answer(
		SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, stage.now);
	stage.world.observe(JobSeen{group_job(stage, nodes({{"n1", 8}, {"n2", 4}}))}, stage.now);
	CHECK_EQUAL(only<Bind>(stage.take()).size(), 3U);
}

/* A new agent counts four pods for the gang, but Slurm has allocated room for three. */
void what_slurm_allocated_is_not_exceeded()
{
	Stage stage(1);
	make_pod_group(stage, 3);
	for (const char *name : {"a", "b", "c", "d"})
		stage.world.observe(PodSeen{group_pod(name, 2000)}, stage.now);
	stage.connect({group_job(stage, nodes({{"n1", 6}}))});
	const auto actions = stage.take();
	CHECK_EQUAL(only<Bind>(actions).size(), 3U);
	const auto submits = only<Submit>(actions);
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().first.text, "d");
}

/* A new agent hears of the pods before it hears of the jobs. */
void a_pod_with_a_job_of_its_own_keeps_it()
{
	Stage stage(1);
	make_pod_group(stage, 2);
	for (const char *name : {"a", "b", "c"})
		stage.world.observe(PodSeen{group_pod(name)}, stage.now);
	for (const OwnerId &id : stage.world.take_questions(stage.now))
		stage.world.observe(OwnerSeen{id, std::optional<Owner>(stage.job)}, stage.now);
	SlurmJob own = stage.running(nodes({{"n3", 4}}), 1, 9);
	own.marker = make_marker("a", "b", k_pod_kind, "b");
	stage.connect({group_job(stage, nodes({{"n1", 8}})), own});
	const auto binds = only<Bind>(stage.take());
	REQUIRE(binds.size() == 3);
	for (const auto &[pod, bind] : binds)
		CHECK_EQUAL(bind.node, pod.text == "b" ? "n3" : "n1");
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

void ranks_of_pods_that_run_stay()
{
	Stage stage(1);
	make_pod_group(stage, 2);
	stage.world.observe(PodSeen{bound(group_pod("z"), "n1", 0, 3)}, stage.now);
	stage.world.observe(PodSeen{group_pod("a")}, stage.now);
	stage.world.observe(PodSeen{group_pod("b")}, stage.now);
	stage.connect({group_job(stage, nodes({{"n1", 8}, {"n2", 4}}))});
	const auto binds = only<Bind>(stage.take());
	REQUIRE(binds.size() == 2);
	CHECK(binds[0].second.rank == 1U && binds[1].second.rank == 2U);
}

/* Pods of the group that run alone or have ended count, too. */
void pods_that_run_alone_count_for_the_minimum()
{
	Stage stage(1);
	make_pod_group(stage, 2);
	SlurmJob own = stage.running(nodes({{"n3", 4}}), 1, 9);
	own.marker = make_marker("a", "b", k_pod_kind, "b");
	stage.connect({own});
	stage.world.observe(PodSeen{group_pod("b")}, stage.now);
	(void)stage.take();
	stage.world.observe(PodSeen{group_pod("c")}, stage.now);
	CHECK_EQUAL(only<Submit>(stage.take()).size(), 1U);
}

/* A node would have to suit each of them. The pods report that, and no job is submitted. */
void a_pod_group_of_unlike_pods_is_refused()
{
	Stage stage(0);
	make_pod_group(stage, 2);
	for (const char *name : {"n1", "n2", "n3", "n4"}) {
		KubeNode node = kube_node(name, std::string(name) + "-uid", 8000);
		node.labels["pool"] = std::string(name) < "n3" ? "a" : "b";
		stage.world.observe(NodeSeen{node}, stage.now);
	}
	Pod one = group_pod("one"), other = group_pod("other");
	one.constraints.node_selector = {{"pool", "a"}};
	other.constraints.node_selector = {{"pool", "b"}};
	for (const Pod &pod : {one, other})
		stage.world.observe(PodSeen{pod}, stage.now);
	(void)stage.take();
	stage.pass(2 * k_second);
	const auto actions = stage.take();
	CHECK(only<Submit>(actions).empty());
	const auto reports = only<Report>(actions);
	REQUIRE(!reports.empty());
	CHECK(reports.front().second.not_scheduled.message.starts_with(
		"no node suits both pod 'one' ("));
}

/* Fields that are specific to each pod and do not select nodes are no reason to refuse the
 * group. */
void a_large_pod_group_whose_pods_differ_is_asked_for()
{
	Stage stage(0);
	make_pod_group(stage, 40);
	for (const char *name : {"n1", "n2", "n3", "n4"}) {
		stage.world.observe(
			NodeSeen{kube_node(name, std::string(name) + "-uid", 64000)}, stage.now);
		stage.world.observe(SlurmNodeSeen{slurm_node(name, 64)});
	}
	for (int i = 0; i < 40; i++) {
		Pod pod = group_pod("p" + std::to_string(i), 100);
		pod.active_deadline_seconds = 1000 + i;
		stage.world.observe(PodSeen{pod}, stage.now);
	}
	CHECK_EQUAL(only<Submit>(stage.take()).size(), 1U);
}

/* The job lasts as long as the last of its pods may. */
void a_pod_group_has_the_longest_deadline_of_its_pods()
{
	for (const std::int64_t other : {0, 86400}) {
		Stage stage(0);
		make_pod_group(stage, 2);
		Pod one = group_pod("one", 1000), last = group_pod("other", 1000);
		one.active_deadline_seconds = 600;
		last.active_deadline_seconds = other;
		for (const Pod &pod : {one, last})
			stage.world.observe(PodSeen{pod}, stage.now);
		const auto jobs = only<Submit>(stage.take());
		REQUIRE(jobs.size() == 1);
		CHECK_EQUAL(jobs.front().second.spec.time_limit_minutes, other / 60);
	}
}

/* Whichever of its pods has it. */
void what_is_not_supported_is_refused_for_a_pod_group()
{
	Stage stage(0);
	make_pod_group(stage, 2);
	Pod one = group_pod("one", 1000), other = group_pod("other", 1000);
	other.unsupported_fields = {"spec.resourceClaims"};
	for (const Pod &pod : {one, other})
		stage.world.observe(PodSeen{pod}, stage.now);
	const auto actions = stage.take();
	CHECK(only<Submit>(actions).empty());
	const auto reports = only<Report>(actions);
	REQUIRE(!reports.empty());
	CHECK(has(reports.front().second.not_scheduled.message, "spec.resourceClaims"));
}

void a_pod_group_of_too_many_kinds_is_refused()
{
	Stage stage(0);
	make_pod_group(stage, 36);
	for (int i = 0; i < 36; i++) {
		Pod pod = group_pod("p" + std::to_string(i), 100);
		pod.constraints.tolerations.push_back({});
		pod.constraints.tolerations.back().key = "t" + std::to_string(i);
		stage.world.observe(PodSeen{pod}, stage.now);
	}
	const auto actions = stage.take();
	CHECK(only<Submit>(actions).empty());
	const auto reports = only<Report>(actions);
	REQUIRE(!reports.empty());
	CHECK(has(reports.front().second.not_scheduled.message, "has more than 32 "));
}

/* Names of a PodGroup's pods say nothing of its uid. */
void another_group_of_the_same_name_is_asked_for()
{
	Stage stage(1);
	make_pod_group(stage, 1);
	stage.world.observe(PodSeen{group_pod("a")}, stage.now);
	(void)stage.take();
	stage.pass(k_second);
	stage.job.uid = "other-uid";
	stage.world.observe(PodSeen{group_pod("b")}, stage.now);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().first.text, "other-uid");
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

/* For a bound pod every node but its own is excluded. That must not apply to other pods of its
 * kind. */
void a_gang_that_runs_keeps_nobody_off_the_nodes()
{
	Stage stage(2);
	for (std::uint32_t i : {0U, 1U})
		stage.world.observe(PodSeen{bound(stage.pod(i), "n1", i, 2)}, stage.now);
	stage.connect({stage.running(nodes({{"n1", 8}}))});
	(void)stage.take(); /* a new agent computes the shape of its job */
	Pod other = group_pod("other");
	other.labels.clear();
	stage.world.observe(PodSeen{other}, stage.now);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.excluded_nodes.size(), 0U);
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

/* A pod runs on n1, but Slurm has lost its job. The new job waits for the node that Slurm gave
 * to the gang. */
void a_gang_gives_way_to_a_pod_that_runs_without_a_job()
{
	Stage stage(2);
	Pod runs = group_pod("alone", 8000);
	runs.labels.clear();
	runs.node_name = "n1";
	runs.phase = PodPhase::running;
	runs.annotations = allocation_annotations(5);
	stage.world.observe(PodSeen{runs}, stage.now);
	stage.all_pods(2);
	(void)stage.take();
	stage.world.answer(
		SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, stage.now);
	stage.world.observe(JobSeen{stage.running(nodes({{"n1", 8}}))}, stage.now);
	SlurmJob again = stage.running({}, 2, 8);
	again.marker = make_marker("a", "alone", k_pod_kind, "alone", 2);
	again.nodes.clear();
	again.state = JobState::pending;
	stage.world.observe(JobSeen{again}, stage.now);
	CHECK(only<Bind>(stage.take()).empty());
	stage.pass(4 * k_second);
	CHECK_EQUAL(look_up(stage, PodLookup::unbound), 2U);
	const auto ends = only<Complete>(stage.take());
	REQUIRE(ends.size() == 1);
	CHECK_EQUAL(ends.front().second.job.number, 7U);
	CHECK_EQUAL(ends.front().second.wait_status, k_status_given_back);
}

/* The reverse case: the job of a running gang waits for its node. */
void a_pod_gives_way_to_a_gang_that_runs_without_a_job()
{
	Stage stage(2);
	stage.start(2, nodes({{"n1", 8}}));
	stage.connect({});
	(void)stage.take();
	stage.pass(11 * k_second);
	REQUIRE(only<Submit>(stage.take()).size() == 1);
	stage.world.answer(
		SubmitAnswered{{"train-uid"}, Submitted{.job = {8}, .node = ""}}, stage.now);
	stage.world.observe(JobSeen{stage.running({}, 2, 8)}, stage.now);
	Pod waits = group_pod("alone", 8000);
	waits.labels.clear();
	stage.world.observe(PodSeen{waits}, stage.now);
	(void)stage.take();
	stage.world.answer(
		SubmitAnswered{{"alone"}, Submitted{.job = {9}, .node = "n1", .cpus = 8}},
		stage.now);
	SlurmJob its = stage.running(nodes({{"n1", 8}}), 1, 9);
	its.marker = make_marker("a", "alone", k_pod_kind, "alone");
	stage.world.observe(JobSeen{its}, stage.now);
	CHECK(only<Bind>(stage.take()).empty());
	stage.pass(4 * k_second);
	CHECK_EQUAL(look_up(stage, PodLookup::unbound), 1U);
	const auto ends = only<Complete>(stage.take());
	REQUIRE(ends.size() == 1);
	CHECK_EQUAL(ends.front().second.job.number, 9U);
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

/* ---- pods that are larger than their templates ---- */

/* Two roles of a JobSet: a leader, and workers that come when it runs. */
struct TwoRoles : GangStage {
	Resources leader = size(4000, 64), worker = size(4000, 64); /* as in the pods */

	TwoRoles() : GangStage(1)
	{
		job.id = {"jobset.x-k8s.io/v1alpha2", "JobSet", "a", "train"};
		job.roles = {{.name = "leader", .pods = 1, .each = size(4000, 64)},
			{.name = "worker", .pods = 3, .pods_per_job = 3, .each = size(4000, 64)}};
	}

	/* index 0: the leader */
	[[nodiscard]] Pod member(std::uint32_t index) const
	{
		Pod p = pod(index);
		p.requests = index == 0 ? leader : worker;
		p.labels = {{"jobset.sigs.k8s.io/jobset-name", "train"},
			{"jobset.sigs.k8s.io/replicatedjob-name", index == 0 ? "leader" : "worker"},
			{"jobset.sigs.k8s.io/job-index", "0"},
			{"batch.kubernetes.io/job-completion-index",
				std::to_string(index == 0 ? 0 : index - 1)}};
		p.controller = OwnerRef{"jobset.x-k8s.io/v1alpha2", "JobSet", "train", "train-uid"};
		return p;
	}

	SlurmJob started(
		std::vector<NodeAllocation> on, std::uint32_t attempt = 1, std::uint32_t id = 7)
	{
		world.answer(
			SubmitAnswered{{"train-uid"}, Submitted{.job = {id}, .node = ""}}, now);
		SlurmJob j = running(std::move(on), attempt, id);
		j.marker.kind = "JobSet";
		world.observe(JobSeen{j}, now);
		return j;
	}
};

/* A LimitRange or an injected sidecar changes requests: the first pod of a role decides. */
void a_job_is_sized_by_what_its_pods_request()
{
	GangStage stage(4, size(500, 64));
	Pod first = stage.pod(0);
	first.requests = size(2000, 300);
	stage.world.observe(PodSeen{first}, stage.now);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.tasks, 4U);
	CHECK_EQUAL(submits.front().second.spec.cpus, 2U);
	CHECK_EQUAL(submits.front().second.spec.memory_mib, 300U);
	/* a smaller pod does not shrink the job, because the next pod may not be as small */
	GangStage smaller(4, size(2000, 300));
	first = smaller.pod(0);
	first.requests = size(500, 64);
	smaller.world.observe(PodSeen{first}, smaller.now);
	CHECK_EQUAL(only<Submit>(smaller.take()).front().second.spec.cpus, 2U);
}

/* The workers are created after the submission. */
void an_allocation_that_is_too_small_is_given_back_and_asked_for_anew()
{
	TwoRoles stage;
	stage.worker = size(6000, 64);
	stage.world.observe(PodSeen{stage.member(0)}, stage.now);
	auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.cpus, 4U);
	for (std::uint32_t i = 1; i < 4; i++)
		stage.world.observe(PodSeen{stage.member(i)}, stage.now);
	stage.pass(10 * k_second);
	SlurmJob job = stage.started(nodes({{"n1", 8}, {"n2", 8}}));
	const auto actions = stage.take();
	CHECK(only<Bind>(actions).empty());
	const auto ends = only<Complete>(actions);
	REQUIRE(ends.size() == 1);
	CHECK_EQUAL(ends.front().second.wait_status, k_status_given_back);
	const auto told = only<Report>(actions);
	REQUIRE(!told.empty());
	CHECK(told.front().second.not_scheduled.message.starts_with(
		"the allocation of Slurm job 7 is too small for the pod of rank "));
	stage.world.answer(CompleteAnswered{{"train-uid"}, Ok{}, false}, stage.now);
	job.state = JobState::failed;
	job.nodes.clear();
	job.end_time = stage.now.wall_s;
	stage.world.observe(JobSeen{job}, stage.now);
	(void)stage.take();
	stage.pass(10 * k_second);
	submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.cpus, 6U);
	CHECK_EQUAL(submits.front().second.spec.marker.attempt, 2U);
	stage.started(nodes({{"n1", 6}, {"n2", 6}, {"n3", 6}, {"n4", 6}}), 2, 8);
	CHECK_EQUAL(only<Bind>(stage.take()).size(), 4U);
}

/* Running pods are not stopped for it, and it does not wait forever. */
void a_pod_without_room_beside_those_that_run_gets_a_job_of_its_own()
{
	TwoRoles stage;
	stage.worker = size(6000, 64);
	stage.world.observe(PodSeen{stage.member(0)}, stage.now);
	(void)stage.take();
	stage.started(nodes({{"n1", 8}, {"n2", 8}}));
	for (const auto &[uid, bind] : only<Bind>(stage.take()))
		stage.world.answer(BindAnswered{uid, Ok{}}, stage.now);
	for (std::uint32_t i = 1; i < 4; i++)
		stage.world.observe(PodSeen{stage.member(i)}, stage.now);
	const auto actions = stage.take();
	CHECK(only<Complete>(actions).empty());
	const auto binds = only<Bind>(actions), again = only<Bind>(stage.take());
	REQUIRE(binds.size() == 1); /* on n2, where no pod runs */
	CHECK_EQUAL(binds.front().second.node, "n2");
	const auto submits = only<Submit>(actions);
	CHECK_EQUAL(submits.size(), 2U);
	for (const auto &[uid, submit] : submits)
		CHECK_EQUAL(submit.spec.marker.kind, k_pod_kind);
	stage.world.answer(BindAnswered{binds.front().first, Ok{}}, stage.now);
	stage.pass(700 * k_second);
	CHECK(only<Complete>(stage.take()).empty()); /* their ranks are not empty */
}

/* Slurm may allocate less than requested, for whatever reason. */
void an_allocation_is_not_given_back_for_ever()
{
	GangStage stage(4, size(2000, 64));
	stage.all_pods(4);
	for (std::uint32_t attempt = 1; attempt <= 3; attempt++) {
		REQUIRE(only<Submit>(stage.take()).size() == 1);
		stage.world.answer(
			SubmitAnswered{{"train-uid"}, Submitted{.job = {attempt}, .node = ""}},
			stage.now);
		SlurmJob job = stage.running(nodes({{"n1", 6}}), attempt, attempt);
		stage.world.observe(JobSeen{job}, stage.now);
		REQUIRE(only<Complete>(stage.take()).size() == 1);
		stage.world.answer(CompleteAnswered{{"train-uid"}, Ok{}, false}, stage.now);
		job.state = JobState::failed;
		job.nodes.clear();
		job.end_time = stage.now.wall_s;
		stage.world.observe(JobSeen{job}, stage.now);
		(void)stage.take();
		stage.pass(100 * k_second);
	}
	REQUIRE(only<Submit>(stage.take()).size() == 1);
	stage.world.answer(
		SubmitAnswered{{"train-uid"}, Submitted{.job = {4}, .node = ""}}, stage.now);
	stage.world.observe(JobSeen{stage.running(nodes({{"n1", 6}}), 4, 4)}, stage.now);
	const auto actions = stage.take();
	CHECK_EQUAL(only<Bind>(actions).size(), 3U);
	CHECK_EQUAL(only<Submit>(actions).size(), 1U);
	CHECK(only<Complete>(actions).empty());
}

/* ---- conditions ---- */

/* An agent that starts while slurmctld is away knows no job of a running pod. */
void a_pod_that_runs_is_not_told_that_it_waits_for_slurmctld()
{
	Stage stage(2);
	stage.world.observe(PodSeen{bound(stage.pod(0), "n1", 0, 2)}, stage.now);
	stage.world.observe(PodSeen{stage.pod(1)}, stage.now);
	stage.world.observe(LinkLost{});
	(void)stage.take();
	stage.pass(30 * k_second);
	const auto told = only<Report>(stage.take());
	REQUIRE(told.size() == 1);
	CHECK_EQUAL(told.front().first.text, "u1");
}

/* The write is refused because the pod has changed, and the pod may be bound by then. If it is
 * not, the condition is written at once, without waiting for the interval. */
void a_condition_that_met_a_changed_pod_is_decided_anew()
{
	GangStage stage(2);
	stage.all_pods(2);
	(void)stage.take();
	stage.world.answer(
		SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, stage.now);
	SlurmJob waiting = stage.running({});
	waiting.reason = "Priority";
	stage.world.observe(JobSeen{waiting}, stage.now);
	stage.pass(2 * k_second);
	REQUIRE(only<Report>(stage.take()).size() == 2);
	stage.world.answer(
		ReportAnswered{{"u0"}, Error{Errc::conflict, "the object has been modified"}},
		stage.now);
	stage.world.answer(ReportAnswered{{"u1"}, Error{Errc::io, "away"}}, stage.now);
	stage.pass(2 * k_second);
	const auto again = only<Report>(stage.take());
	REQUIRE(again.size() == 1);
	CHECK_EQUAL(again.front().first.text, "u0");
}

/* ---- allocations larger than the tasks ---- */

void ranks_with_devices_lie_where_their_devices_are()
{
	Resources each = size(1000, 64);
	each.extended["nvidia.com/gpu"] = 4;
	Settings settings = plain_settings();
	settings.policy.gres = default_gres_table();
	GangStage stage(4, each, settings);
	for (const char *name : {"n1", "n2"}) {
		KubeNode node = kube_node(name, std::string(name) + "-uid", 64000);
		node.allocatable.extended["nvidia.com/gpu"] = 8;
		stage.world.observe(NodeSeen{node}, stage.now);
		SlurmNode record = slurm_node(name, 64);
		record.gres = "gpu:8";
		stage.world.observe(SlurmNodeSeen{record});
	}
	stage.all_pods(4);
	REQUIRE(only<Submit>(stage.take()).size() == 1);
	stage.world.answer(
		SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, stage.now);
	auto shares = nodes({{"n1", 64}, {"n2", 64}}); /* exclusive */
	for (NodeAllocation &share : shares)
		share.gres.push_back({"gpu", "", 8, "0-7"});
	stage.world.observe(JobSeen{stage.running(shares)}, stage.now);
	std::string places;
	for (const auto &[pod, bind] : only<Bind>(stage.take()))
		places += std::to_string(*bind.rank) + "@" + bind.node + " ";
	CHECK_EQUAL(places, "0@n1 1@n1 2@n2 3@n2 ");
}

/* ---- requests that no node can hold ---- */

void the_largest_node_and_what_it_lacks_are_named()
{
	const auto said = [](std::uint32_t pods, const Resources &each) {
		GangStage stage(pods, each);
		stage.all_pods(1);
		(void)stage.take();
		stage.pass(5 * k_second);
		const auto reports = only<Report>(stage.take());
		return reports.empty() ? std::string()
				       : reports.front().second.not_scheduled.message;
	};
	CHECK_EQUAL(said(9, size(4000, 64)),
		"the gang needs 9 tasks of 4 CPUs and 64 MiB at once, and all nodes that its pods "
		"may use hold 8; the largest node has 8 CPUs and 1048576 MiB");
	CHECK_EQUAL(said(4, size(8000, 512 * 1024)), "");
	CHECK_EQUAL(said(5, size(1000, 1024 * 1024)),
		"the gang needs 5 tasks of 1 CPU and 1048576 MiB at once, and all nodes that its "
		"pods may use hold 4; the largest node has 8 CPUs and 1048576 MiB");
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
			TEST(a_pod_that_comes_during_the_submission_runs_alone),
			TEST(what_slurm_allocated_is_not_exceeded),
			TEST(a_pod_with_a_job_of_its_own_keeps_it),
			TEST(a_pod_that_was_bound_alone_joins_no_gang),
			TEST(ranks_of_pods_that_run_stay),
			TEST(pods_that_run_alone_count_for_the_minimum),
			TEST(a_pod_group_of_unlike_pods_is_refused),
			TEST(a_large_pod_group_whose_pods_differ_is_asked_for),
			TEST(a_pod_group_has_the_longest_deadline_of_its_pods),
			TEST(what_is_not_supported_is_refused_for_a_pod_group),
			TEST(a_pod_group_of_too_many_kinds_is_refused),
			TEST(another_group_of_the_same_name_is_asked_for),
			TEST(a_member_bound_by_somebody_else_is_in_nobodys_way),
			TEST(a_gated_member_is_one_that_has_not_come),
			TEST(a_gang_that_runs_keeps_nobody_off_the_nodes),
			TEST(a_waiting_job_follows_the_size_of_its_owner),
			TEST(a_gang_whose_owner_wants_none_is_single_pods),
			TEST(the_deadline_of_its_job_is_a_time_limit),
			TEST(a_forbidden_allocation_is_given_back_when_no_member_is_bound),
			TEST(a_gang_gives_way_to_a_pod_that_runs_without_a_job),
			TEST(a_pod_gives_way_to_a_gang_that_runs_without_a_job),
			TEST(nothing_is_asked_for_while_a_member_is_gated),
			TEST(who_waits_for_the_end_of_earlier_pods_says_so),
			TEST(ranks_follow_the_names_of_nodes),
			TEST(a_job_is_sized_by_what_its_pods_request),
			TEST(an_allocation_that_is_too_small_is_given_back_and_asked_for_anew),
			TEST(a_pod_without_room_beside_those_that_run_gets_a_job_of_its_own),
			TEST(an_allocation_is_not_given_back_for_ever),
			TEST(a_pod_that_runs_is_not_told_that_it_waits_for_slurmctld),
			TEST(a_condition_that_met_a_changed_pod_is_decided_anew),
			TEST(ranks_with_devices_lie_where_their_devices_are),
			TEST(the_largest_node_and_what_it_lacks_are_named),
		});
}
