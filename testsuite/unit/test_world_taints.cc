/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World, taints, and tolerations of pods that wait or run. */
#include "testsuite/unit/place_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

using Stage = PlaceStage;

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
	return check::run_tests("world_taints",
		{
			TEST(places_follow_taints_that_somebody_tolerates_now),
			TEST(a_taint_drains_until_a_pod_tolerates_it),
			TEST(tolerations_of_one_pod_do_not_crowd_out_others),
			TEST(a_toleration_goes_with_the_last_pod_that_had_it),
		});
}
