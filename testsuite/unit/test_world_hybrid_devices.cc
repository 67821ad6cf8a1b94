/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and resource claims on hybrid nodes: n1 is external, n2 hybrid. */
#include "src/core/inspect/device_rows.h"
#include "src/core/model/outcome.h"
#include "testsuite/unit/device_facts.h"
#include "testsuite/unit/world_facts.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

struct Stage {
	World world;
	Now now = k_start;
	std::string text; /* of the last report */

	explicit Stage(DeviceRules rules = {rule("gpu")}) : world(settings(std::move(rules)))
	{
		for (const char *name : {"n1", "n2"}) {
			world.observe(
				NodeSeen{kube_node(name, std::string("uid-") + name, 4000)}, now);
			publish(name, {"gpu-1", "gpu-0"});
		}
		world.observe(NodesListed{{"uid-n1", "uid-n2"}});
		world.observe(PodsListed{{}}, now);
		world.observe(ForeignListed{{}});
		world.observe(LinkOpened{{}});
		SlurmNode external = slurm_node("n1", 4);
		external.gres = "gpu:2";
		external.extra = "slurm-kube:gpu@gpu.example.com=gpu-0,gpu-1";
		world.observe(SlurmNodeSeen{external});
		world.observe(SlurmNodeSeen{hybrid()});
		world.observe(SnapshotEnded{}, now);
		world.observe(SlicesListed{{"uid-slice-n1", "uid-slice-n2"}}, now);
		world.observe(TaintRulesListed{}, now);
		world.observe(DeviceClassSeen{{"gpu", "uid-gpu",
				      {"device.driver == 'gpu.example.com'"}, {}, ""}},
			now);
		world.observe(DeviceClassesListed{{"uid-gpu"}}, now);
		ResourceClaim one = claim("c", {request("r")});
		one.finalizers = {k_claim_finalizer};
		world.observe(ResourceClaimSeen{one});
		world.observe(ResourceClaimsListed{{"uid-c"}});
	}

	static SlurmNode hybrid(const std::string &gres = "gpu:2(S:0)")
	{
		SlurmNode n = slurm_node("n2", 4);
		n.is_hybrid = true;
		n.features = "kube-hybrid";
		n.gres = gres;
		n.extra = "slurm-kube:gpu@gpu.example.com=gpu-1,gpu-0"; /* when it was external */
		return n;
	}

	static Settings settings(DeviceRules rules)
	{
		Settings s = plain_settings();
		s.sees_foreign_pods = true;
		s.report_interval_us = 0;
		s.devices = std::move(rules);
		s.policy.has_device_rules = true;
		return s;
	}

	void publish(const std::string &node, const std::vector<std::string> &names)
	{
		std::vector<SliceDevice> devices;
		devices.reserve(names.size());
		for (const std::string &name : names)
			devices.push_back(device(name, name == "gpu-0" ? "a" : "b"));
		world.observe(SliceSeen{slice(node, std::move(devices))}, now);
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
			if (std::holds_alternative<WriteClaim>(action))
				world.answer(WriteClaimAnswered{uid, Ok{}}, now);
		}
		return out;
	}

	std::string submit(const std::string &uid)
	{
		Pod p = make_pod("default", "pod-" + uid, uid, make_requests(1000));
		p.resource_claims = {{"c", "c", false, false}};
		world.observe(PodSeen{p}, now);
		return act();
	}

	/* The job of the pod starts on n2. */
	void start(const std::string &uid, const std::string &indices, const std::string &type = "",
		const std::vector<Gres> &more = {}, const std::string &node = "n2")
	{
		(void)submit(uid);
		world.answer(
			SubmitAnswered{{uid}, Submitted{.job = {7}, .node = "", .cpus = 0}}, now);
		SlurmJob j = make_job(
			7, make_marker("default", "pod-" + uid, "Pod", uid), JobState::running);
		j.nodes = {make_allocation(node, 1, 64, "0")};
		if (!indices.empty())
			j.nodes.front().gres = {{"gpu", type, 1, indices}};
		std::ranges::copy(more, std::back_inserter(j.nodes.front().gres));
		world.observe(JobSeen{j}, now);
	}

	/* "n2 1 gpu-1 ...", those of n2; troubles at the end */
	std::string shown()
	{
		std::string out;
		const DeviceReport report = report_devices(world.state(), now.mono_us);
		for (const DeviceRow &row : report.rows) {
			if (row.node == "n2")
				out += (row.index ? std::to_string(*row.index) : "-") + ":" +
					row.device.name + " ";
		}
		for (const DeviceTrouble &one : report.troubles)
			out += one.node + ": " + one.why;
		return out;
	}

	void wait(std::int64_t seconds) { now.mono_us += seconds * k_second; }
};

constexpr char k_differ[] = "driver gpu.example.com publishes gpu:1, and Slurm has gpu:2";

/* Whatever the order of the slices is, and whatever stands in the record. */
void the_claim_gets_the_device_whose_number_is_the_index()
{
	for (const char *index : {"0", "1"}) {
		Stage s;
		s.start("a", index);
		CHECK_EQUAL(s.act(), std::string("allocate:c=gpu-") + index);
	}
	Stage s;
	CHECK_EQUAL(s.shown(), "0:gpu-0 1:gpu-1 ");
}

void a_node_that_lacks_a_device_gets_no_pod()
{
	Stage s;
	s.publish("n2", {"gpu-1"});
	CHECK_EQUAL(s.submit("a"), "submit:a-n2=gpu:1");
	CHECK_EQUAL(s.shown(), std::string("-:gpu-1 n2: ") + k_differ);
	s.publish("n2", {"gpu-1", "gpu-0"});
	CHECK_EQUAL(s.submit("b"), "submit:b=gpu:1");
}

