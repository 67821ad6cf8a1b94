/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Owners of pods in JSON, as JobSet, LeaderWorkerSet, Kubeflow, KubeRay and Kubernetes write
 * them: roles, sizes, stages, and owners that are no gang. */
#include "src/codec/owner.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;

namespace
{

#define POD(cpu)                                                                                   \
	R"({"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":")" cpu R"("}}}]}})"
#define JOB(rest, cpu) R"({"spec":{)" rest R"("template":)" POD(cpu) "}}"

/* "together min=2 done ok: role*pods/per job@stage=cpu ..." */
std::string text_of(const core::Owner &owner)
{
	std::string out = owner.starts_together ? "together" : "alone";
	if (owner.minimum > 0)
		out += " min=" + std::to_string(owner.minimum);
	out += owner.is_finished ? " done" : "";
	out += owner.has_succeeded ? " ok" : "";
	out += owner.replaces_single_pods ? " apart" : "";
	if (owner.deadline_seconds > 0)
		out += " within " + std::to_string(owner.deadline_seconds);
	for (const core::Role &role : owner.roles)
		out += " " + role.name +
			(role.first_index > 0 ? "#" + std::to_string(role.first_index) : "") + "*" +
			std::to_string(role.pods) + "/" + std::to_string(role.pods_per_job) + "@" +
			std::to_string(role.stage) + "=" + std::to_string(role.each.milli_cpu);
	return out;
}

std::string read(const std::string &kind, const std::string &rest)
{
	const auto json = codec::parse_json(R"({"apiVersion":"g/v1","kind":")" + kind +
			R"(","metadata":{"name":"x","namespace":"d","uid":"u"},)" + rest + "}",
		1 << 20);
	if (!json)
		return "no JSON: " + json.error().what;
	const auto owner = codec::owner_from_json(json.value().get());
	return owner ? text_of(*owner) : owner.error().what;
}

struct Row {
	std::string kind, rest, expected;
};

void check_rows(const std::vector<Row> &rows)
{
	for (const Row &row : rows)
		CHECK_EQUAL(row.kind + row.rest + " -> " + read(row.kind, row.rest),
			row.kind + row.rest + " -> " + row.expected);
}

void jobs_of_kubernetes()
{
	const std::string pod = R"("template":)" POD("500m");
	check_rows({
		{"Job",
			R"("spec":{"completions":4,"parallelism":4,"completionMode":"Indexed",)" +
				pod + "}",
			"together *4/1@0=500"},
		{"Job",
			R"("spec":{"completions":1,"parallelism":1,"completionMode":"Indexed",)" +
				pod + "}",
			"alone *1/1@0=500"},
		{"Job",
			R"("spec":{"completions":8,"parallelism":4,"completionMode":"Indexed",)" +
				pod + "}",
			"alone *4/1@0=500"},
		{"Job", R"("spec":{"completions":4,"parallelism":4,)" + pod + "}",
			"alone *4/1@0=500"}, /* no ranks: only when it asks */
		{"Job", R"("spec":{"parallelism":4,)" + pod + "}",
			"alone *4/1@0=500"}, /* a work queue */
		{"Job", R"("spec":{"parallelism":0,)" + pod + "}", "alone"},
		{"Job", R"("spec":{)" + pod + "}", "alone *1/1@0=500"},
		{"Job", R"("spec":{"suspend":true,)" + pod + "}", "alone done *1/1@0=500"},
		{"Job", R"("status":{"conditions":[{"type":"Complete","status":"True"}]})",
			"alone done ok *1/1@0=0"},
		{"Job",
			R"("status":{"conditions":[{"type":"Complete","status":"False"},)"
			R"({"type":"Failed","status":"True"}]})",
			"alone done *1/1@0=0"},
		{"Job", R"("spec":{"activeDeadlineSeconds":90,)" + pod + "}",
			"alone within 90 *1/1@0=500"},
		{"Job", R"("spec":{"activeDeadlineSeconds":-90,)" + pod + "}", "alone *1/1@0=500"},
		{"Deployment", R"("spec":{"replicas":7,)" + pod + "}", "alone"},
		{"StatefulSet", R"("spec":{"replicas":7,)" + pod + "}", "alone"},
	});
}

