/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and allocations whose pods cannot be bound: how long they are kept, and what is
 * submitted next. */
#include "src/core/inspect/why.h"
#include "testsuite/unit/gang_stage.h"
#include "testsuite/unit/place_stage.h"

#include <algorithm>

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

constexpr std::int64_t k_room_wait = 60 * k_second, k_gang_wait = 600 * k_second;

template <class S> void set_ready(S &s, KubeNode node, bool is_ready)
{
	node.ready = is_ready;
	s.world.observe(NodeSeen{node}, s.now);
}

template <class S> void set_drained(S &s, const std::string &name, std::uint32_t cpus)
{
	SlurmNode record = slurm_node(name, cpus);
	record.drain = true;
	record.reason = "slurm-kube: NotReady";
	s.world.observe(SlurmNodeSeen{record});
}

template <class S> void pass(S &s, std::int64_t us)
{
	advance(s.now, us);
}

bool says(const std::string &text, const std::string &word)
{
	return (" " + text + " ").find(" " + word + " ") != std::string::npos;
}

/* ---- single pods ---- */

SlurmJob single_job(const std::string &uid, std::uint32_t id, JobState state,
	const std::string &node, std::uint32_t attempt)
{
	SlurmJob job =
		make_job(id, make_marker("default", "pod-" + uid, "Pod", uid, attempt), state);
	if (!node.empty())
		job.nodes = nodes({{node.c_str(), 4}});
	return job;
}

std::string why_line(const PlaceStage &s, const std::string &about)
{
	const auto lines = why(s.world, "default", "pod-b", s.now);
	const auto line = std::ranges::find(lines, about, &WhyLine::about);
	return line == lines.end() ? "" : line->text;
}

/* Up to an allocation that cannot be used. */
void allocate(PlaceStage &s, const std::string &uid, std::uint32_t id, const std::string &node,
	std::uint32_t attempt = 1)
{
	s.allocate(uid, id, node);
	s.world.observe(JobSeen{single_job(uid, id, JobState::running, node, attempt)}, s.now);
	CHECK(!says(s.act(), "bind:" + uid + "@" + node));
}

/* Waits until the allocation is given back; returns the next submission. */
std::string give_back(
	PlaceStage &s, const std::string &uid, std::uint32_t id, std::uint32_t attempt = 1)
{
	pass(s, k_room_wait - k_second);
	const std::string early = s.act();
	CHECK(!says(early, "look:" + uid) && early.find("complete") == std::string::npos);
	pass(s, 2 * k_second);
	const std::string late = s.act();
	CHECK(says(late, "look:" + uid) && late.find("complete") == std::string::npos);
	s.world.answer(LookUpAnswered{{uid}, PodLookup::unbound}, s.now);
	CHECK(says(s.act(), "complete:" + std::to_string(id) + "=given-back"));
	s.world.answer(CompleteAnswered{{uid}, Ok{}, false}, s.now);
	s.world.observe(JobSeen{single_job(uid, id, JobState::failed, "", attempt)}, s.now);
	s.world.answer(ReportAnswered{{uid}, Ok{}}, s.now);
	pass(s, 40 * k_second);
	return s.act();
}

struct Away {
	const char *what;
	bool is_gone, is_drained;
	const char *next;
};

/* More nodes are away than the agent accepts as lost, so that Slurm keeps their jobs. */
void an_allocation_on_a_node_that_stays_away_is_given_back()
{
	for (const Away &away : {Away{"NotReady", false, false, "submit:b-n1"},
		     Away{"NotReady, drained", false, true, "submit:b"},
		     Away{"gone", true, false, "submit:b-n1"}}) {
		PlaceStage s;
		s.world.observe(PodSeen{PlaceStage::pod("b")}, s.now);
		CHECK_EQUAL(s.act(), "submit:b");
		if (away.is_gone)
			s.world.observe(NodeGone{"n1"}, s.now);
		else
			set_ready(s, PlaceStage::node("n1"), false);
		if (away.is_drained)
			set_drained(s, "n1", 4);
		allocate(s, "b", 8, "n1");
		const std::string next = give_back(s, "b", 8);
		const std::string what = std::string(away.what) + " ";
		CHECK_EQUAL(what + next, what + away.next);
		s.queue_job("b", 9);
		s.world.observe(NodeSeen{PlaceStage::node("n1")}, s.now);
		pass(s, 2 * k_second);
		CHECK_EQUAL(says(s.act(), "update:b"), !away.is_drained); /* it may go there */
	}
}

