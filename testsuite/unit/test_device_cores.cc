/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Claims for CPUs: which CPU is which core of Slurm, and what of pods cannot be exact. */
#include "src/core/device/cores.h"
#include "testsuite/unit/device_cpus.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

Devices node_of(int cpus)
{
	Devices out;
	out.rules = {rule("gpu"), cores()};
	out.classes["dra.cpu"] = cpu_class();
	(void)out.inventory.seen(cpu_slice("n1", cpus));
	return out;
}

std::string text_of(const DeviceList &list)
{
	std::string out = list.trouble;
	for (const ListedDevice &one : list.devices)
		out += (out.empty() ? "" : " ") + one.id.name;
	return out;
}

DeviceList list_of(std::vector<SliceDevice> devices)
{
	Inventory inventory;
	ResourceSlice all = slice("n1", std::move(devices));
	all.pool.driver = k_cpu_driver;
	(void)inventory.listed({all.uid});
	(void)inventory.seen(std::move(all));
	return inventory.on_node("n1", cores());
}

void cores_are_in_the_order_of_sockets()
{
	struct Row {
		const char *what;
		std::vector<SliceDevice> devices;
		const char *order;
	};
	const Row rows[] = {
		{"siblings follow each other in the driver's names: CPUs 0 and 4 are core 0",
			{cpu(0, 0, 0, 0), cpu(1, 0, 0, 4), cpu(2, 0, 1, 1), cpu(3, 0, 1, 5)},
			"cpudev000 cpudev001 cpudev002 cpudev003"},
		{"Linux numbers the sockets in turn",
			{cpu(0, 0, 0, 0), cpu(1, 1, 0, 1), cpu(2, 0, 1, 2), cpu(3, 1, 1, 3)},
			"cpudev000 cpudev002 cpudev001 cpudev003"},
		{"siblings are far apart, in two sockets",
			{cpu(0, 0, 0, 0), cpu(1, 1, 0, 1), cpu(2, 0, 0, 2), cpu(3, 1, 0, 3)},
			"cpudev000 cpudev002 cpudev001 cpudev003"},
		{"numbers of cores have holes", {cpu(0, 0, 9, 0), cpu(1, 0, 4, 1)},
			"cpudev001 cpudev000"},
	};
	for (const Row &row : rows)
		check::record(text_of(list_of(row.devices)) == row.order, row.what, __FILE__,
			__LINE__, text_of(list_of(row.devices)));
	CHECK_EQUAL(gres_of_list(cores(), list_of({cpu(0, 0, 0, 0)})), "");
	CHECK_EQUAL(frozen_text("", {cores()}, {list_of({cpu(0, 0, 0, 0), cpu(1, 0, 1, 1)})}, "n1"),
		cores_word(2));
}

void what_is_no_cpu()
{
	SliceDevice machine = cpu(0, 0, 0, 0);
	machine.name = "cpudevmachine";
	machine.unsupported = "allowMultipleAllocations";
	CHECK_EQUAL(text_of(list_of({machine})),
		"device cpudevmachine in pool n1 of driver dra.cpu has allowMultipleAllocations, "
		"which slurm-kube does not support: the driver must publish each CPU as a device "
		"(--cpu-device-mode=individual)");
	SliceDevice other;
	other.name = "gpu-0";
	other.properties.driver = k_cpu_driver;
	CHECK_EQUAL(text_of(list_of({other})),
		"device gpu-0 in pool n1 of driver dra.cpu is no CPU: it has no number socketID");
	cel::add_attribute(other.properties, "dra.cpu/socketID", std::string("0"));
	CHECK(has(text_of(list_of({other})), "no number socketID"));
}

/* Of two pools, one of which the driver does not publish any more. */
void two_devices_of_one_cpu_are_trouble()
{
	CHECK_EQUAL(text_of(list_of({cpu(0, 0, 0, 0), cpu(1, 0, 1, 1), cpu(7, 0, 0, 0)})),
		"device cpudev007 in pool n1 of driver dra.cpu and another device are both CPU 0: "
		"delete the ResourceSlice that the driver does not publish any more");
}

