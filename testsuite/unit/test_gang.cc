/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shape of a gang's job, the nodes of its pods, and the actions for them: first the pure
 * functions, then World with all of them. */
#include "src/core/inspect/why.h"
#include "src/core/model/natural_order.h"
#include "src/core/model/outcome.h"
#include "testsuite/unit/gang_stage.h"

#include <algorithm>

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

using Stage = GangStage;

std::vector<Rank> ranks(std::initializer_list<std::pair<std::uint32_t, Resources>> roles)
{
	std::vector<Rank> out;
	for (const auto &[pods, each] : roles) {
		for (std::uint32_t i = 0; i < pods; i++)
			out.push_back({std::to_string(each.milli_cpu), i, each});
	}
	return out;
}

/* ---- shape ---- */

void equal_pods_are_a_task_each()
{
	const GangShape shape = shape_of(ranks({{8, size(3500, 100)}}), 64);
	CHECK_EQUAL(shape.tasks, 8U);
	CHECK_EQUAL(shape.cpus_per_task, 4U);
	CHECK_EQUAL(shape.memory_mib_per_task, 100U);
}

void fractions_are_summed_before_they_are_rounded()
{
	const GangShape shape = shape_of(ranks({{10, size(100, 64)}}), 64);
	CHECK_EQUAL(shape.tasks, 1U);
	CHECK_EQUAL(shape.cpus_per_task, 1U);
	CHECK_EQUAL(shape.memory_mib_per_task, 640U);
	CHECK_EQUAL(shape_of(ranks({{25, size(100, 64)}}), 64).tasks, 3U);
	const GangShape tenths = shape_of(ranks({{25, size(250, 64)}}), 64, Packing::shared, 100);
	CHECK_EQUAL(tenths.tasks, 25U); /* 300m each: rounded up by less than 100m */
	CHECK_EQUAL(tenths.cpus_per_task, 3U);
	CHECK_EQUAL(shape_of(ranks({{10, size(100, 64)}}), 64, Packing::one_per_task).tasks, 10U);
}

/* A driver of one CPU and eight workers of four: the drivers share a task of a worker's size.
 * Whatever the mix, every pod lies in a task that can hold it. */
void unlike_roles_share_tasks_of_the_largest()
{
	const std::vector<Rank> mixed = ranks({{4, size(1000, 100)}, {8, size(4000, 400)}});
	const GangShape shape = shape_of(mixed, 64);
	CHECK_EQUAL(shape.tasks, 9U);
	CHECK_EQUAL(shape.cpus_per_task, 4U);
	std::map<std::uint32_t, std::int64_t> cpus, memory;
	for (std::size_t i = 0; i < mixed.size(); i++) {
		cpus[shape.task_of_rank[i]] += mixed[i].requests.milli_cpu;
		memory[shape.task_of_rank[i]] += mixed[i].requests.memory_bytes / k_mib;
	}
	for (const auto &[task, sum] : cpus)
		CHECK(sum <= std::int64_t{1000} * shape.cpus_per_task &&
			memory[task] <= static_cast<std::int64_t>(shape.memory_mib_per_task));
}

/* The job reports the excess caused by different roles, and no other rounding. */
void the_excess_of_unlike_roles_is_told()
{
	/* rounded up like any pod */
	CHECK_EQUAL(shape_of(ranks({{8, size(3500, 100)}}), 64).excess, "");
	CHECK_EQUAL(shape_of(ranks({{4, size(1000, 100)}, {8, size(4000, 400)}}), 64).excess, "");
	CHECK_EQUAL(shape_of(ranks({{1, size(16000, 1600)}, {8, size(4000, 400)}}), 64).excess, "");
	CHECK_EQUAL(shape_of(ranks({{1, size(1000, 100)}, {2, size(4000, 400)}}), 64).excess,
		"the job has more than its pods ask for (12 CPUs for 9 CPUs, 1200 MiB for 900 "
		"MiB), because all tasks of a job have one size");
	Resources with_gpu = size(4000, 400);
	with_gpu.extended["nvidia.com/gpu"] = 8;
	CHECK_EQUAL(shape_of(ranks({{1, size(4000, 400)}, {2, with_gpu}}), 64).excess,
		"the job has more than its pods ask for (24 nvidia.com/gpu for 16), because all "
		"tasks of a job have one size");
	CHECK_EQUAL(shape_of(ranks({{1, size(100, 64)}, {1, size(400, 64)}}), 64,
			    Packing::one_per_task, 100)
			    .excess,
		"the job has more than its pods ask for (0.8 CPUs for 0.5 CPUs), because all tasks "
		"of a job have one size");
}

