/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and workloads of different roles: each set of similar roles has its own job, and either
 * all start or none. */
#include "src/core/inspect/why.h"
#include "testsuite/unit/unlike_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

using Stage = UnlikeStage;

void the_largest_component_is_submitted_first()
{
	Stage stage;
	stage.all_come();
	const auto first = stage.submit();
	REQUIRE(first.size() == 1);
	CHECK_EQUAL(first.front().spec.marker.uid, "ray-uid+1");
	CHECK_EQUAL(first.front().spec.tasks, 2U);
	CHECK((first.front().spec.excluded_nodes == std::vector<std::string>{"n1", "n2"}));
	CHECK_EQUAL(first.front().spec.name, "ray");
	CHECK_EQUAL(first.front().spec.comment, "a/ray component 1 of 2: gpu");
	stage.pass(2 * k_second);
	CHECK_EQUAL(stage.told("h"),
		"component 1 (gpu) of the workload gets its nodes first: Slurm job 7 is pending");
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	const auto second = stage.submit();
	REQUIRE(second.size() == 1);
	CHECK_EQUAL(second.front().spec.marker.uid, "ray-uid");
	CHECK((second.front().spec.excluded_nodes == std::vector<std::string>{"n3", "n4"}));
}

/* As printed by skube why. */
void a_pod_says_which_component_it_waits_for()
{
	Stage stage;
	stage.all_come();
	(void)stage.submit();
	stage.pass(2 * k_second);
	(void)stage.take();
	std::map<std::string, std::string> lines;
	for (const WhyLine &line : why(stage.world, "a", "h", stage.now))
		lines[line.about] = line.text;
	CHECK_EQUAL(lines["gang"],
		"RayCluster a/ray, rank 0 of 3, component 0 of 2, 1 pods are there, 0 of them "
		"bound");
	CHECK(lines["waits for"].starts_with(
		"component 1 (gpu) of the workload gets its nodes first"));
}

void pods_are_bound_when_all_components_have_nodes()
{
	Stage stage;
	stage.all_come();
	(void)stage.submit();
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	(void)stage.submit();
	stage.pass(2 * k_second);
	CHECK_EQUAL(stage.bind(), "");
	CHECK_EQUAL(stage.told("w0"), "");
	stage.allocate("ray-uid", nodes({{"n1", 1}}));
	CHECK_EQUAL(stage.bind(), "h:n1:0 w0:n3:1 w1:n4:2");
	CHECK_EQUAL(workload_size_of(stage.world.state().gangs.at({"ray-uid+1"})), 3U);
}

/* KubeRay creates workers at once; LeaderWorkerSet with LeaderReady creates them only when the
 * leader runs. */
void a_component_is_asked_for_before_its_pods_come()
{
	Stage stage;
	stage.head_comes();
	const auto first = stage.submit();
	REQUIRE(first.size() == 1);
	CHECK_EQUAL(first.front().spec.marker.uid, "ray-uid+1");
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	(void)stage.submit();
	stage.allocate("ray-uid", nodes({{"n1", 1}}));
	CHECK_EQUAL(stage.bind(), ""); /* they may ask for more than their template */
	stage.pass(2 * k_second);
	CHECK_EQUAL(stage.bind(), "h:n1:0");
	stage.pass(30 * k_second); /* longer than an allocation without pods is kept */
	CHECK(stage.take().empty());
	stage.worker_comes("w0");
	stage.worker_comes("w1");
	CHECK_EQUAL(stage.bind(), "w0:n3:1 w1:n4:2");
}