void job_sets()
{
	const std::string driver = R"({"name":"driver","replicas":1,"template":)" JOB("", "1") "}";
	const std::string workers = R"({"name":"workers","replicas":2,"template":)" JOB(
		R"("completions":3,"parallelism":3,)", "4");
	const auto set = [](const std::string &jobs) {
		return R"("spec":{"replicatedJobs":[)" + jobs + "]}";
	};
	const auto after = [&](const char *status) {
		return workers + R"(,"dependsOn":[{"name":"driver","status":")" + status +
			R"("}]})";
	};
	const std::string third = R"({"name":"third","template":)" JOB(
		"", "1") R"(,"dependsOn":[{"name":"workers","status":"Ready"}]})";
	check_rows({
		{"JobSet", set(driver + "," + workers + "}"),
			"together driver*1/1@0=1000 workers*6/3@0=4000"},
		{"JobSet", set(driver + "," + after("Ready")),
			"together driver*1/1@0=1000 workers*6/3@0=4000"},
		{"JobSet", set(driver + "," + after("Complete")),
			"together driver*1/1@0=1000 workers*6/3@1=4000"},
		{"JobSet", set(driver + "," + after("Complete") + "," + third),
			"together driver*1/1@0=1000 workers*6/3@1=4000 third*1/1@1=1000"},
		{"JobSet",
			set(workers + R"(,"dependsOn":[{"name":"unknown","status":"Complete"}]})"),
			"together workers*6/3@0=4000"},
		{"JobSet", R"("spec":{"suspend":true,"replicatedJobs":[)" + driver + "]}",
			"together done driver*1/1@0=1000"},
		{"JobSet", R"("status":{"conditions":[{"type":"Completed","status":"True"}]})",
			"together done ok"},
		{"JobSet",
			set(R"({"name":"a","replicas":1000000,"template":)" JOB(
				R"("parallelism":1000000,)", "1") "}"),
			"together a*20001/20001@0=1000"},
		{"JobSet", set(R"({"name":"a","template":)" JOB("", "1x") "}"),
			"JobSet x: template 'a': container 'main': resources.requests: cpu: not a "
			"quantity: '1x'"},
	});
}

void leader_worker_sets()
{
	const auto group = [](const std::string &rest) {
		return R"("spec":{"replicas":5,"leaderWorkerTemplate":{)" + rest +
			R"("workerTemplate":)" POD("2") "}}";
	};
	check_rows({
		{"LeaderWorkerSet", group(R"("size":3,)"),
			"together leader*1/1@0=2000 worker*2/1@0=2000"},
		{"LeaderWorkerSet", group(R"("size":3,"leaderTemplate":)" POD("1") ","),
			"together leader*1/1@0=1000 worker*2/1@0=2000"},
		{"LeaderWorkerSet", group(R"("size":3,"restartPolicy":"None",)"),
			"together apart leader*1/1@0=2000 worker*2/1@0=2000"},
		{"LeaderWorkerSet",
			group(R"("size":3,"restartPolicy":"RecreateGroupOnPodRestart",)"),
			"together leader*1/1@0=2000 worker*2/1@0=2000"},
		{"LeaderWorkerSet", group(""), "alone leader*1/1@0=2000"},
		{"LeaderWorkerSet", group(R"("size":-4,)"), "alone leader*1/1@0=2000"},
	});
}

void pod_groups()
{
	check_rows({
		{"PodGroup", R"("spec":{"minMember":3})", "together min=3"},
		{"PodGroup", R"("spec":{"minMember":1})", "alone min=1"},
		{"PodGroup", R"("spec":{})", "alone"},
		{"PodGroup", R"("spec":{"schedulingPolicy":{"gang":{"minCount":4}}})",
			"together min=4"},
		{"PodGroup", R"("spec":{"schedulingPolicy":{"basic":{}}})", "alone"},
	});
}