/* For two roles and one resource, whatever their sizes and counts: first fit wastes less than
 * half of each task but one. */
void a_job_of_unlike_roles_is_not_twice_their_sum()
{
	for (std::int64_t small = 1; small <= 16; small++) {
		for (std::uint32_t count = 1; count <= 20; count++) {
			const GangShape shape =
				shape_of(ranks({{count, size(small * 1000, small * 64)},
						 {20 - count, size(16000, 16 * 64)}}),
					64);
			const std::int64_t asked = small * count + std::int64_t{16} * (20 - count),
					   has = std::int64_t{shape.tasks} * shape.cpus_per_task;
			CHECK(has >= asked);
			CHECK(has <= 2 * asked + shape.cpus_per_task);
			CHECK_EQUAL(shape.excess.find(" for " + std::to_string(asked) + " CPU") !=
					std::string::npos,
				has > asked);
		}
	}
}

void devices_count_as_much_as_cpus()
{
	Resources with_gpu = size(500, 64);
	with_gpu.extended["nvidia.com/gpu"] = 1;
	const GangShape shape = shape_of(ranks({{4, with_gpu}}), 64);
	CHECK(std::int64_t{shape.tasks} * shape.extended_per_task.at("nvidia.com/gpu") >= 4);
}

void names_are_sorted_as_people_count()
{
	const std::vector<std::string_view> sorted = {"", "a", "a-0", "a-00", "a-1", "a-01", "a-1b",
		"a-2", "a-9", "a-10", "a-10-2", "a-10-11", "a-99999999999999999999998",
		"a-99999999999999999999999", "ab", "b1", "b02", "b3"};
	for (std::size_t i = 0; i < sorted.size(); i++) {
		for (std::size_t j = 0; j < sorted.size(); j++)
			CHECK_EQUAL(natural_less(sorted[i], sorted[j]), i < j);
	}
}

Resources with_gpus(std::int64_t gpus, std::int64_t milli_cpu = 0, std::int64_t mib = 64)
{
	Resources out = size(milli_cpu, mib);
	out.extended["nvidia.com/gpu"] = gpus;
	return out;
}

/* "tasks x CPUs, MiB, GPUs" */
std::string shape_on(const NodeSizes &nodes, const std::vector<Rank> &pods)
{
	const GangShape shape = shape_of(pods, 64, Packing::shared, k_whole_cpu, nodes);
	const auto gpus = shape.extended_per_task.find("nvidia.com/gpu");
	return std::to_string(shape.tasks) + "x" + std::to_string(shape.cpus_per_task) + "," +
		std::to_string(shape.memory_mib_per_task) + "," +
		std::to_string(gpus == shape.extended_per_task.end() ? 0 : gpus->second);
}

/* A job must not need more than a node holds. Each of these jobs was refused or waited forever
 * when pods under one CPU shared tasks regardless of node sizes. */