void the_pod_says_that_its_allocation_is_given_back()
{
	PlaceStage s;
	s.world.observe(PodSeen{PlaceStage::pod("b")}, s.now);
	(void)s.act();
	set_ready(s, PlaceStage::node("n1"), false);
	allocate(s, "b", 8, "n1");
	pass(s, 2 * k_second);
	CHECK_EQUAL(s.act(), "report:b:SlurmPending");
	s.world.answer(ReportAnswered{{"b"}, Ok{}}, s.now);
	CHECK_EQUAL(why_line(s, "waits for"),
		"node n1 to be Ready in Kubernetes, for at most another 58 s");
	pass(s, k_room_wait);
	CHECK_EQUAL(s.act(), "look:b report:b:SlurmRetrying");
	CHECK_EQUAL(s.text,
		"Slurm job 8 has node n1, which has not become Ready in Kubernetes; "
		"the allocation is given back and the pod queued again");
}

/* The record has lost its feature, so slurmctld does not show it, and gives the idle node out. */
void a_node_without_a_record_is_not_asked_for_again()
{
	PlaceStage s;
	s.world.observe(PodSeen{PlaceStage::pod("b")}, s.now);
	CHECK_EQUAL(s.act(), "submit:b");
	s.world.observe(SlurmNodeGone{"n1"});
	allocate(s, "b", 8, "n1");
	CHECK_EQUAL(give_back(s, "b", 8), "submit:b-n1");
	s.queue_job("b", 9);
	s.world.observe(PodSeen{PlaceStage::pod("c")}, s.now); /* it need not find that out */
	CHECK(says(s.act(), "submit:c-n1"));
	s.queue_job("c", 10);
	s.world.observe(SlurmNodeSeen{slurm_node("n1", 4)});
	pass(s, 2 * k_second);
	CHECK_EQUAL(s.act(), "update:b update:c");
	s.world.observe(PodSeen{PlaceStage::pod("d")}, s.now);
	CHECK_EQUAL(s.act(), "submit:d");
}

void a_pod_says_that_only_nodes_without_a_record_are_left()
{
	PlaceStage s;
	s.world.observe(PodSeen{PlaceStage::on_ssd("b")}, s.now);
	CHECK_EQUAL(s.act(), "submit:b-n2-n3");
	s.world.observe(SlurmNodeGone{"n1"});
	allocate(s, "b", 8, "n1");
	CHECK_EQUAL(give_back(s, "b", 8), "report:b:SlurmNoNode");
	CHECK_EQUAL(s.text,
		"no node may take the pod: 2 nodes: each has no label disk=ssd (nodeSelector); "
		"1 node is no external node of this Kubernetes cluster in Slurm (skube check, "
		"line nodes)");
	s.world.observe(SlurmNodeSeen{slurm_node("n1", 4)});
	CHECK_EQUAL(s.act(), "submit:b-n2-n3");
}

/* slurmctld refuses a job whose excluded nodes it does not know. */
void a_node_that_slurm_does_not_know_is_excluded_no_more()
{
	PlaceStage s;
	s.world.observe(PodSeen{PlaceStage::pod("b")}, s.now);
	CHECK_EQUAL(s.act(), "submit:b");
	s.world.observe(SlurmNodeGone{"n1"});
	allocate(s, "b", 8, "n1");
	CHECK_EQUAL(give_back(s, "b", 8), "submit:b-n1");
	s.world.answer(SubmitAnswered{{"b"}, Error{Errc::not_found, "Invalid node name"}}, s.now);
	pass(s, 2 * k_second);
	CHECK(says(s.act(), "submit:b"));
}

/* Where the agent may not change nodes (nodes.manage), Slurm would allocate the node again and
 * again. */
