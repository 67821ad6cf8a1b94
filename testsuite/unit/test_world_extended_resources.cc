/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and pods whose containers request devices as a resource: the claim that the agent makes for
 * them, from its creation to the binding, and again after a restart. */
#include "src/core/translate/translate.h"
#include "testsuite/unit/device_facts.h"
#include "testsuite/unit/world_facts.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

constexpr char k_gpu[] = "example.com/gpu";
constexpr char k_name[] = "pod-a-extended-resources-";
constexpr char k_request[] = "container-0-request-0";

/* Nodes n1 and n2 with two devices each. */
struct Stage {
	World world;
	Now now = k_start;
	std::string text; /* of the last report */
	std::string claim_name;

	explicit Stage(bool lists_classes = true, Settings with = settings())
	    : world(std::move(with))
	{
		for (const char *name : {"n1", "n2"}) {
			world.observe(
				NodeSeen{kube_node(name, std::string("uid-") + name, 4000)}, now);
			world.observe(SliceSeen{slice(
					      name, {device("gpu-0", "a"), device("gpu-1", "a")})},
				now);
		}
		world.observe(NodesListed{{"uid-n1", "uid-n2"}});
		world.observe(PodsListed{{}}, now);
		world.observe(ForeignListed{{}});
		world.observe(LinkOpened{{}});
		for (const char *name : {"n1", "n2"}) {
			SlurmNode node = slurm_node(name, 4);
			node.gres = "gpu:2";
			node.extra = "slurm-kube:gpu@gpu.example.com=gpu-0,gpu-1";
			world.observe(SlurmNodeSeen{node});
		}
		world.observe(SnapshotEnded{}, now);
		world.observe(SlicesListed{{"uid-slice-n1", "uid-slice-n2"}}, now);
		world.observe(TaintRulesListed{}, now);
		world.observe(ResourceClaimsListed{{}});
		if (lists_classes)
			list_classes();
	}

	void list_classes(const std::string &resource = k_gpu)
	{
		world.observe(DeviceClassSeen{{"gpu", "uid-gpu",
				      {"device.driver == 'gpu.example.com'"}, {}, resource}},
			now);
		world.observe(DeviceClassesListed{{"uid-gpu"}}, now);
	}

	static Settings settings()
	{
		Settings s = plain_settings();
		s.sees_foreign_pods = true;
		s.report_interval_us = 0;
		s.devices = {rule("gpu")};
		s.policy.has_device_rules = true;
		return s;
	}

	static Pod pod(const std::string &resource = k_gpu)
	{
		Pod p = make_pod("default", "pod-a", "a", make_requests(1000));
		p.requests.extended[resource] = 1;
		ContainerDevices &one = p.container_devices.emplace_back();
		one.container = "main";
		one.amounts[resource] = {0, 1};
		return p;
	}

	static Pod mapped(Pod p, const std::string &claim)
	{
		p.extended_claim = ExtendedClaimStatus{claim, {{"main", k_gpu, k_request}}};
		return p;
	}

	std::string act()
	{
		std::string out;
		for (const auto &[uid, action] : world.take_actions(now)) {
			out += out.empty() ? "" : " ";
			out += word(uid, action);
			if (const auto *r = std::get_if<Report>(&action)) {
				text = r->not_scheduled.message;
				world.answer(ReportAnswered{uid, Ok{}}, now);
			}
			if (std::holds_alternative<WriteClaim>(action))
				world.answer(WriteClaimAnswered{uid, Ok{}}, now);
		}
		return out;
	}

	/* Without the name of the claim, which is kept. */
	std::string word(const PodUid &uid, const Action &action)
	{
		std::string out = word_of(uid, action);
		if (const auto *write = std::get_if<WriteClaim>(&action)) {
			claim_name = claim_name_of(write->step);
			const std::size_t at = out.find(claim_name);
			out.erase(at, claim_name.size());
		}
		const auto *submit = std::get_if<Submit>(&action);
		return submit ? out + "=" + submit->spec.options.gres : out;
	}

	void start(const Pod &p, const std::string &indices = "1")
	{
		world.observe(PodSeen{p}, now);
		CHECK_EQUAL(act(), "submit:a=gpu:1");
		world.answer(
			SubmitAnswered{{"a"}, Submitted{.job = {7}, .node = "", .cpus = 0}}, now);
		run(7, indices);
	}

	void run(std::uint32_t id, const std::string &indices)
	{
		SlurmJob j = make_job(
			id, make_marker("default", "pod-a", "Pod", "a"), JobState::running);
		j.nodes = {make_allocation("n1", 1, 64, "0")};
		j.nodes.front().gres = {{"gpu", "", 1, indices}};
		world.observe(JobSeen{j}, now);
	}

