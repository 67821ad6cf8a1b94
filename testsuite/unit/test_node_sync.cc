/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/latency.h"
#include "src/core/model/names.h"
#include "src/core/placement/occupancy.h"
#include "src/core/policy/slinky_node.h"
#include "src/core/reconcile/node_features.h"
#include "src/core/reconcile/node_sync.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::core;

namespace
{

NodePolicy policy()
{
	NodePolicy p;
	p.label_key = names::k_managed_label;
	return p;
}

PluginHello plugin(std::uint32_t major, std::uint32_t minor)
{
	PluginHello hello;
	hello.slurm_version_number = (major << 16) | (minor << 8);
	hello.family = major >= 25 ? Family::native : Family::emulated;
	hello.sink_port = 6899;
	return hello;
}

KubeNode kube()
{
	KubeNode node;
	node.name = "n1";
	node.internal_ip = "10.0.0.1";
	node.ready = true;
	node.ready_since = 10;
	node.allocatable = {.milli_cpu = 7910,
		.memory_bytes = (std::int64_t{1000} << 20) + 5,
		.pods = 110,
		.extended = {}};
	node.labels = {{names::k_managed_label, "true"}};
	return node;
}

SlurmNode slurm(NodeBase base, bool drain = false, const std::string &reason = "")
{
	SlurmNode node;
	node.name = "n1";
	node.base = base;
	node.drain = drain;
	node.reason = reason;
	node.dynamic = true;
	return node;
}

std::string decide(const NodeFacts &facts)
{
	const auto action = reconcile_node(facts, policy());
	if (!action)
		return "";
	if (std::holds_alternative<CreateNode>(*action))
		return "create";
	if (std::holds_alternative<DeleteNode>(*action))
		return "delete";
	const auto &set = std::get<SetNodeState>(*action);
	switch (set.change) {
	case NodeStateChange::drain:
		return "drain " + set.reason;
	case NodeStateChange::undrain:
		return "undrain";
	case NodeStateChange::down:
		return "down " + set.reason;
	case NodeStateChange::up:
		return "up";
	}
	return "?";
}

std::string decide(const KubeNode *k, const SlurmNode *s, const PluginHello &hello,
	bool holds_pods = false, std::int64_t not_ready_seconds = 0)
{
	return decide({.kube = k,
		.slurm = s,
		.plugin = &hello,
		.holds_pods = holds_pods,
		.is_surely_unready = true,
		.not_ready_seconds = not_ready_seconds});
}

const PluginHello k_newest = plugin(24, 11);

std::string gone(const SlurmNode &s, const PluginHello &hello, bool holds_pods = false)
{
	return decide({.is_gone = true, .slurm = &s, .plugin = &hello, .holds_pods = holds_pods});
}

void nodes_are_created_only_where_slurm_can()
{
	const KubeNode k = kube();
	CHECK_EQUAL(decide(&k, nullptr, plugin(24, 11)), "create");
	CHECK_EQUAL(decide(&k, nullptr, plugin(22, 5)), "");
	KubeNode not_ready = kube();
	not_ready.ready = false;
	CHECK_EQUAL(decide(&not_ready, nullptr, plugin(24, 11)), "");
}

void cordon_drains_and_uncordon_brings_back()
{
	KubeNode k = kube();
	k.unschedulable = true;
	const SlurmNode idle = slurm(NodeBase::idle);
	CHECK_EQUAL(decide(&k, &idle, plugin(22, 5)), "drain slurm-kube: cordoned");
	const SlurmNode drained = slurm(NodeBase::idle, true, "slurm-kube: cordoned");
	CHECK_EQUAL(decide(&k, &drained, plugin(22, 5)), "");
	k.unschedulable = false;
	CHECK_EQUAL(decide(&k, &drained, plugin(22, 5)), "undrain");
}

/* UNDRAIN would not end it. scontrol demands a reason for FAIL, the API does not. */
void a_failing_node_stays_failing_whatever_its_reason()
{
	const KubeNode k = kube();
	for (const NodeBase base : {NodeBase::idle, NodeBase::down}) {
		SlurmNode failing = slurm(base, true, "slurm-kube: cordoned");
		CHECK(!decide(&k, &failing, plugin(22, 5)).empty());
		failing.failing = true;
		CHECK_EQUAL(decide(&k, &failing, plugin(22, 5)), "");
	}
}

void a_cordon_may_have_a_reason()
{
	KubeNode k = kube();
	k.annotations = {{k_cordon_reason, "GPU ECC error"}};
	const SlurmNode idle = slurm(NodeBase::idle);
	CHECK_EQUAL(decide(&k, &idle, plugin(22, 5)), "");
	k.unschedulable = true;
	CHECK_EQUAL(decide(&k, &idle, plugin(22, 5)), "drain slurm-kube: cordoned: GPU ECC error");
	k.unschedulable = false;
	const SlurmNode drained =
		slurm(NodeBase::idle, true, "slurm-kube: cordoned: GPU ECC error");
	CHECK_EQUAL(decide(&k, &drained, plugin(22, 5)), "undrain");
}

/* Features that an administrator has set stay, if no annotation names any. */
void a_free_node_gets_the_features_of_its_annotations()
{
	KubeNode k = kube();
	SlurmNode idle = slurm(NodeBase::idle);
	const PluginHello hello = plugin(24, 11);
	const NodeSpec spec = node_spec(k, policy(), hello);
	idle.cpus = spec.cpus;
	idle.memory_mib = spec.memory_mib;
	idle.features = "kube,fast";
	const NodeFacts facts{.kube = &k, .slurm = &idle, .plugin = &hello, .may_resize = true};
	CHECK_EQUAL(decide(facts), "");
	k.annotations = {{k_external_partitions, "gpu"}};
	CHECK_EQUAL(decide(facts), "delete");
	idle.features = "kube,gpu";
	CHECK_EQUAL(decide(facts), "");
}

void what_people_set_stays()
{
	const KubeNode k = kube();
	const SlurmNode drained = slurm(NodeBase::idle, true, "disk is broken");
	CHECK_EQUAL(decide(&k, &drained, plugin(22, 5)), "");
	const SlurmNode down = slurm(NodeBase::down, false, "moving it");
	CHECK_EQUAL(decide(&k, &down, plugin(22, 5)), "");
}

/* In Slurm, bringing a node back from DOWN also undrains it. A node that an administrator
 * drained is therefore set DOWN only if that is needed to end its jobs. */
void what_people_drained_is_not_brought_down_but_to_end_its_jobs()
{
	KubeNode k = kube();
	k.ready = false;
	const SlurmNode drained = slurm(NodeBase::idle, true, "disk is broken");
	CHECK_EQUAL(decide(&k, &drained, plugin(22, 5), false, 60), "");
	const SlurmNode with_jobs = slurm(NodeBase::mixed, true, "disk is broken");
	CHECK_EQUAL(decide(&k, &with_jobs, plugin(22, 5), false, 60), "down ");
	k.ready = true;
	const SlurmNode down = slurm(NodeBase::down, true, "disk is broken");
	CHECK_EQUAL(decide(&k, &down, plugin(22, 5)), "");
	CHECK_EQUAL(decide(nullptr, &drained, plugin(22, 5)), "");
	CHECK_EQUAL(decide(nullptr, &with_jobs, plugin(24, 11)), "");
	CHECK_EQUAL(gone(drained, plugin(22, 5)), "");
	CHECK_EQUAL(gone(drained, plugin(24, 11)), "delete");
	CHECK_EQUAL(gone(with_jobs, plugin(24, 11)), "down ");
}

void a_node_that_is_not_ready_is_drained_at_once_and_down_after_a_time()
{
	KubeNode k = kube();
	k.ready = false;
	k.not_ready_reason = "KubeletNotReady";
	const SlurmNode idle = slurm(NodeBase::mixed);
	CHECK_EQUAL(decide(&k, &idle, plugin(22, 5), false, 39),
		"drain slurm-kube: NotReady KubeletNotReady");
	CHECK_EQUAL(decide(&k, &idle, plugin(22, 5), false, 40),
		"down slurm-kube: NotReady KubeletNotReady");
	const SlurmNode down = slurm(NodeBase::down, false, "slurm-kube: NotReady KubeletNotReady");
	CHECK_EQUAL(decide(&k, &down, plugin(22, 5), false, 60), "");
	k.ready = true;
	CHECK_EQUAL(decide(&k, &down, plugin(22, 5)), "up");
}

void a_removed_node_goes_down_and_is_deleted_when_nothing_is_left_on_it()
{
	const SlurmNode idle = slurm(NodeBase::allocated);
	/* the pod garbage collector deletes the pods later */
	CHECK_EQUAL(gone(idle, plugin(24, 11), true),
		"drain slurm-kube: not a managed node of Kubernetes");
	CHECK_EQUAL(gone(idle, plugin(24, 11)), "down slurm-kube: deleted from Kubernetes");
	const SlurmNode down = slurm(NodeBase::down, false, "slurm-kube: deleted from Kubernetes");
	CHECK_EQUAL(gone(down, plugin(24, 11), true), "");
	CHECK_EQUAL(gone(down, plugin(24, 11)), "delete");
	CHECK_EQUAL(gone(down, plugin(22, 5)), "");
	SlurmNode fixed = down;
	fixed.dynamic = false;
	CHECK_EQUAL(gone(fixed, plugin(24, 11)), "");
}

/* The node may only have lost its label. The agent therefore ends and deletes nothing there, and
 * does not bring back a node that is DOWN. */
void a_node_out_of_sight_is_drained_only()
{
	const std::string drain = "drain slurm-kube: not a managed node of Kubernetes";
	for (const NodeBase base : {NodeBase::idle, NodeBase::allocated, NodeBase::mixed}) {
		const SlurmNode used = slurm(base);
		for (const bool holds_pods : {false, true}) {
			CHECK_EQUAL(decide(nullptr, &used, plugin(24, 11), holds_pods), drain);
			CHECK_EQUAL(decide(nullptr, &used, plugin(22, 5), holds_pods), drain);
		}
		const SlurmNode drained =
			slurm(base, true, "slurm-kube: not a managed node of Kubernetes");
		CHECK_EQUAL(decide(nullptr, &drained, plugin(24, 11)), "");
		CHECK(is_in_use(drained));
	}
	for (const char *reason : {"slurm-kube: not a managed node of Kubernetes",
		     "slurm-kube: NotReady", "broken"}) {
		const SlurmNode down = slurm(NodeBase::down, false, reason);
		CHECK_EQUAL(decide(nullptr, &down, plugin(24, 11)), "");
		CHECK(!is_in_use(down));
	}
	CHECK(!is_in_use(slurm(NodeBase::idle, true, "slurm-kube: cordoned")));
	CHECK(is_in_use(slurm(NodeBase::mixed, true, "slurm-kube: cordoned")));
}

/* As after a rollback of kube.conf: the agent hears of the nodes of all clusters. */
void a_node_with_the_feature_of_another_cluster_is_left_alone()
{
	SlurmNode idle = slurm(NodeBase::idle);
	idle.features = "kube,kube-beta";
	const PluginHello hello = plugin(22, 5);
	NodePolicy of_alpha = policy();
	of_alpha.cluster = "alpha";
	const NodeFacts facts{.kube = nullptr, .is_gone = true, .slurm = &idle, .plugin = &hello};
	CHECK(!reconcile_node(facts, of_alpha).has_value());
	KubeNode same = kube(); /* a node of this cluster has the same name */
	same.ready = false;
	PluginHello one_of_several = hello;
	one_of_several.kube_cluster = "alpha";
	CHECK(!reconcile_node({.kube = &same, .slurm = &idle, .plugin = &one_of_several}, of_alpha)
			.has_value());
	/* where kube.conf names no clusters, the site itself may have given the feature */
	CHECK(reconcile_node({.kube = &same, .slurm = &idle, .plugin = &hello}, of_alpha)
			.has_value());
	idle.features = "kube,kube-alpha";
	CHECK(reconcile_node({.kube = &same, .slurm = &idle, .plugin = &hello}, of_alpha)
			.has_value());
	CHECK(reconcile_node(facts, of_alpha).has_value());
	idle.features = "kube";
	CHECK(reconcile_node(facts, of_alpha).has_value());
}

/* An old kube.conf, or none, on a backup controller: the record is another cluster's, and this
 * cluster has a node of the same name. */
void a_record_of_another_cluster_is_only_put_back_in_service()
{
	NodePolicy of_alpha = policy();
	of_alpha.cluster = "alpha";
	const PluginHello hello = plugin(24, 11);
	KubeNode same = kube();
	same.ready = false;
	SlurmNode busy = slurm(NodeBase::allocated);
	busy.features = "kube,kube-beta";
	NodeFacts facts{.kube = &same,
		.slurm = &busy,
		.plugin = &hello,
		.has_job = false,
		.may_resize = true,
		.is_surely_unready = true,
		.not_ready_seconds = 1000};
	CHECK(!reconcile_node(facts, of_alpha)); /* neither DOWN nor drained */
	facts.has_job = true;
	CHECK(reconcile_node(facts, of_alpha).has_value());
	facts.has_job = false;
	same.ready = true;
	same.unschedulable = true;
	CHECK(!reconcile_node(facts, of_alpha));
	same.unschedulable = false;
	SlurmNode idle = slurm(NodeBase::idle); /* of another size, too */
	idle.features = "kube,kube-beta";
	idle.dynamic = true;
	idle.cpus = 999;
	facts.slurm = &idle;
	CHECK(!reconcile_node(facts, of_alpha));
	idle.drain = true;
	idle.reason = "slurm-kube: NotReady";
	const auto undone = reconcile_node(facts, of_alpha);
	CHECK(undone && std::holds_alternative<SetNodeState>(*undone));
}

/* A mistake in a node's features may give it to another cluster while pods run there. */
void a_busy_node_without_a_job_of_ours_is_only_drained()
{
	SlurmNode busy = slurm(NodeBase::allocated);
	const PluginHello hello = plugin(22, 5);
	NodeFacts facts{.kube = nullptr, .is_gone = true, .slurm = &busy, .plugin = &hello};
	facts.has_job = false;
	const auto first = reconcile_node(facts, policy());
	REQUIRE(first.has_value());
	CHECK(std::get<SetNodeState>(*first).change == NodeStateChange::drain);
	busy.drain = true;
	busy.reason = std::get<SetNodeState>(*first).reason;
	CHECK(!reconcile_node(facts, policy()).has_value());
	facts.has_job = true;
	const auto lost = reconcile_node(facts, policy());
	REQUIRE(lost.has_value());
	CHECK(std::get<SetNodeState>(*lost).change == NodeStateChange::down);
	KubeNode unready = kube();
	unready.ready = false;
	facts.kube = &unready;
	facts.is_gone = false;
	facts.is_surely_unready = true;
	facts.not_ready_seconds = 3600;
	CHECK(reconcile_node(facts, policy()).has_value());
	facts.has_job = false;
	CHECK(reconcile_node(facts, policy()).has_value());
	PluginHello of_one = hello; /* kube.conf names several clusters */
	of_one.kube_cluster = "alpha";
	facts.plugin = &of_one;
	CHECK(!reconcile_node(facts, policy()).has_value());
}

void problems_of_a_node_drain_it()
{
	SlurmNode idle = slurm(NodeBase::idle);
	KubeNode k = kube();
	k.conditions = {{"MemoryPressure", "KubeletHasInsufficientMemory"}};
	CHECK_EQUAL(decide(&k, &idle, plugin(22, 5)), "");
	k.conditions.push_back({"KernelDeadlock", "DockerHung"});
	CHECK_EQUAL(decide(&k, &idle, plugin(22, 5)),
		"drain slurm-kube: condition KernelDeadlock DockerHung");
	idle.drain = true;
	idle.reason = "slurm-kube: condition KernelDeadlock DockerHung";
	CHECK_EQUAL(decide(&k, &idle, plugin(22, 5)), "");
	k.conditions.clear();
	CHECK_EQUAL(decide(&k, &idle, plugin(22, 5)), "undrain");
	idle.reason = "disk";
	CHECK_EQUAL(decide(&k, &idle, plugin(22, 5)), "");
}

void taints_of_others_keep_slurm_off()
{
	KubeNode k = kube();
	const SlurmNode idle = slurm(NodeBase::idle);
	k.taints = {{"node.kubernetes.io/not-ready", "", "NoExecute"},
		{"slurm-kube.io/managed", "", "NoSchedule"}, {"soft", "", "PreferNoSchedule"}};
	CHECK_EQUAL(decide(&k, &idle, plugin(22, 5)), "");
	k.taints = {{"repair", "", "NoExecute"}};
	CHECK_EQUAL(decide(&k, &idle, plugin(22, 5)), "drain slurm-kube: taint repair:NoExecute");
}

void the_record_counts_whole_allocatable_cpus_and_points_at_the_sink()
{
	NodePolicy p = policy();
	p.reserve_cpus = 2;
	p.reserve_memory_mib = 100;
	const NodeSpec emulated = node_spec(kube(), p, plugin(22, 5));
	const auto line = node_line(emulated, "UNKNOWN");
	REQUIRE(line.ok());
	CHECK_EQUAL(*line,
		"NodeName=n1 NodeAddr=127.0.0.1 Port=6899 CPUs=5 CoresPerSocket=5 RealMemory=900 "
		"Feature=kube State=UNKNOWN");
	PluginHello by_socket = plugin(22, 5);
	by_socket.whole_sockets = true; /* a pod of one CPU must not get a whole socket */
	CHECK_EQUAL(*node_line(node_spec(kube(), p, by_socket), "UNKNOWN"),
		"NodeName=n1 NodeAddr=127.0.0.1 Port=6899 CPUs=5 RealMemory=900 Feature=kube "
		"State=UNKNOWN");
	KubeNode huge = kube();
	huge.allocatable.milli_cpu = std::int64_t{5'000'000'000} * 1000;
	CHECK_EQUAL(node_spec(huge, p, plugin(22, 5)).cpus, 0xffffffff);
	p.features = {{"topology.kubernetes.io/zone", ""}};
	KubeNode in_zone = kube();
	in_zone.labels["topology.kubernetes.io/zone"] = "a";
	CHECK_EQUAL(node_spec(in_zone, p, plugin(22, 5)).features, "kube,zone_a");
	PluginHello of_alpha = plugin(22, 5);
	of_alpha.cluster_feature = "kube-alpha";
	CHECK_EQUAL(node_spec(in_zone, p, of_alpha).features, "kube,kube-alpha,zone_a");
	in_zone.annotations = {{k_external_partitions, "slurm-bridge,zone_a,kube-beta"},
		{k_features_spec, "switch=s1"}};
	CHECK_EQUAL(node_spec(in_zone, p, of_alpha).features,
		"kube,kube-alpha,zone_a,slurm-bridge,k8s/switch=s1");
	CHECK(node_line(node_spec(in_zone, p, of_alpha), "UNKNOWN").ok());
	CHECK_EQUAL(newly_refused_features(nullptr, in_zone, of_alpha), "kube-beta");
	CHECK_EQUAL(newly_refused_features(&in_zone, in_zone, of_alpha), "");
	const KubeNode before = kube();
	CHECK_EQUAL(newly_refused_features(&before, in_zone, of_alpha), "kube-beta");
	CHECK_EQUAL(newly_refused_features(&in_zone, before, of_alpha), "");
	p.cpu_unit = 100; /* in tenths: 7.91 CPUs less two whole ones */
	CHECK_EQUAL(node_spec(kube(), p, plugin(22, 5)).cpus, 59U);
	const NodeSpec native = node_spec(kube(), p, plugin(25, 11));
	CHECK_EQUAL(native.address, "10.0.0.1");
	CHECK_EQUAL(native.port, 0);
}

void a_node_line_holds_only_what_was_meant()
{
	NodeSpec spec = node_spec(kube(), policy(), plugin(22, 5));
	for (const char *name : {"", "n1 CPUs=99", "n1\nNodeName=n2", "n[1-9]", "n1#", "\"n1\""}) {
		spec.name = name;
		CHECK(!node_line(spec, "UNKNOWN").ok());
	}
	spec.name = "n1";
	spec.features = "kube State=DOWN";
	CHECK(!node_line(spec, "UNKNOWN").ok());
}

void a_terminating_pod_holds_its_share()
{
	Occupancy o;
	const Resources all{.milli_cpu = 4000,
		.memory_bytes = 100,
		.pods = 10,
		.extended = {{"ephemeral-storage", 10}}};
	const Resources half{.milli_cpu = 2000,
		.memory_bytes = 50,
		.pods = 1,
		.extended = {{"ephemeral-storage", 5}}};
	o.take("n1", {"a"}, half);
	o.take("n1", {"a"}, half); /* repeating changes nothing */
	CHECK(o.has_room("n1", all, half));
	o.take("n1", {"b"}, half);
	CHECK(!o.has_room(
		"n1", all, {.milli_cpu = 1, .memory_bytes = 0, .pods = 1, .extended = {}}));
	CHECK(!o.has_room(
		"n1", all, {.milli_cpu = 0, .memory_bytes = 1, .pods = 1, .extended = {}}));
	CHECK(!o.has_room("n1", all,
		{.milli_cpu = 0,
			.memory_bytes = 0,
			.pods = 1,
			.extended = {{"ephemeral-storage", 1}}}));
	CHECK(o.has_room(
		"n1", all, {.milli_cpu = 0, .memory_bytes = 0, .pods = 1, .extended = {}}));
	CHECK(o.has_room("n2", all, all));
	CHECK(o.release("n1", {"a"}));
	CHECK(!o.release("n1", {"a"}));
	CHECK(o.has_room("n1", all, half));
	CHECK_EQUAL(o.pods_on("n1"), 1U);
	CHECK(o.release("n1", {"b"}));
	CHECK(o.held("n1") == Resources{});
}

/* In-place resize: a growing pod holds the larger amount at once; a pod that shrinks below its
 * request at binding still holds that. */
void a_resized_pod_holds_the_larger_share()
{
	Occupancy o;
	const auto cpus = [](std::int64_t milli) {
		return Resources{.milli_cpu = milli, .memory_bytes = 0, .pods = 1, .extended = {}};
	};
	const Resources node{.milli_cpu = 4000, .memory_bytes = 100, .pods = 10, .extended = {}};
	CHECK(!o.take("n1", {"a"}, cpus(2000)));
	CHECK(o.has_room("n1", node, cpus(2000)));
	CHECK(o.take("n1", {"a"}, cpus(3000)));
	CHECK(!o.has_room("n1", node, cpus(2000)));
	CHECK(!o.take("n1", {"a"}, cpus(3000)));
	CHECK(o.take("n1", {"a"}, cpus(1000)));
	CHECK_EQUAL(o.held("n1").milli_cpu, 2000);
	CHECK_EQUAL(o.held("n1").pods, 1);
	CHECK(o.release("n1", {"a"}));
	CHECK(o.held("n1") == Resources{});
}

/* An external node has no slurmd that could register after `scontrol reboot`. */
void a_reboot_that_slurm_gave_up_is_undone_where_the_kubelet_is_ready()
{
	const struct {
		const char *reason;
		const char *then;
	} rows[] = {
		{"reboot requested : reboot issued : reboot timed out", "up"},
		{"Reboot ASAP : reboot issued : reboot timed out", "up"},
		{"reboot timed out", "up"},
		{"reboot requested : reboot issued", ""}, /* Slurm still waits */
		{"bad disk : reboot issued : reboot timed out", ""},
		{"bad disk", ""},
		{"", ""},
	};
	KubeNode k = kube();
	for (const auto &row : rows) {
		const SlurmNode down = slurm(NodeBase::down, false, row.reason);
		CHECK_EQUAL(decide(&k, &down, plugin(22, 5)), row.then);
	}
	k.ready = false;
	const SlurmNode down = slurm(NodeBase::down, false, "reboot timed out");
	CHECK_EQUAL(decide(&k, &down, plugin(22, 5), false, 60), "");
}

/* Whatever Kubernetes says: native jobs go on there, and the record is the site's. */
void a_hybrid_node_is_left_alone()
{
	KubeNode cordoned = kube(), away = kube(), small = kube();
	cordoned.unschedulable = true;
	away.ready = false;
	small.allocatable.milli_cpu = 1000;
	SlurmNode hybrid = slurm(NodeBase::idle);
	hybrid.is_hybrid = true;
	SlurmNode drained = slurm(NodeBase::idle, true, "slurm-kube: cordoned");
	drained.is_hybrid = true;
	SlurmNode down = slurm(NodeBase::down, false, "slurm-kube: NotReady");
	down.is_hybrid = true;
	const KubeNode fine = kube();
	for (const KubeNode *k :
		std::initializer_list<const KubeNode *>{&cordoned, &away, &small, &fine}) {
		for (const SlurmNode *s : {&hybrid, &drained, &down})
			CHECK_EQUAL(decide({.kube = k,
					    .slurm = s,
					    .plugin = &k_newest,
					    .may_resize = true,
					    .is_surely_unready = true,
					    .not_ready_seconds = 3600}),
				"");
	}
	CHECK_EQUAL(gone(hybrid, k_newest), "");
}

void why_a_hybrid_node_takes_no_pods()
{
	SlurmNode record = slurm(NodeBase::idle);
	record.is_hybrid = true;
	record.features = "kube-hybrid";
	const KubeNode fine = kube();
	PluginHello hello = k_newest;
	hello.node_feature = "kube";
	CHECK_EQUAL(hybrid_trouble(&fine, record, hello, policy()), "");
	CHECK_EQUAL(hybrid_trouble(nullptr, record, hello, policy()),
		"is not a managed node of Kubernetes");
	KubeNode away = fine, unlabelled = fine, sick = fine;
	away.ready = false;
	CHECK_EQUAL(hybrid_trouble(&away, record, hello, policy()), "is not Ready in Kubernetes");
	unlabelled.labels.clear();
	CHECK_EQUAL(hybrid_trouble(&unlabelled, record, hello, policy()),
		"is not a managed node of Kubernetes");
	sick.conditions = {{"KernelDeadlock", "Oops"}};
	CHECK_EQUAL(
		hybrid_trouble(&sick, record, hello, policy()), "has the condition KernelDeadlock");
	NodePolicy parts = policy();
	parts.cpu_unit = 100;
	CHECK(!hybrid_trouble(&fine, record, hello, parts).empty());
	record.features = "kube-hybrid,kube";
	CHECK(hybrid_trouble(&fine, record, hello, policy()).find("feature kube of external") !=
		std::string::npos);
}

void the_number_of_pods_is_a_limit_too()
{
	Occupancy o;
	const Resources node{.milli_cpu = 4000, .memory_bytes = 100, .pods = 1, .extended = {}};
	o.take("n1", {"a"}, {.milli_cpu = 0, .memory_bytes = 0, .pods = 1, .extended = {}});
	CHECK(!o.has_room(
		"n1", node, {.milli_cpu = 0, .memory_bytes = 0, .pods = 1, .extended = {}}));
}

void quantiles_are_within_four_percent()
{
	Latency l;
	CHECK_EQUAL(l.quantile_us(0.5), 0U);
	for (std::uint64_t i = 1; i <= 10000; i++)
		l.add(i);
	for (const double share : {0.5, 0.9, 0.99}) {
		const double got = static_cast<double>(l.quantile_us(share)) / (share * 10000);
		CHECK(got >= 1 && got < 1.04);
	}
	CHECK_EQUAL(l.max_us(), 10000U);
	CHECK_EQUAL(l.quantile_us(1), 10000U);
	l.add(~std::uint64_t{0});
	CHECK_EQUAL(l.count(), 10001U);
}

} // namespace

int main()
{
	return check::run_tests("node_sync",
		{
			TEST(nodes_are_created_only_where_slurm_can),
			TEST(cordon_drains_and_uncordon_brings_back),
			TEST(a_failing_node_stays_failing_whatever_its_reason),
			TEST(a_cordon_may_have_a_reason),
			TEST(a_free_node_gets_the_features_of_its_annotations),
			TEST(what_people_set_stays),
			TEST(what_people_drained_is_not_brought_down_but_to_end_its_jobs),
			TEST(a_node_that_is_not_ready_is_drained_at_once_and_down_after_a_time),
			TEST(a_removed_node_goes_down_and_is_deleted_when_nothing_is_left_on_it),
			TEST(a_node_out_of_sight_is_drained_only),
			TEST(a_node_with_the_feature_of_another_cluster_is_left_alone),
			TEST(a_record_of_another_cluster_is_only_put_back_in_service),
			TEST(a_busy_node_without_a_job_of_ours_is_only_drained),
			TEST(problems_of_a_node_drain_it),
			TEST(taints_of_others_keep_slurm_off),
			TEST(the_record_counts_whole_allocatable_cpus_and_points_at_the_sink),
			TEST(a_node_line_holds_only_what_was_meant),
			TEST(a_terminating_pod_holds_its_share),
			TEST(a_resized_pod_holds_the_larger_share),
			TEST(a_reboot_that_slurm_gave_up_is_undone_where_the_kubelet_is_ready),
			TEST(a_hybrid_node_is_left_alone),
			TEST(why_a_hybrid_node_takes_no_pods),
			TEST(the_number_of_pods_is_a_limit_too),
			TEST(quantiles_are_within_four_percent),
		});
}
