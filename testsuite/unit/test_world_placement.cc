/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and the nodes on which Kubernetes allows a pod: before submission, before binding, and
 * when nodes change in between. */
#include "testsuite/unit/place_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

using Stage = PlaceStage;

void only_nodes_that_match_are_left_to_slurm()
{
	Stage s;
	s.world.observe(PodSeen{Stage::on_ssd("a")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a-n2-n3");
	s.world.observe(PodSeen{Stage::pod("b")}, s.now);
	CHECK_EQUAL(s.act(), "submit:b");
}

void a_pod_without_a_node_says_so_and_is_tried_when_nodes_change()
{
	Stage s;
	Pod p = Stage::pod("a");
	p.constraints.node_selector = {{"disk", "tape"}};
	s.world.observe(PodSeen{p}, s.now);
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "report:a:SlurmNoNode");
	CHECK_EQUAL(s.text,
		"no node may take the pod: 3 nodes: each has no label disk=tape (nodeSelector)");
	s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
	CHECK_EQUAL(s.act(), "");
	KubeNode tape = Stage::node("n2");
	tape.labels["disk"] = "tape";
	s.world.observe(NodeSeen{tape}, s.now);
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "submit:a-n1-n3");
}

/* Each attempt would leave a FAILED job in Slurm. */
void a_pod_too_large_for_every_node_is_not_submitted()
{
	Stage s;
	Pod p = Stage::pod("a");
	p.requests.milli_cpu = 100'000;
	s.world.observe(PodSeen{p}, s.now);
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "report:a:SlurmNoNode");
	CHECK_EQUAL(s.text,
		"no node is large enough: the pod asks for 100 CPUs, 64 MiB; the largest that it "
		"may use, n1, has 4 CPUs, 1048576 MiB. Lower resources.requests, or ask an "
		"administrator for a larger node");
	s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
	s.now.mono_us += 100 * k_second;
	CHECK_EQUAL(s.act(), "");
	s.world.observe(NodeSeen{kube_node("n4", "uid-n4", 100'000)}, s.now);
	s.world.observe(SlurmNodeSeen{slurm_node("n4", 100)});
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "submit:a");
}

void only_nodes_that_the_pod_may_use_count()
{
	Stage s;
	s.world.observe(SlurmNodeSeen{slurm_node("n3", 64)});
	s.world.observe(NodeSeen{kube_node("n3", "uid-n3", 64'000)}, s.now);
	Pod p = Stage::on_ssd("a");
	p.annotations = {{"slurm-kube.io/cpu-per-task", "8"}};
	s.world.observe(PodSeen{p}, s.now);
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "report:a:SlurmNoNode");
	CHECK(s.text.find("asks for 8 CPUs") != std::string::npos &&
		s.text.find("n1, has 4 CPUs") != std::string::npos);
	Pod q = Stage::pod("b");
	q.annotations = p.annotations;
	s.world.observe(PodSeen{q}, s.now);
	CHECK_EQUAL(s.act(), "submit:b");
}

void options_may_leave_no_node()
{
	for (const auto &[option, value] :
		{std::pair("required-nodes", "n2"), std::pair("excluded-nodes", "n[1,3]")}) {
		Stage s;
		Pod p = Stage::on_ssd("a"); /* n1 */
		p.annotations = {{std::string("slurm-kube.io/") + option, value}};
		s.world.observe(PodSeen{p}, s.now);
		s.now.mono_us += 2 * k_second;
		CHECK_EQUAL(s.act(), "report:a:SlurmNoNode");
		CHECK(s.text.starts_with("options required-nodes and excluded-nodes leave none"));
	}
}

void more_devices_than_any_node_has_are_too_many()
{
	Stage s;
	SlurmNode n3 = slurm_node("n3", 4);
	n3.gres = "gpu:a100:4(S:0-1),shard:2K";
	s.world.observe(SlurmNodeSeen{n3});
	for (const auto &[gres, acts] : {std::pair("gpu:8", "report:a:SlurmNoNode"),
		     std::pair("gpu:4", "submit:a"), std::pair("gpu:a100:4", "submit:a"),
		     std::pair("gpu:h100:1", "report:a:SlurmNoNode"),
		     std::pair("shard:2048", "submit:a"),
		     std::pair("shard:3k", "report:a:SlurmNoNode"), std::pair("gpu", "submit:a"),
		     std::pair("nonesuch:5", "submit:a")}) {
		Stage one;
		one.world.observe(SlurmNodeSeen{n3});
		Pod p = Stage::pod("a");
		p.annotations = {{"slurm-kube.io/gres", gres}};
		one.world.observe(PodSeen{p}, one.now);
		one.now.mono_us += 2 * k_second;
		(void)record(one.act() == acts, gres, __FILE__, __LINE__);
	}
}

void the_oldest_pod_is_submitted_first()
{
	Stage s;
	std::int64_t created = 1000;
	for (const char *uid : {"d", "b", "c", "a"}) {
		Pod p = Stage::pod(uid);
		p.created = created++;
		s.world.observe(PodSeen{p}, s.now);
	}
	CHECK_EQUAL(s.act(), "submit:d submit:b submit:c submit:a");
}

void ports_of_our_pods_and_of_others_are_kept_apart()
{
	Stage s;
	s.run(Stage::with_port("a"), 7, "n2");
	Pod foreign = Stage::with_port("f");
	foreign.node_name = "n1";
	s.world.observe(ForeignSeen{foreign});
	s.world.observe(PodSeen{Stage::with_port("b")}, s.now);
	CHECK_EQUAL(s.act(), "submit:b-n1-n2");
	s.world.observe(ForeignGone{{"f"}});
	s.world.observe(PodSeen{Stage::with_port("c")}, s.now);
	s.allocate("b", 8, "n3");
	CHECK_EQUAL(s.act(), "bind:b@n3 submit:c-n2-n3");
}

/* Otherwise all pods of a Deployment would get the same node, and all but one would have to give
 * it back. */
void two_that_must_not_meet_are_submitted_one_after_the_other()
{
	Stage s;
	for (const char *uid : {"a", "b", "c"})
		s.world.observe(PodSeen{Stage::alone(uid)}, s.now);
	CHECK_EQUAL(s.act(), "submit:a");
	s.allocate("a", 7, "n1");
	CHECK_EQUAL(s.act(), "bind:a@n1 submit:b-n1");
	s.allocate("b", 8, "n3");
	CHECK_EQUAL(s.act(), "bind:b@n3 submit:c-n1-n3");
}

void a_pod_that_ends_is_waited_for_one_that_stays_is_not()
{
	for (const bool ends : {true, false}) {
		Stage s;
		s.run(Stage::with_port("a"), 7, "n2");
		Pod old = *s.world.state().pod({"a"});
		old.deleting = ends;
		s.world.observe(PodSeen{old}, s.now);
		s.world.observe(PodSeen{Stage::with_port("b")}, s.now);
		CHECK_EQUAL(s.act(), "submit:b-n2");
		s.allocate("b", 8, "n2");
		CHECK_EQUAL(s.act(), ends ? "" : "look:b");
		old.phase = PodPhase::failed;
		s.world.observe(PodGone{{"a"}, old}, s.now);
		CHECK_EQUAL(s.act(), ends ? "complete:7 bind:b@n2" : "complete:7=given-back");
	}
}

void a_port_that_comes_free_is_offered_to_who_waits()
{
	Stage s;
	s.run(Stage::with_port("a"), 7, "n2");
	s.world.observe(PodSeen{Stage::with_port("b")}, s.now);
	CHECK_EQUAL(s.act(), "submit:b-n2");
	s.queue_job("b", 8);
	s.now.mono_us += 2 * k_second;
	(void)s.act();
	s.world.answer(ReportAnswered{{"b"}, Ok{}}, s.now);
	Pod old = *s.world.state().pod({"a"});
	old.phase = PodPhase::succeeded;
	s.world.observe(PodSeen{old}, s.now);
	CHECK_EQUAL(s.act(), "complete:7");
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), ""); /* its job may still be there */
	s.world.answer(CompleteAnswered{{"a"}, Ok{}, false}, s.now);
	s.end_job("a", 7);
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "update:b");
}