void what_is_held_for_nothing_is_given_back()
{
	Stage stage(40);
	stage.all_come();
	(void)stage.submit();
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	(void)stage.submit();
	stage.pass(39 * k_second);
	CHECK(only<Complete>(stage.take()).empty());
	stage.pass(2 * k_second);
	const auto looks = only<LookUp>(stage.take());
	stage.pass(1);
	for (const auto &[uid, look] : looks)
		stage.world.answer(LookUpAnswered{uid, PodLookup::unbound}, stage.now);
	const auto ends = only<Complete>(stage.take());
	REQUIRE(ends.size() == 1);
	CHECK_EQUAL(ends.front().second.wait_status, k_status_given_back);
	stage.world.answer(CompleteAnswered{{"ray-uid+1"}, Ok{}, false}, stage.now);
	stage.end_job("ray-uid+1", JobState::failed);
	const auto cancels = only<Cancel>(stage.take());
	REQUIRE(cancels.size() == 1);
	CHECK(cancels.front().second.for_absence); /* the marker says that no user did it */
	stage.world.answer(CompleteAnswered{{"ray-uid"}, Ok{}, true}, stage.now);
	stage.end_job("ray-uid", JobState::cancelled);
	stage.pass(31 * k_second);
	CHECK(stage.told("w0").starts_with("not all components of the workload had nodes at once, "
					   "and what it held was given back; the next try is at "));
	CHECK(only<DeletePod>(stage.take()).empty());
	stage.pass(20 * k_second);
	const auto first = stage.submit(); /* the component that had no nodes goes first */
	REQUIRE(first.size() == 1);
	CHECK_EQUAL(first.front().spec.marker.uid, "ray-uid");
	stage.allocate("ray-uid", nodes({{"n1", 1}}));
	const auto again = stage.submit();
	REQUIRE(again.size() == 1);
	CHECK_EQUAL(again.front().spec.marker.uid, "ray-uid+1");
	CHECK_EQUAL(again.front().spec.marker.attempt, 2U);
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	CHECK_EQUAL(stage.bind(), "h:n1:0 w0:n3:1 w1:n4:2");
}

void nothing_is_asked_for_while_a_component_has_no_node()
{
	Stage stage;
	stage.job.roles[0] = Stage::role("head", 1, in_pool("c", 1000));
	stage.worker_comes("w0");
	CHECK(stage.submit().empty());
	stage.pass(2 * k_second);
	CHECK(stage.told("w0").starts_with("role 'head' of RayCluster ray: no node may take the "
					   "pod: 4 nodes: each has no label pool=c"));
}

/* A new agent knows only what the API server and Slurm show. */
void a_new_agent_goes_on()
{
	Stage before;
	before.start();
	Stage after;
	after.jobs = before.jobs;
	after.next_job = 20;
	for (const char *uid : {"h", "w0", "w1"})
		after.world.observe(PodSeen{*before.world.state().pod({uid})}, after.now);
	after.connect({after.jobs.at("ray-uid"), after.jobs.at("ray-uid+1")});
	CHECK(after.take().empty());
	after.pass(70 * k_second);
	CHECK(after.take().empty());
	after.end_job("ray-uid+1", JobState::timeout);
	CHECK_EQUAL(only<DeletePod>(after.take()).size(), 3U);
}

/* One component has its nodes, and the other's job was being submitted. */
void a_new_agent_asks_for_what_is_missing()
{
	Stage before;
	before.all_come();
	(void)before.submit();
	before.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	Stage after;
	after.jobs = before.jobs;
	after.next_job = 20;
	after.all_come();
	after.connect({after.jobs.at("ray-uid+1")});
	const auto next = after.submit();
	REQUIRE(next.size() == 1);
	CHECK_EQUAL(next.front().spec.marker.uid, "ray-uid");
	after.allocate("ray-uid", nodes({{"n1", 1}}));
	CHECK_EQUAL(after.bind(), "h:n1:0 w0:n3:1 w1:n4:2");
}

/* The agent runs as root and cancelled that job itself. Without the mark in the job, a new agent
 * would take the end for a user's wish. */
void a_new_agent_takes_what_was_given_back_for_nobodys_wish()
{
	Stage stage;
	stage.all_come();
	(void)stage.submit();
	stage.pass(10 * k_second);
	SlurmJob job = stage.jobs.at("ray-uid+1");
	job.state = JobState::cancelled;
	job.ended_by = 0;
	job.end_time = stage.now.wall_s;
	job.marker.given_up = true;
	Stage after;
	after.now = stage.now;
	for (const char *uid : {"h", "w0", "w1"})
		after.world.observe(PodSeen{*stage.world.state().pod({uid})}, after.now);
	after.connect({job});
	CHECK(only<DeletePod>(after.take()).empty());
}

