/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gangs whose job Slurm has lost. */
#include "src/core/model/outcome.h"
#include "testsuite/unit/gang_stage.h"

#include <algorithm>

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

using Stage = GangStage;

void a_lost_job_is_asked_for_again_on_the_same_nodes()
{
	Stage stage(4);
	stage.start(4);
	stage.connect({});
	CHECK(only<Submit>(stage.take()).empty());
	stage.pass(11 * k_second);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.required_node, "n1,n2");
	CHECK_EQUAL(submits.front().second.spec.marker.attempt, 2U);
}

void a_lost_job_is_asked_for_with_the_nodes_of_ranks_that_have_ended()
{
	Stage stage(4);
	stage.start(4);
	for (const std::uint32_t rank : {0U, 1U})
		stage.end(rank, PodPhase::succeeded);
	(void)stage.take();
	stage.connect({});
	(void)stage.take();
	stage.pass(11 * k_second);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.required_node, "n2,n1");
}

/* Slurm refuses a job that requires more nodes than it may have. */
void a_lost_job_that_may_have_one_node()
{
	Stage stage(4);
	stage.start(4);
	for (const std::uint32_t rank : {0U, 1U})
		stage.end(rank, PodPhase::succeeded);
	for (const char *uid : {"u0", "u1", "u2", "u3"}) {
		Pod p = *stage.world.state().pod({uid});
		p.annotations["slurm-kube.io/max-nodes"] = "1";
		stage.world.observe(PodSeen{p}, stage.now);
	}
	(void)stage.take();
	stage.connect({});
	(void)stage.take();
	stage.pass(11 * k_second);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.required_node, "n2");
}

KubeNode fast_node(const std::string &name)
{
	KubeNode node = kube_node(name, name + "-uid", 8000);
	node.labels["disk"] = "fast";
	return node;
}

/* Until then Slurm would refuse the submission each time. */
void a_lost_job_waits_until_slurm_has_the_nodes()
{
	Stage stage(4);
	stage.start(4);
	stage.connect({});
	stage.world.observe(SlurmNodeGone{"n2"});
	(void)stage.take();
	stage.pass(11 * k_second);
	CHECK_EQUAL(only<Submit>(stage.take()).size(), 0U);
	stage.pass(60 * k_second);
	CHECK_EQUAL(only<Submit>(stage.take()).size(), 0U);
	stage.world.observe(SlurmNodeSeen{slurm_node("n2", 8)});
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.required_node, "n1,n2");
}

/* required_node of the new job when Slurm has lost the job of a gang with three ranks bound to
 * n1 and n2; n3 and n4 are the states of the other nodes by then. */
std::string required_with(const KubeNode &n3, const SlurmNode &n4)
{
	Stage stage(4);
	for (const char *name : {"n1", "n2", "n4"})
		stage.world.observe(NodeSeen{fast_node(name)}, stage.now);
	stage.start(4);
	Pod p = *stage.world.state().pod({"u1"});
	p.annotations[names::k_allocation_nodes] = "n1,n2,n3,n4,gone";
	stage.world.observe(PodSeen{p}, stage.now);
	stage.connect({});
	stage.world.observe(NodeSeen{n3}, stage.now);
	stage.world.observe(SlurmNodeSeen{n4});
	stage.world.observe(PodGone{{"u0"}, std::nullopt}, stage.now);
	Pod next = stage.pod(0, "b");
	next.constraints.node_selector = {{"disk", "fast"}};
	stage.world.observe(PodSeen{next}, stage.now);
	(void)stage.take();
	stage.pass(11 * k_second);
	const auto submits = only<Submit>(stage.take());
	return submits.size() == 1 ? submits.front().second.spec.required_node
				   : std::to_string(submits.size()) + " jobs";
}

/* Slurm 24.11 allocates no nodes beyond the required ones. Without the job's other nodes the
 * gang would wait forever. */
void a_lost_job_is_asked_for_with_its_nodes_that_have_no_pods_yet()
{
	const KubeNode n3 = fast_node("n3");
	const SlurmNode n4 = slurm_node("n4", 8);
	CHECK_EQUAL(required_with(n3, n4), "n1,n2,n3,n4");
	KubeNode away = n3, cordoned = n3, excluded = n3;
	away.ready = false;
	cordoned.unschedulable = true;
	excluded.labels.erase("disk");
	CHECK_EQUAL(required_with(excluded, n4), "n1,n2,n4");
	CHECK_EQUAL(required_with(away, n4), "n1,n2,n4");
	CHECK_EQUAL(required_with(cordoned, n4), "n1,n2,n4");
	SlurmNode drained = n4, down = n4;
	drained.drain = true;
	down.base = NodeBase::down;
	CHECK_EQUAL(required_with(n3, drained), "n1,n2,n3");
	CHECK_EQUAL(required_with(n3, down), "n1,n2,n3");
}

void a_lost_job_is_asked_for_on_nodes_whose_names_lie_in_each_other()
{
	Stage stage(4);
	for (const char *name : {"a-n1", "n1"}) {
		stage.world.observe(NodeSeen{kube_node(name, name, 8000)}, stage.now);
		stage.world.observe(SlurmNodeSeen{slurm_node(name, 8)});
	}
	stage.start(4, nodes({{"a-n1", 8}, {"n1", 8}}));
	stage.connect({});
	stage.world.observe(SlurmNodeSeen{slurm_node("a-n1", 8)});
	(void)stage.take();
	stage.pass(11 * k_second);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.required_node, "a-n1,n1");
}

/* slurmctld lost the job while it was pending. The second job has the same attempt, and ends
 * like any other. */
void a_waiting_job_that_was_lost_is_asked_for_again_and_completes()
{
	Stage stage(4);
	stage.all_pods(4);
	(void)stage.take();
	stage.world.answer(
		SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, stage.now);
	SlurmJob waits = stage.running({});
	waits.state = JobState::pending;
	stage.world.observe(JobSeen{waits}, stage.now);
	(void)stage.take();
	stage.world.observe(LinkLost{});
	stage.connect({});
	stage.start(4);
	for (std::uint32_t i = 0; i < 4; i++)
		stage.end(i, PodPhase::succeeded);
	CHECK_EQUAL(only<Complete>(stage.take()).size(), 1U);
}

} // namespace

int main()
{
	return check::run_tests("gang_lost_jobs",
		{
			TEST(a_lost_job_is_asked_for_again_on_the_same_nodes),
			TEST(a_lost_job_waits_until_slurm_has_the_nodes),
			TEST(a_lost_job_is_asked_for_with_the_nodes_of_ranks_that_have_ended),
			TEST(a_lost_job_that_may_have_one_node),
			TEST(a_lost_job_is_asked_for_with_its_nodes_that_have_no_pods_yet),
			TEST(a_lost_job_is_asked_for_on_nodes_whose_names_lie_in_each_other),
			TEST(a_waiting_job_that_was_lost_is_asked_for_again_and_completes),
		});
}
