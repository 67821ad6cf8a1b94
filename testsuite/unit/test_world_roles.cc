/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and roles of a gang whose pods come later: the constraints of their templates count from
 * the first submission on. */
#include "src/core/gang/role_conflict.h"
#include "testsuite/unit/gang_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

using Labels = std::map<std::string, std::string>;

Pod template_pod(Resources requests = size(1000, 64))
{
	Pod pod;
	pod.name_space = "a";
	pod.requests = std::move(requests);
	return pod;
}

/* A LeaderWorkerSet with LeaderReady: the leader exists, its three workers come later. Nodes n1
 * and n2 are in pool a, n3 and n4 in pool b. */
struct Stage : GangStage {
	Stage(const Pod &leader, const Pod &worker) : GangStage(4, size(1000, 64))
	{
		job.id = {"leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "a", "train"};
		job.roles = {role("leader", 1, leader), role("worker", 3, worker)};
		for (const char *name : {"n1", "n2", "n3", "n4"})
			world.observe(NodeSeen{in_pool(name)}, now);
	}

	static Role role(const char *name, std::uint32_t pods, const Pod &pod_template)
	{
		return {.name = name,
			.pods = pods,
			.each = pod_template.requests,
			.pod_template = std::make_shared<const Pod>(pod_template)};
	}

	static KubeNode in_pool(const std::string &name)
	{
		KubeNode node = kube_node(name.c_str(), name + "-uid", 8000);
		node.labels["pool"] = name < "n3" ? "a" : "b";
		return node;
	}

	/* A pod of the set; index 0 is the leader. */
	[[nodiscard]] Pod member(std::uint32_t index, const Pod &like) const
	{
		Pod p = like;
		p.uid = {"u" + std::to_string(index)};
		p.name = "train-0-" + std::to_string(index);
		p.created = now.wall_s;
		p.labels = {{"leaderworkerset.sigs.k8s.io/name", "train"},
			{"leaderworkerset.sigs.k8s.io/group-index", "0"},
			{"leaderworkerset.sigs.k8s.io/worker-index", std::to_string(index)}};
		return p;
	}
};

std::string text_of(const std::vector<std::string> &names)
{
	std::string out;
	for (const std::string &name : names)
		out += (out.empty() ? "" : " ") + name;
	return out;
}

/* The actions when only the leader exists. */
std::vector<World::PodAction> first_look(Stage &stage, const Pod &leader)
{
	stage.world.observe(PodSeen{stage.member(0, leader)}, stage.now);
	auto actions = stage.take();
	stage.pass(5 * k_second);
	for (auto &more : stage.take())
		actions.push_back(std::move(more));
	return actions;
}

Pod with_pool(const char *pool)
{
	Pod pod = template_pod();
	pod.constraints.node_selector = {{"pool", pool}};
	return pod;
}

/* Leader and workers share a job: the leader's submission has the workers' affinity to pool b. */
void a_later_role_chooses_the_nodes_too()
{
	const Pod leader = with_pool("b"), worker = with_pool("b");
	Stage stage(leader, worker);
	const auto submits = only<Submit>(first_look(stage, leader));
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(text_of(submits.front().second.spec.excluded_nodes), "n1 n2");
	CHECK_EQUAL(submits.front().second.spec.tasks, 4U);
}

/* The leader, and count roles with different requests. */
Stage with_unlike_roles(std::uint32_t count)
{
	const Pod leader = template_pod();
	Stage stage(leader, leader);
	stage.job.roles.resize(1);
	for (std::uint32_t i = 1; i < count; i++)
		stage.job.roles.push_back(Stage::role(
			("r" + std::to_string(i)).c_str(), 1, template_pod(size(100 + i, 64))));
	return stage;
}

/* Each role costs a check of all nodes, and the agent has one thread. */
void too_many_unlike_roles_are_refused()
{
	Stage fine = with_unlike_roles(32), many = with_unlike_roles(33);
	CHECK_EQUAL(only<Submit>(first_look(fine, template_pod())).size(), 1U);
	const auto actions = first_look(many, template_pod());
	CHECK(only<Submit>(actions).empty());
	const auto reports = only<Report>(actions);
	REQUIRE(reports.size() == 1);
	CHECK_EQUAL(reports.front().second.not_scheduled.message,
		"LeaderWorkerSet train has more than 32 templates that ask for different nodes, "
		"resources or labels: "
		"make them alike, or set the annotation slurm-kube.io/gang: \"false\" on "
		"LeaderWorkerSet train");
}

/* Controllers give each role a label of its own, which matters only to pods with terms about
 * labels. */
void roles_that_differ_in_labels_only_are_alike()
{
	Stage stage = with_unlike_roles(1);
	for (std::uint32_t i = 1; i < 100; i++) {
		Pod pod = template_pod(size(100, 64));
		pod.labels = {{"role", std::to_string(i)}};
		stage.job.roles.push_back(Stage::role(("r" + std::to_string(i)).c_str(), 1, pod));
	}
	CHECK_EQUAL(only<Submit>(first_look(stage, template_pod())).size(), 1U);
}

void a_later_role_that_keeps_to_itself_has_one_pod_for_each_node()
{
	const Pod leader = template_pod();
	Pod worker = template_pod();
	worker.constraints.host_ports = {{.port = 8080}};
	Stage stage(leader, worker);
	const auto submits = only<Submit>(first_look(stage, leader));
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.tasks_per_node, 1U);
}

