/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and pods with claims for CPUs: the cores that Slurm gives become the claim's CPUs. */
#include "src/core/inspect/device_rows.h"
#include "testsuite/unit/device_cpus.h"
#include "testsuite/unit/device_gang.h"
#include "testsuite/unit/world_facts.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

/* Nodes n1 and n2 with four CPUs each. */
struct Stage {
	World world;
	Now now = k_start;
	std::string text; /* of the last report */

	explicit Stage(int published = 4) : world(settings())
	{
		for (const char *name : {"n1", "n2"}) {
			world.observe(
				NodeSeen{kube_node(name, std::string("uid-") + name, 4000)}, now);
			world.observe(SliceSeen{cpu_slice(name, published)}, now);
		}
		world.observe(NodesListed{{"uid-n1", "uid-n2"}});
		world.observe(PodsListed{{}}, now);
		world.observe(ForeignListed{{}});
		world.observe(LinkOpened{{}});
		for (const char *name : {"n1", "n2"})
			tell_record(name);
		world.observe(SnapshotEnded{}, now);
		world.observe(SlicesListed{{"uid-slice-n1", "uid-slice-n2"}}, now);
		world.observe(TaintRulesListed{}, now);
		world.observe(DeviceClassSeen{cpu_class()}, now);
		world.observe(DeviceClassesListed{{"uid-dra.cpu"}}, now);
		tell(free_claim(2));
	}

	static Settings settings()
	{
		Settings s = plain_settings();
		s.sees_foreign_pods = true;
		s.report_interval_us = 0;
		s.devices = {cores()};
		s.policy.has_device_rules = true;
		return s;
	}

	void tell_record(const std::string &name, bool is_hybrid = false)
	{
		SlurmNode node = slurm_node(name, 4);
		node.extra = cores_word(4);
		node.is_hybrid = is_hybrid;
		if (is_hybrid)
			node.features = "kube-hybrid";
		world.observe(SlurmNodeSeen{node});
	}

	static ResourceClaim free_claim(std::int64_t cpus, const std::string &name = "c")
	{
		ResourceClaim out = claim(name, {cpu_request("r", cpus)});
		out.finalizers = {k_claim_finalizer};
		return out;
	}

	void tell(const ResourceClaim &claim)
	{
		world.observe(ResourceClaimSeen{claim});
		world.observe(ResourceClaimsListed{{"uid-c", "uid-d"}});
	}

	std::string act()
	{
		std::string out;
		for (const auto &[uid, action] : world.take_actions(now)) {
			out += (out.empty() ? "" : " ") + word_of(uid, action);
			if (const auto *s = std::get_if<Submit>(&action))
				out += "=" + std::to_string(s->spec.cpus) + s->spec.options.gres;
			if (const auto *r = std::get_if<Report>(&action)) {
				text = r->not_scheduled.message;
				world.answer(ReportAnswered{uid, Ok{}}, now);
			}
			if (std::holds_alternative<WriteClaim>(action))
				world.answer(WriteClaimAnswered{uid, Ok{}}, now);
		}
		return out;
	}

	/* The pod's job has these cores of n1. */
	void run(const Pod &pod, std::uint32_t id, std::uint32_t cpus, const std::string &core_ids)
	{
		world.observe(PodSeen{pod}, now);
		(void)act();
		world.answer(SubmitAnswered{pod.uid, Submitted{.job = {id}, .node = "", .cpus = 0}},
			now);
		SlurmJob job = make_job(id, make_marker("default", pod.name, "Pod", pod.uid.text),
			JobState::running);
		job.nodes = {make_allocation("n1", cpus, 64, core_ids)};
		world.observe(JobSeen{job}, now);
	}

	void wait(std::int64_t seconds) { now.mono_us += seconds * k_second; }
};

void cores_become_cpus_of_the_claim()
{
	Stage s;
	s.world.observe(PodSeen{cpu_pod("a", "c", 2000)}, s.now);
	CHECK_EQUAL(s.act(), "submit:a=2");
	Stage runs;
	runs.run(cpu_pod("a", "c", 2000), 7, 2, "1,3");
	CHECK_EQUAL(runs.act(), "allocate:c=cpudev001=cpudev003");
	ResourceClaim done = Stage::free_claim(2);
	done.allocation = Allocation{{{"r", {{k_cpu_driver, "n1"}, "cpudev001"}},
		{"r", {{k_cpu_driver, "n1"}, "cpudev003"}}}};
	done.reserved_for = {"a"};
	runs.tell(done);
	CHECK_EQUAL(runs.act(), "bind:a@n1");
	std::string rows;
	for (const DeviceRow &row : report_devices(runs.world.state(), runs.now.mono_us).rows)
		rows += row.node + " " + row.gres + " " + std::to_string(*row.index) + " " +
			row.device.name + (row.job ? " in use, " : ", ");
	CHECK(has(rows, "n1 cores 0 cpudev000, n1 cores 1 cpudev001 in use, "));
	CHECK(has(rows, "n1 cores 3 cpudev003 in use, n2 cores 0 cpudev000, "));
}

