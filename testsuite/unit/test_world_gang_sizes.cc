/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and gangs whose pods or allocations differ from what was asked for, and what pods are
 * told. */
#include "src/core/model/outcome.h"
#include "testsuite/unit/gang_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

using Stage = GangStage;

/* A pod as an earlier agent bound it. */
Pod bound(Pod pod, const char *node, std::uint32_t rank, std::uint32_t ranks)
{
	pod.node_name = node;
	pod.phase = PodPhase::running;
	pod.annotations = {{names::k_allocation_job_id, "7"}, {names::k_allocation_attempt, "1"},
		{names::k_allocation_rank, std::to_string(rank)},
		{names::k_allocation_size, std::to_string(ranks)},
		{names::k_allocation_gang, "train-uid"}};
	return pod;
}

/* ---- pods that are larger than their templates ---- */

/* Two roles of a JobSet: a leader, and workers that come when it runs. */
struct TwoRoles : GangStage {
	Resources leader = size(4000, 64), worker = size(4000, 64); /* as in the pods */

	TwoRoles() : GangStage(1)
	{
		job.id = {"jobset.x-k8s.io/v1alpha2", "JobSet", "a", "train"};
		job.roles = {{.name = "leader", .pods = 1, .each = size(4000, 64)},
			{.name = "worker", .pods = 3, .pods_per_job = 3, .each = size(4000, 64)}};
	}

	/* index 0: the leader */
	[[nodiscard]] Pod member(std::uint32_t index) const
	{
		Pod p = pod(index);
		p.requests = index == 0 ? leader : worker;
		p.labels = {{"jobset.sigs.k8s.io/jobset-name", "train"},
			{"jobset.sigs.k8s.io/replicatedjob-name", index == 0 ? "leader" : "worker"},
			{"jobset.sigs.k8s.io/job-index", "0"},
			{"batch.kubernetes.io/job-completion-index",
				std::to_string(index == 0 ? 0 : index - 1)}};
		p.controller = OwnerRef{"jobset.x-k8s.io/v1alpha2", "JobSet", "train", "train-uid"};
		return p;
	}

	SlurmJob started(
		std::vector<NodeAllocation> on, std::uint32_t attempt = 1, std::uint32_t id = 7)
	{
		world.answer(
			SubmitAnswered{{"train-uid"}, Submitted{.job = {id}, .node = ""}}, now);
		SlurmJob j = running(std::move(on), attempt, id);
		j.marker.kind = "JobSet";
		world.observe(JobSeen{j}, now);
		return j;
	}
};

/* A LimitRange or an injected sidecar changes requests: the first pod of a role decides. */
void a_job_is_sized_by_what_its_pods_request()
{
	GangStage stage(4, size(500, 64));
	Pod first = stage.pod(0);
	first.requests = size(2000, 300);
	stage.world.observe(PodSeen{first}, stage.now);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.tasks, 4U);
	CHECK_EQUAL(submits.front().second.spec.cpus, 2U);
	CHECK_EQUAL(submits.front().second.spec.memory_mib, 300U);
	/* a smaller pod does not shrink the job, because the next pod may not be as small */
	GangStage smaller(4, size(2000, 300));
	first = smaller.pod(0);
	first.requests = size(500, 64);
	smaller.world.observe(PodSeen{first}, smaller.now);
	CHECK_EQUAL(only<Submit>(smaller.take()).front().second.spec.cpus, 2U);
}

/* The workers are created after the submission. */
void an_allocation_that_is_too_small_is_given_back_and_asked_for_anew()
{
	TwoRoles stage;
	stage.worker = size(6000, 64);
	stage.world.observe(PodSeen{stage.member(0)}, stage.now);
	auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.cpus, 4U);
	for (std::uint32_t i = 1; i < 4; i++)
		stage.world.observe(PodSeen{stage.member(i)}, stage.now);
	stage.pass(10 * k_second);
	SlurmJob job = stage.started(nodes({{"n1", 8}, {"n2", 8}}));
	const auto actions = stage.take_unbound();
	CHECK(only<Bind>(actions).empty());
	const auto ends = only<Complete>(actions);
	REQUIRE(ends.size() == 1);
	CHECK_EQUAL(ends.front().second.wait_status, k_status_given_back);
	const auto told = only<Report>(actions);
	REQUIRE(!told.empty());
	CHECK(told.front().second.not_scheduled.message.starts_with(
		"the allocation of Slurm job 7 is too small for the pod of rank "));
	stage.world.answer(CompleteAnswered{{"train-uid"}, Ok{}, false}, stage.now);
	job.state = JobState::failed;
	job.nodes.clear();
	job.end_time = stage.now.wall_s;
	stage.world.observe(JobSeen{job}, stage.now);
	(void)stage.take();
	stage.pass(10 * k_second);
	submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.cpus, 6U);
	CHECK_EQUAL(submits.front().second.spec.marker.attempt, 2U);
	stage.started(nodes({{"n1", 6}, {"n2", 6}, {"n3", 6}, {"n4", 6}}), 2, 8);
	CHECK_EQUAL(only<Bind>(stage.take()).size(), 4U);
}

