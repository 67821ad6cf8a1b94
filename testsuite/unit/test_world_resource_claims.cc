/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and pods with claims for devices: before submission, between allocation and binding, and
 * when an allocation is lost. */
#include "src/core/model/outcome.h"
#include "src/core/options/change.h"
#include "testsuite/unit/device_facts.h"
#include "testsuite/unit/world_facts.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

/* Nodes n1 and n2 with two devices each, of model a and of model b. */
struct Stage {
	World world;
	Now now = k_start;
	std::string text; /* of the last report */
	bool answers_writes = true;

	explicit Stage(bool are_taints_listed = true) : world(settings())
	{
		for (const char *name : {"n1", "n2"}) {
			world.observe(
				NodeSeen{kube_node(name, std::string("uid-") + name, 4000)}, now);
			tell_slice(name, {"gpu-0", "gpu-1"});
		}
		world.observe(NodesListed{{"uid-n1", "uid-n2"}});
		world.observe(PodsListed{{}}, now);
		world.observe(ForeignListed{{}});
		world.observe(LinkOpened{{}});
		end_snapshot();
		world.observe(SlicesListed{{"uid-slice-n1", "uid-slice-n2"}}, now);
		if (are_taints_listed)
			world.observe(TaintRulesListed{}, now);
		world.observe(DeviceClassSeen{{"gpu", "uid-gpu",
				      {"device.driver == 'gpu.example.com'"}, {}, ""}},
			now);
		world.observe(DeviceClassesListed{{"uid-gpu"}}, now);
	}