void what_people_hold_stays_held()
{
	Stage stage(40);
	stage.all_come();
	(void)stage.submit();
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	(void)stage.submit();
	stage.jobs.at("ray-uid").held = true;
	stage.world.observe(JobSeen{stage.jobs.at("ray-uid")}, stage.now);
	stage.end_job("ray-uid+1", JobState::failed); /* given back */
	stage.pass(2 * k_second);
	CHECK(only<Cancel>(stage.take()).empty());
}

/* Where policies.yaml is not installed, any user can write annotations. */
void a_made_up_key_makes_no_component()
{
	for (const char *key : {"x+9", "x+8", "x+", "+", "x+01", "x+1+2", "ray-uid+9"}) {
		Stage stage;
		stage.all_come();
		(void)stage.submit();
		Pod pod = in_pool("a", 1000);
		pod.uid = {"made-up"};
		pod.name = "made-up";
		pod.node_name = "n1";
		pod.annotations = {{names::k_allocation_gang, key}};
		stage.world.observe(PodSeen{pod}, stage.now);
		(void)stage.take();
		CHECK_EQUAL(stage.world.state().gangs.size(), 2U);
	}
	Stage stage;
	stage.all_come();
	(void)stage.submit();
	Pod pod = in_pool("a", 1000);
	pod.uid = {"stranger"};
	pod.name = "stranger";
	pod.name_space = "b"; /* and the workload is in a */
	pod.node_name = "n1";
	pod.annotations = {
		{names::k_allocation_gang, "ray-uid+5"}, {names::k_allocation_rank, "0"}};
	stage.world.observe(PodSeen{pod}, stage.now);
	(void)stage.take();
	CHECK_EQUAL(stage.world.state().gangs.size(), 2U);
}

void a_component_that_its_owner_drops_is_not_waited_for()
{
	Stage stage;
	stage.head_comes();
	(void)stage.submit();
	stage.job.roles.pop_back();
	stage.world.observe(OwnerSeen{stage.job.id, std::optional<Owner>(stage.job)}, stage.now);
	stage.pass(2 * k_second);
	const auto actions = stage.take();
	CHECK_EQUAL(only<Cancel>(actions).size(), 1U);
	const auto next = only<Submit>(actions);
	REQUIRE(next.size() == 1);
	CHECK_EQUAL(next.front().second.spec.marker.uid, "ray-uid");
}

void each_try_for_nothing_makes_the_next_pause_longer()
{
	CHECK_EQUAL(pause_after_tries(0, 60), 0);
	CHECK_EQUAL(pause_after_tries(1, 60), 60);
	CHECK_EQUAL(pause_after_tries(3, 60), 240);
	CHECK_EQUAL(pause_after_tries(100, 60), 3600);
	CHECK_EQUAL(pause_after_tries(100, 7200), 7200);
}

void a_total_order_excludes_deadlock()
{
	const Holding early{.since_us = 100, .queued_since = 50, .partitions = {"a", "b"}},
		late{.since_us = 90, .queued_since = 60, .partitions = {"b"}};
	const Holding other{.since_us = 90, .queued_since = 70, .partitions = {"c"}}, none{};
	CHECK(gives_way_to(late, "x", early, "y"));
	CHECK(!gives_way_to(early, "y", late, "x"));
	CHECK(!gives_way_to(other, "z", early, "y")); /* nothing in common */
	CHECK(!gives_way_to(late, "x", none, "y") && !gives_way_to(none, "y", early, "x"));
	CHECK(gives_way_to(late, "y", late, "x") && !gives_way_to(late, "x", late, "y"));
}

/* A workload keeps its place among others over the allocations that it gives back. */
void the_order_counts_from_the_first_job()
{
	SlurmJob first, again;
	first.state = again.state = JobState::pending;
	first.submit_time = 100;
	again.submit_time = 200;
	again.marker.since = 50;
	ComponentFacts held, waits, unasked;
	held.rank_count = waits.rank_count = unasked.rank_count = 1;
	waits.job = &again;
	SlurmJob runs = first;
	runs.state = JobState::running;
	held.job = &runs;
	const auto submitted = [](const ComponentFacts &one, const ComponentFacts &other) {
		return holding_of({one, other}, Now{}).queued_since;
	};
	CHECK_EQUAL(submitted(held, unasked), 100);
	CHECK_EQUAL(submitted(held, waits), 50);
}

