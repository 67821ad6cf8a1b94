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

/* Only the API server knows whether an earlier agent has bound the pod there, so it is asked
 * before the allocation is given back. */
void a_node_that_changed_is_given_back()
{
	Stage s;
	s.world.observe(PodSeen{Stage::on_ssd("a")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a-n2-n3");
	KubeNode bare = Stage::node("n1");
	bare.labels.erase("disk");
	s.world.observe(NodeSeen{bare}, s.now);
	s.allocate("a", 7, "n1");
	CHECK_EQUAL(s.act(), "look:a");
	s.world.answer(LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
	CHECK_EQUAL(s.act(), "complete:7=given-back");
	s.world.answer(CompleteAnswered{{"a"}, Ok{}, false}, s.now);
	s.end_job("a", 7);
	KubeNode other = Stage::node("n3");
	other.labels["disk"] = "ssd";
	s.world.observe(NodeSeen{other}, s.now);
	s.now.mono_us += 5 * k_second;
	CHECK_EQUAL(s.act(), "submit:a-n1-n2");
}

void a_taint_or_a_cordon_before_the_binding_counts()
{
	for (const bool cordon : {false, true}) {
		Stage s;
		s.world.observe(PodSeen{Stage::pod("a")}, s.now);
		CHECK_EQUAL(s.act(), "submit:a");
		KubeNode n = Stage::node("n2");
		if (cordon)
			n.unschedulable = true;
		else
			n.taints = {{"site/repair", "", "NoSchedule"}};
		s.world.observe(NodeSeen{n}, s.now);
		s.allocate("a", 7, "n2");
		CHECK_EQUAL(s.act(), "look:a");
	}
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

/* Exclusions made at submission follow the nodes in both directions. */
void a_waiting_job_follows_its_nodes()
{
	Stage s;
	s.world.observe(PodSeen{Stage::on_ssd("a")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a-n2-n3");
	s.queue_job("a", 7);
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "report:a:SlurmPending");
	s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
	KubeNode ssd = Stage::node("n3");
	ssd.labels["disk"] = "ssd";
	s.world.observe(NodeSeen{ssd}, s.now);
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "update:a-n2");
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), ""); /* under way */
	s.world.answer(UpdateAnswered{{"a"}, "", {7}, Error{Errc::io, "broken"}}, s.now);
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "update:a-n2");
	s.world.answer(UpdateAnswered{{"a"}, "", {7}, Ok{}}, s.now);
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "");
	for (const char *name : {"n1", "n3"})
		s.world.observe(
			NodeSeen{Stage::node(std::string(name) == "n1" ? "n2" : "n3")}, s.now);
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "update:a-n2-n3");
	s.world.answer(UpdateAnswered{{"a"}, "", {7}, Ok{}}, s.now);
	KubeNode bare = Stage::node("n1");
	bare.labels.erase("disk");
	s.world.observe(NodeSeen{bare}, s.now);
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), ""); /* nowhere: it keeps what it has */
}

/* A node that Slurm does not know needs no exclusion until Slurm knows it. */
void a_node_that_is_not_wanted_is_kept_off_when_it_comes()
{
	Stage s;
	Pod p = Stage::pod("a");
	p.annotations = {{"slurm-kube.io/excluded-nodes", "n[3-4]"}};
	s.world.observe(PodSeen{p}, s.now);
	CHECK_EQUAL(s.act(), "submit:a-n3");
	s.queue_job("a", 7);
	s.now.mono_us += 2 * k_second;
	(void)s.act();
	s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
	s.world.observe(SlurmNodeSeen{slurm_node("n4", 4)});
	s.world.observe(NodeSeen{Stage::node("n4")}, s.now);
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "update:a-n3-n4");
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