void a_cordoned_node_is_not_asked_for_again()
{
	PlaceStage s;
	s.world.observe(PodSeen{PlaceStage::pod("b")}, s.now);
	(void)s.act();
	KubeNode cordoned = PlaceStage::node("n1");
	cordoned.unschedulable = true;
	s.world.observe(NodeSeen{cordoned}, s.now);
	s.allocate("b", 8, "n1");
	s.world.observe(JobSeen{single_job("b", 8, JobState::running, "n1", 1)}, s.now);
	CHECK_EQUAL(s.act(), "look:b");
	s.world.answer(LookUpAnswered{{"b"}, PodLookup::unbound}, s.now);
	CHECK_EQUAL(s.act(), "complete:8=given-back");
	s.world.answer(CompleteAnswered{{"b"}, Ok{}, false}, s.now);
	s.world.observe(JobSeen{single_job("b", 8, JobState::failed, "", 1)}, s.now);
	pass(s, 40 * k_second);
	CHECK_EQUAL(s.act(), "submit:b-n1");
}

void a_node_that_comes_back_in_time_gets_the_pod()
{
	PlaceStage s;
	s.world.observe(PodSeen{PlaceStage::pod("b")}, s.now);
	(void)s.act();
	set_ready(s, PlaceStage::node("n1"), false);
	allocate(s, "b", 8, "n1");
	pass(s, k_room_wait - k_second);
	(void)s.act();
	set_ready(s, PlaceStage::node("n1"), true);
	CHECK(says(s.act(), "bind:b@n1"));
}

/* The watch is behind: an earlier agent has bound the pod. */
void a_pod_that_is_bound_after_all_keeps_its_allocation()
{
	PlaceStage s;
	s.world.observe(PodSeen{PlaceStage::pod("b")}, s.now);
	(void)s.act();
	set_ready(s, PlaceStage::node("n1"), false);
	allocate(s, "b", 8, "n1");
	for (int i = 0; i < 10; i++) {
		pass(s, k_room_wait + k_second);
		(void)s.act();
		s.world.answer(LookUpAnswered{{"b"}, PodLookup::bound}, s.now);
		CHECK(s.act().find("complete") == std::string::npos);
	}
}

void what_runs_on_a_node_that_is_away_is_left_alone()
{
	PlaceStage s;
	s.run(PlaceStage::pod("a"), 7, "n1");
	s.world.observe(JobSeen{single_job("a", 7, JobState::running, "n1", 1)}, s.now);
	set_ready(s, PlaceStage::node("n1"), false);
	for (int i = 0; i < 20; i++) {
		pass(s, k_room_wait);
		CHECK_EQUAL(s.act(), "");
	}
}

/* An ending pod's resources are counted, but its port is not. */
void a_port_that_is_not_set_free_is_not_waited_for()
{
	PlaceStage s;
	s.run(PlaceStage::with_port("a"), 7, "n1");
	Pod ending = s.world.state().pods.at({"a"}).pod.value();
	ending.deleting = true;
	s.world.observe(PodSeen{ending}, s.now);
	s.world.observe(PodSeen{PlaceStage::with_port("b")}, s.now);
	(void)s.act();
	allocate(s, "b", 8, "n1");
	(void)give_back(s, "b", 8);
}

void full(PlaceStage &s, const std::string &uid, std::uint32_t id, const std::string &node)
{
	Pod large = PlaceStage::pod(uid);
	large.requests.milli_cpu = 4000;
	s.run(large, id, node);
	s.world.observe(JobSeen{single_job(uid, id, JobState::running, node, 1)}, s.now);
}

/* Otherwise each pod would get the other node back after giving one up. */
void all_nodes_without_room_are_excluded_at_once()
{
	PlaceStage s;
	full(s, "x", 5, "n1");
	full(s, "y", 6, "n2");
	s.world.observe(PodSeen{PlaceStage::pod("b")}, s.now);
	(void)s.act();
	allocate(s, "b", 8, "n1");
	CHECK_EQUAL(give_back(s, "b", 8), "submit:b-n1");
	allocate(s, "b", 9, "n2", 2);
	CHECK_EQUAL(give_back(s, "b", 9, 2), "submit:b-n1-n2");
	CHECK_EQUAL(why_line(s, "avoids"), "nodes whose allocation was given back: n1, n2");
	s.queue_job("b", 10);
	(void)s.act();
	pass(s, 2 * k_second);
	(void)s.act();
	Pod ended = s.world.state().pods.at({"x"}).pod.value();
	ended.phase = PodPhase::succeeded;
	s.world.observe(PodSeen{ended}, s.now);
	CHECK(says(s.act(), "update:b-n2")); /* there is room again, and nothing else has changed */
}