/* "gpu:1 | cpus 2,0 | n1" or the error */
std::string demand(const Devices &devices, const std::vector<ResourceClaim> &claims)
{
	std::vector<const ResourceClaim *> all;
	for (const ResourceClaim &one : claims)
		all.push_back(&one);
	const auto found = demand_of(all, devices.sources());
	if (!found)
		return found.error().what;
	std::string out = gres_text(found->gres) + " | cpus";
	for (const std::int64_t cpus : found->cpus)
		out += " " + std::to_string(cpus);
	for (const std::string &node : found->fit)
		out += " | " + node;
	for (const auto &[node, why] : found->unfit)
		out += " | " + node + ": " + why;
	return out;
}

void claims_for_cpus_are_no_gres()
{
	Devices devices = node_of(4);
	CHECK_EQUAL(demand(devices, {claim("c", {cpu_request("r", 2)})}), " | cpus 2 | n1");
	CHECK_EQUAL(demand(devices,
			    {claim("c", {cpu_request("r", 1), cpu_request("s", 1)}),
				    claim("d", {cpu_request("r", 1)})}),
		" | cpus 2 1 | n1");
	ResourceSlice gpus = slice("n1", {device("gpu-0", "a")});
	gpus.name = "gpus";
	(void)devices.inventory.seen(gpus);
	CHECK_EQUAL(
		demand(devices, {claim("g", {request("r")}), claim("c", {cpu_request("r", 3)})}),
		"gpu:1 | cpus 0 3 | n1");
	CHECK_EQUAL(demand(devices, {claim("g", {request("r")})}), "gpu:1 | cpus | n1");
	CHECK_EQUAL(demand(devices, {claim("c", {cpu_request("r", 5)})}),
		" | cpus 5 | n1: has 4 of the 5 CPUs that its resource claims ask for");
	DeviceRequest one_cpu = cpu_request("r", 1);
	one_cpu.selectors = {"device.attributes['dra.cpu'].cpuID == 2"};
	CHECK(has(demand(devices, {claim("c", {one_cpu})}),
		"1 of its 4 devices are for request r of its resource claim, and Slurm cannot be "
		"told which"));
	for (const DeviceRequest &request :
		{all_of(cpu_request("r", 1)), for_admin(cpu_request("r", 1))})
		CHECK(has(demand(devices, {claim("c", {request})}),
			"request r is for CPUs, which are had by their number only"));
}

/* Before any node is looked at for all its devices, so however many nodes there are. */
void a_claim_for_all_cpus_is_not_looked_at()
{
	Devices devices = node_of(64);
	std::size_t cost[2] = {0, 0};
	for (const bool is_all : {false, true}) {
		DeviceRequest request = cpu_request("r", 1);
		request.is_all = is_all;
		const auto fit = fit_of(request, devices.sources(), cost[is_all ? 1 : 0]);
		CHECK_EQUAL(fit.ok(), !is_all);
	}
	CHECK(cost[0] > 0);
	CHECK_EQUAL(cost[0], cost[1]);
}

/* "c: r=cpudev001; d: ..." or the error */
std::string dealt(const Devices &devices, const std::vector<ResourceClaim> &claims,
	const NodeAllocation &slot, const std::string &extra = cores_word(4))
{
	std::vector<const ResourceClaim *> all;
	for (const ResourceClaim &one : claims)
		all.push_back(&one);
	const auto deals = deal(all, slot, extra, devices.sources());
	if (!deals)
		return (deals.error().code == Errc::again ? "again: " : "") + deals.error().what;
	std::string out;
	for (const ClaimDeal &one : *deals) {
		out += (out.empty() ? "" : "; ") + one.claim->id.name + ":";
		for (const ChosenDevice &chosen : one.devices)
			out += " " + chosen.result.request + "=" + chosen.result.device.name;
	}
	return out;
}

void a_core_is_a_cpu()
{
	const Devices devices = node_of(4);
	const std::vector<ResourceClaim> two{claim("c", {cpu_request("r", 2)})};
	CHECK_EQUAL(dealt(devices, two, make_allocation("n1", 2, 64, "1,3")),
		"c: r=cpudev001 r=cpudev003");
	CHECK_EQUAL(dealt(devices, two, make_allocation("n1", 2, 64, "0-1"),
			    "slurm-kube:cores@dra.cpu=cpudev003,cpudev001"),
		"c: r=cpudev003 r=cpudev001");
	/* the cores that are left belong to containers without a claim */
	CHECK_EQUAL(dealt(devices, two, make_allocation("n1", 3, 64, "0-2")),
		"c: r=cpudev000 r=cpudev001");
	CHECK_EQUAL(dealt(devices,
			    {claim("c", {cpu_request("r", 1)}), claim("d", {cpu_request("s", 2)})},
			    make_allocation("n1", 3, 64, "1-3")),
		"c: r=cpudev001; d: s=cpudev002 s=cpudev003");
}