/* The workers' job has run for a long time when its owner recreates all pods. The time for which
 * it holds idle nodes counts from the end of its pods. */
void a_restart_keeps_the_allocation_while_another_component_gets_a_job()
{
	Stage stage;
	stage.start();
	Pod h = *stage.world.state().pod({"h"});
	h.phase = PodPhase::succeeded;
	stage.world.observe(PodSeen{h}, stage.now);
	CHECK_EQUAL(only<Complete>(stage.take()).size(), 1U);
	stage.world.answer(CompleteAnswered{{"ray-uid"}, Ok{}, false}, stage.now);
	stage.end_job("ray-uid", JobState::complete);
	stage.pass(300 * k_second);
	for (const char *uid : {"w0", "w1"}) {
		Pod p = *stage.world.state().pod({uid});
		p.phase = PodPhase::failed;
		p.main_container = "main";
		p.ended_containers = {{"main", 1, 0, "Error"}};
		stage.world.observe(PodSeen{p}, stage.now);
	}
	(void)stage.take();
	gone(stage, {"h", "w0", "w1"});
	stage.head_comes("h2");
	stage.worker_comes("w2");
	stage.worker_comes("w3");
	CHECK_EQUAL(stage.submit().size(), 1U);
	for (const char *uid : {"w2", "w3"})
		stage.world.answer(LookUpAnswered{{uid}, PodLookup::unbound}, stage.now);
	for (int i = 0; i < 5; i++) {
		stage.pass(10 * k_second);
		const auto actions = stage.take();
		CHECK(only<Complete>(actions).empty() && only<Cancel>(actions).empty());
		for (const auto &[uid, look] : only<LookUp>(actions))
			stage.world.answer(LookUpAnswered{uid, PodLookup::unbound}, stage.now);
	}
	stage.allocate("ray-uid", nodes({{"n1", 1}}));
	CHECK_EQUAL(stage.bind(), "h2:n1:0 w2:n3:1 w3:n4:2");
}

/* The workers had succeeded when the JobSet recreated all pods: new workers will come. */
void a_restart_asks_again_for_roles_that_had_succeeded()
{
	Stage stage;
	stage.start();
	for (const char *uid : {"w0", "w1"}) {
		Pod p = *stage.world.state().pod({uid});
		p.phase = PodPhase::succeeded;
		stage.world.observe(PodSeen{p}, stage.now);
	}
	(void)stage.take();
	stage.world.answer(CompleteAnswered{{"ray-uid+1"}, Ok{}, false}, stage.now);
	stage.end_job("ray-uid+1", JobState::complete);
	Pod h = *stage.world.state().pod({"h"});
	h.phase = PodPhase::failed;
	h.main_container = "main";
	h.ended_containers = {{"main", 1, 0, "Error"}};
	stage.world.observe(PodSeen{h}, stage.now);
	(void)stage.take();
	gone(stage, {"h", "w0", "w1"});
	(void)stage.take();
	stage.pass(11 * k_second);
	(void)stage.take();
	stage.world.answer(CompleteAnswered{{"ray-uid"}, Ok{}, false}, stage.now);
	stage.end_job("ray-uid", JobState::failed);
	stage.come(
		"h2", stage.head, {{"ray.io/node-type", "head"}, {names::k_jobset_restart, "1"}});
	stage.pass(10 * k_second);
	const auto asked = stage.submit();
	REQUIRE(asked.size() == 1);
	CHECK_EQUAL(asked[0].spec.marker.uid, "ray-uid+1");
}

/* Both jobs have the same name and user: each would wait for the other. */
void singleton_is_refused()
{
	Stage stage;
	for (Pod *pod : {&stage.head, &stage.worker})
		pod->annotations["slurm-kube.io/dependency"] = "singleton";
	stage.job.roles = {Stage::role("head", 1, stage.head), Stage::role("gpu", 2, stage.worker)};
	stage.all_come();
	const auto actions = stage.GangStage::take();
	CHECK(only<Submit>(actions).empty());
	const auto reports = only<Report>(actions);
	REQUIRE(!reports.empty());
	CHECK(reports.front().second.not_scheduled.message.find("dependency=singleton") !=
		std::string::npos);
}