/* ---- gangs ---- */

std::size_t look_up(GangStage &s, PodLookup sight)
{
	const auto looks = only<LookUp>(s.take());
	s.pass(k_second / 10);
	for (const auto &[uid, look] : looks)
		s.world.answer(LookUpAnswered{uid, sight}, s.now);
	return looks.size();
}

void allocate_gang(GangStage &s, std::uint32_t pods)
{
	s.all_pods(pods);
	REQUIRE(only<Submit>(s.take()).size() == 1);
	s.world.answer(SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, s.now);
	s.world.observe(JobSeen{s.running(nodes({{"n1", 8}, {"n2", 8}, {"n3", 8}}))}, s.now);
}

/* Pods already bound would keep an allocation that all pods of the gang need. */
void a_gang_is_bound_when_all_its_pods_have_their_places()
{
	for (const bool comes_back : {true, false}) {
		GangStage s(6);
		const auto away = {
			kube_node("n2", "n2-uid", 8000), kube_node("n3", "n3-uid", 8000)};
		for (const KubeNode &node : away)
			set_ready(s, node, false);
		allocate_gang(s, 6);
		CHECK(only<Bind>(s.take()).empty());
		s.pass(k_room_wait - k_second);
		CHECK(only<Bind>(s.take()).empty());
		if (comes_back) {
			for (const KubeNode &node : away)
				set_ready(s, node, true);
			CHECK_EQUAL(only<Bind>(s.take()).size(), 6U);
			continue;
		}
		s.pass(2 * k_second);
		CHECK_EQUAL(look_up(s, PodLookup::unbound), 6U);
		const auto ends = only<Complete>(s.take());
		REQUIRE(ends.size() == 1);
		CHECK_EQUAL(ends.front().second.wait_status, k_status_given_back);
		s.world.answer(CompleteAnswered{{"train-uid"}, Ok{}, false}, s.now);
		SlurmJob ended = s.running({});
		ended.state = JobState::failed;
		ended.end_time = s.now.wall_s;
		s.world.observe(JobSeen{ended}, s.now);
		s.world.observe(NodeSeen{kube_node("n5", "n5-uid", 16000)}, s.now);
		s.world.observe(SlurmNodeSeen{slurm_node("n5", 16)});
		s.pass(40 * k_second);
		const auto submits = only<Submit>(s.take());
		REQUIRE(submits.size() == 1);
		const std::vector<std::string> expected = {"n2", "n3"};
		CHECK(submits.front().second.spec.excluded_nodes == expected);
	}
}

/* On n1 each of the two pods fits beside the running one, but not both. */
void a_gang_is_bound_when_its_pods_have_room_together()
{
	GangStage s(2);
	Pod there = s.pod(9);
	there.uid = {"there"};
	there.labels.clear();
	there.controller.reset();
	there.node_name = "n1";
	there.phase = PodPhase::running;
	s.world.observe(PodSeen{there}, s.now);
	s.all_pods(2);
	(void)s.take();
	s.world.answer(SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, s.now);
	s.world.observe(JobSeen{s.running(nodes({{"n1", 8}}))}, s.now);
	CHECK(only<Bind>(s.take()).empty());
	s.pass(2 * k_second);
	const auto told = only<Report>(s.take());
	REQUIRE(told.size() == 2);
	CHECK_EQUAL(told.back().second.not_scheduled.message,
		"Slurm job 7 has node n1, where an earlier pod still runs: a/train-9");
	there.phase = PodPhase::succeeded;
	s.world.observe(PodSeen{there}, s.now);
	CHECK_EQUAL(only<Bind>(s.take()).size(), 2U);
}

