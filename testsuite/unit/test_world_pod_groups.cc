/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and pods of a PodGroup. */
#include "src/core/model/outcome.h"
#include "testsuite/unit/gang_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

using Stage = GangStage;

/* Answers this pass's look-ups; returns their number. */
std::size_t look_up(Stage &stage, PodLookup sight)
{
	const auto looks = only<LookUp>(stage.take());
	stage.pass(k_second / 10);
	for (const auto &[uid, look] : looks)
		stage.world.answer(LookUpAnswered{uid, sight}, stage.now);
	return looks.size();
}

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

} // namespace

int main()
{
	return check::run_tests("world pod groups",
		{
			TEST(a_pod_that_comes_during_the_submission_runs_alone),
			TEST(what_slurm_allocated_is_not_exceeded),
			TEST(a_pod_with_a_job_of_its_own_keeps_it),
			TEST(ranks_of_pods_that_run_stay),
			TEST(pods_that_run_alone_count_for_the_minimum),
			TEST(a_pod_group_of_unlike_pods_is_refused),
			TEST(a_large_pod_group_whose_pods_differ_is_asked_for),
			TEST(a_pod_group_has_the_longest_deadline_of_its_pods),
			TEST(what_is_not_supported_is_refused_for_a_pod_group),
			TEST(a_pod_group_of_too_many_kinds_is_refused),
			TEST(another_group_of_the_same_name_is_asked_for),
			TEST(a_gang_that_runs_keeps_nobody_off_the_nodes),
			TEST(a_gang_gives_way_to_a_pod_that_runs_without_a_job),
			TEST(a_pod_gives_way_to_a_gang_that_runs_without_a_job),
		});
}