/* Kubernetes frees the CPUs of a claim up to seconds after its pod has ended. */
void a_cpu_of_another_claim_is_waited_for()
{
	Stage s;
	ResourceClaim other = Stage::free_claim(1, "d");
	other.allocation = Allocation{{{"r", {{k_cpu_driver, "n1"}, "cpudev001"}}}};
	other.reserved_for = {"ended"};
	s.tell(other);
	s.run(cpu_pod("a", "c", 2000), 7, 2, "1-2");
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForDevice");
	CHECK(has(s.text, "cpudev001 is still allocated for resource claim default/d"));
	s.world.observe(ResourceClaimGone{{"default", "d"}});
	s.wait(2);
	CHECK_EQUAL(s.act(), "allocate:c=cpudev001=cpudev002");
}

void requests_that_differ_are_refused()
{
	Stage s;
	s.world.observe(PodSeen{cpu_pod("a", "c", 1000)}, s.now);
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmRefused");
	CHECK(has(s.text, "container main requests cpu 1, and its resource claims have 2 CPUs"));
}

/* A record with several CPUs per core: the job is given back, and that node is left out. */
void a_core_of_two_cpus_is_given_back()
{
	Stage s;
	s.tell(Stage::free_claim(1));
	s.run(cpu_pod("a", "c", 1000), 7, 2, "1");
	CHECK_EQUAL(s.act(), "look:a");
	s.world.answer(LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
	CHECK_EQUAL(s.act(), "complete:7=given-back");
}

void nodes_that_cannot_serve_claims_are_left_out()
{
	Stage hybrid;
	hybrid.tell_record("n2", true);
	hybrid.world.observe(PodSeen{cpu_pod("a", "c", 2000)}, hybrid.now);
	CHECK_EQUAL(hybrid.act(), "submit:a-n2=2");
	Stage few(3);
	few.world.observe(PodSeen{cpu_pod("a", "c", 2000)}, few.now);
	few.wait(2);
	CHECK_EQUAL(few.act(), "report:a:SlurmNoNode");
	CHECK(has(few.text, "publishes 3 CPUs, and Slurm has 4 cores there"));
}

/* "gpu:2", and the node's `extra` where it changes: of a node whose drivers have published nothing
 * for less than ten minutes, because its kubelet restarts. */
std::string kept(const DeviceRules &rules, bool have_gpus_left)
{
	DeviceStore store;
	(void)store.seen(cpu_slice("n1", 4), k_start);
	(void)store.listed({"uid-slice-n1"}, k_start);
	(void)store.gone("slice-n1", k_start);
	if (have_gpus_left)
		(void)store.seen(slice("n1", {device("gpu-0", "a")}), k_start);
	SlurmNode record = slurm_node("n1", 4);
	record.gres = "gpu:2";
	record.extra = "slurm-kube:gpu@gpu.example.com=gpu-0,gpu-1;" + cores_word(4).substr(11);
	const NodeDevices found = store.on_node("n1", rules, &record, k_start.mono_us + k_second);
	CHECK(found.again_us > 0);
	CHECK_EQUAL(found.trouble.empty(), have_gpus_left);
	return found.gres + (found.extra ? " " + *found.extra : "");
}

void drivers_that_restart_leave_the_node_as_it_is()
{
	for (const DeviceRules &rules :
		{DeviceRules{cores(), rule("gpu")}, DeviceRules{rule("gpu"), cores()}})
		CHECK_EQUAL(kept(rules, false), "gpu:2");
	/* CPUs are no GRES: what happens to GPUs is seen all the same */
	CHECK_EQUAL(kept({rule("gpu"), cores()}, true),
		"gpu:1 slurm-kube:gpu@gpu.example.com=gpu-0;" + cores_word(4).substr(11));
	CHECK_EQUAL(kept({cores(), rule("gpu")}, true),
		"gpu:1 " + cores_word(4) + ";gpu@gpu.example.com=gpu-0");
}

void gangs_are_refused()
{
	DeviceGang s(2);
	Settings settings = with_devices();
	settings.devices = {cores()};
	s.world.observe(SettingsSet{settings}, s.now);
	s.world.observe(SliceSeen{cpu_slice("n1", 4)}, s.now);
	s.world.observe(DeviceClassSeen{cpu_class()}, s.now);
	std::set<std::string> uids;
	for (const std::uint32_t i : {0U, 1U}) {
		ResourceClaim one = s.own_claim(i, 1);
		one.requests.front().device_class = "dra.cpu";
		uids.insert(one.uid);
		s.world.observe(ResourceClaimSeen{one});
	}
	s.world.observe(ResourceClaimsListed{uids});
	s.all_with_claims(2);
	s.now.mono_us += 2 * k_second;
	CHECK(!has(s.act(), "submit"));
	CHECK(has(s.text, "pods that share a Slurm job cannot have such claims"));
}

} // namespace

int main()
{
	return run_tests("world_cores",
		{TEST(cores_become_cpus_of_the_claim), TEST(a_cpu_of_another_claim_is_waited_for),
			TEST(requests_that_differ_are_refused),
			TEST(a_core_of_two_cpus_is_given_back),
			TEST(nodes_that_cannot_serve_claims_are_left_out),
			TEST(drivers_that_restart_leave_the_node_as_it_is),
			TEST(gangs_are_refused)});
}
