/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and workloads of different roles after their first start: owners that scale, recreate or
 * gate their pods, agents that take over, lost answers. */
#include "testsuite/unit/unlike_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

/* ---- owners that scale ---- */

void scaled_to_none(LivingStage &stage, bool is_allocated)
{
	stage.job.roles[1] = LivingStage::role("gpu", 0, stage.worker);
	stage.head_comes();
	(void)stage.step();
	stage.pass(2 * k_second);
	(void)stage.step();
	stage.allocate("ray-uid", nodes({{"n1", 1}}));
	CHECK(has(stage.step(), "Bind h"));
	stage.pass(100 * k_second);
	stage.job.roles[1] = LivingStage::role("gpu", 2, stage.worker);
	stage.worker_comes("w0");
	stage.worker_comes("w1");
	(void)stage.step();
	stage.pass(2 * k_second);
	(void)stage.step();
	REQUIRE(stage.jobs.contains("ray-uid+1"));
	stage.job.roles[1] = LivingStage::role("gpu", 0, stage.worker);
	gone(stage, {"w0", "w1"});
	(void)stage.step();
	if (is_allocated)
		stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
}

/* The autoscaler reverses its decision: the pods are deleted before they were bound. */
void a_group_scaled_down_before_it_ran_gives_its_job_up()
{
	for (const bool is_allocated : {false, true}) {
		LivingStage stage;
		scaled_to_none(stage, is_allocated);
		CHECK_EQUAL(stage.steps(6), "End ray-uid+1=cancelled");
	}
}

/* ---- owners that recreate all pods, and mark that on no pod ---- */

void all_made_anew(int code)
{
	LivingStage stage;
	stage.start();
	stage.pass(100 * k_second);
	end_pod(stage, "w0", code);
	end_pod(stage, "w1", code);
	(void)stage.step();
	gone(stage, {"w0", "w1", "h"});
	(void)stage.step();
	stage.pass(2 * k_second);
	stage.head_comes("h2");
	std::string log = stage.step();
	log += stage.steps(2);
	/* whether the workers' job is kept or submitted again: the head waits for it */
	CHECK(!has(log, "End ray-uid+1"));
	CHECK(code != 0 || !has(log, "Bind h2"));
}

void a_group_made_anew_does_not_start_with_the_ends_of_the_last()
{
	all_made_anew(1);
	all_made_anew(0);
}

/* An operator makes pods one after the other, and removes those that have ended. */
void pods_that_came_at_different_times_are_of_one_run()
{
	LivingStage stage;
	stage.head_comes();
	(void)stage.step();
	stage.pass(2 * k_second);
	stage.worker_comes("w0");
	stage.pass(2 * k_second);
	stage.worker_comes("w1");
	(void)stage.steps(1);
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	(void)stage.step();
	stage.allocate("ray-uid", nodes({{"n1", 1}}));
	CHECK(has(stage.step(), "Bind w1"));
	stage.pass(100 * k_second);
	end_pod(stage, "w0", 0);
	gone(stage, {"w0"});
	CHECK_EQUAL(stage.steps(3), "");
	end_pod(stage, "w1", 0);
	gone(stage, {"w1"});
	CHECK_EQUAL(stage.steps(3), "End ray-uid+1=0");
}

/* The head takes its time to stop. */
void a_restart_that_clears_slowly_keeps_all_allocations()
{
	LivingStage stage;
	stage.start();
	Pod h = *stage.world.state().pod({"h"});
	h.deleting = true;
	stage.world.observe(PodSeen{h}, stage.now);
	end_pod(stage, "w0", 1);
	end_pod(stage, "w1", 1);
	gone(stage, {"w0", "w1"});
	CHECK_EQUAL(stage.steps(3), "");
}

/* The containers of the head exit with 0 on SIGTERM, and KubeRay creates another head. */
void a_head_that_was_evicted_keeps_its_job_for_its_successor()
{
	LivingStage stage;
	stage.start();
	Pod h = *stage.world.state().pod({"h"});
	h.deleting = true;
	h.phase = PodPhase::succeeded;
	stage.world.observe(PodSeen{h}, stage.now);
	CHECK_EQUAL(stage.step(), "");
	gone(stage, {"h"});
	stage.pass(3 * k_second);
	stage.head_comes("h2");
	std::string log = stage.step();
	stage.pass(2 * k_second);
	log += stage.step();
	CHECK(has(log, "Bind h2"));
	CHECK(!has(log, "Submit"));
}