/* Running pods are not stopped for it, and it does not wait forever. */
void a_pod_without_room_beside_those_that_run_gets_a_job_of_its_own()
{
	TwoRoles stage;
	stage.worker = size(6000, 64);
	stage.world.observe(PodSeen{stage.member(0)}, stage.now);
	(void)stage.take();
	stage.started(nodes({{"n1", 8}, {"n2", 8}}));
	for (const auto &[uid, bind] : only<Bind>(stage.take()))
		stage.world.answer(BindAnswered{uid, Ok{}}, stage.now);
	for (std::uint32_t i = 1; i < 4; i++)
		stage.world.observe(PodSeen{stage.member(i)}, stage.now);
	const auto actions = stage.take();
	CHECK(only<Complete>(actions).empty());
	const auto binds = only<Bind>(actions), again = only<Bind>(stage.take());
	REQUIRE(binds.size() == 1); /* on n2, where no pod runs */
	CHECK_EQUAL(binds.front().second.node, "n2");
	const auto submits = only<Submit>(actions);
	CHECK_EQUAL(submits.size(), 2U);
	for (const auto &[uid, submit] : submits)
		CHECK_EQUAL(submit.spec.marker.kind, k_pod_kind);
	stage.world.answer(BindAnswered{binds.front().first, Ok{}}, stage.now);
	stage.pass(700 * k_second);
	CHECK(only<Complete>(stage.take()).empty()); /* their ranks are not empty */
}

/* Slurm may allocate less than requested, for whatever reason. */
void an_allocation_is_not_given_back_for_ever()
{
	GangStage stage(4, size(2000, 64));
	stage.all_pods(4);
	for (std::uint32_t attempt = 1; attempt <= 3; attempt++) {
		REQUIRE(only<Submit>(stage.take()).size() == 1);
		stage.world.answer(
			SubmitAnswered{{"train-uid"}, Submitted{.job = {attempt}, .node = ""}},
			stage.now);
		SlurmJob job = stage.running(nodes({{"n1", 6}}), attempt, attempt);
		stage.world.observe(JobSeen{job}, stage.now);
		REQUIRE(only<Complete>(stage.take_unbound()).size() == 1);
		stage.world.answer(CompleteAnswered{{"train-uid"}, Ok{}, false}, stage.now);
		job.state = JobState::failed;
		job.nodes.clear();
		job.end_time = stage.now.wall_s;
		stage.world.observe(JobSeen{job}, stage.now);
		(void)stage.take();
		stage.pass(100 * k_second);
	}
	REQUIRE(only<Submit>(stage.take()).size() == 1);
	stage.world.answer(
		SubmitAnswered{{"train-uid"}, Submitted{.job = {4}, .node = ""}}, stage.now);
	stage.world.observe(JobSeen{stage.running(nodes({{"n1", 6}}), 4, 4)}, stage.now);
	const auto actions = stage.take();
	CHECK_EQUAL(only<Bind>(actions).size(), 3U);
	CHECK_EQUAL(only<Submit>(actions).size(), 1U);
	CHECK(only<Complete>(actions).empty());
}

/* ---- conditions ---- */

/* An agent that starts while slurmctld is away knows no job of a running pod. */
void a_pod_that_runs_is_not_told_that_it_waits_for_slurmctld()
{
	Stage stage(2);
	stage.world.observe(PodSeen{bound(stage.pod(0), "n1", 0, 2)}, stage.now);
	stage.world.observe(PodSeen{stage.pod(1)}, stage.now);
	stage.world.observe(LinkLost{});
	(void)stage.take();
	stage.pass(30 * k_second);
	const auto told = only<Report>(stage.take());
	REQUIRE(told.size() == 1);
	CHECK_EQUAL(told.front().first.text, "u1");
}