	void end_snapshot()
	{
		for (const char *name : {"n1", "n2"}) {
			SlurmNode node = slurm_node(name, 4);
			node.gres = "gpu:2";
			node.extra = "slurm-kube:gpu@gpu.example.com=gpu-0,gpu-1";
			world.observe(SlurmNodeSeen{node});
		}
		world.observe(SnapshotEnded{}, now);
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

	void tell_slice(const std::string &node, const std::vector<std::string> &names)
	{
		std::vector<SliceDevice> devices;
		devices.reserve(names.size());
		for (const std::string &name : names)
			devices.push_back(device(name, node == "n1" ? "a" : "b"));
		world.observe(SliceSeen{slice(node, std::move(devices))}, now);
	}

	static Pod pod(const std::string &uid, const std::string &claim)
	{
		Pod p = make_pod("default", "pod-" + uid, uid, make_requests(1000));
		p.resource_claims = {{"c", claim, false, false}};
		return p;
	}

	std::string act()
	{
		std::string out;
		for (const auto &[uid, action] : world.take_actions(now)) {
			out += out.empty() ? "" : " ";
			out += word_of(uid, action);
			if (const auto *s = std::get_if<Submit>(&action))
				out += "=" + s->spec.options.gres;
			if (const auto *r = std::get_if<Report>(&action)) {
				text = r->not_scheduled.message;
				world.answer(ReportAnswered{uid, Ok{}}, now);
			}
			if (std::holds_alternative<WriteClaim>(action) && answers_writes)
				world.answer(WriteClaimAnswered{uid, Ok{}}, now);
		}
		return out;
	}

	void tell_job(const std::string &uid, std::uint32_t id, JobState state,
		const std::string &node = "", const std::string &indices = "")
	{
		SlurmJob j = make_job(id, make_marker("default", "pod-" + uid, "Pod", uid), state);
		if (!node.empty()) {
			j.nodes = {make_allocation(node, 1, 64, "0")};
			j.nodes.front().gres = {{"gpu", "", 1, indices}};
		}
		world.observe(JobSeen{j}, now);
	}

	/* The pod is seen, submitted, and its job starts. */
	void start(const std::string &uid, const std::string &claim, std::uint32_t id,
		const std::string &node, const std::string &indices)
	{
		world.observe(PodSeen{pod(uid, claim)}, now);
		(void)act();
		world.answer(
			SubmitAnswered{{uid}, Submitted{.job = {id}, .node = "", .cpus = 0}}, now);
		tell_job(uid, id, JobState::running, node, indices);
	}

	void tell(const ResourceClaim &claim)
	{
		world.observe(ResourceClaimSeen{claim});
		world.observe(ResourceClaimsListed{{"uid-c", "uid-d"}});
	}

	void wait(std::int64_t seconds) { now.mono_us += seconds * k_second; }
};

ResourceClaim protected_claim(const std::string &name)
{
	ResourceClaim out = claim(name, {request("r")});
	out.finalizers = {k_claim_finalizer};
	return out;
}

/* As the API server has it after a release. */
ResourceClaim released_claim(const std::string &name)
{
	ResourceClaim out = protected_claim(name);
	out.resource_version = "2";
	return out;
}

ResourceClaim allocated_claim(
	const std::string &name, const std::string &pod, const std::string &device_name)
{
	ResourceClaim out = protected_claim(name);
	out.allocation = Allocation{{{"r", {{k_driver, "n1"}, device_name}}}};
	if (!pod.empty())
		out.reserved_for = {pod};
	return out;
}

void a_claim_is_waited_for_and_becomes_gres()
{
	Stage s;
	s.world.observe(PodSeen{Stage::pod("a", "c")}, s.now);
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	CHECK(has(s.text, "have not been read yet"));
	s.world.observe(ResourceClaimsListed{{}});
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	CHECK_EQUAL(s.text, "resource claim c does not exist");
	s.tell(claim("c", {request("r", 1, of_model("a"))}));
	CHECK_EQUAL(s.act(), "submit:a-n2=gpu:1");
}

void without_rules_claims_are_refused()
{
	Settings settings = Stage::settings();
	settings.policy.has_device_rules = false;
	Stage s;
	s.world.observe(SettingsSet{settings}, s.now);
	s.world.observe(PodSeen{Stage::pod("a", "c")}, s.now);
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmRefused");
	CHECK(has(s.text, "section devices"));
}

void a_claim_is_written_before_the_pod_is_bound()
{
	Stage s;
	s.tell(claim("c", {request("r")}));
	s.start("a", "c", 7, "n1", "1");
	CHECK_EQUAL(s.act(), "protect:c");
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	s.tell(protected_claim("c"));
	CHECK_EQUAL(s.act(), "allocate:c=gpu-1");
	s.tell(allocated_claim("c", "a", "gpu-1"));
	CHECK_EQUAL(s.act(), "bind:a@n1");
}

/* The answer to a submission names the node, and not the devices. */
void devices_are_not_guessed()
{
	Stage s;
	s.tell(protected_claim("c"));
	s.world.observe(PodSeen{Stage::pod("a", "c")}, s.now);
	(void)s.act();
	s.world.answer(
		SubmitAnswered{{"a"}, Submitted{.job = {7}, .node = "n1", .cpus = 1}}, s.now);
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	s.tell_job("a", 7, JobState::running, "n1", "0");
	CHECK_EQUAL(s.act(), "allocate:c=gpu-0");
}

/* Kubernetes frees a device up to seconds after its pod has ended. */
void a_device_is_not_given_while_another_claim_has_it()
{
	Stage s;
	s.tell(protected_claim("c"));
	s.tell(allocated_claim("d", "ended", "gpu-0"));
	s.start("a", "c", 7, "n1", "0");
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	CHECK_EQUAL(s.text,
		"Slurm job 7 has node n1; device gpu-0 is still allocated for resource claim "
		"default/d");
	s.world.observe(ResourceClaimGone{{"default", "d"}});
	s.wait(2);
	CHECK_EQUAL(s.act(), "allocate:c=gpu-0");
}

/* Slurm's choice that cannot be used is given back, and that node is left out. */
void a_device_that_is_gone()
{
	Stage s;
	s.tell(protected_claim("c"));
	s.start("a", "c", 7, "n1", "1");
	s.tell_slice("n1", {"gpu-0"});
	CHECK_EQUAL(s.act(), "look:a");
	s.world.answer(LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
	CHECK_EQUAL(s.act(), "complete:7=given-back");
	s.world.answer(CompleteAnswered{{"a"}, Ok{}, false}, s.now);
	s.tell_job("a", 7, JobState::failed);
	s.wait(5);
	CHECK_EQUAL(s.act(), "submit:a-n1=gpu:1");
}

/* The kubelet withdraws the slices of a driver when it restarts. */
void devices_that_are_gone_for_a_while()
{
	Stage s;
	s.tell(protected_claim("c"));
	s.start("a", "c", 7, "n1", "1");
	s.world.observe(SliceGone{"slice-n1"}, s.now);
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	CHECK(has(s.text, "driver gpu.example.com publishes no devices of node n1 at present"));
	s.tell_slice("n1", {"gpu-0", "gpu-1"});
	CHECK_EQUAL(s.act(), "allocate:c=gpu-1");
}

DeviceTaintRule broken_device(const std::string &node, const std::string &name)
{
	DeviceTaintRule out;
	out.name = "broken";
	out.uid = "uid-broken";
	out.has_selector = true;
	out.pool = node;
	out.device = name;
	out.taint = {"broken", "", "NoSchedule"};
	return out;
}

/* Slurm cannot be told which of a node's devices, so that the node is left out. */
void a_node_with_a_tainted_device_is_left_out()
{
	Stage s;
	s.tell(protected_claim("c"));
	s.world.observe(TaintRuleSeen{broken_device("n1", "gpu-1")}, s.now);
	s.world.observe(PodSeen{Stage::pod("a", "c")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a-n1=gpu:1");
	Stage gone;
	gone.tell(protected_claim("c"));
	gone.world.observe(TaintRuleSeen{broken_device("n1", "gpu-1")}, gone.now);
	gone.world.observe(TaintRuleGone{"broken"}, gone.now);
	gone.world.observe(PodSeen{Stage::pod("a", "c")}, gone.now);
	CHECK_EQUAL(gone.act(), "submit:a=gpu:1");
}

void a_device_that_is_tainted_after_slurms_choice()
{
	Stage s;
	s.tell(protected_claim("c"));
	s.start("a", "c", 7, "n1", "1");
	s.world.observe(TaintRuleSeen{broken_device("n1", "gpu-1")}, s.now);
	CHECK_EQUAL(s.act(), "look:a");
	s.world.answer(LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
	CHECK_EQUAL(s.act(), "complete:7=given-back");
}

/* Which devices are tainted is not known before the rules have been read. */
void taint_rules_are_read_before_the_first_pod()
{
	Stage s(false);
	s.tell(protected_claim("c"));
	s.world.observe(PodSeen{Stage::pod("a", "c")}, s.now);
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	CHECK(has(s.text, "have not been read yet"));
	s.world.observe(TaintRulesListed{}, s.now);
	CHECK_EQUAL(s.act(), "submit:a=gpu:1");
}

/* Between the write and the binding the job ends: another job has other devices. A pod that is
 * bound after all must keep its devices, so the API server is asked first. */
void an_allocation_without_a_job_is_released()
{
	Stage s;
	s.tell(allocated_claim("c", "a", "gpu-1"));
	s.world.observe(PodSeen{Stage::pod("a", "c")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a=gpu:1");
	s.world.answer(SubmitAnswered{{"a"}, Submitted{.job = {7}, .node = "", .cpus = 0}}, s.now);
	s.tell_job("a", 7, JobState::pending);
	s.wait(11);
	CHECK_EQUAL(s.act(), "report:a:SlurmPending look:a");
	s.world.answer(LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
	CHECK_EQUAL(s.act(), "release:c");
	CHECK_EQUAL(s.act(), "");
	s.tell(released_claim("c"));
	s.tell_job("a", 7, JobState::running, "n1", "0");
	CHECK_EQUAL(s.act(), "allocate:c=gpu-0");
}

/* The release has been sent, and the watch still shows the claim with the device that the next job
 * has, too: bound now, the pod would be without devices. */
void a_claim_that_is_being_released_is_not_done()
{
	for (const bool is_answered : {true, false}) {
		Stage s;
		s.tell(allocated_claim("c", "a", "gpu-1"));
		s.world.observe(PodSeen{Stage::pod("a", "c")}, s.now);
		(void)s.act();
		s.world.answer(
			SubmitAnswered{{"a"}, Submitted{.job = {7}, .node = "", .cpus = 0}}, s.now);
		s.tell_job("a", 7, JobState::pending);
		s.wait(11);
		(void)s.act();
		s.world.answer(LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
		CHECK_EQUAL(s.act(), "release:c");
		if (!is_answered)
			s.world.answer(
				WriteClaimAnswered{{"a"}, Error{Errc::io, "timeout"}}, s.now);
		s.tell_job("a", 7, JobState::running, "n1", "1");
		s.wait(20);
		CHECK_EQUAL(s.act(),
			is_answered ? "report:a:SlurmWaitsForDevice"
				    : "report:a:SlurmWaitsForDevice look:a");
		s.world.answer(LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
		CHECK_EQUAL(s.act(), is_answered ? "" : "release:c");
		s.tell(released_claim("c"));
		CHECK_EQUAL(s.act(), "allocate:c=gpu-1");
		ResourceClaim again = allocated_claim("c", "a", "gpu-1");
		again.resource_version = "3";
		s.tell(again);
		CHECK_EQUAL(s.act(), "bind:a@n1");
	}
}

/* An agent before this one may have sent a release, which comes late. */
void an_allocation_of_before_is_trusted_later()
{
	Stage s;
	s.tell(allocated_claim("c", "a", "gpu-1"));
	s.world.observe(PodSeen{Stage::pod("a", "c")}, s.now);
	s.tell_job("a", 7, JobState::running, "n1", "1");
	s.wait(9);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	s.wait(2);
	CHECK_EQUAL(s.act(), "bind:a@n1");
}

/* A user deletes one of the claims before the pod is bound. */
void the_other_claims_are_released_too()
{
	Stage s;
	s.tell(allocated_claim("c", "a", "gpu-1"));
	Pod pod = Stage::pod("a", "c");
	pod.resource_claims.push_back({"d", "gone", false, false});
	s.world.observe(PodSeen{pod}, s.now);
	s.wait(11);
	(void)s.act();
	s.world.answer(LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
	CHECK(has(s.act(), "release:c"));
}

/* Two names of the pod may stand for one claim. */
void a_claim_that_is_named_twice()
{
	Stage s;
	s.tell(protected_claim("c"));
	Pod pod = Stage::pod("a", "c");
	pod.resource_claims.push_back({"again", "c", false, false});
	s.world.observe(PodSeen{pod}, s.now);
	CHECK_EQUAL(s.act(), "submit:a=gpu:1");
}

/* A monitor that may see all devices takes none. */
void admin_access_takes_no_device()
{
	Stage s;
	s.tell(protected_claim("c"));
	ResourceClaim monitor = allocated_claim("d", "monitor", "gpu-0");
	monitor.allocation->results.front().is_for_admin = true;
	s.tell(monitor);
	s.start("a", "c", 7, "n1", "0");
	CHECK_EQUAL(s.act(), "allocate:c=gpu-0");
}

/* A record that was just made has no list of devices yet. */
void devices_of_a_new_record_are_waited_for()
{
	Stage s;
	SlurmNode node = slurm_node("n1", 4);
	node.gres = "gpu:2";
	node.extra = "";
	s.world.observe(SlurmNodeSeen{node});
	s.tell(protected_claim("c"));
	s.start("a", "c", 7, "n1", "0");
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	CHECK(has(s.text, "not in its record in Slurm yet"));
	node.extra = "slurm-kube:gpu@gpu.example.com=gpu-0,gpu-1";
	s.world.observe(SlurmNodeSeen{node});
	s.wait(2);
	CHECK_EQUAL(s.act(), "allocate:c=gpu-0");
}

/* The wait is charged; a volume claim that is in order must not start it again. */
void the_wait_for_devices_ends()
{
	Stage s;
	s.tell(protected_claim("c"));
	s.tell(allocated_claim("d", "other", "gpu-0"));
	s.start("a", "c", 7, "n1", "0");
	(void)s.act();
	s.wait(598);
	(void)s.act();
	s.wait(3);
	CHECK_EQUAL(s.act(), "look:a");
}

/* A write of which the answer comes late must not start the wait again. */
void the_wait_for_a_slow_write_ends()
{
	Stage s;
	s.tell(protected_claim("c"));
	s.start("a", "c", 7, "n1", "0");
	s.answers_writes = false;
	for (int i = 0; i < 60 && s.act() != "look:a"; i++) {
		s.wait(3);
		CHECK(!has(s.act(), "bind"));
		s.wait(2);
		s.world.answer(
			WriteClaimAnswered{{"a"}, Error{Errc::io, "a webhook hangs"}}, s.now);
		s.wait(10);
	}
	s.wait(1);
	s.world.answer(LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
	CHECK_EQUAL(s.act(), "complete:7=given-back");
}

/* The claims of a pod say the devices of an earlier job, and one of them is to get what the other
 * has. */
void devices_move_between_claims_of_a_pod()
{
	Stage s;
	s.tell(allocated_claim("c", "a", "gpu-0"));
	s.tell(allocated_claim("d", "a", "gpu-1"));
	s.tell_slice("n1", {"gpu-0", "gpu-1", "gpu-2"});
	SlurmNode node = slurm_node("n1", 4);
	node.gres = "gpu:3";
	node.extra = "slurm-kube:gpu@gpu.example.com=gpu-0,gpu-1,gpu-2";
	s.world.observe(SlurmNodeSeen{node});
	Pod pod = Stage::pod("a", "c");
	pod.resource_claims.push_back({"d", "d", false, false});
	s.world.observe(PodSeen{pod}, s.now);
	SlurmJob job = make_job(7, make_marker("default", "pod-a", "Pod", "a"), JobState::running);
	job.nodes = {make_allocation("n1", 1, 64, "0")};
	job.nodes.front().gres = {{"gpu", "", 2, "1-2"}};
	s.world.observe(JobSeen{job}, s.now);
	std::string all;
	for (int i = 0; i < 6; i++) {
		s.wait(11);
		all += s.act() + " ";
		s.world.answer(LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
		all += s.act() + " ";
		for (const char *name : {"c", "d"}) {
			if (has(all, std::string("release:") + name))
				s.tell(released_claim(name));
		}
	}
	CHECK(has(all, "release:c"));
	CHECK(has(all, "release:d"));
	CHECK(has(all, "allocate:c=gpu-1"));
}

/* A running pod is not given a new job without its devices. */
void a_job_is_submitted_again_with_its_devices()
{
	Stage s;
	Pod pod = Stage::pod("a", "c");
	pod.node_name = "n1";
	pod.phase = PodPhase::running;
	s.world.observe(PodSeen{pod}, s.now);
	s.wait(15);
	CHECK(!has(s.act(), "submit"));
	s.tell(allocated_claim("c", "a", "gpu-1"));
	s.wait(15);
	CHECK(has(s.act(), "submit:a=gpu:1"));
}

/* Without the right to read taint rules it is not soon known what the pod has. */
void a_running_pod_has_a_job_although_rules_are_forbidden()
{
	Stage s(false);
	Pod pod = Stage::pod("a", "c");
	pod.node_name = "n1";
	pod.phase = PodPhase::running;
	s.world.observe(PodSeen{pod}, s.now);
	s.tell(allocated_claim("c", "a", "gpu-1"));
	s.wait(15);
	CHECK(!has(s.act(), "submit"));
	s.world.observe(DevicesUnreadable{"403 devicetaintrules"});
	s.wait(15);
	CHECK(has(s.act(), "submit"));
}

/* An earlier agent has left out n2, whose devices are of another model. */
void nodes_left_out_stay_so_until_the_claims_are_read()
{
	Stage s;
	s.world.observe(PodSeen{Stage::pod("a", "c")}, s.now);
	SlurmJob job = make_job(7, make_marker("default", "pod-a", "Pod", "a"), JobState::pending);
	job.marker.exclusions = exclusions_digest({"n2"});
	s.world.observe(JobSeen{job}, s.now);
	const auto settled = [&s] {
		std::string all;
		for (int i = 0; i < 5; i++) {
			s.wait(3);
			all += s.act() + " ";
		}
		return all;
	};
	CHECK(!has(settled(), "update"));
	ResourceClaim wanted = claim("c", {request("r", 1, of_model("a"))});
	wanted.finalizers = {k_claim_finalizer};
	s.tell(wanted);
	CHECK(!has(settled(), "update"));
	/* and it is looked at then */
	job.marker.exclusions = exclusions_digest({});
	s.world.observe(JobSeen{job}, s.now);
	s.world.observe(NodeSeen{kube_node("n2", "uid-n2", 3000)}, s.now);
	CHECK(has(settled(), "update"));
}

void a_claim_of_another_pod_is_left_alone()
{
	Stage s;
	s.tell(allocated_claim("c", "other", "gpu-1"));
	s.world.observe(PodSeen{Stage::pod("a", "c")}, s.now);
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	CHECK(has(s.text, "is in use by other pods"));
	ResourceClaim made = protected_claim("c");
	made.owner_uid = "other";
	Pod pod = Stage::pod("b", "c");
	pod.resource_claims.front().is_own = true;
	s.tell(made);
	(void)s.act();
	s.world.observe(PodSeen{pod}, s.now);
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:b:SlurmWaitsForDevice");
	CHECK_EQUAL(s.text, "resource claim c was made for another pod");
}

/* The watch may lag behind: the agent before this one has just allocated gpu-0 for claim d. */
void claims_are_listed_again_at_a_takeover()
{
	Settings settings = Stage::settings();
	settings.needs_fresh_lists = true;
	Stage s;
	s.world.observe(SettingsSet{settings}, s.now);
	s.tell(protected_claim("c"));
	s.start("a", "c", 7, "", "");
	PluginHello next;
	next.pid = 2;
	s.world.observe(LinkLost{});
	s.world.observe(LinkOpened{next});
	CHECK(s.world.take_list_request());
	s.tell_job("a", 7, JobState::running, "n1", "0");
	s.end_snapshot();
	s.world.observe(PodsListed{{"a"}}, s.now);
	s.world.observe(NodesListed{{"uid-n1", "uid-n2"}});
	s.world.observe(ForeignListed{{}});
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	CHECK(has(s.text, "have not been read yet"));
	s.tell(allocated_claim("d", "b", "gpu-0"));
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	CHECK(has(s.text, "claim d"));
}

} // namespace

int main()
{
	return check::run_tests("world_resource_claims",
		{TEST(a_claim_is_waited_for_and_becomes_gres),
			TEST(without_rules_claims_are_refused),
			TEST(a_claim_is_written_before_the_pod_is_bound),
			TEST(devices_are_not_guessed),
			TEST(a_device_is_not_given_while_another_claim_has_it),
			TEST(a_device_that_is_gone), TEST(devices_that_are_gone_for_a_while),
			TEST(a_node_with_a_tainted_device_is_left_out),
			TEST(a_device_that_is_tainted_after_slurms_choice),
			TEST(taint_rules_are_read_before_the_first_pod),
			TEST(a_running_pod_has_a_job_although_rules_are_forbidden),
			TEST(an_allocation_without_a_job_is_released),
			TEST(a_claim_that_is_being_released_is_not_done),
			TEST(an_allocation_of_before_is_trusted_later),
			TEST(the_other_claims_are_released_too), TEST(a_claim_that_is_named_twice),
			TEST(admin_access_takes_no_device),
			TEST(devices_of_a_new_record_are_waited_for),
			TEST(the_wait_for_devices_ends), TEST(the_wait_for_a_slow_write_ends),
			TEST(nodes_left_out_stay_so_until_the_claims_are_read),
			TEST(devices_move_between_claims_of_a_pod),
			TEST(a_job_is_submitted_again_with_its_devices),
			TEST(a_claim_of_another_pod_is_left_alone),
			TEST(claims_are_listed_again_at_a_takeover)});
}