/* A failed master is recreated, and the workers that have succeeded stay as they are. */
void ends_of_pods_that_are_left_count_on()
{
	LivingStage stage;
	stage.start();
	end_pod(stage, "w0", 0);
	end_pod(stage, "w1", 0);
	CHECK_EQUAL(stage.step(), "End ray-uid+1=0");
	end_pod(stage, "h", 1);
	(void)stage.step();
	gone(stage, {"h"});
	stage.pass(3 * k_second);
	stage.head_comes("h2");
	std::string log = stage.step();
	log += stage.steps(1);
	CHECK(has(log, "Bind h2"));
	CHECK(!has(log, "Submit ray-uid+1"));
}

/* ---- held allocations ---- */

/* Kueue or a webhook gates the workers, which come after their job got its nodes. */
void gated_pods_do_not_hold_both_allocations()
{
	LivingStage stage;
	stage.head_comes();
	(void)stage.step();
	stage.pass(2 * k_second);
	(void)stage.step();
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	(void)stage.step();
	Pod gated = stage.worker;
	gated.gated = true;
	std::swap(gated, stage.worker);
	stage.worker_comes("w0");
	stage.worker_comes("w1");
	std::swap(gated, stage.worker);
	stage.allocate("ray-uid", nodes({{"n1", 1}}));
	const std::string log = stage.steps(8);
	CHECK(has(log, "End ray-uid+1=given back"));
	CHECK(has(log, "End ray-uid=given back"));
}

/* A request that slurmctld has not answered does not count as another attempt. */
void an_unanswered_request_is_no_other_try()
{
	LivingStage stage;
	stage.all_come();
	(void)stage.step();
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	(void)stage.step();
	stage.pass(60 * k_second);
	int requests = 0;
	for (int i = 0; i < 40; i++) {
		for (auto &[uid, action] : stage.take()) {
			if (!std::holds_alternative<Complete>(action)) {
				(void)stage.carry_out(uid, action);
				continue;
			}
			requests++;
			stage.world.answer(CompleteAnswered{uid,
						   Error{Errc::again, "Socket timed out"}, false},
				stage.now);
		}
		stage.pass(k_second / 2);
	}
	CHECK(requests > 2);
	const std::string log = stage.steps(8);
	CHECK(has(log, "End ray-uid+1=given back"));
	CHECK(has(log, "Submit"));
}

/* The look-up for p0 is answered a moment after the others. */
void all_go_back_together_also_when_one_answers_late()
{
	LivingStage stage;
	KubeNode node = kube_node("n2", "n2-uid", 8000);
	node.labels["pool"] = "c";
	stage.world.observe(NodeSeen{node}, stage.now);
	const Pod ps = in_pool("c", 3000);
	stage.job.roles.push_back(LivingStage::role("ps", 1, ps));
	stage.all_come();
	stage.come("p0", ps, {{"ray.io/node-type", "worker"}, {"ray.io/group", "ps"}});
	(void)stage.step();
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	stage.pass(50 * k_second);
	(void)stage.step();
	stage.allocate("ray-uid+2", nodes({{"n2", 3}}));
	stage.pass(10 * k_second);
	for (const auto &[uid, look] : only<LookUp>(stage.take())) {
		if (uid.text != "p0")
			stage.world.answer(LookUpAnswered{uid, PodLookup::unbound}, stage.now);
	}
	CHECK(has(stage.step(), "End ray-uid+1=given back"));
	stage.pass(k_second);
	stage.world.answer(LookUpAnswered{{"p0"}, PodLookup::unbound}, stage.now);
	CHECK(has(stage.step(), "End ray-uid+2=given back"));
}

/* ---- partial starts ---- */

/* Slurm placed both components on the same node, where a pod of another job is still ending:
 * either component fits, but not both. */
