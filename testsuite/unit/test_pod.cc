/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/node.h"
#include "src/codec/pod.h"
#include "src/codec/scheduling_constraints.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::codec;

namespace
{

Json parsed(const std::string &text)
{
	auto json = parse_json(text, 1 << 20);
	CHECK(json.ok());
	return json ? std::move(json).value() : Json();
}

/* ---- the whole pod ---- */

constexpr char k_pod[] =
	R"({"apiVersion":"v1","kind":"Pod",
 "metadata":{"name":"train-0","namespace":"ml","uid":"u-1","resourceVersion":"42",)"
	R"("labels":{"app":"x"},"creationTimestamp":"2026-11-21T03:08:57Z",
  "deletionTimestamp":"2026-11-21T03:09:57Z","deletionGracePeriodSeconds":60,)"
	R"("managedFields":[{"manager":"x","fieldsV1":{"f:metadata":{}}}],
  "annotations":{"slurm-kube.io/partition":"gpu","allocation.slurm-kube.io/job-id":"7",)"
	R"("kubectl.kubernetes.io/default-container":"main","other/x":"1"},
  "ownerReferences":[{"kind":"ReplicaSet","name":"no","uid":"n"},{"apiVersion":"batch/v1",)"
	R"("kind":"Job","name":"train","uid":"j-1","controller":true},
   {"kind":"Other","name":"late","uid":"o","controller":false}]},
 "spec":{"schedulerName":"slurm","nodeName":"n1","schedulingGates":[{"name":"g"}],)"
	R"("schedulingGroup":{"podGroupName":"pg"},"terminationGracePeriodSeconds":5,)"
	R"("activeDeadlineSeconds":90,"priorityClassName":"urgent",
  "initContainers":[{"name":"init"}],"containers":[{"name":"side"},{"name":"main",)"
	R"("resources":{"requests":{"cpu":"1500m","memory":"1Gi"}}}]},
 "status":{"phase":"Failed","reason":"Evicted","message":"disk",
  "conditions":[{"type":"Ready","status":"False"},{"type":"PodScheduled","status":"False",)"
	R"("reason":"SlurmPending","message":"Resources"},
   {"type":"DisruptionTarget","status":"True","reason":"SlurmJobEnded","message":"cancelled"},
   {"type":"slurm-kube.io/StartLimit","status":"True","reason":"SlurmStartLimit","message":"late"}],
  "containerStatuses":[{"name":"main","state":{"terminated":{"exitCode":137,"signal":9,)"
	R"("reason":"OOMKilled"}}},{"name":"side","state":{"running":{}}}],
  "initContainerStatuses":[{"name":"init","state":{"terminated":{"exitCode":0,)"
	R"("reason":"Completed"}}}]}})";

void every_field_of_a_pod_is_read()
{
	const Json json = parsed(k_pod);
	auto result = pod_from_json(json.get());
	REQUIRE(result.ok());
	const core::Pod &pod = *result;
	core::Pod want;
	want.uid.text = "u-1";
	want.name_space = "ml";
	want.name = "train-0";
	want.resource_version = "42";
	want.scheduler_name = "slurm";
	want.node_name = "n1";
	want.phase = core::PodPhase::failed;
	want.deleting = true;
	want.deletion_grace_seconds = 60;
	want.created = 1795230537;
	want.gated = true;
	want.termination_grace_seconds = 5;
	want.active_deadline_seconds = 90;
	want.priority_class = "urgent";
	want.status_reason = "Evicted";
	want.status_message = "disk";
	want.main_container = "main";
	want.ended_containers = {{"init", 0, 0, "Completed"}, {"main", 137, 9, "OOMKilled"}};
	want.requests = {.milli_cpu = 1500, .memory_bytes = 1 << 30, .pods = 1, .extended = {}};
	want.annotations = {
		{"slurm-kube.io/partition", "gpu"}, {"allocation.slurm-kube.io/job-id", "7"}};
	want.annotation_bytes = 26 + 43 + 8 + 32;
	want.labels = {{"app", "x"}};
	want.scheduling_group = "pg";
	want.controller = core::OwnerRef{"batch/v1", "Job", "train", "j-1"};
	want.not_scheduled = core::Condition{"SlurmPending", "Resources"};
	want.disruption = core::Condition{"SlurmJobEnded", "cancelled"};
	want.start_limit = core::Condition{"SlurmStartLimit", "late"};
	want.container_runs = true;
	CHECK(pod.ended_containers == want.ended_containers);
	CHECK(pod.requests == want.requests);
	CHECK(pod.annotations == want.annotations);
	CHECK(pod.labels == want.labels && pod.controller == want.controller &&
		pod.scheduling_group == want.scheduling_group);
	CHECK(pod == want);
}

/* The API server accepts such amounts. If the agent could not read the pod, the pod would wait
 * without a condition. */
void amounts_beyond_64_bits_are_read_as_more_than_any_node_has()
{
	const Json json =
		parsed(R"({"metadata":{"name":"a","namespace":"b","uid":"c"},"spec":{"containers":[
		{"name":"main","resources":{"requests":{"memory":"10E","cpu":"9E",)"
		       R"("nvidia.com/gpu":"99E"}}},{"name":"side",)"
		       R"("resources":{"requests":{"memory":"8Ei"}}}]}})");
	const auto pod = pod_from_json(json.get());
	REQUIRE(pod.ok());
	CHECK_EQUAL(pod->requests.memory_bytes, std::int64_t{1} << 49);
	CHECK_EQUAL(pod->requests.milli_cpu, std::int64_t{1} << 38);
	CHECK_EQUAL(pod->requests.extended.at("nvidia.com/gpu"), std::int64_t{1} << 40);
}

void what_a_container_waits_for_is_read()
{
	struct Row {
		const char *statuses, *reason;
		bool runs;
	};
	const Row rows[] = {
		{R"("containerStatuses":[{"name":"c",)"
		 R"("state":{"waiting":{"reason":"ContainerCreating"}}}])",
			"ContainerCreating", false},
		{R"("containerStatuses":[{"name":"c",)"
		 R"("state":{"waiting":{"reason":"PodInitializing"}}}],
		"initContainerStatuses":[{"name":"i",)"
		 R"("state":{"waiting":{"reason":"ErrImagePull","message":"no such image"}}}])",
			"ErrImagePull: no such image", false},
		{R"("initContainerStatuses":[{"name":"i",)"
		 R"("state":{"waiting":{"reason":"PodInitializing"}}}],
		"containerStatuses":[{"name":"c",)"
		 R"("state":{"waiting":{"reason":"ErrImageNeverPull","message":"not there"}}}])",
			"ErrImageNeverPull: not there", false},
		{R"("initContainerStatuses":[{"name":"i","state":{"running":{"startedAt":"x"}}}])",
			"", true},
		{R"("initContainerStatuses":[{"name":"i","state":{"terminated":{"exitCode":0}}}])",
			"", false},
	};
	for (const Row &row : rows) {
		const std::string text =
			std::string(R"({"metadata":{"name":"a","namespace":"b","uid":"c"},)"
				    R"("spec":{"containers":[{"name":"c"}]},"status":{)") +
			row.statuses + "}}";
		const Json json = parsed(text.c_str());
		const auto pod = pod_from_json(json.get());
		REQUIRE(pod.ok());
		CHECK_EQUAL(pod->waiting_reason, row.reason);
		CHECK_EQUAL(pod->container_runs, row.runs);
	}
}

void a_small_pod_has_the_defaults()
{
	const Json json = parsed(R"({"metadata":{"name":"a","namespace":"b","uid":"c"},)"
				 R"("spec":{"containers":[{"name":"x"},{"name":"y"}]}})");
	auto pod = pod_from_json(json.get());
	REQUIRE(pod.ok());
	CHECK(pod->phase == core::PodPhase::pending);
	CHECK_EQUAL(pod->main_container, "x");
	CHECK_EQUAL(pod->termination_grace_seconds, 30);
	CHECK(!pod->deleting && !pod->gated && !pod->controller && !pod->not_scheduled &&
		!pod->disruption);
	CHECK_EQUAL(pod->requests.pods, 1);
}

void what_is_no_pod_is_refused()
{
	for (const char *text : {"{}", "[]", "7", R"({"metadata":{"name":"a","namespace":"b"}})",
		     R"({"metadata":{"name":"a","uid":"b"}})",
		     R"({"metadata":{"name":"a","namespace":"b","uid":"c",)"
		     R"("creationTimestamp":"yesterday"}})",
		     R"({"metadata":{"name":"a","namespace":"b","uid":"c"},)"
		     R"("spec":{"containers":[{"resources":{"requests":{"cpu":"12q"}}}]}})",
		     R"({"metadata":{"name":"a","namespace":"b","uid":"c"},)"
		     R"("spec":{"overhead":{"memory":"-1"}}})"}) {
		const Json json = parsed(text);
		CHECK(!pod_from_json(json.get()).ok());
	}
	const Json json = parsed(R"({"metadata":{"name":"a","namespace":"b","uid":"c"},
		"spec":{"containers":[{"name":"main",)"
				 R"("resources":{"requests":{"memory":"12q"}}}]}})");
	CHECK_EQUAL(pod_from_json(json.get()).error().what,
		"pod b/a: container 'main': resources.requests: memory: not a quantity: '12q'");
}

/* ---- requests ---- */

std::string c(const char *requests, const char *more = "")
{
	return std::string(R"({"name":"c","resources":{"requests":{)") + requests + "}}" + more +
		"}";
}

void effective_requests_follow_kube_scheduler()
{
	static const struct {
		const char *what;
		std::string spec_and_status;
		std::int64_t milli_cpu, memory;
	} rows[] = {
		{"nothing", R"("spec":{"containers":[{"name":"c"}]})", 0, 0},
		{"two containers add up",
			R"("spec":{"containers":[)" + c(R"("cpu":"1","memory":"10")") + "," +
				c(R"("cpu":"250m")") + "]}",
			1250, 10},
		{"a large init container wins per resource",
			R"("spec":{"containers":[)" + c(R"("cpu":"1","memory":"10")") +
				R"(],"initContainers":[)" + c(R"("cpu":"3","memory":"5")") + "]}",
			3000, 10},
		{"init containers do not add up",
			R"("spec":{"containers":[)" + c(R"("cpu":"1")") +
				R"(],"initContainers":[)" + c(R"("cpu":"2")") + "," +
				c(R"("cpu":"2")") + "]}",
			2000, 0},
		{"a sidecar stays",
			R"("spec":{"containers":[)" + c(R"("cpu":"1")") +
				R"(],"initContainers":[)" +
				c(R"("cpu":"2")", R"(,"restartPolicy":"Always")") + "]}",
			3000, 0},
		{"an init container after a sidecar runs beside it",
			R"("spec":{"containers":[)" + c(R"("cpu":"1")") +
				R"(],"initContainers":[)" +
				c(R"("cpu":"2")", R"(,"restartPolicy":"Always")") + "," +
				c(R"("cpu":"4")") + "]}",
			6000, 0},
		{"an init container before a sidecar does not",
			R"("spec":{"containers":[)" + c(R"("cpu":"1")") +
				R"(],"initContainers":[)" + c(R"("cpu":"4")") + "," +
				c(R"("cpu":"2")", R"(,"restartPolicy":"Always")") + "]}",
			4000, 0},
		{"pod level limits count where nothing is requested",
			R"("spec":{"resources":{"limits":{"cpu":"2","memory":"20"}},)"
			R"("containers":[)" +
				c(R"("cpu":"1")") + "]}",
			1000, 20},
		{"pod level limits, and nothing else",
			R"("spec":{"resources":{"limits":{"cpu":"2","memory":"20"}},)"
			R"("containers":[{"name":"m"}]})",
			2000, 20},
		{"pod level replaces",
			R"("spec":{"resources":{"requests":{"cpu":"500m"}},"containers":[)" +
				c(R"("cpu":"1","memory":"10")") + "]}",
			500, 10},
		{"overhead comes on top",
			R"("spec":{"overhead":{"cpu":"100m","memory":"1"},)"
			R"("resources":{"requests":{"cpu":"500m"}},"containers":[)" +
				c(R"("memory":"10")") + "]}",
			600, 11},
		{"a shrink in progress still holds the old share",
			R"("spec":{"containers":[)" + c(R"("cpu":"1")") +
				R"(]},"status":{"containerStatuses":[{"name":"c",)"
				R"("allocatedResources":{"cpu":"3"}}]})",
			3000, 0},
		{"an infeasible growth does not count",
			R"("spec":{"containers":[)" + c(R"("cpu":"9")") +
				R"(]},"status":{"conditions":[{"type":"PodResizePending",)"
				R"("reason":"Infeasible"}],"containerStatuses":[{"name":"c",)"
				R"("resources":{"requests":{"cpu":"2"}}}]})",
			2000, 0},
	};
	for (const auto &row : rows) {
		const Json json = parsed("{" + row.spec_and_status + "}");
		const auto requests = effective_requests(json.get());
		REQUIRE(requests.ok());
		CHECK_EQUAL(row.what + std::string(": ") + std::to_string(requests->milli_cpu),
			row.what + std::string(": ") + std::to_string(row.milli_cpu));
		CHECK_EQUAL(row.what + std::string(": ") + std::to_string(requests->memory_bytes),
			row.what + std::string(": ") + std::to_string(row.memory));
	}
}

void other_resources_are_kept_by_name()
{
	const Json json = parsed("{\"spec\":{\"containers\":[" +
		c(R"("nvidia.com/gpu":"2","hugepages-2Mi":"4Mi","ephemeral-storage":"1k")") + "," +
		c(R"("nvidia.com/gpu":1)") + "]}}");
	auto requests = effective_requests(json.get());
	REQUIRE(requests.ok());
	const std::map<std::string, std::int64_t> want = {
		{"nvidia.com/gpu", 3}, {"hugepages-2Mi", 4 << 20}, {"ephemeral-storage", 1000}};
	CHECK(requests->extended == want);
}

/* ---- placement ---- */

std::vector<std::string> unsupported(const char *spec)
{
	const Json json = parsed(spec);
	std::set<std::string> fields;
	(void)constraints_from_json(json.get(), fields);
	(void)claims_of_pod(json.get(), "p", fields);
	(void)resource_claims_of_pod(json.get(), nullptr, fields);
	(void)spreads_from_json(get(json.get(), "topologySpreadConstraints"), {}, fields);
	note_unsupported(json.get(), fields);
	return {fields.begin(), fields.end()};
}

std::string terms(const std::string &kind, const std::string &list)
{
	return R"({"affinity":{")" + kind +
		R"(":{"requiredDuringSchedulingIgnoredDuringExecution":)" + list + "}}}";
}

void what_cannot_be_honoured_is_named()
{
	const std::string zone =
		R"([{"labelSelector":{},"topologyKey":"topology.kubernetes.io/zone"}])";
	const std::string spaces = R"([{"labelSelector":{},"topologyKey":"kubernetes.io/hostname",)"
				   R"("namespaceSelector":{"matchLabels":{"a":"b"}}}])";
	const std::string op =
		R"([{"labelSelector":{"matchExpressions":[{"key":"a","operator":"Gt",)"
		R"("values":["1"]}]},"topologyKey":"kubernetes.io/hostname"}])";
	const std::string fine =
		R"([{"labelSelector":{"matchLabels":{"a":"b"}},)"
		R"("topologyKey":"kubernetes.io/hostname","namespaceSelector":{}}])";
	const struct {
		std::string spec, field; /* field "": all supported */
	} rows[] = {
		{R"({"nodeSelector":{"a":"b"}})", ""},
		{terms("nodeAffinity", R"({"nodeSelectorTerms":[{}]})"), ""},
		{terms("podAffinity", zone), ""},
		{terms("podAntiAffinity", zone), ""},
		{terms("podAntiAffinity", spaces), ""},
		{terms("podAntiAffinity", op),
			"spec.affinity.podAntiAffinity with this labelSelector"},
		{terms("podAffinity",
			 R"([{"labelSelector":{},"topologyKey":"zone",)"
			 R"("namespaceSelector":{"matchExpressions":[{"key":"a",)"
			 R"("operator":"Is"}]}}])"),
			"spec.affinity.podAffinity with this namespaceSelector"},
		{terms("podAffinity", R"([{"labelSelector":{}}])"),
			"spec.affinity.podAffinity without topologyKey"},
		{terms("podAntiAffinity", fine), ""},
		{R"({"affinity":{"podAntiAffinity":{)"
		 R"("preferredDuringSchedulingIgnoredDuringExecution":[{}]}}})",
			""},
		{R"({"topologySpreadConstraints":[{"whenUnsatisfiable":"ScheduleAnyway"}]})", ""},
		{R"({"topologySpreadConstraints":[{"whenUnsatisfiable":"ScheduleAnyway"},)"
		 R"({"whenUnsatisfiable":"DoNotSchedule","maxSkew":1,"topologyKey":"zone"}]})",
			""},
		{R"({"topologySpreadConstraints":[{"maxSkew":1}]})",
			"spec.topologySpreadConstraints without topologyKey"},
		{R"({"topologySpreadConstraints":[{"topologyKey":"zone"}]})",
			"spec.topologySpreadConstraints with a maxSkew or minDomains that is not "
			"positive"},
		{R"({"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone",)"
		 R"("minDomains":0}]})",
			"spec.topologySpreadConstraints with a maxSkew or minDomains that is not "
			"positive"},
		{R"({"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone",)"
		 R"("whenUnsatisfiable":"Maybe"}]})",
			"spec.topologySpreadConstraints with whenUnsatisfiable Maybe"},
		{R"({"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone",)"
		 R"("nodeTaintsPolicy":"Half"}]})",
			"spec.topologySpreadConstraints with nodeTaintsPolicy Half"},
		{R"({"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone",)"
		 R"("labelSelector":{"matchExpressions":[{"key":"a","operator":"Gt",)"
		 R"("values":["1"]}]}}]})",
			"spec.topologySpreadConstraints with this labelSelector"},
		{R"({"resourceClaims":[{"name":"x"}]})",
			"spec.resourceClaims that names neither a claim nor a template, or of this "
			"number"},
		{R"({"resourceClaims":[{"name":"x","resourceClaimName":"c"}]})", ""},
		{R"({"schedulingGroup":{"podGroupName":"x"}})", ""},
		{R"({"workloadRef":{"name":"x"}})", "spec.workloadRef"},
		{R"({"containers":[{"ports":[{"containerPort":80,"hostPort":80}]}]})", ""},
		{R"({"volumes":[{"name":"a","emptyDir":{}},{"name":"b",)"
		 R"("configMap":{"name":"x"}}]})",
			""},
		{R"({"volumes":[{"name":"a","emptyDir":{}},{"name":"b",)"
		 R"("persistentVolumeClaim":{"claimName":"x"}}]})",
			""},
		{R"({"volumes":[{"name":"a","ephemeral":{}}]})", ""},
	};
	for (const auto &row : rows) {
		const auto fields = unsupported(row.spec.c_str());
		CHECK_EQUAL(row.spec + (fields.empty() ? "" : fields[0]), row.spec + row.field);
		CHECK(fields.size() <= 1);
	}
	CHECK_EQUAL(unsupported(R"({"workloadRef":{"name":"x"},"resourceClaims":[{"name":"b"}]})")
			    .size(),
		2U);
}

/* A claim made of a template has its name in the status. */
void resource_claims_are_read()
{
	const auto json = codec::parse_json(
		R"({"metadata":{"name":"p","namespace":"n","uid":"u"},"spec":{"resourceClaims":[)"
		R"({"name":"a","resourceClaimName":"shared"},)"
		R"({"name":"b","resourceClaimTemplateName":"t"},)"
		R"({"name":"c","resourceClaimTemplateName":"t"},)"
		R"({"name":"d","resourceClaimTemplateName":"t"}]},"status":)"
		R"({"resourceClaimStatuses":[{"name":"a","resourceClaimName":"no"},)"
		R"({"name":"b","resourceClaimName":"p-b-x"},{"name":"c"}]}})",
		1 << 20);
	const auto pod = codec::pod_from_json(json.value().get());
	REQUIRE(pod.ok());
	CHECK(pod->resource_claims ==
		(std::vector<core::PodResourceClaim>{{"a", "shared", false, false},
			{"b", "p-b-x", true, false, "t"}, {"c", "", true, true, "t"},
			{"d", "", true, false, "t"}}));
}

/* Also behind more volumes than are read otherwise. */
void a_volume_in_memory_is_seen()
{
	const std::pair<const char *, bool> rows[] = {{"{}", false}, {R"({"medium":""})", false},
		{R"({"sizeLimit":"1Gi"})", false}, {R"({"medium":"Memory"})", true},
		{R"({"medium":"HugePages-2Mi"})", true}};
	for (const auto &[source, is_in_memory] : rows) {
		std::string volumes;
		for (int i = 0; i < 256; i++)
			volumes += R"({"name":"c","configMap":{"name":"x"}},)";
		const auto json = parsed(R"({"metadata":{"name":"p","namespace":"n","uid":"u"},)"
					 R"("spec":{"volumes":[)" +
			volumes + R"({"name":"v","emptyDir":)" + source + "}]}}");
		const auto pod = pod_from_json(json.get());
		REQUIRE(pod.ok());
		CHECK_EQUAL(pod->has_memory_volume, is_in_memory);
	}
}

/* Every node is checked against these lists, so a pod must not contain thousands of entries. A
 * list that is too long is reported, never truncated. */
void lists_without_end_are_named()
{
	std::string many = "{}", values = R"("v")";
	for (int i = 0; i < 256; i++) {
		many += ",{}";
		values += R"(,"v")";
	}
	const std::string long_values =
		R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In",)"
		R"("values":[)" +
		values + "]}]}]}";
	CHECK(!unsupported(terms("nodeAffinity", R"({"nodeSelectorTerms":[)" + many + "]}").c_str())
			.empty());
	CHECK(!unsupported(terms("nodeAffinity", long_values).c_str()).empty());
	CHECK(!unsupported(terms("podAntiAffinity", "[" + many + "]").c_str()).empty());
	std::string far = R"({"topologyKey":"zone","labelSelector":{}})",
		    spreads = R"({"topologyKey":"zone","maxSkew":1})";
	for (int i = 0; i < 4; i++) {
		far += "," + far;
		spreads += "," + spreads;
	}
	CHECK(unsupported(terms("podAffinity", "[" + far + "]").c_str()).empty());
	CHECK(!unsupported(
		terms("podAffinity", "[" + far + R"(,{"topologyKey":"rack","labelSelector":{}}])")
			.c_str())
			.empty());
	CHECK(unsupported((R"({"topologySpreadConstraints":[)" + spreads + "]}").c_str()).empty());
	CHECK(!unsupported((R"({"topologySpreadConstraints":[{"topologyKey":"zone","maxSkew":1},)" +
				   spreads + "]}")
				   .c_str())
			.empty());
	CHECK(!unsupported((R"({"containers":[{"ports":[)" + many + "]}]}").c_str()).empty());
	CHECK(!unsupported((R"({"volumes":[)" + many + "]}").c_str()).empty());
	CHECK(!unsupported((R"({"containers":[)" + many + "]}").c_str()).empty());
}

void demands_are_read()
{
	const Json json =
		parsed(R"({"nodeSelector":{"disk":"ssd"},
		"tolerations":[{"key":"k","value":"v","effect":"NoSchedule"},)"
		       R"({"operator":"Exists"},{"key":"n","operator":"Gt","value":"1"}],
		"containers":[{"ports":[{"containerPort":1},{"hostPort":80,"protocol":"UDP",)"
		       R"("hostIP":"10.0.0.1"}]}],
		"initContainers":[{"ports":[{"hostPort":81}]},{"restartPolicy":"Always",)"
		       R"("ports":[{"hostPort":82}]}],
		"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
		 {"nodeSelectorTerms":[
		 {"matchExpressions":[{"key":"a","operator":"NotIn","values":["b","c"]},)"
		       R"({"key":"d","operator":"Exists"}],"matchFields":[{"key":"metadata.name",)"
		       R"("operator":"In","values":["n"]}]}]},
		 "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":7,)"
		       R"("preference":{"matchExpressions":[{"key":"p","operator":"Lt",)"
		       R"("values":["3"]}]}}]},
		 "podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
		  [{"topologyKey":"kubernetes.io/hostname","namespaces":["x"]}]},
		 "podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
		  [{"topologyKey":"kubernetes.io/hostname",
		 "labelSelector":{"matchLabels":{"app":"web"}},
		 "namespaceSelector":{}}]}}})");
	std::set<std::string> fields;
	const core::SchedulingConstraints got = constraints_from_json(json.get(), fields);
	core::SchedulingConstraints want;
	want.node_selector = {{"disk", "ssd"}};
	want.tolerations = {{"k", core::TolerationOp::equal, "v", "NoSchedule"},
		{"", core::TolerationOp::exists, "", ""},
		{"n", core::TolerationOp::unknown, "1", ""}};
	want.host_ports = {{"10.0.0.1", "UDP", 80}, {"0.0.0.0", "TCP", 82}};
	want.node_terms = {{{.labels = {{"a", core::SelectorOp::not_in, {"b", "c"}},
				     {"d", core::SelectorOp::exists, {}}},
		.fields = {{"metadata.name", core::SelectorOp::in, {"n"}}}}}};
	want.preferences = {{7, {.labels = {{"p", core::SelectorOp::lt, {"3"}}}, .fields = {}}}};
	want.affinity = {{.topology_key = "kubernetes.io/hostname",
		.selector = std::nullopt,
		.namespaces = {"x"},
		.all_namespaces = false}};
	want.anti_affinity = {{.topology_key = "kubernetes.io/hostname",
		.selector = core::PodSelector{{{"app", "web"}}, {}},
		.namespaces = {},
		.all_namespaces = true}};
	CHECK(got == want);
	CHECK(got.node_terms == want.node_terms);
	CHECK(got.host_ports == want.host_ports);
	CHECK(fields.empty());
}

void how_a_pod_is_to_be_spread_is_read()
{
	const Json json = parsed(
		R"([{"maxSkew":2,"topologyKey":"zone","minDomains":3,)"
		R"("labelSelector":{"matchLabels":{"app":"web"}},"matchLabelKeys":["hash","none",7],
		 "nodeAffinityPolicy":"Ignore","nodeTaintsPolicy":"Honor"},
		{"maxSkew":1,"topologyKey":"rack","whenUnsatisfiable":"DoNotSchedule"},)"
		R"({"maxSkew":9,"topologyKey":"any","whenUnsatisfiable":"ScheduleAnyway"}])");
	std::set<std::string> fields;
	const auto got = spreads_from_json(json.get(), {{"hash", "h1"}, {"app", "web"}}, fields);
	const core::PodSelector selector{
		{{"app", "web"}}, {{"hash", core::SelectorOp::in, {"h1"}}}};
	const std::vector<core::Spread> want = {{.topology_key = "zone",
							.max_skew = 2,
							.min_domains = 3,
							.selector = selector,
							.honors_affinity = false,
							.honors_taints = true},
		{.topology_key = "rack",
			.max_skew = 1,
			.min_domains = 1,
			.selector = std::nullopt,
			.honors_affinity = true,
			.honors_taints = false}};
	CHECK(got == want);
	CHECK(fields.empty());
}

/* ---- nodes ---- */

void every_field_of_a_node_is_read()
{
	const Json json =
		parsed(R"({"metadata":{"name":"n1","uid":"u","labels":{"a":"b"},)"
		       R"("annotations":{"features.slinky.slurm.net/spec":"x","other":"y"},)"
		       R"("deletionTimestamp":"2026-11-21T03:08:57Z"},
		"spec":{"unschedulable":true,"taints":[{"key":"k","value":"v",)"
		       R"("effect":"NoSchedule"}]},
		"status":{"nodeInfo":{"bootID":"2f5c"},)"
		       R"("addresses":[{"type":"Hostname","address":"n1"},{"type":"InternalIP",)"
		       R"("address":"10.0.0.1"},{"type":"InternalIP","address":"fd00::1"}],
		"allocatable":{"cpu":"3920m","memory":"1000.9","pods":"110","nvidia.com/gpu":"8"},
		"conditions":[{"type":"MemoryPressure","status":"False"},)"
		       R"({"type":"KernelDeadlock","status":"True","reason":"DockerHung",)"
		       R"("message":"task docker:20744 blocked"},{"type":"SlurmDrain",)"
		       R"("status":"True","reason":"Drained","message":"bad disk"},)"
		       R"({"type":"Ready",)"
		       R"("status":"True","reason":"KubeletReady",)"
		       R"("lastTransitionTime":"2026-11-21T03:08:57Z"}]}})");
	auto node = node_from_json(json.get());
	REQUIRE(node.ok());
	core::KubeNode want;
	want.name = "n1";
	want.uid = "u";
	want.internal_ip = "10.0.0.1";
	want.boot_id = "2f5c";
	want.unschedulable = want.ready = want.deleting = true;
	want.ready_since = 1795230537;
	want.allocatable = {.milli_cpu = 3920,
		.memory_bytes = 1000,
		.pods = 110,
		.extended = {{"nvidia.com/gpu", 8}}};
	want.labels = {{"a", "b"}};
	want.annotations = {{"features.slinky.slurm.net/spec", "x"}};
	want.taints = {{"k", "v", "NoSchedule"}};
	want.conditions = {{"KernelDeadlock", "DockerHung"}};
	want.slurm_drain = {"True", "Drained", "bad disk"};
	CHECK(*node == want);
}

void a_node_that_is_not_ready_says_why()
{
	const Json fresh = parsed(R"({"metadata":{"name":"n","uid":"u"}})");
	CHECK_EQUAL(node_from_json(fresh.get())->not_ready_reason, "NeverReported");
	const Json lost = parsed(
		R"({"metadata":{"name":"n","uid":"u"},"status":{"conditions":[{"type":"Ready",)"
		R"("status":"Unknown","reason":"NodeStatusUnknown"}]}})");
	auto node = node_from_json(lost.get());
	REQUIRE(node.ok());
	CHECK(!node->ready);
	CHECK_EQUAL(node->not_ready_reason, "NodeStatusUnknown");
	const Json broken = parsed(
		R"({"metadata":{"name":"n","uid":"u"},"status":{"allocatable":{"cpu":"x"}}})");
	CHECK_EQUAL(node_from_json(broken.get()).error().what,
		"node n: allocatable: cpu: not a quantity: 'x'");
}

} // namespace

int main()
{
	return check::run_tests("pod",
		{
			TEST(every_field_of_a_pod_is_read),
			TEST(amounts_beyond_64_bits_are_read_as_more_than_any_node_has),
			TEST(what_a_container_waits_for_is_read),
			TEST(a_small_pod_has_the_defaults),
			TEST(what_is_no_pod_is_refused),
			TEST(effective_requests_follow_kube_scheduler),
			TEST(other_resources_are_kept_by_name),
			TEST(what_cannot_be_honoured_is_named),
			TEST(resource_claims_are_read),
			TEST(a_volume_in_memory_is_seen),
			TEST(lists_without_end_are_named),
			TEST(demands_are_read),
			TEST(how_a_pod_is_to_be_spread_is_read),
			TEST(every_field_of_a_node_is_read),
			TEST(a_node_that_is_not_ready_says_why),
		});
}
