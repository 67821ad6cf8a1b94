/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and nodes that change between the submission of a pod and its binding. */
#include "testsuite/unit/place_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

using Stage = PlaceStage;

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

} // namespace

int main()
{
	return check::run_tests("world_place_changes",
		{
			TEST(a_node_that_changed_is_given_back),
			TEST(a_taint_or_a_cordon_before_the_binding_counts),
			TEST(a_waiting_job_follows_its_nodes),
			TEST(a_node_that_is_not_wanted_is_kept_off_when_it_comes),
			TEST(places_follow_what_changes),
			TEST(places_follow_records_of_slurm),
			TEST(an_idle_node_is_made_anew_when_its_size_changes),
		});
}