void what_is_not_exact_is_not_dealt()
{
	const Devices devices = node_of(4);
	const std::vector<ResourceClaim> two{claim("c", {cpu_request("r", 2)})};
	struct Row {
		NodeAllocation slot;
		std::string extra, error;
	};
	const Row rows[] = {
		{make_allocation("n1", 2, 64, "0"), cores_word(4),
			"Slurm gave 2 CPUs of node n1 as cores '0', and only a record with one CPU "
			"per core tells which CPUs these are"},
		{make_allocation("n1", 2, 64, ""), cores_word(4), "as cores ''"},
		{make_allocation("n1", 2, 64, "0,x"), cores_word(4), "as cores '0,x'"},
		{make_allocation("n1", 2, 64, "3-4"), cores_word(4),
			"Slurm gave core 4 of node n1, and its record there names 4 CPUs"},
		{make_allocation("n1", 2, 64, "0-1"), "",
			"again: the CPUs of node n1 are not in its record in Slurm yet"},
		{make_allocation("n1", 1, 64, "0"), cores_word(4),
			"resource claim c, request r: of the devices that Slurm gave none is left "
			"that meets it"},
	};
	for (const Row &row : rows)
		check::record(has(dealt(devices, two, row.slot, row.extra), row.error),
			row.error.c_str(), __FILE__, __LINE__,
			dealt(devices, two, row.slot, row.extra));
	Devices away = node_of(4);
	(void)away.inventory.gone("slice-n1");
	CHECK_EQUAL(dealt(away, two, make_allocation("n1", 2, 64, "0-1")),
		"again: driver dra.cpu publishes no devices of node n1 at present");
}

/* Every job has cores, and a claim for other devices does not depend on them. */
void other_claims_do_not_need_cores()
{
	Devices devices = node_of(4);
	ResourceSlice gpus = slice("n1", {device("gpu-0", "a")});
	gpus.name = "gpus";
	(void)devices.inventory.seen(gpus);
	NodeAllocation slot = make_allocation("n1", 2, 64, "");
	slot.gres = {{"gpu", "", 1, "0"}};
	const std::string extra = "slurm-kube:gpu@gpu.example.com=gpu-0";
	CHECK_EQUAL(dealt(devices, {claim("c", {request("r")})}, slot, extra), "c: r=gpu-0");
	/* nor is it waited for the CPUs of a node whose driver has never been there */
	Devices without;
	without.rules = {rule("gpu"), cores()};
	without.classes.insert_or_assign("dra.cpu", cpu_class());
	CHECK(!has(dealt(without, {claim("c", {request("r")})}, make_allocation("n1", 2, 64, "0-1"),
			   ""),
		"again"));
	CHECK(has(dealt(devices, {claim("c", {request("r"), cpu_request("s", 2)})}, slot, extra),
		"one CPU per core"));
	slot.core_ids = "2-3";
	CHECK_EQUAL(dealt(devices, {claim("c", {request("r"), cpu_request("s", 2)})}, slot,
			    extra + ";cores@dra.cpu=cpudev000,cpudev001,cpudev002,cpudev003"),
		"c: r=gpu-0 s=cpudev002 s=cpudev003");
}

/* Claims c (of count CPUs) and d (1 CPU), known to the pod as "cpus" and "more". */
std::string trouble(const Pod &pod, std::int64_t count, std::uint32_t cpu_unit = k_whole_cpu)
{
	const ResourceClaim c = claim("c", {cpu_request("r", count)}),
			    d = claim("d", {cpu_request("r", 1)});
	const bool has_two = pod.resource_claims.size() > 1;
	const std::vector<const ResourceClaim *> claims =
		has_two ? std::vector{&c, &d} : std::vector{&c};
	const auto demand = demand_of(claims, node_of(4).sources());
	if (!demand)
		return demand.error().what;
	return cpu_trouble_of(pod, claims, *demand, cpu_unit);
}

Pod with_container(Pod pod, const ContainerClaims &container)
{
	pod.container_claims.push_back(container);
	pod.requests.milli_cpu += container.is_short_lived ? 0 : container.milli_cpu;
	return pod;
}

Pod with_two_claims(Pod pod)
{
	pod.resource_claims.push_back({"more", "d", false, false});
	return pod;
}