void kubeflow_and_ray()
{
	const auto replicas = [](const char *n, const char *cpu_template) {
		return R"({"replicas":)" + std::string(n) + R"(,"template":)" + cpu_template + "}";
	};
	const std::string one = replicas("1", POD("1")), three = replicas("3", POD("2"));
	const std::string group =
		R"({"groupName":"small","replicas":3,"minReplicas":1,"numOfHosts":2,)"
		R"("template":)" POD("2") "}";
	const std::string head = R"("headGroupSpec":{"template":)" POD("1") "}";
	check_rows({
		{"MPIJob",
			R"("spec":{"mpiReplicaSpecs":{"Worker":)" + three + R"(,"Launcher":)" +
				one + "}}",
			"together Launcher*1/1@0=1000 Worker*3/1@0=2000"},
		{"MPIJob",
			R"("spec":{"runPolicy":{"suspend":true},"mpiReplicaSpecs":{"Launcher":)" +
				one + "}}",
			"alone done Launcher*1/1@0=1000"},
		{"MPIJob",
			R"("spec":{"runLauncherAsWorker":true,)"
			R"("runPolicy":{"activeDeadlineSeconds":7},"mpiReplicaSpecs":{"Worker":)" +
				three + R"(,"Launcher":)" + one + "}}",
			"together within 7 Launcher*1/1@0=1000 Worker#1*3/1@0=2000"},
		{"PyTorchJob",
			R"("spec":{"pytorchReplicaSpecs":{"Worker":)" + three + R"(,"Master":)" +
				one + "}}",
			"together Master*1/1@0=1000 Worker*3/1@0=2000"},
		{"PyTorchJob", R"("spec":{"pytorchReplicaSpecs":{"Master":)" + one + "}}",
			"alone Master*1/1@0=1000"},
		{"PyTorchJob",
			R"("spec":{"pytorchReplicaSpecs":{"Worker":)" + three +
				R"(}},"status":{"conditions":[{"type":"Succeeded",)"
				R"("status":"True"}]})",
			"together done ok Worker*3/1@0=2000"},
		{"TrainJob", R"("spec":{"trainer":{"numNodes":2}})", "alone"},
		{"RayCluster", R"("spec":{)" + head + R"(,"workerGroupSpecs":[)" + group + "]}",
			"together head*1/1@0=1000 small*6/2@0=2000"},
		{"RayCluster",
			R"("spec":{"enableInTreeAutoscaling":true,)" + head +
				R"(,"workerGroupSpecs":[)" + group + "]}",
			"together head*1/1@0=1000 small*2/2@0=2000"},
		{"RayCluster",
			R"("spec":{)" + head +
				R"(,"workerGroupSpecs":[{"groupName":"g","minReplicas":3,)"
				R"("template":)" POD("2") "}]}",
			"together head*1/1@0=1000 g*3/1@0=2000"},
		{"RayCluster",
			R"("spec":{)" + head +
				R"(,"workerGroupSpecs":[{"groupName":"g","replicas":1,)"
				R"("minReplicas":3,"template":)" POD("2") "}]}",
			"together head*1/1@0=1000 g*3/1@0=2000"},
		{"RayCluster",
			R"("spec":{)" + head +
				R"(,"workerGroupSpecs":[{"groupName":"g","replicas":9,)"
				R"("maxReplicas":3,"template":)" POD("2") "}]}",
			"together head*1/1@0=1000 g*3/1@0=2000"},
		{"RayCluster",
			R"("spec":{)" + head +
				R"(,"workerGroupSpecs":[{"groupName":"g","replicas":3,)"
				R"("suspend":true,"template":)" POD("2") "}]}",
			"together head*1/1@0=1000"},
		{"RayCluster", R"("spec":{)" + head + "}", "alone head*1/1@0=1000"},
		{"RayJob", R"("spec":{})", "alone"},
	});
}

/* The API server sets missing requests from limits in pods, but not in templates of kinds that
 * it does not know. */
void limits_count_where_nothing_is_requested()
{
	const char *const job =
		R"("spec":{"replicatedJobs":[{"name":"a",)"
		R"("template":{"spec":{"template":{"spec":{"containers":[{"name":"m",)"
		R"("resources":{)";
	check_rows({
		{"JobSet", job + std::string(R"("limits":{"cpu":"2"}}}]}}}}}]})"),
			"together a*1/1@0=2000"},
		{"JobSet",
			job +
				std::string(
					R"("limits":{"cpu":"2"},"requests":{"cpu":"1"}}}]}}}}}]})"),
			"together a*1/1@0=1000"},
		{"JobSet", job + std::string(R"("limits":{"cpu":"2x"}}}]}}}}}]})"),
			"JobSet x: template 'a': container 'm': resources.limits: cpu: not a "
			"quantity: '2x'"},
	});
}

void nonsense_is_refused_or_counts_as_absent()
{
	check_rows({
		{"JobSet", R"("spec":{"replicatedJobs":{"a":1}})", "together"},
		{"JobSet", R"("spec":{"replicatedJobs":[1,null,"x"]})",
			"together *1/1@0=0 *1/1@0=0 *1/1@0=0"},
		{"MPIJob", R"("spec":{"mpiReplicaSpecs":[1]})", "alone"},
		{"MPIJob", R"("spec":7)", "alone"},
		{"Job", R"("spec":{"completions":"4","parallelism":4.5})",
			read("Job",
				R"("spec":{"completions":"4",)"
				R"("parallelism":4.5})")}, /* any answer, no crash */
		{"", R"("spec":{})", "no object with kind, name and uid"},
	});
	std::string many;
	for (int i = 0; i < 1001; i++)
		many += std::string(i > 0 ? "," : "") + R"({"name":"r"})";
	CHECK_EQUAL(read("JobSet", R"("spec":{"replicatedJobs":[)" + many + "]}"),
		"JobSet x: more than 1000 templates");
}