void pods_share_a_task_only_as_far_as_nodes_hold_it()
{
	constexpr std::int64_t k_gib = 1024;
	const NodeSizes gpu_nodes{
		{{.cpus = 64, .memory_mib = 900 * k_gib, .pods = 110, .gres = "gpu:8"}, 3}};
	const NodeSizes plain{{{.cpus = 16, .memory_mib = 64 * k_gib, .pods = 110}, 6}},
		large{{{.cpus = 16, .memory_mib = 128 * k_gib, .pods = 110}, 6}};
	const NodeSizes one_large{{{.cpus = 16, .memory_mib = 64 * k_gib, .pods = 110}, 6},
		{{.cpus = 16, .memory_mib = 128 * k_gib, .pods = 110}, 1}};
	const NodeSizes few_pods{{{.cpus = 16, .memory_mib = 64 * k_gib, .pods = 20}, 6}},
		tiny{{{.cpus = 2, .memory_mib = 64 * k_gib, .pods = 110}, 1}};
	const struct {
		const char *what;
		const NodeSizes &nodes;
		std::vector<Rank> pods;
		const char *shape;
	} rows[] = {
		{"2 pods of 8 GPUs", gpu_nodes, ranks({{2, with_gpus(8)}}), "2x1,64,8"},
		{"9 pods of a GPU", gpu_nodes, ranks({{9, with_gpus(1)}}), "9x1,64,1"},
		{"no nodes are known", {}, ranks({{9, with_gpus(1)}}), "9x1,64,1"},
		{"4 pods of 40 GiB", plain, ranks({{4, size(500, 40 * k_gib)}}), "4x1,40960,0"},
		{"4 pods of 40 GiB, larger nodes", large, ranks({{4, size(500, 40 * k_gib)}}),
			"2x1,81920,0"},
		{"4 pods of 40 GiB, one larger node", one_large,
			ranks({{4, size(500, 40 * k_gib)}}), "4x1,40960,0"},
		{"4 pods of 20 GiB without CPU", plain, ranks({{4, size(0, 20 * k_gib)}}),
			"4x1,20480,0"},
		{"pods without requests count as alone", plain, ranks({{4, size(0, 0)}}),
			"4x1,64,0"},
		{"unless that is too much", tiny, ranks({{4, size(0, 0)}}), "1x1,256,0"},
		{"100 pods of 10m", plain, ranks({{100, size(10, 64)}}), "2x1,3200,0"},
		{"100 pods of 10m, 20 a node", few_pods, ranks({{100, size(10, 64)}}),
			"5x1,1280,0"},
		{"a launcher beside GPU workers", gpu_nodes,
			ranks({{1, size(100, 64)}, {2, with_gpus(8, 0, 100 * k_gib)}}),
			"2x1,102464,8"},
	};
	for (const auto &row : rows)
		CHECK_EQUAL(std::string(row.what) + ": " + shape_on(row.nodes, row.pods),
			std::string(row.what) + ": " + row.shape);
}

/* ---- World ---- */

/* Sizes come from the owner, because a controller may create the other pods only when the first
 * is Ready. */
void one_pod_is_enough_to_ask_for_all()
{
	Stage stage(4);
	stage.world.observe(PodSeen{stage.pod(0)}, stage.now);
	/* nothing happens before the owner is known */
	CHECK(stage.world.take_actions(stage.now).empty());
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	const JobSpec &spec = submits.front().second.spec;
	CHECK_EQUAL(spec.tasks, 4U);
	CHECK_EQUAL(spec.cpus, 4U);
	CHECK_EQUAL(spec.marker.uid, "train-uid");
	CHECK_EQUAL(spec.marker.kind, "Job");
	CHECK_EQUAL(spec.name, "train");
}

/* slurmctld keeps dynamic nodes in the order of their registration, and sorts them when it
 * restarts. Ranks must not depend on that order. */
void pods_are_bound_by_rank_and_name_of_node()
{
	Stage stage(4);
	stage.all_pods(4);
	(void)stage.take();
	stage.world.answer(
		SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, stage.now);
	CHECK(stage.take().empty());
	stage.world.observe(JobSeen{stage.running(nodes({{"n3", 8}, {"n1", 8}}))}, stage.now);
	const auto binds = only<Bind>(stage.take());
	REQUIRE(binds.size() == 4);
	for (const auto &[pod, bind] : binds) {
		CHECK_EQUAL(pod.text, "u" + std::to_string(*bind.rank));
		CHECK_EQUAL(bind.node, *bind.rank < 2 ? "n1" : "n3");
	}
}

/* 25 pods of a tenth of a CPU: three tasks of nine pods each. */
void more_than_the_pods_ask_for_is_told()
{
	constexpr const char *k_excess = "; the job has more than its pods ask for (1728 MiB for "
					 "1600 MiB), because all tasks of a job have one size";
	Stage stage(25, size(100, 64));
	stage.all_pods(25);
	(void)stage.take();
	stage.world.answer(
		SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, stage.now);
	SlurmJob waiting = stage.running({});
	waiting.reason = "Priority";
	stage.world.observe(JobSeen{waiting}, stage.now);
	stage.pass(10 * k_second);
	const auto reports = only<Report>(stage.take());
	CHECK(!reports.empty());
	for (const auto &[pod, report] : reports)
		CHECK_EQUAL(report.not_scheduled.message,
			std::string("Slurm job 7 is pending: Priority") + k_excess);
	const auto lines = why(stage.world, "a", "train-3", stage.now);
	CHECK(std::ranges::any_of(lines, [&](const WhyLine &line) {
		return line.about == std::string("asks for") && line.text.ends_with(k_excess);
	}));
	stage.world.observe(JobSeen{stage.running(nodes({{"n1", 3}}))}, stage.now);
	const auto binds = only<Bind>(stage.take());
	CHECK_EQUAL(binds.size(), 25U);
	for (const auto &[pod, bind] : binds) /* only rank 0 carries the remark */
		CHECK_EQUAL(bind.remark, bind.rank == 0U ? k_excess + 2 : "");
}