/* The pod claims to be bound as a member, but is in another namespace, and is seen first. */
void a_stranger_that_comes_first_is_put_out()
{
	for (const char *key : {"ray-uid", "ray-uid+1"}) {
		Stage stage;
		Pod pod = in_pool("a", 1000);
		pod.uid = {"stranger"};
		pod.name = "stranger";
		pod.name_space = "b";
		pod.node_name = "n2";
		pod.phase = PodPhase::running;
		pod.annotations = {{names::k_allocation_gang, key}, {names::k_allocation_rank, "0"},
			{names::k_allocation_attempt, "1"}};
		stage.world.observe(PodSeen{pod}, stage.now);
		(void)stage.take();
		stage.all_come();
		const auto submitted = stage.submit();
		REQUIRE(!submitted.empty());
		CHECK_EQUAL(submitted.front().spec.marker.uid, "ray-uid+1");
		CHECK_EQUAL(submitted.front().spec.required_node, "");
		for (const auto &[one, gang] : stage.world.state().gangs)
			CHECK(gang.id.name_space == "a" && !gang.members.contains({"stranger"}));
	}
}

/* Both need the same port of their node, and could share nodes otherwise. */
Stage with_a_port()
{
	Stage stage;
	for (Pod *pod : {&stage.head, &stage.worker}) {
		pod->constraints.node_selector.clear();
		pod->constraints.host_ports = {{.port = 8080}};
	}
	stage.job.roles = {Stage::role("head", 1, stage.head), Stage::role("gpu", 2, stage.worker)};
	stage.all_come();
	(void)stage.submit();
	return stage;
}

void nodes_of_other_components_are_excluded_where_their_pods_cannot_meet()
{
	Stage stage = with_a_port();
	stage.allocate("ray-uid+1", nodes({{"n1", 4}, {"n2", 4}}));
	const auto submitted = stage.submit();
	REQUIRE(submitted.size() == 1);
	CHECK(submitted.front().spec.excluded_nodes == std::vector<std::string>({"n1", "n2"}));
}

void pods_of_components_that_cannot_meet_are_not_bound_to_one_node()
{
	Stage stage = with_a_port();
	stage.allocate("ray-uid+1", nodes({{"n1", 4}, {"n2", 4}}));
	(void)stage.submit();
	stage.allocate("ray-uid", nodes({{"n1", 1}}));
	std::map<std::string, unsigned> bound;
	for (const auto &[uid, bind] : only<Bind>(stage.take()))
		bound[bind.node]++;
	CHECK_EQUAL(bound["n1"], 1U);
}

} // namespace

int main()
{
	return check::run_tests("world: components",
		{
			TEST(the_largest_component_is_submitted_first),
			TEST(a_pod_says_which_component_it_waits_for),
			TEST(pods_are_bound_when_all_components_have_nodes),
			TEST(a_component_is_asked_for_before_its_pods_come),
			TEST(what_is_held_for_nothing_is_given_back),
			TEST(nothing_is_asked_for_while_a_component_has_no_node),
			TEST(a_new_agent_goes_on),
			TEST(a_new_agent_asks_for_what_is_missing),
			TEST(a_new_agent_takes_what_was_given_back_for_nobodys_wish),
			TEST(what_people_hold_stays_held),
			TEST(a_made_up_key_makes_no_component),
			TEST(a_component_that_its_owner_drops_is_not_waited_for),
			TEST(each_try_for_nothing_makes_the_next_pause_longer),
			TEST(a_total_order_excludes_deadlock),
			TEST(the_order_counts_from_the_first_job),
			TEST(a_restart_keeps_the_allocation_while_another_component_gets_a_job),
			TEST(a_restart_asks_again_for_roles_that_had_succeeded),
			TEST(singleton_is_refused),
			TEST(a_stranger_that_comes_first_is_put_out),
			TEST(nodes_of_other_components_are_excluded_where_their_pods_cannot_meet),
			TEST(pods_of_components_that_cannot_meet_are_not_bound_to_one_node),
		});
}