void place_both_on_one_node(LivingStage &stage)
{
	for (Pod *pod : {&stage.head, &stage.worker})
		pod->constraints.node_selector.clear();
	stage.job.roles = {LivingStage::role("head", 1, stage.head),
		LivingStage::role("gpu", 1, stage.worker)};
	Pod old = stage.worker;
	old.uid = {"old"};
	old.name = "old";
	old.node_name = "n1";
	old.phase = PodPhase::running;
	old.deleting = true;
	old.annotations = {{names::k_allocation_attempt, "1"}, {names::k_allocation_job_id, "3"}};
	stage.world.observe(PodSeen{old}, stage.now);
	stage.head_comes();
	stage.worker_comes("w0");
	(void)stage.step();
	stage.allocate("ray-uid+1", nodes({{"n1", 4}}));
	(void)stage.step();
	stage.allocate("ray-uid", nodes({{"n1", 1}}));
	stage.pass(2 * k_second);
	CHECK_EQUAL(stage.step(), "");
}

void components_on_one_node_are_bound_together_or_not()
{
	LivingStage stage, never;
	place_both_on_one_node(stage);
	place_both_on_one_node(never);
	CHECK(has(never.steps(8), "given back"));
	gone(stage, {"old"});
	stage.pass(2 * k_second);
	const std::string log = stage.step() + stage.steps(2);
	CHECK(has(log, "Bind h") && has(log, "Bind w0"));
}

Claim claim_of_head()
{
	Claim claim = unbound_claim("c", "late");
	claim.id.name_space = "a";
	return claim;
}

/* The head's volume is created on the node that Slurm chose, which may have no room for it. */
void volumes_are_made_before_any_component_is_bound()
{
	LivingStage stage;
	stage.head.constraints.claims = {{"c", false}};
	stage.job.roles[0] = LivingStage::role("head", 1, stage.head);
	stage.world.observe(ClassSeen{{"late", "uid-late", "csi.example.com", true, {}}});
	stage.world.observe(ClassesListed{{"uid-late"}});
	stage.world.observe(VolumesListed{{}});
	const Claim claim = claim_of_head();
	stage.world.observe(ClaimSeen{claim}, stage.now);
	stage.world.observe(ClaimsListed{{claim.uid}});
	stage.all_come();
	(void)stage.step();
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	(void)stage.step();
	stage.allocate("ray-uid", nodes({{"n1", 1}}));
	CHECK_EQUAL(stage.step(), "WriteClaim h");
}

/* ---- ends ---- */

void fail_by_deadline(LivingStage &stage)
{
	Pod h = *stage.world.state().pod({"h"});
	h.phase = PodPhase::failed;
	h.status_reason = "DeadlineExceeded";
	stage.world.observe(PodSeen{h}, stage.now);
}

/* The pod's own deadline is not Slurm's time limit: the workers go on, even under the next
 * agent. */
void a_new_agent_knows_the_end_of_a_pods_own_deadline()
{
	LivingStage stage;
	stage.start();
	stage.pass(100 * k_second);
	fail_by_deadline(stage);
	CHECK_EQUAL(
		stage.step() + stage.steps(2), "End ray-uid=" + std::to_string(k_status_deadline));
	LivingStage next = next_agent(stage, {"h", "w0", "w1"});
	CHECK_EQUAL(next.step(), "");
}

/* The head succeeded while no agent ran, and its job ended for another reason before the success
 * was reported. */
void a_component_that_has_succeeded_ends_nobody()
{
	for (const JobState state : {JobState::timeout, JobState::node_fail}) {
		LivingStage stage;
		stage.start();
		stage.pass(100 * k_second);
		end_pod(stage, "h", 0);
		SlurmJob &job = stage.jobs.at("ray-uid");
		job.state = state;
		job.end_time = stage.now.wall_s - 5;
		LivingStage next = next_agent(stage, {"h", "w0", "w1"});
		CHECK_EQUAL(next.step(), "");
	}
}

/* The workers exit with 0 on SIGTERM. That is no success, and all pods are removed. */
void a_cancelled_component_ends_all_whatever_its_pods_leave_with()
{
	LivingStage stage;
	stage.start();
	stage.end_job("ray-uid+1", JobState::cancelled);
	(void)stage.take();
	stage.world.answer(
		DeletePodAnswered{{"h"}, Error{Errc::again, "Socket timed out"}}, stage.now);
	for (const char *uid : {"w0", "w1"}) {
		stage.world.answer(DeletePodAnswered{{uid}, Ok{}}, stage.now);
		Pod p = *stage.world.state().pod({uid});
		p.deleting = true;
		p.phase = PodPhase::succeeded;
		stage.world.observe(PodSeen{p}, stage.now);
	}
	CHECK(has(stage.steps(2), "Delete h"));
}