void more_than_all_nodes_hold_is_refused_on_every_pod()
{
	Stage stage(9);
	stage.all_pods(9);
	CHECK(only<Submit>(stage.take()).empty());
	stage.pass(5 * k_second);
	const auto told = only<Report>(stage.take());
	REQUIRE(told.size() == 9);
	CHECK_EQUAL(told.front().second.not_scheduled.reason, names::k_reason_no_node);
	/* the message also says whether the pods would fit without the job's excess */
	Stage uneven(401, size(100, 64));
	uneven.all_pods(401);
	(void)uneven.take();
	uneven.pass(5 * k_second);
	const auto reports = only<Report>(uneven.take());
	REQUIRE(!reports.empty());
	const std::string &said = reports.front().second.not_scheduled.message;
	CHECK(said.find("; the job has more than its pods ask for (") != std::string::npos);
}

void the_job_is_complete_when_every_rank_has_succeeded()
{
	Stage stage(4);
	stage.start(4);
	for (std::uint32_t i = 0; i < 3; i++)
		stage.end(i, PodPhase::succeeded);
	CHECK(only<Complete>(stage.take()).empty());
	stage.end(3, PodPhase::succeeded);
	const auto ends = only<Complete>(stage.take());
	REQUIRE(ends.size() == 1);
	CHECK_EQUAL(ends.front().second.wait_status, 0U);
}

/* The other pods were stopped because of the failed one. */
void a_failure_is_told_and_not_what_it_brought_about()
{
	Stage stage(4);
	stage.start(4);
	stage.end(2, PodPhase::failed, 3);
	for (std::uint32_t i : {0U, 1U, 3U}) {
		Pod last = *stage.world.state().pod({"u" + std::to_string(i)});
		last.deleting = true;
		stage.world.observe(PodGone{last.uid, last}, stage.now);
	}
	(void)stage.take();
	stage.pass(4 * k_second); /* a forced deletion holds its share for a while */
	stage.job.is_finished = true;
	/* the first call asks for the owner; GangStage answers in the next take() */
	(void)stage.world.take_actions(stage.now);
	const auto ends = only<Complete>(stage.take());
	REQUIRE(ends.size() == 1);
	CHECK_EQUAL(ends.front().second.wait_status, 3U << 8);
}

void a_replacement_gets_the_rank_when_its_predecessor_is_gone()
{
	Stage stage(4);
	stage.start(4);
	Pod old = *stage.world.state().pod({"u1"});
	old.deleting = true;
	stage.world.observe(PodSeen{old}, stage.now);
	stage.world.observe(PodSeen{stage.pod(1, "b")}, stage.now);
	CHECK(only<Bind>(stage.take()).empty());
	old.phase = PodPhase::failed;
	stage.world.observe(PodSeen{old}, stage.now);
	const auto binds = only<Bind>(stage.take());
	REQUIRE(binds.size() == 1);
	CHECK_EQUAL(binds.front().first.text, "u1b");
	CHECK_EQUAL(binds.front().second.node, "n1");
	CHECK(binds.front().second.rank == 1U);
}

void the_allocation_is_held_for_a_restart_and_then_let_go()
{
	Stage stage(2);
	stage.start(2);
	for (std::uint32_t i : {0U, 1U})
		stage.end(i, PodPhase::failed, 1);
	(void)stage.take();
	stage.pass(5 * k_second);
	CHECK(only<Complete>(stage.take()).empty());
	stage.pass(6 * k_second);
	CHECK_EQUAL(only<Complete>(stage.take()).size(), 1U);
}

/* A failed pod may have been deleted before this agent started. An unseen end is not reported as
 * success. */
