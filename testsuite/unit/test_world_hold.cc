/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes that one component holds while another waits: for how long, what becomes of the age of jobs
 * that give them back, and what agents that come later make of it. */
#include "testsuite/unit/unlike_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

const std::map<std::string, std::string> k_apart = {{"slurm-kube.io/end-together", "false"}};

/* The age in seconds that its job has got from those before it. */
std::int64_t age(const LivingStage &stage, const char *key)
{
	const SlurmJob &job = stage.jobs.at(key);
	return job.marker.since == 0 ? 0 : job.submit_time - job.marker.since;
}

/* What the workload waited in the queue, but not the pause. */
bool is_first_age(std::int64_t seconds)
{
	return seconds >= 1000 && seconds <= 1100;
}

/* The workers wait for 1,000 s and get their nodes, the head gets none. */
std::string give_back(LivingStage &stage)
{
	stage.all_come();
	(void)stage.step();
	stage.pass(1000 * k_second);
	(void)stage.step();
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	(void)stage.step();
	return stage.steps(7);
}

/* The head goes first in the next try; then the workers are asked for again. */
void try_again(LivingStage &stage)
{
	(void)stage.steps(8);
	stage.allocate("ray-uid", nodes({{"n1", 1}}));
	(void)stage.steps(1);
}

/* ---- age ---- */

void a_job_that_was_given_back_keeps_its_age()
{
	LivingStage stage;
	CHECK(has(give_back(stage), "End ray-uid+1=given back"));
	try_again(stage);
	CHECK(is_first_age(age(stage, "ray-uid+1")));
	/* they wait as one */
	CHECK(is_first_age(age(stage, "ray-uid")));
}

/* MinJobAge is shorter than the pause. */
void the_age_is_kept_when_slurm_has_forgotten_the_job()
{
	LivingStage stage;
	(void)give_back(stage);
	stage.world.observe(JobGone{stage.jobs.at("ray-uid+1").id}, stage.now);
	try_again(stage);
	CHECK(is_first_age(age(stage, "ray-uid+1")));
}

/* Held, or dependent on another job: Slurm has counted no age. */
void a_job_that_gained_no_age_has_none_to_keep()
{
	LivingStage stage;
	stage.all_come();
	(void)stage.step();
	for (auto &[key, job] : stage.jobs) {
		job.accrue_time = 0;
		stage.world.observe(JobSeen{job}, stage.now);
	}
	stage.pass(1000 * k_second);
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	(void)stage.steps(8);
	try_again(stage);
	/* only the head's job has, which came later */
	CHECK(age(stage, "ray-uid+1") < 100);
}

void a_change_of_the_job_keeps_its_age()
{
	LivingStage stage;
	(void)give_back(stage);
	try_again(stage);
	const std::int64_t since = stage.jobs.at("ray-uid+1").marker.since;
	KubeNode node = kube_node("n2", "n2-uid", 8000);
	node.labels["pool"] = "b";
	stage.world.observe(NodeSeen{node}, stage.now);
	unsigned updates = 0;
	for (int i = 0; i < 40 && updates == 0; i++) {
		stage.pass(k_second);
		for (const auto &[uid, update] : only<Update>(stage.take())) {
			CHECK_EQUAL(update.spec.marker.since, since);
			updates++;
		}
	}
	CHECK_EQUAL(updates, 1U);
}

/* The head's pod is there, those of the workers come when it runs. */
void a_component_without_pods_keeps_its_age()
{
	LivingStage stage;
	stage.head_comes();
	(void)stage.step();
	stage.pass(2 * k_second);
	(void)stage.step();
	stage.pass(1000 * k_second);
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	CHECK(has(stage.steps(14), "End ray-uid+1=given back"));
	stage.allocate("ray-uid", nodes({{"n1", 1}}));
	(void)stage.steps(2);
	CHECK(is_first_age(age(stage, "ray-uid+1")));
}

void a_workload_that_has_run_begins_anew()
{
	LivingStage stage;
	(void)give_back(stage);
	try_again(stage);
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	CHECK(has(stage.steps(1), "Bind w1"));
	end_pod(stage, "w0", 1);
	end_pod(stage, "w1", 1);
	(void)stage.steps(8);
	stage.worker_comes("w2");
	stage.worker_comes("w3");
	CHECK(has(stage.steps(2), "Submit ray-uid+1"));
	/* its status is as if it had been given back, but no age is older than the pods */
	CHECK(stage.jobs.at("ray-uid+1").marker.since >= stage.world.state().pod({"w2"})->created);
}

/* ---- for how long ---- */

Pod pod_that_leaves(const LivingStage &stage)
{
	Pod pod = stage.worker;
	pod.uid = {"old"};
	pod.name = "old";
	pod.node_name = "n1";
	pod.phase = PodPhase::running;
	pod.deleting = true;
	pod.requests = size(8000, 64);
	pod.annotations = {{names::k_allocation_attempt, "1"}, {names::k_allocation_job_id, "3"}};
	return pod;
}