void what_others_use_is_not_given_twice()
{
	Stage s;
	Pod daemon = Stage::pod("d");
	daemon.node_name = "n1";
	daemon.requests.milli_cpu = 3500;
	s.world.observe(ForeignSeen{daemon});
	s.world.observe(PodSeen{Stage::pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a-n1");
	s.allocate("a", 7, "n2");
	CHECK_EQUAL(s.act(), "bind:a@n2");
	daemon.uid = {"e"};
	daemon.node_name = "n3";
	Pod b = Stage::pod("b");
	s.world.observe(PodSeen{b}, s.now);
	CHECK_EQUAL(s.act(), "submit:b-n1");
	s.world.observe(ForeignSeen{daemon});
	s.allocate("b", 8, "n3");
	CHECK_EQUAL(s.act(), "look:b");
}

/* With Slurm 22.05 a node keeps its size in Slurm. Pods already on the node then count, because
 * the second pod would otherwise wait forever with its allocation. */
void a_node_that_slurm_takes_for_larger_is_no_trap()
{
	Stage s;
	Pod daemon = Stage::pod("d");
	daemon.node_name = "n1";
	daemon.requests.milli_cpu = 2500;
	s.world.observe(ForeignSeen{daemon});
	s.run(Stage::pod("a"), 7, "n1");
	s.world.observe(PodSeen{Stage::pod("b")}, s.now);
	CHECK_EQUAL(s.act(), "submit:b-n1");
	s.allocate("b", 8, "n1");
	CHECK_EQUAL(s.act(), "look:b");
	daemon.uid = {"e"};
	daemon.node_name = "n3";
	s.world.observe(ForeignSeen{daemon});
	s.run(Stage::pod("c"), 9, "n3");
	s.world.observe(PodSeen{Stage::pod("f")}, s.now);
	CHECK_EQUAL(s.act(), "submit:f-n1-n3");
}

void places_are_those_of_what_is_asked_for()
{
	Stage s;
	KubeNode special = Stage::node("n1");
	special.allocatable.extended = {{"ephemeral-storage", 1}};
	s.world.observe(NodeSeen{special}, s.now);
	s.world.observe(PodSeen{Stage::pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a");
	Pod p = Stage::pod("b");
	p.requests.extended = {{"ephemeral-storage", 1}};
	s.world.observe(PodSeen{p}, s.now);
	CHECK_EQUAL(s.act(), "submit:b-n2-n3");
}

/* The pod itself has no anti-affinity. */
void a_pod_keeps_off_nodes_of_those_that_mind_it()
{
	Stage s;
	s.run(Stage::alone("a"), 7, "n1");
	s.world.observe(PodSeen{Stage::pod("b")}, s.now);
	CHECK_EQUAL(s.act(), "submit:b-n1");
	Pod other = Stage::alone("c");
	other.node_name = "n3";
	s.world.observe(ForeignSeen{other});
	s.world.observe(PodSeen{Stage::pod("d")}, s.now);
	CHECK_EQUAL(s.act(), "submit:d-n1-n3");
	s.world.observe(ForeignSeen{Stage::with_port("e")});
	s.world.observe(PodSeen{Stage::pod("f")}, s.now);
	CHECK_EQUAL(s.act(), "submit:f-n1-n3");
}

/* slurmctld shows this cluster no node that has another cluster's feature. */
void a_node_without_a_record_takes_no_pod()
{
	Stage s;
	s.world.observe(PodSeen{Stage::pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a");
	s.world.observe(SlurmNodeGone{"n1"});
	s.allocate("a", 7, "n1");
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "report:a:SlurmPending");
	CHECK(s.text.ends_with(
		"has node n1, which is no external node of this Kubernetes cluster in Slurm"));
	s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
	s.world.observe(SlurmNodeSeen{slurm_node("n1", 4)});
	CHECK_EQUAL(s.act(), "bind:a@n1");
}

void nothing_is_done_before_others_pods_are_known()
{
	World world(Stage::settings());
	world.observe(PodsListed{{}}, {});
	world.observe(NodesListed{{}});
	world.observe(LinkOpened{{}});
	world.observe(SnapshotEnded{}, {});
	CHECK(!world.state().is_known());
	world.observe(ForeignListed{{}});
	CHECK(world.state().is_known());
}

} // namespace

int main()
{
	return check::run_tests("world_placement",
		{
			TEST(only_nodes_that_match_are_left_to_slurm),
			TEST(a_pod_without_a_node_says_so_and_is_tried_when_nodes_change),
			TEST(a_pod_too_large_for_every_node_is_not_submitted),
			TEST(only_nodes_that_the_pod_may_use_count),
			TEST(options_may_leave_no_node),
			TEST(more_devices_than_any_node_has_are_too_many),
			TEST(the_oldest_pod_is_submitted_first),
			TEST(ports_of_our_pods_and_of_others_are_kept_apart),
			TEST(two_that_must_not_meet_are_submitted_one_after_the_other),
			TEST(a_pod_that_ends_is_waited_for_one_that_stays_is_not),
			TEST(a_port_that_comes_free_is_offered_to_who_waits),
			TEST(what_others_use_is_not_given_twice),
			TEST(a_node_that_slurm_takes_for_larger_is_no_trap),
			TEST(places_are_those_of_what_is_asked_for),
			TEST(a_pod_keeps_off_nodes_of_those_that_mind_it),
			TEST(a_node_without_a_record_takes_no_pod),
			TEST(nothing_is_done_before_others_pods_are_known),
		});
}