void an_end_that_nobody_saw_is_no_success()
{
	Stage old(2);
	old.start(2);
	old.end(0, PodPhase::succeeded);
	Stage stage(2);
	stage.world.observe(PodSeen{*old.world.state().pod({"u0"})}, stage.now);
	stage.connect({stage.running(nodes({{"n1", 8}}))});
	(void)stage.take();
	stage.pass(11 * k_second);
	const auto completes = only<Complete>(stage.take());
	REQUIRE(completes.size() == 1);
	CHECK_EQUAL(completes.front().second.wait_status, k_status_cancelled);
}

void scancel_removes_all_pods_and_nothing_is_submitted_for_those()
{
	Stage stage(4);
	stage.start(4);
	SlurmJob ended = stage.running(nodes({{"n1", 8}, {"n2", 8}}));
	ended.state = JobState::cancelled;
	ended.submit_time = stage.now.wall_s;
	ended.end_time = stage.now.wall_s + 60;
	stage.pass(60 * k_second);
	stage.world.observe(JobSeen{ended}, stage.now);
	const auto actions = stage.take();
	CHECK_EQUAL(only<DeletePod>(actions).size(), 4U);
	CHECK(only<Submit>(actions).empty());
}

/* Both sides count in seconds. Within the same second, the pods that were seen before the end
 * are removed. */
void scancel_in_the_second_of_its_pods_removes_those_that_were_there()
{
	Stage stage(4);
	stage.all_pods(3);
	(void)stage.take();
	stage.world.answer(
		SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, stage.now);
	SlurmJob job = stage.running({});
	job.state = JobState::pending;
	stage.world.observe(JobSeen{job}, stage.now);
	(void)stage.take();
	stage.now.mono_us += 1000;
	job.state = JobState::cancelled;
	job.submit_time = job.end_time = stage.now.wall_s;
	stage.world.observe(JobSeen{job}, stage.now);
	stage.now.mono_us += 1000;
	stage.world.observe(PodSeen{stage.pod(3)}, stage.now);
	CHECK_EQUAL(only<DeletePod>(stage.take()).size(), 3U);
}

void pods_made_after_the_end_are_about_the_next_job()
{
	Stage stage(2);
	stage.start(2);
	SlurmJob ended = stage.running(nodes({{"n1", 8}, {"n2", 8}}));
	ended.state = JobState::preempted;
	ended.end_time = stage.now.wall_s;
	stage.world.observe(JobSeen{ended}, stage.now);
	for (const auto &[pod, remove] : only<DeletePod>(stage.take())) {
		stage.world.answer(DeletePodAnswered{pod, Ok{}}, stage.now);
		Pod last = *stage.world.state().pod(pod);
		last.phase = PodPhase::failed;
		last.deleting = true;
		stage.world.observe(PodGone{pod, last}, stage.now);
	}
	stage.pass(5 * k_second);
	for (std::uint32_t i : {0U, 1U})
		stage.world.observe(PodSeen{stage.pod(i, "b")}, stage.now);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.marker.attempt, 2U);
}

/* A new agent finds job, pods and owner as its predecessor left them. */
void a_new_agent_goes_on()
{
	Stage old(4);
	old.start(4);
	Stage stage(4);
	for (std::uint32_t i = 0; i < 3; i++)
		stage.world.observe(
			PodSeen{*old.world.state().pod({"u" + std::to_string(i)})}, stage.now);
	stage.world.observe(PodSeen{stage.pod(3)}, stage.now);
	stage.connect({stage.running(nodes({{"n1", 8}, {"n2", 8}}))});
	const auto actions = stage.take();
	CHECK(only<Submit>(actions).empty() && only<Cancel>(actions).empty() &&
		only<Complete>(actions).empty());
	const auto binds = only<Bind>(actions);
	REQUIRE(binds.size() == 1);
	CHECK_EQUAL(binds.front().second.node, "n2");
}

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