/* A pod that has ended has a node, but says nothing about the nodes that its successor may use. */
void a_gang_avoids_a_node_without_room_beside_pods_that_have_ended()
{
	GangStage s(2);
	s.start(2, nodes({{"n1", 8}}));
	s.end(0, PodPhase::succeeded);
	s.end(1, PodPhase::failed, 1);
	SlurmJob first = s.running({});
	first.state = JobState::failed;
	first.end_time = s.now.wall_s;
	s.world.observe(JobSeen{first}, s.now);
	Pod there = make_pod("b", "there", "there", size(6000, 64));
	there.node_name = "n1";
	there.phase = PodPhase::running;
	s.world.observe(PodSeen{there}, s.now);
	s.pass(k_second);
	s.world.observe(PodSeen{s.pod(1, "b")}, s.now);
	s.pass(40 * k_second);
	REQUIRE(only<Submit>(s.take()).size() == 1);
	s.world.answer(SubmitAnswered{{"train-uid"}, Submitted{.job = {8}, .node = ""}}, s.now);
	s.world.observe(JobSeen{s.running(nodes({{"n1", 8}}), 2, 8)}, s.now);
	CHECK(only<Bind>(s.take()).empty());
	s.pass(k_room_wait + k_second);
	CHECK_EQUAL(look_up(s, PodLookup::unbound), 1U);
	REQUIRE(only<Complete>(s.take()).size() == 1);
	s.world.answer(CompleteAnswered{{"train-uid"}, Ok{}, false}, s.now);
	SlurmJob second = s.running({}, 2, 8);
	second.state = JobState::failed;
	second.exit_status = k_status_given_back;
	second.end_time = s.now.wall_s;
	s.world.observe(JobSeen{second}, s.now);
	s.pass(40 * k_second);
	const auto submits = only<Submit>(s.take());
	REQUIRE(submits.size() == 1);
	CHECK(submits.front().second.spec.excluded_nodes == std::vector<std::string>{"n1"});
}

/* Of the pods that run on n1 and n2, the last has failed, and n2 is away for its replacement. */
void lose_one(GangStage &s)
{
	s.start(4);
	s.end(3, PodPhase::failed, 1);
	(void)s.take();
	s.world.observe(PodGone{{"u3"}, *s.world.state().pod({"u3"})}, s.now);
	set_ready(s, kube_node("n2", "n2-uid", 8000), false);
	s.pass(k_second);
	s.world.observe(PodSeen{s.pod(3, "b")}, s.now);
	CHECK(only<Bind>(s.take()).empty());
}

/* The running pods may do without the missing one, so that none of them is ended for it. */
void a_pod_without_a_place_leaves_a_gang_that_runs()
{
	GangStage s(4);
	lose_one(s);
	s.pass(k_gang_wait - k_second);
	CHECK_EQUAL(only<LookUp>(s.take()).size(), 0U);
	const auto lines = why(s.world, "a", "train-3b", s.now);
	const auto waits = std::ranges::find(lines, "waits for", &WhyLine::about);
	REQUIRE(waits != lines.end());
	CHECK_EQUAL(waits->text,
		"its binding to a node of the gang's allocation: "
		"Slurm job 7 has node n2, which is not Ready in Kubernetes; "
		"it gets a job of its own in 1 s");
	s.pass(2 * k_second);
	CHECK_EQUAL(look_up(s, PodLookup::unbound), 1U);
	const auto actions = s.take();
	CHECK(only<Complete>(actions).empty() && only<DeletePod>(actions).empty());
	const auto submits = only<Submit>(actions);
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.marker.kind, k_pod_kind);
	CHECK_EQUAL(submits.front().second.spec.marker.uid, "u3b");
	CHECK(submits.front().second.spec.excluded_nodes == std::vector<std::string>{"n2"});
	s.pass(2 * k_gang_wait);
	const auto later = s.take();
	CHECK(only<Complete>(later).empty() && only<DeletePod>(later).empty());
	CHECK(only<Bind>(later).empty());
}

void a_pod_whose_place_comes_back_in_time_stays_in_its_gang()
{
	GangStage s(4);
	lose_one(s);
	s.pass(k_gang_wait - k_second);
	(void)s.take();
	set_ready(s, kube_node("n2", "n2-uid", 8000), true);
	const auto binds = only<Bind>(s.take());
	REQUIRE(binds.size() == 1);
	CHECK_EQUAL(binds.front().second.node, "n2");
}

void a_pod_that_is_bound_after_all_stays_in_its_gang()
{
	GangStage s(4);
	lose_one(s);
	s.pass(k_gang_wait + k_second);
	CHECK_EQUAL(look_up(s, PodLookup::bound), 1U);
	CHECK(only<Submit>(s.take()).empty());
}