/* slurm.conf has changed. */
void so_does_one_of_which_slurm_has_more()
{
	Stage s;
	s.world.observe(SlurmNodeSeen{Stage::hybrid("gpu:3")});
	CHECK_EQUAL(s.submit("a"), "submit:a-n2=gpu:1");
	s.world.observe(SlurmNodeSeen{Stage::hybrid()});
	CHECK_EQUAL(s.submit("b"), "submit:b=gpu:1");
}

/* A driver that restarts. */
void an_allocated_pod_waits_for_the_device()
{
	Stage s;
	s.start("a", "1");
	s.publish("n2", {"gpu-1"});
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	CHECK(has(s.text, k_differ));
	s.publish("n2", {"gpu-0", "gpu-1"});
	CHECK_EQUAL(s.act(), "allocate:c=gpu-1");
}

/* slurmkube-node would refuse the container. */
void a_watcher_of_all_devices_goes_elsewhere()
{
	Stage s;
	ResourceClaim watcher = claim("c", {for_admin(request("r"))});
	watcher.resource_version = "2";
	s.world.observe(ResourceClaimSeen{watcher});
	CHECK_EQUAL(s.submit("a"), "submit:a-n2=");
}

/* What another rule finds does not concern the pod. */
void another_gres_that_differs_is_no_trouble()
{
	DeviceRule nic = rule("nic");
	nic.driver = "nic.example.com";
	Stage s({rule("gpu"), nic});
	s.world.observe(SlurmNodeSeen{Stage::hybrid("gpu:2,nic:4")});
	s.start("a", "1");
	CHECK_EQUAL(s.act(), "allocate:c=gpu-1");
	CHECK(has(s.shown(), "nic.example.com publishes no nic, and Slurm has nic:4"));
}

/* A job of the whole node has all of its GRES; the pod's claim concerns one. */
void another_gres_of_the_job_is_no_trouble()
{
	DeviceRule nic = rule("nic");
	nic.driver = "nic.example.com";
	Stage s({rule("gpu"), nic});
	s.world.observe(SlurmNodeSeen{Stage::hybrid("gpu:2,nic:4")});
	s.start("a", "1", "", {{"nic", "", 4, "0-3"}});
	CHECK_EQUAL(s.act(), "allocate:c=gpu-1");
}

/* So it is on an external node: an exclusive job there has all its GRES, too. */
void another_gres_of_an_exclusive_job_is_no_trouble()
{
	DeviceRule nic = rule("nic");
	nic.driver = "nic.example.com";
	Stage s({rule("gpu"), nic});
	SlurmNode external = slurm_node("n1", 4);
	external.gres = "gpu:2,nic:4";
	external.extra = "slurm-kube:gpu@gpu.example.com=gpu-0,gpu-1;nic@nic.example.com=nic-0,"
			 "nic-1,nic-2,nic-3";
	s.world.observe(SlurmNodeSeen{external});
	s.start("a", "1", "", {{"nic", "", 4, "0-3"}}, "n1");
	CHECK_EQUAL(s.act(), "allocate:c=gpu-1");
}

/* Only the second alternative could be asked for, and now the first could, too. */
void the_other_alternative_may_have_been_asked_for()
{
	DeviceRule npu = rule("npu");
	npu.driver = "npu.example.com";
	Stage s({rule("gpu"), npu});
	SliceDevice one = device("npu-0", "x");
	one.properties.driver = npu.driver;
	ResourceSlice npus = slice("n2", {one});
	npus.name += "-npu", npus.uid += "-npu", npus.pool.driver = npu.driver;
	s.world.observe(SliceSeen{npus}, s.now);
	s.world.observe(
		DeviceClassSeen{{"npu", "uid-npu", {"device.driver == 'npu.example.com'"}, {}, ""}},
		s.now);
	s.world.observe(SlurmNodeSeen{Stage::hybrid("gpu:2,npu:1")});
	DeviceRequest second = request("r/b");
	second.device_class = "npu";
	ResourceClaim choice = claim("c", {first_of("r", {request("r/a"), second})});
	choice.finalizers = {k_claim_finalizer};
	s.world.observe(ResourceClaimSeen{choice});
	s.start("a", "", "", {{"npu", "", 1, "0"}});
	CHECK_EQUAL(s.act(), "allocate:c=npu-0");
}

/* gres.conf has the files in another order. */
void a_device_of_another_type_is_given_back()
{
	Stage s({rule("gpu", "model")});
	s.world.observe(SlurmNodeSeen{Stage::hybrid("gpu:a:1,gpu:b:1")});
	s.start("a", "1", "a");
	CHECK_EQUAL(s.act(), "look:a");
	s.world.answer(LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
	CHECK_EQUAL(s.act(), "complete:7=given-back");
}

} // namespace

int main()
{
	return check::run_tests("world_hybrid_devices",
		{TEST(the_claim_gets_the_device_whose_number_is_the_index),
			TEST(a_node_that_lacks_a_device_gets_no_pod),
			TEST(so_does_one_of_which_slurm_has_more),
			TEST(an_allocated_pod_waits_for_the_device),
			TEST(a_watcher_of_all_devices_goes_elsewhere),
			TEST(another_gres_that_differs_is_no_trouble),
			TEST(another_gres_of_the_job_is_no_trouble),
			TEST(another_gres_of_an_exclusive_job_is_no_trouble),
			TEST(the_other_alternative_may_have_been_asked_for),
			TEST(a_device_of_another_type_is_given_back)});
}