	void wait(std::int64_t seconds) { now.mono_us += seconds * k_second; }

	/* As the API server has it after the POST. */
	ResourceClaim made(const std::string &uid = "made")
	{
		ResourceClaim out = claim(claim_name, {request(k_request)});
		out.uid = uid;
		out.owner_uid = "a";
		out.is_extended = true;
		return out;
	}
	ResourceClaim with_finalizer()
	{
		ResourceClaim out = made();
		out.finalizers = {k_claim_finalizer};
		out.resource_version = "2";
		return out;
	}
	ResourceClaim allocated(const std::string &device_name)
	{
		ResourceClaim out = with_finalizer();
		out.resource_version = "3";
		out.allocation = Allocation{{{k_request, {{k_driver, "n1"}, device_name}}}};
		out.reserved_for = {"a"};
		return out;
	}
};

void the_claim_is_made_before_the_pod_is_bound()
{
	Stage s;
	s.start(Stage::pod());
	CHECK_EQUAL(s.act(), "create:");
	CHECK(s.claim_name.starts_with(k_name));
	CHECK_EQUAL(s.act(), "");
	s.world.observe(ResourceClaimSeen{s.made()});
	CHECK_EQUAL(s.act(), "protect:");
	s.world.observe(ResourceClaimSeen{s.with_finalizer()});
	CHECK_EQUAL(s.act(), "allocate:=gpu-1");
	s.world.observe(ResourceClaimSeen{s.allocated("gpu-1")});
	CHECK_EQUAL(s.act(), "map:");
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	CHECK(has(s.text, "DRAExtendedResource"));
	s.world.observe(PodSeen{Stage::mapped(Stage::pod(), s.claim_name)}, s.now);
	CHECK_EQUAL(s.act(), "bind:a@n1");
}

/* An agent that starts finds what the one before it has done. */
void an_agent_that_starts_goes_on()
{
	for (const char *done : {"create:", "protect:", "allocate:=gpu-1", "map:"}) {
		Stage first;
		first.start(Stage::pod());
		(void)first.act();
		Stage s;
		s.claim_name = first.claim_name;
		const std::string last = done;
		if (last != "create:")
			s.world.observe(ResourceClaimSeen{last == "protect:" ? s.made()
					: last == "map:"                     ? s.allocated("gpu-1")
									     : s.with_finalizer()});
		s.world.observe(PodSeen{Stage::pod()}, s.now);
		s.run(7, "1");
		s.wait(11);
		CHECK_EQUAL(s.act(), last);
		CHECK_EQUAL(s.claim_name, first.claim_name);
	}
}

/* The creation may be repeated, because the name is the same. */
void a_claim_that_is_deleted_is_made_again()
{
	Stage s;
	s.start(Stage::pod());
	CHECK_EQUAL(s.act(), "create:");
	s.world.observe(ResourceClaimSeen{s.made()});
	CHECK_EQUAL(s.act(), "protect:");
	s.world.observe(ResourceClaimGone{s.made().id});
	CHECK_EQUAL(s.act(), "create:");
	/* and if it is gone before anything else is written */
	s.world.observe(ResourceClaimSeen{s.made("again")});
	s.world.observe(ResourceClaimGone{s.made().id});
	CHECK_EQUAL(s.act(), "create:");
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
}