void pods_that_never_come_end_the_job()
{
	Stage stage(4);
	stage.world.observe(PodSeen{stage.pod(0)}, stage.now);
	(void)stage.take();
	stage.world.answer(
		SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, stage.now);
	SlurmJob job = stage.running(nodes({{"n1", 8}, {"n2", 8}}));
	job.configuring = true; /* its prolog takes long, so nothing is bound */
	stage.world.observe(JobSeen{job}, stage.now);
	CHECK(only<Bind>(stage.take()).empty());
	stage.pass(599 * k_second);
	CHECK(only<Complete>(stage.take()).empty());
	stage.pass(2 * k_second);
	const auto ends = only<Complete>(stage.take_unbound());
	REQUIRE(ends.size() == 1);
	CHECK_EQUAL(ends.front().second.wait_status, k_status_never_came);
}

/* For example, a leader that loads a large model: its workers are created when the leader is
 * Ready. */
void pods_that_run_are_not_ended_for_those_that_never_come()
{
	Stage stage(4);
	stage.start(1);
	(void)stage.take();
	stage.pass(3601 * k_second);
	CHECK(only<Complete>(stage.take()).empty());
	stage.world.observe(PodSeen{stage.pod(1)}, stage.now);
	CHECK_EQUAL(only<Bind>(stage.take()).size(), 1U);
}

void a_pod_beyond_the_ranks_runs_alone()
{
	Stage stage(4);
	stage.start(4);
	stage.world.observe(PodSeen{stage.pod(4)}, stage.now);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.marker.kind, k_pod_kind);
}

/* The pods that exist when the minimum is reached start together. */
void a_pod_group_waits_for_its_minimum()
{
	Stage stage(1);
	stage.job.id = {"scheduling.x-k8s.io/v1alpha1", "PodGroup", "a", "group"};
	stage.job.roles.clear();
	stage.job.minimum = 3;
	const auto member = [&](const char *name) {
		Pod p = make_pod("a", name, name, size(1000, 64));
		p.labels = {{"scheduling.x-k8s.io/pod-group", "group"}};
		return p;
	};
	stage.world.observe(PodSeen{member("a")}, stage.now);
	stage.world.observe(PodSeen{member("b")}, stage.now);
	CHECK(only<Submit>(stage.take()).empty());
	stage.world.observe(PodSeen{member("c")}, stage.now);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.tasks, 3U);
}

} // namespace

int main()
{
	return check::run_tests("gang",
		{
			TEST(equal_pods_are_a_task_each),
			TEST(fractions_are_summed_before_they_are_rounded),
			TEST(unlike_roles_share_tasks_of_the_largest),
			TEST(the_excess_of_unlike_roles_is_told),
			TEST(a_job_of_unlike_roles_is_not_twice_their_sum),
			TEST(devices_count_as_much_as_cpus),
			TEST(names_are_sorted_as_people_count),
			TEST(pods_share_a_task_only_as_far_as_nodes_hold_it),
			TEST(one_pod_is_enough_to_ask_for_all),
			TEST(pods_are_bound_by_rank_and_name_of_node),
			TEST(more_than_the_pods_ask_for_is_told),
			TEST(more_than_all_nodes_hold_is_refused_on_every_pod),
			TEST(the_job_is_complete_when_every_rank_has_succeeded),
			TEST(a_failure_is_told_and_not_what_it_brought_about),
			TEST(a_replacement_gets_the_rank_when_its_predecessor_is_gone),
			TEST(the_allocation_is_held_for_a_restart_and_then_let_go),
			TEST(an_end_that_nobody_saw_is_no_success),
			TEST(scancel_removes_all_pods_and_nothing_is_submitted_for_those),
			TEST(scancel_in_the_second_of_its_pods_removes_those_that_were_there),
			TEST(pods_made_after_the_end_are_about_the_next_job),
			TEST(a_new_agent_goes_on),
			TEST(a_lost_job_is_asked_for_again_on_the_same_nodes),
			TEST(a_lost_job_waits_until_slurm_has_the_nodes),
			TEST(a_lost_job_is_asked_for_with_the_nodes_of_ranks_that_have_ended),
			TEST(a_lost_job_is_asked_for_with_its_nodes_that_have_no_pods_yet),
			TEST(a_lost_job_is_asked_for_on_nodes_whose_names_lie_in_each_other),
			TEST(a_waiting_job_that_was_lost_is_asked_for_again_and_completes),
			TEST(pods_that_never_come_end_the_job),
			TEST(pods_that_run_are_not_ended_for_those_that_never_come),
			TEST(a_pod_beyond_the_ranks_runs_alone),
			TEST(a_pod_group_waits_for_its_minimum),
		});
}