void requests_must_be_the_claims()
{
	Pod pod_level = cpu_pod("a", "c", 2000);
	pod_level.container_claims.front().milli_cpu = 0;
	Pod too_little = pod_level;
	too_little.requests.milli_cpu = 1500;
	Pod unused = cpu_pod("a", "c", 2000);
	unused.container_claims.front().claims.clear();
	Pod init = unused;
	init.container_claims.insert(
		init.container_claims.begin(), {"init", true, false, 0, {"cpus"}});
	Pod restarts = cpu_pod("a", "c", 2000);
	restarts.container_claims.front().may_restart = true;
	ContainerClaims helper{"helper", false, true, 0, {}};
	helper.has_restart_rules = true;
	const Pod restarted = with_container(cpu_pod("a", "c", 2000), helper);
	Pod extended = cpu_pod("a", "c", 2000);
	extended.resource_claims.front().is_extended = true;
	Pod both = with_two_claims(cpu_pod("a", "c", 3000));
	both.container_claims.front().claims.emplace_back("more");
	const Pod one = cpu_pod("a", "c", 2000);
	const struct {
		Pod pod;
		std::int64_t claimed;
		const char *why;
	} rows[] = {
		{one, 2, ""},
		{one, 1, "container main requests cpu 2, and its resource claims have 1 CPU: "},
		{one, 3, "container main requests cpu 2, and its resource claims have 3 CPUs: "},
		{cpu_pod("a", "c", 1500), 2, "container main requests cpu 1500m, and"},
		{pod_level, 2, ""},
		{too_little, 2,
			"the pod requests cpu 1500m, and its resource claims have 2 CPUs: "
			"request the sum"},
		{with_container(one, {"side", false, true, 100, {}}), 2, ""},
		{with_container(pod_level, {"side", false, true, 100, {}}), 2, ""},
		{with_container(one, {"init", true, true, 4000, {}}), 2, ""},
		{with_container(one, {"other", false, false, 0, {"cpus"}}), 2,
			"resource claim c asks for CPUs, and containers main and other use it: "
			"give each container a claim of its own"},
		{unused, 2, "resource claim c asks for CPUs, and no container uses it"},
		{init, 2, "resource claim c asks for CPUs, and only init container init uses it"},
		{extended, 2, "CPUs cannot be had as an extended resource: name a claim for them"},
		{restarts, 2,
			"resource claim c asks for CPUs, and container main may restart, after "
			"which the driver lets others use them: set restartPolicy Never"},
		{restarted, 2, "container helper has restartPolicyRules"},
		{both, 2, ""},
		{with_container(with_two_claims(one), {"other", false, false, 1000, {"more"}}), 2,
			""},
	};
	for (const auto &row : rows) {
		const std::string why = trouble(row.pod, row.claimed);
		check::record(row.why[0] == '\0' ? why.empty() : why.starts_with(row.why), row.why,
			__FILE__, __LINE__, why);
	}
	CHECK(has(trouble(one, 2, 100), "nodes.cpu_unit 1"));
	Pod beside = with_container(pod_level, {"side", false, true, 100, {}});
	beside.requests.milli_cpu = 2000;
	CHECK_EQUAL(trouble(beside, 2),
		"the pod requests cpu 2, and its resource claims have 2 CPUs beside 100m of other "
		"containers: request the sum");
}

void nodes_that_cannot_serve_them()
{
	CHECK_EQUAL(cores_trouble_on(false, 4, 4), "");
	CHECK_EQUAL(cores_trouble_on(false, 3, 4), "");
	CHECK(has(cores_trouble_on(false, 4, 3),
		"its driver publishes 3 CPUs, and Slurm has 4 cores there"));
	CHECK(has(cores_trouble_on(true, 4, 4), "is hybrid"));
}

} // namespace

int main()
{
	return run_tests("device_cores",
		{TEST(cores_are_in_the_order_of_sockets), TEST(what_is_no_cpu),
			TEST(two_devices_of_one_cpu_are_trouble), TEST(claims_for_cpus_are_no_gres),
			TEST(a_claim_for_all_cpus_is_not_looked_at), TEST(a_core_is_a_cpu),
			TEST(what_is_not_exact_is_not_dealt), TEST(other_claims_do_not_need_cores),
			TEST(requests_must_be_the_claims), TEST(nodes_that_cannot_serve_them)});
}
