/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ends of jobs of one workload: what the end of one means for the others. */
#include "src/core/inspect/why.h"
#include "testsuite/unit/unlike_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

using Stage = UnlikeStage;

/* scancel of one job ends the whole workload. */
void the_end_of_one_job_ends_all()
{
	for (const JobState state : {JobState::cancelled, JobState::timeout, JobState::node_fail,
		     JobState::preempted}) {
		Stage stage;
		stage.start();
		stage.end_job("ray-uid", state);
		const auto removes = only<DeletePod>(stage.take());
		CHECK_EQUAL(removes.size(), 3U);
		for (const auto &[uid, remove] : removes) {
			if (uid.text != "h")
				CHECK(remove.disruption.message.starts_with(
					"Slurm job 8 of another component ended: "));
		}
	}
}

/* The workers are recreated while the head runs on; the same under another agent. */
void the_end_of_one_job_is_its_own_where_the_owner_says_so()
{
	for (const bool is_new_agent : {false, true}) {
		Stage before, after;
		before.job.annotations =
			after.job.annotations = {{"slurm-kube.io/end-together", "false"}};
		before.start();
		Stage &stage = is_new_agent ? after : before;
		if (is_new_agent) {
			after.jobs = before.jobs;
			after.next_job = 20;
			for (const char *uid : {"h", "w0", "w1"})
				after.world.observe(
					PodSeen{*before.world.state().pod({uid})}, after.now);
			after.connect({after.jobs.at("ray-uid"), after.jobs.at("ray-uid+1")});
		}
		stage.end_job("ray-uid+1", JobState::preempted);
		std::set<std::string> removed;
		for (const auto &[uid, remove] : only<DeletePod>(stage.take()))
			removed.insert(uid.text);
		CHECK(removed == (std::set<std::string>{"w0", "w1"}));
		stage.pass(2 * k_second);
		for (const char *uid : {"w0", "w1"})
			stage.world.observe(
				PodGone{{uid}, *stage.world.state().pod({uid})}, stage.now);
		stage.worker_comes("w2");
		stage.worker_comes("w3");
		stage.pass(10 * k_second);
		const auto again = stage.submit();
		REQUIRE(again.size() == 1);
		CHECK_EQUAL(again.front().spec.marker.uid, "ray-uid+1");
		stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
		CHECK_EQUAL(stage.bind(), "w2:n3:1 w3:n4:2");
	}
}

/* After the clock was set back, its pods look as if they were created after that end. */
void no_job_ends_under_pods_that_run()
{
	Stage stage;
	stage.head_comes();
	(void)stage.submit();
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	(void)stage.submit();
	stage.allocate("ray-uid", nodes({{"n1", 1}}));
	stage.pass(10 * k_second);
	(void)stage.bind();
	stage.worker_comes("w0");
	stage.worker_comes("w1");
	CHECK_EQUAL(stage.bind(), "w0:n3:1 w1:n4:2");
	stage.now.wall_s -= 5;
	stage.end_job("ray-uid", JobState::preempted);
	for (int i = 0; i < 3; i++) {
		const auto actions = stage.take();
		for (const auto &[uid, look] : only<LookUp>(actions))
			stage.world.answer(LookUpAnswered{uid, PodLookup::unbound}, stage.now);
		CHECK(only<Complete>(actions).empty());
		stage.pass(2 * k_second);
	}
}

void pods_that_wait_go_with_a_cancelled_component()
{
	Stage stage;
	stage.all_come();
	(void)stage.submit();
	stage.pass(2 * k_second);
	stage.end_job("ray-uid+1", JobState::cancelled);
	CHECK_EQUAL(only<DeletePod>(stage.take()).size(), 3U);
}

/* Preemption is no user's wish, so that waiting pods go on waiting. */
void a_preempted_component_is_asked_for_again_when_all_have_gone()
{
	Stage stage;
	stage.start();
	stage.end_job("ray-uid", JobState::preempted);
	(void)stage.take();
	stage.pass(2 * k_second);
	for (const char *uid : {"h", "w0"})
		stage.world.observe(PodGone{{uid}, *stage.world.state().pod({uid})}, stage.now);
	stage.head_comes("h2");
	CHECK(only<Submit>(stage.take()).empty());
	stage.world.observe(PodGone{{"w1"}, *stage.world.state().pod({"w1"})}, stage.now);
	stage.pass(10 * k_second);
	const auto ends = only<Complete>(stage.take());
	REQUIRE(ends.size() == 1);
	stage.world.answer(CompleteAnswered{{"ray-uid+1"}, Ok{}, false}, stage.now);
	stage.end_job("ray-uid+1", JobState::cancelled);
	stage.pass(6 * k_second);
	const auto again = stage.submit();
	REQUIRE(again.size() == 1);
	CHECK_EQUAL(again.front().spec.marker.uid, "ray-uid+1");
}