/* The result computed for the pods of one template is recomputed when its inputs change. */
void places_follow_what_changes()
{
	const auto next = [](Stage &s, const char *uid, Pod pod = Stage::pod("x")) {
		pod.uid = {uid};
		pod.name = uid;
		s.world.observe(PodSeen{pod}, s.now);
		return s.act();
	};
	Stage s;
	CHECK_EQUAL(next(s, "a"), "submit:a");
	Pod daemon = Stage::pod("d");
	daemon.node_name = "n2";
	daemon.requests.milli_cpu = 3500;
	s.world.observe(ForeignSeen{daemon});
	CHECK_EQUAL(next(s, "b"), "submit:b-n2");
	s.world.observe(ForeignGone{daemon.uid});
	CHECK_EQUAL(next(s, "c"), "submit:c");
	KubeNode small = Stage::node("n3");
	small.allocatable.milli_cpu = 500;
	s.world.observe(NodeSeen{small}, s.now);
	CHECK_EQUAL(next(s, "e"), "submit:e-n3");
	s.world.observe(NodeSeen{Stage::node("n3")}, s.now);
	CHECK_EQUAL(next(s, "f"), "submit:f");
	s.world.observe(ForeignSeen{daemon});
	CHECK_EQUAL(next(s, "g"), "submit:g-n2");
	s.world.observe(ForeignListed{{}});
	CHECK_EQUAL(next(s, "h"), "submit:h");
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

void places_follow_taints_that_somebody_tolerates_now()
{
	Stage s;
	KubeNode tainted = Stage::node("n1");
	tainted.taints = {{"rack", "x", "NoSchedule"}};
	s.world.observe(NodeSeen{tainted}, s.now);
	s.world.observe(PodSeen{Stage::pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a"); /* it is drained */
	Pod tolerant = Stage::pod("b");
	tolerant.constraints.tolerations = {
		{.key = "rack", .op = TolerationOp::exists, .value = "", .effect = ""}};
	s.world.observe(PodSeen{tolerant}, s.now);
	CHECK_EQUAL(s.act(), "submit:b");
	s.world.observe(PodSeen{Stage::pod("c")}, s.now);
	CHECK_EQUAL(s.act(), "submit:c-n1");
}

/* A pod fits only if both the node and its Slurm record have room, whichever is larger. */
void places_follow_records_of_slurm()
{
	Stage s;
	Pod p = Stage::pod("a");
	p.requests.milli_cpu = 6000;
	s.world.observe(SlurmNodeSeen{slurm_node("n1", 8)});
	s.world.observe(NodeSeen{kube_node("n2", "uid-n2", 8000)}, s.now);
	s.world.observe(PodSeen{p}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.world.observe(SlurmNodeSeen{slurm_node("n2", 8)});
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "submit:a-n1");
	s.world.observe(SlurmNodeGone{"n1"});
	p.uid = {"b"};
	s.world.observe(PodSeen{p}, s.now);
	CHECK_EQUAL(s.act(), "submit:b");
}

/* Slurm cannot change a node's size, so the node is deleted and created again. Slurm may still
 * record another size than requested, so that is tried only once. */
void an_idle_node_is_made_anew_when_its_size_changes()
{
	Stage s;
	PluginHello hello;
	hello.slurm_version_number = (24U << 16) | (11U << 8);
	s.world.observe(LinkOpened{hello});
	SlurmNode n;
	n.name = "n1";
	n.base = NodeBase::idle;
	n.dynamic = true;
	n.cpus = 4;
	n.memory_mib = 1 << 20;
	s.world.observe(SlurmNodeSeen{n});
	s.world.observe(SnapshotEnded{}, s.now);
	const auto deleted = [&] {
		std::string names;
		for (const NodeAction &action : s.world.take_node_actions(s.now)) {
			if (const auto *one = std::get_if<DeleteNode>(&action))
				names += one->name;
		}
		return names;
	};
	CHECK_EQUAL(deleted(), "");
	Pod daemon = Stage::pod("d");
	daemon.node_name = "n1";
	s.world.observe(ForeignSeen{daemon});
	s.now.mono_us += 10 * k_second;
	CHECK_EQUAL(deleted(), "n1");
	s.world.answer(NodeChangeAnswered{"n1", Ok{}}, s.now);
	s.now.mono_us += 10 * k_second;
	s.world.observe(SlurmNodeSeen{n});
	CHECK_EQUAL(deleted(), "");
	s.world.observe(ForeignGone{{"d"}});
	s.now.mono_us += 10 * k_second;
	CHECK_EQUAL(deleted(), "");
	daemon.requests.milli_cpu = 2000;
	s.world.observe(ForeignSeen{daemon});
	s.now.mono_us += 10 * k_second;
	CHECK_EQUAL(deleted(), "n1");
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

/* While no pod tolerates a taint, the taint drains the node, so that sinfo shows it. Otherwise
 * the taint is checked for each pod. */
void a_taint_drains_until_a_pod_tolerates_it()
{
	Stage s;
	KubeNode n = Stage::node("n2");
	n.taints = {{"gpu", "", "NoSchedule"}};
	s.world.observe(NodeSeen{n}, s.now);
	const auto drained = s.world.take_node_actions(s.now);
	REQUIRE(drained.size() == 1);
	CHECK(std::get<SetNodeState>(drained[0]).change == NodeStateChange::drain);
	SlurmNode known = s.world.state().slurm_nodes.at("n2");
	known.drain = true;
	known.reason = std::string(names::k_reason_prefix) + "taint gpu:NoSchedule";
	s.world.observe(SlurmNodeSeen{known});
	(void)s.world.take_node_actions(s.now);
	Pod p = Stage::pod("a");
	p.constraints.tolerations = {{"gpu", TolerationOp::exists, "", ""}};
	s.world.observe(PodSeen{p}, s.now);
	const auto undrained = s.world.take_node_actions(s.now);
	REQUIRE(undrained.size() == 1);
	CHECK(std::get<SetNodeState>(undrained[0]).change == NodeStateChange::undrain);
	CHECK_EQUAL(s.act(), "submit:a");
	s.world.observe(PodSeen{Stage::pod("b")}, s.now);
	CHECK_EQUAL(s.act(), "submit:b-n2");
}

KubeNode tainted_node(const char *name, const char *key)
{
	KubeNode node = Stage::node(name);
	node.taints = {{key, "", "NoSchedule"}};
	return node;
}

bool is_in_service(Stage &s, const char *name)
{
	for (int i = 0; i < 3; i++) {
		for (const NodeAction &action : s.world.take_node_actions(s.now)) {
			const auto *set = std::get_if<SetNodeState>(&action);
			if (!set)
				continue;
			SlurmNode node = s.world.state().slurm_nodes.at(set->name);
			node.drain = set->change == NodeStateChange::drain;
			node.reason = set->reason;
			s.world.answer(NodeChangeAnswered{set->name, Ok{}}, s.now);
			s.world.observe(SlurmNodeSeen{node});
		}
		s.now.mono_us += k_second;
	}
	return !s.world.state().slurm_nodes.at(name).drain;
}

Pod tolerant_pod(const char *uid, const char *key)
{
	Pod p = Stage::pod(uid);
	p.constraints.tolerations = {{key, TolerationOp::exists, "", ""}};
	return p;
}

/* The pod tolerates taints that no node has. */
void tolerations_of_one_pod_do_not_crowd_out_others()
{
	Stage s;
	s.world.observe(NodeSeen{tainted_node("n2", "gpu")}, s.now);
	Pod junk = Stage::pod("junk");
	for (int i = 0; i < 256; i++)
		junk.constraints.tolerations.push_back(
			{"junk" + std::to_string(i), TolerationOp::exists, "", ""});
	s.world.observe(PodSeen{junk}, s.now);
	CHECK(!is_in_service(s, "n2"));
	s.world.observe(PodSeen{tolerant_pod("a", "gpu")}, s.now);
	CHECK(is_in_service(s, "n2"));
}

void a_toleration_goes_with_the_last_pod_that_had_it()
{
	Stage s;
	s.world.observe(PodSeen{tolerant_pod("a", "gpu")}, s.now);
	s.world.observe(NodeSeen{tainted_node("n2", "gpu")}, s.now); /* the pod was there first */
	CHECK(is_in_service(s, "n2"));
	s.world.observe(PodGone{{"a"}, *s.world.state().pod({"a"})}, s.now);
	s.now.mono_us += 700 * k_second;
	(void)s.act();
	CHECK(!is_in_service(s, "n2"));
}

} // namespace

int main()
{
	return check::run_tests("world_placement",
		{TEST(only_nodes_that_match_are_left_to_slurm),
			TEST(a_pod_without_a_node_says_so_and_is_tried_when_nodes_change),
			TEST(a_pod_too_large_for_every_node_is_not_submitted),
			TEST(only_nodes_that_the_pod_may_use_count),
			TEST(options_may_leave_no_node),
			TEST(more_devices_than_any_node_has_are_too_many),
			TEST(the_oldest_pod_is_submitted_first),
			TEST(a_node_that_changed_is_given_back),
			TEST(a_taint_or_a_cordon_before_the_binding_counts),
			TEST(ports_of_our_pods_and_of_others_are_kept_apart),
			TEST(two_that_must_not_meet_are_submitted_one_after_the_other),
			TEST(a_pod_that_ends_is_waited_for_one_that_stays_is_not),
			TEST(a_waiting_job_follows_its_nodes),
			TEST(a_node_that_is_not_wanted_is_kept_off_when_it_comes),
			TEST(a_port_that_comes_free_is_offered_to_who_waits),
			TEST(what_others_use_is_not_given_twice),
			TEST(a_node_that_slurm_takes_for_larger_is_no_trap),
			TEST(places_follow_what_changes),
			TEST(places_are_those_of_what_is_asked_for),
			TEST(a_pod_keeps_off_nodes_of_those_that_mind_it),
			TEST(places_follow_taints_that_somebody_tolerates_now),
			TEST(places_follow_records_of_slurm),
			TEST(an_idle_node_is_made_anew_when_its_size_changes),
			TEST(nothing_is_done_before_others_pods_are_known),
			TEST(a_taint_drains_until_a_pod_tolerates_it),
			TEST(tolerations_of_one_pod_do_not_crowd_out_others),
			TEST(a_toleration_goes_with_the_last_pod_that_had_it)});
}