/* Slurm frees a node before the kubelet does. */
void a_pod_that_is_just_leaving_costs_no_nodes()
{
	LivingStage stage;
	stage.world.observe(PodSeen{pod_that_leaves(stage)}, stage.now);
	stage.all_come();
	(void)stage.steps(1);
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	CHECK(!has(stage.steps(5), "End"));
	stage.pass(8 * k_second);
	stage.allocate("ray-uid", nodes({{"n1", 1}}));
	CHECK(!has(stage.step(), "End"));
	CHECK_EQUAL(stage.steps(1), "");
	gone(stage, {"old"});
	CHECK(has(stage.steps(1), "Bind h"));
}

/* The head's node fails, and all pods are made anew under the allocation that the workers have. */
void nodes_that_pods_ran_on_are_not_held_since_then()
{
	LivingStage stage;
	stage.job.annotations = k_apart;
	stage.start();
	stage.pass(100 * k_second);
	(void)stage.step();
	stage.end_job("ray-uid", JobState::node_fail);
	(void)stage.step();
	end_pod(stage, "h", 1);
	gone(stage, {"h"});
	for (const char *uid : {"w0", "w1"}) {
		Pod pod = *stage.world.state().pod({uid});
		pod.deleting = true;
		stage.world.observe(PodSeen{pod}, stage.now);
		end_pod(stage, uid, 143);
	}
	gone(stage, {"w0", "w1"});
	stage.pass(2 * k_second);
	(void)stage.step();
	stage.head_comes("h2");
	std::string log = stage.steps(1);
	CHECK(has(log, "Submit ray-uid"));
	CHECK(!has(log, "End"));
}

/* A quota refuses the workers' pods while the head runs. */
void a_component_whose_pods_never_come_is_not_charged_for_ever()
{
	LivingStage stage;
	stage.head_comes();
	(void)stage.steps(1);
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	(void)stage.steps(1);
	stage.allocate("ray-uid", nodes({{"n1", 1}}));
	CHECK(has(stage.steps(1), "Bind h"));
	CHECK_EQUAL(stage.steps(350), "");
	CHECK_EQUAL(stage.steps(10), "End ray-uid+1=" + std::to_string(k_status_never_came));
	CHECK_EQUAL(stage.steps(10), "");
	stage.worker_comes("w0");
	stage.worker_comes("w1");
	CHECK(has(stage.steps(2), "Submit ray-uid+1"));
}

/* slurmctld has not answered yet when the pods come after all. */
void no_pod_is_bound_to_a_job_that_is_being_ended()
{
	LivingStage stage;
	stage.head_comes();
	(void)stage.steps(1);
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	(void)stage.steps(1);
	stage.allocate("ray-uid", nodes({{"n1", 1}}));
	CHECK(has(stage.steps(1), "Bind h"));
	(void)stage.steps(350);
	stage.pass(100 * k_second);
	CHECK_EQUAL(only<Complete>(stage.take()).size(), 1U);
	stage.worker_comes("w0");
	stage.worker_comes("w1");
	CHECK(only<Bind>(stage.take()).empty());
}

/* The workers keep their nodes for the next head, however long the first one ran. */
void a_head_that_is_replaced_costs_no_nodes()
{
	LivingStage stage;
	stage.head_comes();
	(void)stage.steps(1);
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	(void)stage.steps(1);
	stage.allocate("ray-uid", nodes({{"n1", 1}}));
	CHECK(has(stage.steps(1), "Bind h"));
	(void)stage.steps(120);
	end_pod(stage, "h", 1);
	CHECK(!has(stage.step(), "End ray-uid+1"));
	gone(stage, {"h"});
	stage.pass(2 * k_second);
	CHECK(!has(stage.step(), "End ray-uid+1"));
	stage.head_comes("h2");
	CHECK(!has(stage.steps(1), "End ray-uid+1"));
}

/* ---- what agents that come later make of it ---- */

void come_as(LivingStage &stage, const char *uid, bool is_apart)
{
	const Pod kept = stage.worker;
	if (is_apart)
		stage.worker.annotations = k_apart;
	stage.worker_comes(uid);
	stage.worker = kept;
}

/* In whatever order an agent sees them. */
void pods_that_disagree_stay()
{
	for (const bool is_first : {true, false}) {
		LivingStage stage;
		stage.head_comes();
		come_as(stage, "w1", is_first);
		come_as(stage, "w0", !is_first);
		(void)stage.steps(1);
		stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
		(void)stage.step();
		stage.allocate("ray-uid", nodes({{"n1", 1}}));
		CHECK(has(stage.steps(2), "Bind w1"));
		LivingStage later = next_agent(stage, {"h", "w0", "w1"});
		for (LivingStage *agent : {&stage, &later}) {
			(void)agent->step();
			agent->end_job("ray-uid", JobState::preempted);
			CHECK(!has(agent->step(), "Delete w"));
		}
	}
}