void a_place_may_be_waited_for_without_limit()
{
	Settings settings = plain_settings();
	settings.gang_wait_us = 0;
	GangStage s(4, size(4000, 64), settings);
	lose_one(s);
	for (int i = 0; i < 20; i++) {
		s.pass(k_gang_wait);
		CHECK(only<LookUp>(s.take()).empty());
	}
}

/* ---- jobs that Slurm has lost ---- */

std::vector<std::pair<PodUid, Submit>> lose_job(GangStage &s)
{
	s.connect({});
	(void)s.take();
	s.pass(11 * k_second);
	return only<Submit>(s.take());
}

/* Slurm would never start a job that requires such a node. */
void a_lost_job_is_asked_for_without_nodes_that_are_out_of_service()
{
	for (const bool is_in_service : {true, false}) {
		GangStage s(4);
		s.start(4);
		for (std::uint32_t i : {2U, 3U})
			s.end(i, PodPhase::succeeded);
		KubeNode node = kube_node("n2", "n2-uid", 8000);
		node.unschedulable = !is_in_service;
		s.world.observe(NodeSeen{node}, s.now);
		const auto submits = lose_job(s);
		REQUIRE(submits.size() == 1);
		const std::string &required = submits.front().second.spec.required_node;
		CHECK_EQUAL(required, is_in_service ? "n1,n2" : "n1");
	}
}

/* One pod waits to replace a failed one, and may not run on the nodes of the others. */
void a_lost_job_does_not_exclude_the_nodes_that_it_must_have()
{
	GangStage s(4);
	s.start(4);
	s.end(0, PodPhase::failed, 1);
	s.world.observe(PodGone{{"u0"}, *s.world.state().pod({"u0"})}, s.now);
	for (const char *name : {"n2", "n4"}) {
		KubeNode fast = kube_node(name, std::string(name) + "-uid", 8000);
		fast.labels["disk"] = "ssd";
		s.world.observe(NodeSeen{fast}, s.now);
	}
	Pod successor = s.pod(0, "b");
	successor.constraints.node_selector = {{"disk", "ssd"}};
	s.world.observe(PodSeen{successor}, s.now);
	(void)s.take();
	const auto submits = lose_job(s);
	const auto is_of_gang = [](const auto &one) {
		return one.second.spec.marker.kind != k_pod_kind;
	};
	const auto of_gang = std::ranges::find_if(submits, is_of_gang);
	REQUIRE(of_gang != submits.end());
	CHECK_EQUAL(of_gang->second.spec.required_node, "n1,n2");
	CHECK(of_gang->second.spec.excluded_nodes == std::vector<std::string>{"n3"});
}

} // namespace

int main()
{
	return check::run_tests("world room",
		{
			TEST(an_allocation_on_a_node_that_stays_away_is_given_back),
			TEST(the_pod_says_that_its_allocation_is_given_back),
			TEST(a_node_without_a_record_is_not_asked_for_again),
			TEST(a_pod_says_that_only_nodes_without_a_record_are_left),
			TEST(a_node_that_slurm_does_not_know_is_excluded_no_more),
			TEST(a_cordoned_node_is_not_asked_for_again),
			TEST(a_node_that_comes_back_in_time_gets_the_pod),
			TEST(a_pod_that_is_bound_after_all_keeps_its_allocation),
			TEST(what_runs_on_a_node_that_is_away_is_left_alone),
			TEST(a_port_that_is_not_set_free_is_not_waited_for),
			TEST(all_nodes_without_room_are_excluded_at_once),
			TEST(a_gang_is_bound_when_all_its_pods_have_their_places),
			TEST(a_gang_is_bound_when_its_pods_have_room_together),
			TEST(a_gang_avoids_a_node_without_room_beside_pods_that_have_ended),
			TEST(a_pod_without_a_place_leaves_a_gang_that_runs),
			TEST(a_pod_whose_place_comes_back_in_time_stays_in_its_gang),
			TEST(a_pod_that_is_bound_after_all_stays_in_its_gang),
			TEST(a_place_may_be_waited_for_without_limit),
			TEST(a_lost_job_is_asked_for_without_nodes_that_are_out_of_service),
			TEST(a_lost_job_does_not_exclude_the_nodes_that_it_must_have),
		});
}