/* Reports of a gang of which only the leader has come. */
std::vector<Condition> told(const Pod &leader, const Pod &worker)
{
	Stage stage(leader, worker);
	const auto actions = first_look(stage, leader);
	CHECK(only<Submit>(actions).empty());
	std::vector<Condition> out;
	for (const auto &[uid, report] : only<Report>(actions))
		out.push_back(report.not_scheduled);
	return out;
}

void devices_of_a_later_role_without_a_rule_are_refused_at_once()
{
	Pod worker = template_pod();
	worker.requests.extended = {{"google.com/tpu", 4}};
	const auto reports = told(template_pod(), worker);
	REQUIRE(reports.size() == 1);
	CHECK_EQUAL(reports.front().reason, names::k_reason_refused);
	CHECK(reports.front().message.starts_with(
		"role 'worker' of LeaderWorkerSet train: resource google.com/tpu: Slurm does not "
		"know it"));
}

void fields_of_a_later_role_that_are_not_supported_are_refused_at_once()
{
	Pod worker = template_pod();
	worker.unsupported_fields = {"spec.resourceClaims"};
	const auto reports = told(template_pod(), worker);
	REQUIRE(reports.size() == 1);
	CHECK_EQUAL(reports.front().message,
		"role 'worker' of LeaderWorkerSet train: spec.resourceClaims is not supported yet: "
		"remove it, or use another schedulerName");
}

/* The gang starts as soon as a node suits the role that had none. */
void a_gang_without_a_node_runs_when_there_is_one()
{
	const Pod leader = template_pod(), worker = with_pool("c");
	Stage stage(leader, worker);
	const auto actions = first_look(stage, leader);
	const auto reports = only<Report>(actions);
	REQUIRE(reports.size() == 1);
	CHECK_EQUAL(reports.front().second.not_scheduled.reason, names::k_reason_no_node);
	CHECK(reports.front().second.not_scheduled.message.starts_with(
		"role 'worker' of LeaderWorkerSet train: no node may take the pod: 4 nodes: each "
		"has no label pool=c"));
	KubeNode node = Stage::in_pool("n1");
	node.labels["pool"] = "c";
	stage.world.observe(NodeSeen{node}, stage.now);
	stage.pass(2 * k_second);
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(text_of(submits.front().second.spec.excluded_nodes), "n2 n3 n4");
}

/* A webhook has changed the first worker. */
void a_real_pod_corrects_its_template()
{
	const Pod leader = template_pod(), worker = template_pod();
	Stage stage(leader, worker);
	REQUIRE(only<Submit>(first_look(stage, leader)).size() == 1);
	stage.world.answer(
		SubmitAnswered{{"train-uid/0"}, Submitted{.job = {7}, .node = ""}}, stage.now);
	SlurmJob job = stage.running({});
	job.marker.uid = "train-uid/0";
	stage.world.observe(JobSeen{job}, stage.now);
	(void)stage.take();
	stage.pass(2 * k_second);
	stage.world.observe(PodSeen{stage.member(1, with_pool("a"))}, stage.now);
	const auto updates = only<Update>(stage.take());
	REQUIRE(updates.size() == 1);
	CHECK_EQUAL(text_of(updates.front().second.spec.excluded_nodes), "n3 n4");
}

/* The job must not end a role that has no deadline. */
void a_gang_has_the_latest_deadline_of_its_roles()
{
	for (const auto &[of_leader, of_worker, minutes] :
		{std::tuple(60, 0, 0U), std::tuple(0, 60, 0U), std::tuple(60, 600, 10U)}) {
		Pod leader = template_pod(), worker = template_pod();
		leader.active_deadline_seconds = of_leader;
		worker.active_deadline_seconds = of_worker;
		Stage stage(leader, worker);
		const auto submits = only<Submit>(first_look(stage, leader));
		REQUIRE(submits.size() == 1);
		CHECK_EQUAL(submits.front().second.spec.time_limit_minutes, minutes);
	}
}

void conflicts_of_roles()
{
	const RoleNodes a{"role 'a'", {"n1", "n2"}, "A"}, b{"role 'b'", {"n3"}, "B"},
		c{"role 'c'", {"n3", "n4"}, "C"}, d{"role 'd'", {"n4"}, "D"},
		none{"none", {"n1", "n2", "n3", "n4"}, "N"};
	CHECK(role_conflict({}, 4, "x").empty());
	CHECK(role_conflict({a, b}, 4, "x").empty());
	CHECK(role_conflict({a, none}, 4, "x").empty()); /* it has no node by itself, and says so */
	CHECK(role_conflict({a, c}, 0, "x").empty());
	CHECK(role_conflict({b, a, c}, 4, "x")
			.starts_with("no node suits both role 'a' (A) and role 'c' (C): "));
	CHECK(role_conflict({a, b, d}, 4, "x")
			.starts_with("no node suits both role 'a' (A) and role 'b' (B) and role "
				     "'d' (D): "));
}

} // namespace

int main()
{
	return run_tests("world: roles",
		{TEST(a_later_role_chooses_the_nodes_too), TEST(too_many_unlike_roles_are_refused),
			TEST(roles_that_differ_in_labels_only_are_alike),
			TEST(a_later_role_that_keeps_to_itself_has_one_pod_for_each_node),
			TEST(devices_of_a_later_role_without_a_rule_are_refused_at_once),
			TEST(fields_of_a_later_role_that_are_not_supported_are_refused_at_once),
			TEST(a_gang_without_a_node_runs_when_there_is_one),
			TEST(a_real_pod_corrects_its_template),
			TEST(a_gang_has_the_latest_deadline_of_its_roles),
			TEST(conflicts_of_roles)});
}