/* The head says it for the workers, whose job is asked for before they come. */
void a_component_without_pods_ends_apart_as_its_owner_says()
{
	LivingStage stage;
	stage.job.annotations = k_apart;
	stage.head_comes();
	(void)stage.steps(1);
	stage.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	(void)stage.step();
	CHECK(stage.jobs.at("ray-uid+1").marker.ends_apart);
	stage.worker_comes("w0");
	stage.worker_comes("w1");
	(void)stage.step();
	stage.allocate("ray-uid", nodes({{"n1", 1}}));
	CHECK(has(stage.steps(1), "Bind w1"));
	stage.end_job("ray-uid", JobState::preempted);
	CHECK_EQUAL(stage.step(), "Delete h");
}

/* Slurm has lost the workers' job; the next one has the same answer. */
void a_lost_job_that_is_asked_for_again_ends_apart()
{
	LivingStage stage;
	stage.job.annotations = k_apart;
	stage.start();
	stage.pass(100 * k_second);
	stage.world.observe(JobGone{stage.jobs.at("ray-uid+1").id}, stage.now);
	CHECK(has(stage.steps(3), "Submit ray-uid+1"));
	CHECK(stage.jobs.at("ray-uid+1").marker.ends_apart);
}

/* An older workload holds nodes of the same partition, which cannot help. */
void who_has_all_nodes_gives_way_to_nobody()
{
	SlurmJob job;
	job.state = JobState::running;
	job.partition = "kube";
	ComponentFacts one, other;
	RankFacts crowded;
	Pod pod;
	crowded.pod = &pod;
	crowded.side = PodSide::waiting;
	crowded.is_ranked = crowded.holds_rank = true;
	crowded.node = {.name = "n1", .cpus = 1, .is_usable = true, .has_room = false};
	for (ComponentFacts *f : {&one, &other}) {
		f->rank_count = 1;
		f->job = &job;
	}
	one.ranks.push_back(crowded);
	CHECK(holding_of({one, other}, Now{.mono_us = k_second}).partitions.empty());
	other.job = nullptr;
	CHECK_EQUAL(holding_of({one, other}, Now{.mono_us = k_second}).partitions.size(), 1U);
}

/* Nobody wants its pods: one job, not one after the other. */
void nothing_is_asked_for_an_owner_that_is_gone()
{
	LivingStage stage;
	stage.head_comes();
	(void)stage.steps(1);
	stage.job.roles[1] = LivingStage::role("gpu", 0, stage.worker);
	std::string log = stage.steps(60);
	CHECK(log.find("Submit ray-uid+1") == log.rfind("Submit ray-uid+1"));
}

/* The answer is that of the submission. */
void an_owner_that_changes_its_mind_ends_no_pod()
{
	LivingStage stage;
	stage.job.annotations = k_apart;
	stage.start();
	stage.end_job("ray-uid+1", JobState::preempted);
	CHECK(!has(stage.step(), "Delete h"));
	stage.job.annotations.clear();
	LivingStage later = next_agent(stage, {"h", "w0", "w1"});
	CHECK(!has(later.steps(3), "Delete h"));
}

/* By its owner, after it had ended. */
void success_that_was_cleaned_up_is_success()
{
	LivingStage stage;
	stage.start();
	stage.pass(100 * k_second);
	end_pod(stage, "w0", 0);
	(void)stage.step();
	Pod pod = *stage.world.state().pod({"w0"});
	pod.deleting = true;
	stage.world.observe(PodSeen{pod}, stage.now);
	(void)stage.step();
	gone(stage, {"w0"});
	CHECK_EQUAL(stage.steps(1), "");
	end_pod(stage, "w1", 0);
	CHECK_EQUAL(stage.step(), "End ray-uid+1=0");
}

} // namespace

int main()
{
	return check::run_tests("world_hold",
		{
			TEST(a_job_that_was_given_back_keeps_its_age),
			TEST(the_age_is_kept_when_slurm_has_forgotten_the_job),
			TEST(a_job_that_gained_no_age_has_none_to_keep),
			TEST(a_change_of_the_job_keeps_its_age),
			TEST(a_component_without_pods_keeps_its_age),
			TEST(a_workload_that_has_run_begins_anew),
			TEST(a_pod_that_is_just_leaving_costs_no_nodes),
			TEST(nodes_that_pods_ran_on_are_not_held_since_then),
			TEST(a_component_whose_pods_never_come_is_not_charged_for_ever),
			TEST(no_pod_is_bound_to_a_job_that_is_being_ended),
			TEST(a_head_that_is_replaced_costs_no_nodes),
			TEST(pods_that_disagree_stay),
			TEST(an_owner_that_changes_its_mind_ends_no_pod),
			TEST(a_component_without_pods_ends_apart_as_its_owner_says),
			TEST(a_lost_job_that_is_asked_for_again_ends_apart),
			TEST(who_has_all_nodes_gives_way_to_nobody),
			TEST(nothing_is_asked_for_an_owner_that_is_gone),
			TEST(success_that_was_cleaned_up_is_success),
		});
}