/* Its time limit passes before its pods are created: the head continues. */
void a_component_that_timed_out_unused_ends_nobody()
{
	LivingStage stage;
	stage.head_comes();
	(void)stage.step();
	stage.pass(2 * k_second);
	(void)stage.step();
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	(void)stage.step();
	stage.allocate("ray-uid", nodes({{"n1", 1}}));
	CHECK(has(stage.step(), "Bind h"));
	stage.pass(60 * k_second);
	stage.end_job("ray-uid+1", JobState::timeout);
	CHECK(!has(stage.step() + stage.steps(2), "Delete h"));
	LivingStage next = next_agent(stage, {"h"});
	CHECK(!has(next.step() + next.steps(2), "Delete h"));
}

/* slurmctld did not answer the completion; in the meantime the head's job is cancelled. */
void success_is_reported_although_another_was_cancelled()
{
	LivingStage stage;
	stage.start();
	end_pod(stage, "w0", 0);
	end_pod(stage, "w1", 0);
	for (const auto &[uid, complete] : only<Complete>(stage.take()))
		stage.world.answer(
			CompleteAnswered{uid, Error{Errc::again, "Socket timed out"}, false},
			stage.now);
	stage.end_job("ray-uid", JobState::cancelled);
	stage.pass(2 * k_second);
	std::string log = stage.step();
	gone(stage, {"h"});
	log += stage.steps(1);
	CHECK(has(log, "End ray-uid+1=0"));
}

/* slurmctld may carry out an end that it did not answer, and the plugin may report an end late.
 * The next agent would delete pods that were bound meanwhile, as pods of a job that failed. */
void a_job_whose_end_was_asked_for_gets_no_pods()
{
	for (const bool is_answered : {true, false}) {
		LivingStage stage;
		stage.head_comes();
		(void)stage.steps(1);
		stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
		(void)stage.steps(1);
		stage.allocate("ray-uid", nodes({{"n1", 1}}));
		(void)stage.steps(351);
		stage.pass(100 * k_second);
		const auto ends = only<Complete>(stage.take());
		REQUIRE(ends.size() == 1);
		const Status answer =
			is_answered ? Status(Ok{}) : Status(Error{Errc::io, "no answer"});
		stage.world.answer(CompleteAnswered{{"ray-uid+1"}, answer, false}, stage.now);
		stage.worker_comes("w0");
		stage.worker_comes("w1");
		std::size_t repeated = 0;
		for (int i = 0; i < 20; i++) {
			const auto actions = stage.take();
			CHECK(only<Bind>(actions).empty());
			for (const auto &[uid, look] : only<LookUp>(actions))
				stage.world.answer(
					LookUpAnswered{uid, PodLookup::unbound}, stage.now);
			for (const auto &[uid, end] : only<Complete>(actions)) {
				repeated++;
				CHECK_EQUAL(end.wait_status, ends.front().second.wait_status);
				stage.world.answer(CompleteAnswered{uid, Ok{}, false}, stage.now);
			}
			stage.pass(k_second / 2);
		}
		CHECK(repeated > 0); /* otherwise the job would stay for ever */
	}
}

} // namespace

int main()
{
	return check::run_tests("world component lives",
		{TEST(a_job_whose_end_was_asked_for_gets_no_pods),
			TEST(a_group_scaled_down_before_it_ran_gives_its_job_up),
			TEST(a_group_made_anew_does_not_start_with_the_ends_of_the_last),
			TEST(pods_that_came_at_different_times_are_of_one_run),
			TEST(a_restart_that_clears_slowly_keeps_all_allocations),
			TEST(a_head_that_was_evicted_keeps_its_job_for_its_successor),
			TEST(gated_pods_do_not_hold_both_allocations),
			TEST(an_unanswered_request_is_no_other_try),
			TEST(all_go_back_together_also_when_one_answers_late),
			TEST(components_on_one_node_are_bound_together_or_not),
			TEST(volumes_are_made_before_any_component_is_bound),
			TEST(a_new_agent_knows_the_end_of_a_pods_own_deadline),
			TEST(a_component_that_has_succeeded_ends_nobody),
			TEST(ends_of_pods_that_are_left_count_on),
			TEST(a_cancelled_component_ends_all_whatever_its_pods_leave_with),
			TEST(a_component_that_timed_out_unused_ends_nobody),
			TEST(success_is_reported_although_another_was_cancelled)});
}