std::string keys_of(const std::map<std::string, std::string> &map)
{
	std::string out;
	for (const auto &[key, value] : map)
		out += (out.empty() ? "" : " ") + key + "=" + value;
	return out;
}

/* Controllers create the pods of some roles only when others run, and then on the nodes that the
 * job already has. Templates must therefore show the constraints in advance. */
void templates_say_what_their_pods_will_demand()
{
	const auto json = codec::parse_json(
		R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet",)"
		R"("metadata":{"name":"x","namespace":"d","uid":"u"},"spec":{"replicatedJobs":[
		{"name":"a","template":{"spec":{"activeDeadlineSeconds":60,)"
		R"("template":{"metadata":{"labels":{"app":"w"}},"spec":{"nodeName":"n1",)"
		R"("nodeSelector":{"pool":"gpu"},"tolerations":[{"key":"gpu","operator":"Exists"}],
		"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
		 {"nodeSelectorTerms":[{"matchExpressions":[
		 {"key":"zone","operator":"Exists"}]}]}}},
		"priorityClassName":"high","overhead":{"cpu":"1"},"resourceClaims":[{"name":"c",)"
		R"("resourceClaimName":"d"}],
		"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}},)"
		R"({"name":"e","ephemeral":{}}],
		"containers":[{"name":"m","ports":[{"hostPort":80}],)"
		R"("resources":{"limits":{"cpu":"2","google.com/tpu":"4"}}}]}}}}}]}})",
		1 << 20);
	REQUIRE(json.ok());
	const auto owner = codec::owner_from_json(json.value().get());
	REQUIRE(owner.ok() && owner->roles.size() == 1 && owner->roles.front().pod_template);
	const core::Pod &pod = *owner->roles.front().pod_template;
	CHECK_EQUAL(pod.name_space + "/" + pod.name + "/" + pod.node_name, "d//");
	CHECK_EQUAL(keys_of(pod.labels),
		"app=w jobset.sigs.k8s.io/jobset-name=x jobset.sigs.k8s.io/replicatedjob-name=a");
	CHECK_EQUAL(keys_of(pod.constraints.node_selector), "pool=gpu");
	CHECK_EQUAL(pod.constraints.tolerations.size(), 3U); /* every pod has two of them */
	CHECK(pod.constraints.node_terms && pod.constraints.node_terms->size() == 1);
	CHECK_EQUAL(pod.constraints.host_ports.size(), 1U);
	CHECK_EQUAL(pod.priority_class, "high");
	CHECK_EQUAL(pod.active_deadline_seconds, 60);
	CHECK_EQUAL(pod.requests.milli_cpu, 3000);
	CHECK_EQUAL(pod.requests.extended.at("google.com/tpu"), 4);
	CHECK(pod.requests == owner->roles.front().each);
	REQUIRE(pod.constraints.claims.size() == 1);
	CHECK_EQUAL(pod.constraints.claims.front().name, "data");
	REQUIRE(pod.resource_claims.size() == 1);
	CHECK_EQUAL(pod.resource_claims.front().claim, "d");
}

void options_and_owners_are_taken()
{
	const auto json = codec::parse_json(
		R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"x","namespace":"d",)"
		R"("uid":"u","annotations":{"slurm-kube.io/account":"a",
		"kubectl.kubernetes.io/last-applied-configuration":"{}",)"
		R"("slurmjob.slinky.slurm.net/qos":"q","slurm-kube.io/number":7},"ownerReferences":[
		{"apiVersion":"v1","kind":"ConfigMap","name":"no","uid":"1"},)"
		R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","name":"yes",)"
		R"("uid":"2","controller":true}]}})",
		1 << 20);
	REQUIRE(json.ok());
	const auto owner = codec::owner_from_json(json.value().get());
	REQUIRE(owner.ok());
	CHECK_EQUAL(owner->annotations.at("slurm-kube.io/account"), "a");
	CHECK(!owner->annotations.contains("kubectl.kubernetes.io/last-applied-configuration"));
	REQUIRE(owner->controller.has_value());
	CHECK_EQUAL(owner->controller->name, "yes");
	CHECK_EQUAL(owner->controller->uid, "2");
}

#undef POD
#undef JOB

} // namespace

int main()
{
	return check::run_tests("owner",
		{TEST(jobs_of_kubernetes), TEST(job_sets), TEST(leader_worker_sets),
			TEST(pod_groups), TEST(kubeflow_and_ray),
			TEST(limits_count_where_nothing_is_requested),
			TEST(templates_say_what_their_pods_will_demand),
			TEST(nonsense_is_refused_or_counts_as_absent),
			TEST(options_and_owners_are_taken)});
}