void a_component_ends_with_its_own_pods()
{
	Stage stage;
	stage.start();
	for (const char *uid : {"w0", "w1"}) {
		Pod p = *stage.world.state().pod({uid});
		p.phase = PodPhase::succeeded;
		stage.world.observe(PodSeen{p}, stage.now);
	}
	const auto ends = only<Complete>(stage.take());
	REQUIRE(ends.size() == 1);
	CHECK(ends.front().second.job == stage.jobs.at("ray-uid+1").id);
	CHECK_EQUAL(ends.front().second.wait_status, 0U);
	stage.end_job("ray-uid+1", JobState::complete);
	stage.world.answer(CompleteAnswered{{"ray-uid+1"}, Ok{}, false}, stage.now);
	stage.pass(20 * k_second);
	CHECK(stage.take().empty());
}

/* The owner may replace the failed pod. The component fails only if no replacement comes for a
 * while. */
void a_component_whose_pods_failed_leaves_the_others_alone()
{
	Stage stage;
	stage.start();
	Pod p = *stage.world.state().pod({"h"});
	p.phase = PodPhase::failed;
	p.ended_containers = {{"main", 3, 0, "Error"}};
	p.main_container = "main";
	stage.world.observe(PodSeen{p}, stage.now);
	CHECK(stage.take().empty());
	stage.pass(11 * k_second);
	const auto ends = only<Complete>(stage.take());
	REQUIRE(ends.size() == 1);
	CHECK_EQUAL(ends.front().second.wait_status, 3U << 8);
	stage.end_job("ray-uid", JobState::failed);
	CHECK(only<DeletePod>(stage.take()).empty());
}

void all_go_when_the_owner_has_gone()
{
	Stage stage;
	stage.start();
	for (const char *uid : {"h", "w0", "w1"})
		stage.world.observe(PodGone{{uid}, *stage.world.state().pod({uid})}, stage.now);
	(void)stage.take();
	stage.pass(11 * k_second);
	CHECK_EQUAL(only<Complete>(stage.take()).size(), 2U);
	for (const char *uid : {"ray-uid", "ray-uid+1"}) {
		stage.world.answer(CompleteAnswered{{uid}, Ok{}, false}, stage.now);
		stage.end_job(uid, JobState::cancelled);
		stage.world.observe(JobGone{stage.jobs.at(uid).id}, stage.now);
	}
	(void)stage.take();
	CHECK(stage.world.state().gangs.empty());
	CHECK(stage.world.state().pods.empty());
	CHECK(stage.world.state().components.empty());
}

/* Slurm still knows how the head's first job ended. */
void the_latest_end_of_a_job_ends_all()
{
	Stage stage;
	stage.all_come();
	(void)stage.submit();
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	(void)stage.submit();
	stage.pass(2 * k_second);
	stage.end_job("ray-uid", JobState::cancelled);
	CHECK_EQUAL(only<DeletePod>(stage.take()).size(), 3U);
	gone(stage, {"h", "w0", "w1"});
	(void)stage.take();
	stage.pass(11 * k_second);
	(void)stage.take();
	stage.world.answer(CompleteAnswered{{"ray-uid+1"}, Ok{}, false}, stage.now);
	stage.end_job("ray-uid+1", JobState::cancelled);
	(void)stage.take();
	stage.head_comes("h2");
	stage.worker_comes("w2");
	stage.worker_comes("w3");
	stage.pass(10 * k_second);
	CHECK_EQUAL(stage.submit().size(), 1U);
	stage.pass(2 * k_second);
	stage.end_job("ray-uid+1", JobState::cancelled);
	CHECK_EQUAL(only<DeletePod>(stage.take()).size(), 3U);
}

} // namespace

int main()
{
	return check::run_tests("world_component_ends",
		{
			TEST(the_end_of_one_job_ends_all),
			TEST(the_end_of_one_job_is_its_own_where_the_owner_says_so),
			TEST(no_job_ends_under_pods_that_run),
			TEST(pods_that_wait_go_with_a_cancelled_component),
			TEST(a_preempted_component_is_asked_for_again_when_all_have_gone),
			TEST(a_component_ends_with_its_own_pods),
			TEST(a_component_whose_pods_failed_leaves_the_others_alone),
			TEST(all_go_when_the_owner_has_gone),
			TEST(the_latest_end_of_a_job_ends_all),
		});
}