/* The write is refused because the pod has changed, and the pod may be bound by then. If it is
 * not, the condition is written at once, without waiting for the interval. */
void a_condition_that_met_a_changed_pod_is_decided_anew()
{
	GangStage stage(2);
	stage.all_pods(2);
	(void)stage.take();
	stage.world.answer(
		SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, stage.now);
	SlurmJob waiting = stage.running({});
	waiting.reason = "Priority";
	stage.world.observe(JobSeen{waiting}, stage.now);
	stage.pass(2 * k_second);
	REQUIRE(only<Report>(stage.take()).size() == 2);
	stage.world.answer(
		ReportAnswered{{"u0"}, Error{Errc::conflict, "the object has been modified"}},
		stage.now);
	stage.world.answer(ReportAnswered{{"u1"}, Error{Errc::io, "away"}}, stage.now);
	stage.pass(2 * k_second);
	const auto again = only<Report>(stage.take());
	REQUIRE(again.size() == 1);
	CHECK_EQUAL(again.front().first.text, "u0");
}

/* ---- allocations larger than the tasks ---- */

void ranks_with_devices_lie_where_their_devices_are()
{
	Resources each = size(1000, 64);
	each.extended["nvidia.com/gpu"] = 4;
	Settings settings = plain_settings();
	settings.policy.gres = default_gres_table();
	GangStage stage(4, each, settings);
	for (const char *name : {"n1", "n2"}) {
		KubeNode node = kube_node(name, std::string(name) + "-uid", 64000);
		node.allocatable.extended["nvidia.com/gpu"] = 8;
		stage.world.observe(NodeSeen{node}, stage.now);
		SlurmNode record = slurm_node(name, 64);
		record.gres = "gpu:8";
		stage.world.observe(SlurmNodeSeen{record});
	}
	stage.all_pods(4);
	REQUIRE(only<Submit>(stage.take()).size() == 1);
	stage.world.answer(
		SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, stage.now);
	auto shares = nodes({{"n1", 64}, {"n2", 64}}); /* exclusive */
	for (NodeAllocation &share : shares)
		share.gres.push_back({"gpu", "", 8, "0-7"});
	stage.world.observe(JobSeen{stage.running(shares)}, stage.now);
	std::string places;
	for (const auto &[pod, bind] : only<Bind>(stage.take()))
		places += std::to_string(*bind.rank) + "@" + bind.node + " ";
	CHECK_EQUAL(places, "0@n1 1@n1 2@n2 3@n2 ");
}

/* ---- requests that no node can hold ---- */

void the_largest_node_and_what_it_lacks_are_named()
{
	const auto said = [](std::uint32_t pods, const Resources &each) {
		GangStage stage(pods, each);
		stage.all_pods(1);
		(void)stage.take();
		stage.pass(5 * k_second);
		const auto reports = only<Report>(stage.take());
		return reports.empty() ? std::string()
				       : reports.front().second.not_scheduled.message;
	};
	CHECK_EQUAL(said(9, size(4000, 64)),
		"the gang needs 9 tasks of 4 CPUs and 64 MiB at once, and all nodes that its pods "
		"may use hold 8; the largest node has 8 CPUs and 1048576 MiB");
	CHECK_EQUAL(said(4, size(8000, 512 * 1024)), "");
	CHECK_EQUAL(said(5, size(1000, 1024 * 1024)),
		"the gang needs 5 tasks of 1 CPU and 1048576 MiB at once, and all nodes that its "
		"pods may use hold 4; the largest node has 8 CPUs and 1048576 MiB");
}

} // namespace

int main()
{
	return check::run_tests("world gang sizes",
		{
			TEST(a_job_is_sized_by_what_its_pods_request),
			TEST(an_allocation_that_is_too_small_is_given_back_and_asked_for_anew),
			TEST(a_pod_without_room_beside_those_that_run_gets_a_job_of_its_own),
			TEST(an_allocation_is_not_given_back_for_ever),
			TEST(a_pod_that_runs_is_not_told_that_it_waits_for_slurmctld),
			TEST(a_condition_that_met_a_changed_pod_is_decided_anew),
			TEST(ranks_with_devices_lie_where_their_devices_are),
			TEST(the_largest_node_and_what_it_lacks_are_named),
		});
}