/* The job has ended between the write and the binding: the claim is used again. */
void an_allocation_without_a_job_is_released()
{
	Stage s;
	s.claim_name = "made";
	s.world.observe(ResourceClaimSeen{s.allocated("gpu-1")});
	s.world.observe(PodSeen{Stage::pod()}, s.now);
	CHECK_EQUAL(s.act(), "submit:a=gpu:1");
	s.world.answer(SubmitAnswered{{"a"}, Submitted{.job = {8}, .node = "", .cpus = 0}}, s.now);
	SlurmJob pending =
		make_job(8, make_marker("default", "pod-a", "Pod", "a"), JobState::pending);
	s.world.observe(JobSeen{pending}, s.now);
	s.wait(11);
	CHECK(has(s.act(), "look:a"));
	s.world.answer(LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
	CHECK_EQUAL(s.act(), "release:");
	CHECK_EQUAL(s.claim_name, "made");
	s.world.observe(ResourceClaimSeen{s.with_finalizer()});
	s.run(8, "0");
	CHECK_EQUAL(s.act(), "allocate:=gpu-0");
}

/* A claim of the pod that is not the agent's: by name, by owner, or by what it asks for. */
void claims_that_are_not_used()
{
	Stage s;
	s.start(Stage::pod());
	(void)s.act();
	ResourceClaim others = s.made();
	others.is_extended = false;
	s.world.observe(ResourceClaimSeen{others});
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	CHECK(has(s.text, "is not the claim of this pod"));
	CHECK(has(s.text, "kubectl delete resourceclaim " + s.claim_name + " -n default"));
	ResourceClaim larger = s.made();
	larger.requests.front().count = 2;
	s.world.observe(ResourceClaimSeen{larger});
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	CHECK(has(s.text, "does not ask for resource example.com/gpu (DeviceClass gpu)"));
	ResourceClaim ending = s.made();
	ending.deleting = true;
	s.world.observe(ResourceClaimSeen{ending});
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	CHECK(has(s.text, "is being deleted"));
	ResourceClaim taken = s.allocated("gpu-1");
	taken.reserved_for = {"other"};
	s.world.observe(ResourceClaimSeen{taken});
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	CHECK(has(s.text, "is in use by other pods"));
}

/* A claim of the pod with another name is used, as kube-scheduler uses it. */
void there_is_never_a_second_claim()
{
	Stage s;
	ResourceClaim other = claim("by-hand", {request(k_request)});
	other.owner_uid = "a";
	other.is_extended = true;
	s.world.observe(ResourceClaimSeen{other});
	s.start(Stage::pod());
	CHECK_EQUAL(s.act(), "protect:");
	CHECK_EQUAL(s.claim_name, "by-hand");
}

/* Whoever may create claims in the namespace can make one that says it is for this pod. */
void a_claim_that_others_have_is_not_used()
{
	Stage s;
	s.start(Stage::pod());
	s.claim_name = "aaa";
	ResourceClaim others = s.allocated("gpu-0");
	others.reserved_for = {"other"};
	s.world.observe(ResourceClaimSeen{others});
	CHECK_EQUAL(s.act(), "create:");
}

void a_creation_that_is_refused_is_told()
{
	Stage s;
	s.start(Stage::pod());
	CHECK_EQUAL(s.act(), "create:");
	s.world.answer(
		WriteClaimAnswered{{"a"}, Error{Errc::denied, "exceeded quota: gpus"}}, s.now);
	CHECK_EQUAL(s.act(), "report:a:SlurmRefused");
	CHECK(has(s.text, "refuses to write a claim of the pod: exceeded quota: gpus"));
	/* the answer that it exists: nothing is lost if it goes away before the watch shows it */
	s.wait(60);
	CHECK_EQUAL(s.act(), "create:");
	s.world.answer(WriteClaimAnswered{{"a"}, Error{Errc::conflict, "already exists"}}, s.now);
	s.wait(60);
	CHECK(has(s.act(), "create:"));
}

void an_allocation_without_its_class_is_released()
{
	Stage s;
	s.claim_name = "made";
	s.world.observe(PodSeen{Stage::pod()}, s.now);
	s.world.observe(DeviceClassGone{"gpu"});
	(void)s.act();
	s.wait(11);
	(void)s.act();
	/* an agent that starts may read it long after the pod */
	s.world.observe(ResourceClaimSeen{s.allocated("gpu-1")});
	CHECK(has(s.act(), "look:a"));
	s.world.answer(LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
	CHECK(has(s.act(), "release:"));
}

void a_device_in_use_is_waited_for()
{
	Stage s;
	ResourceClaim held = claim("d", {request("r")});
	held.allocation = Allocation{{{"r", {{k_driver, "n1"}, "gpu-1"}}}};
	held.reserved_for = {"ended"};
	s.world.observe(ResourceClaimSeen{held});
	s.start(Stage::pod());
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	CHECK(has(s.text, "still allocated for resource claim default/d"));
	s.world.observe(ResourceClaimGone{{"default", "d"}});
	s.wait(2);
	CHECK_EQUAL(s.act(), "create:");
}

/* Kubernetes would take devices of the plugin there. */
void a_node_with_a_device_plugin_is_left_out()
{
	for (const std::int64_t amount : {2, 0}) {
		Stage s;
		KubeNode node = kube_node("n2", "uid-n2", 4000);
		node.allocatable.extended[k_gpu] = amount;
		s.world.observe(NodeSeen{node}, s.now);
		s.world.observe(PodSeen{Stage::pod()}, s.now);
		CHECK_EQUAL(s.act(), amount > 0 ? "submit:a-n2=gpu:1" : "submit:a=gpu:1");
	}
}

/* Until the classes are known the resource may be one of a device plugin. */
void the_classes_are_waited_for()
{
	Stage s(false);
	s.world.observe(PodSeen{Stage::pod()}, s.now);
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	CHECK(has(s.text, "have not been read yet"));
	s.list_classes();
	CHECK_EQUAL(s.act(), "submit:a=gpu:1");
}

void what_no_class_backs_is_as_ever()
{
	Stage s(false);
	s.list_classes("");
	s.world.observe(PodSeen{Stage::pod()}, s.now);
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmRefused");
	CHECK(has(s.text, "no rule under 'gres'"));
	s.list_classes();
	s.wait(2);
	CHECK_EQUAL(s.act(), "submit:a=gpu:1");
	Stage implicit(false);
	implicit.list_classes("");
	implicit.world.observe(
		PodSeen{Stage::pod("deviceclass.resource.kubernetes.io/gpu")}, implicit.now);
	CHECK_EQUAL(implicit.act(), "submit:a=gpu:1");
	Settings settings = Stage::settings();
	settings.policy.has_device_rules = false;
	settings.devices.clear();
	Stage without(true, settings);
	without.world.observe(PodSeen{Stage::pod()}, without.now);
	without.wait(2);
	CHECK_EQUAL(without.act(), "report:a:SlurmRefused");
}

void a_class_without_devices()
{
	Stage s(false);
	s.world.observe(DeviceClassSeen{{"fpga", "uid-fpga",
				{"device.driver == 'fpga.example.com'"}, {}, k_gpu}},
		s.now);
	s.world.observe(DeviceClassesListed{{"uid-fpga"}}, s.now);
	s.world.observe(PodSeen{Stage::pod()}, s.now);
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	CHECK(has(s.text, "resource example.com/gpu (DeviceClass fpga): "));
	CHECK(has(s.text, "section devices of slurmkubed.yaml"));
}

/* Until the classes are known it may ask for a device plugin. */
void a_gang_waits_for_the_classes()
{
	Pod pod = Stage::pod();
	note_backed(pod, nullptr);
	const auto unknown = translate(pod, Stage::settings().policy, 1, Pods::gang);
	CHECK(!unknown && unknown.error().code == Errc::again);
	CHECK(translate(pod, Stage::settings().policy, 1, Pods::one).ok());
	Pod with_claim = Stage::mapped(pod, "made");
	CHECK(translate(with_claim, Stage::settings().policy, 1, Pods::gang).ok());
	pod.node_name = "n1";
	CHECK(translate(pod, Stage::settings().policy, 1, Pods::gang).ok());
}

/* An agent that starts does not know yet whether the resource is that of a plugin. */
void a_job_is_kept_until_the_classes_are_read()
{
	Stage s(false);
	KubeNode node = kube_node("n1", "uid-n1", 4000);
	node.allocatable.extended[k_gpu] = 2;
	s.world.observe(NodeSeen{node}, s.now);
	s.world.observe(PodSeen{Stage::pod()}, s.now);
	s.run(8, "0");
	std::string all = s.act();
	s.wait(12);
	all += s.act();
	CHECK(has(s.text, "have not been read yet"));
	CHECK(!has(all, "look:") && !has(all, "complete"));
}

/* A pod that runs with devices of a plugin needs no claim; one with a claim keeps its devices. */
void pods_that_run()
{
	Stage s;
	Pod plugin = Stage::pod();
	plugin.node_name = "n1";
	plugin.phase = PodPhase::running;
	s.world.observe(PodSeen{plugin}, s.now);
	CHECK(s.world.state().pods.at({"a"}).pod->backed.empty());
	s.claim_name = "made";
	s.world.observe(ResourceClaimSeen{s.allocated("gpu-1")});
	s.world.observe(PodSeen{Stage::mapped(plugin, "made")}, s.now);
	(void)s.act();
	s.wait(15);
	CHECK_EQUAL(s.act(), "submit:a=gpu:1");
}

} // namespace

int main()
{
	return check::run_tests("world_extended_resources",
		{TEST(the_claim_is_made_before_the_pod_is_bound),
			TEST(an_agent_that_starts_goes_on),
			TEST(a_claim_that_is_deleted_is_made_again),
			TEST(an_allocation_without_a_job_is_released),
			TEST(a_claim_that_others_have_is_not_used),
			TEST(a_creation_that_is_refused_is_told),
			TEST(an_allocation_without_its_class_is_released),
			TEST(claims_that_are_not_used), TEST(there_is_never_a_second_claim),
			TEST(a_device_in_use_is_waited_for),
			TEST(a_node_with_a_device_plugin_is_left_out),
			TEST(the_classes_are_waited_for), TEST(what_no_class_backs_is_as_ever),
			TEST(a_class_without_devices), TEST(a_gang_waits_for_the_classes),
			TEST(a_job_is_kept_until_the_classes_are_read), TEST(pods_that_run)});
}
