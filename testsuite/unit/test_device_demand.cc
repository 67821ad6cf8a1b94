/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What resource claims mean for a job: the GRES to ask for, and the nodes that Slurm may choose. */
#include "src/core/device/alternatives.h"
#include "testsuite/unit/device_facts.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

/* "gpu:a:1 | n1 n2 | n3: has no ..." or the error */
std::string demand(const Devices &devices, const std::vector<ResourceClaim> &claims)
{
	std::vector<const ResourceClaim *> all;
	for (const ResourceClaim &one : claims)
		all.push_back(&one);
	const auto found = demand_of(all, devices.sources());
	if (!found)
		return found.error().what;
	std::string out = gres_text(found->gres) + " |";
	for (const std::string &node : found->fit)
		out += " " + node;
	for (const auto &[node, why] : found->unfit)
		out += " | " + node + ": " + why;
	return out;
}

Devices two_types()
{
	Devices out;
	out.add("n1", {device("gpu-0", "a"), device("gpu-1", "a")});
	out.add("n2", {device("gpu-0", "b"), device("gpu-1", "b")});
	return out;
}

void any_device_of_the_class()
{
	CHECK_EQUAL(demand(two_types(), {claim("c", {request("r", 2)})}), "gpu:2 | n1 n2");
}

void a_selector_that_means_a_type()
{
	CHECK_EQUAL(demand(two_types(), {claim("c", {request("r", 1, of_model("a"))})}),
		"gpu:1 | n1 | n2: has no device for request r of its resource claim");
}

void a_type_is_named_where_a_node_has_both()
{
	Devices devices = two_types();
	devices.add("n3", {device("gpu-0", "a"), device("gpu-1", "b")});
	CHECK_EQUAL(demand(devices, {claim("c", {request("r", 1, of_model("a"))})}),
		"gpu:a:1 | n1 n3 | n2: has no device for request r of its resource claim");
}

void requests_are_added_up()
{
	Devices devices;
	devices.add("n1",
		{device("gpu-0", "a"), device("gpu-1", "a"), device("gpu-2", "a"),
			device("gpu-3", "a")});
	const ResourceClaim one = claim("c", {request("r", 2), request("s")});
	CHECK_EQUAL(demand(devices, {one, claim("d", {request("t")})}), "gpu:4 | n1");
}

/* Slurm refuses "gpu:1,gpu:a:1". */
void no_request_for_any_type_beside_one_for_a_type()
{
	Devices devices;
	devices.add("n1", {device("gpu-0", "a"), device("gpu-1", "b"), device("gpu-2", "b")});
	CHECK_EQUAL(demand(devices, {claim("c", {request("r"), request("s", 1, of_model("a"))})}),
		"gpu:b:1,gpu:a:1 | n1");
}

void some_devices_of_a_type()
{
	Devices devices = two_types();
	SliceDevice other = device("gpu-1", "a");
	other.taints = {{"broken", "", "NoSchedule"}};
	devices.add("n3", {device("gpu-0", "a"), other});
	CHECK_EQUAL(demand(devices, {claim("c", {request("r")})}),
		"gpu:1 | n1 n2 | n3: 1 of its 2 devices are for request r of its resource claim, "
		"and Slurm cannot be told which");
	DeviceRequest tolerant = request("r");
	tolerant.tolerations = {{"broken", TolerationOp::exists, "", ""}};
	CHECK_EQUAL(demand(devices, {claim("c", {tolerant})}), "gpu:1 | n1 n2 n3");
}

void what_cannot_be_served()
{
	Devices devices = two_types();
	DeviceRequest unknown = request("r");
	unknown.device_class = "fpga";
	CHECK_EQUAL(demand(devices, {claim("c", {unknown})}),
		"its resource claim: request r: device class fpga does not exist");
	CHECK_EQUAL(demand(devices, {claim("c", {request("r", 1, of_model("z"))})}),
		"its resource claim: request r: no device of a rule in section devices of "
		"slurmkubed.yaml matches class gpu and the selectors of the request");
	ResourceClaim refused = claim("c", {request("r")});
	refused.unsupported = "spec.devices.requests[r].firstAvailable";
	CHECK(has(demand(devices, {refused}), "firstAvailable is not supported"));
	CHECK(has(
		demand(devices, {claim("c", {request("r", 1, "device.nonsense")})}), "request r"));
}

/* Any user may write claims, and all devices of the cluster are looked at. */
void limits()
{
	CHECK(has(demand(two_types(), {claim("c", {request("r", 33)})}), "more than 32 devices"));
	CHECK(has(demand(two_types(), {claim("c", {request("r", 20), request("s", 20)})}),
		"more than 32 devices"));
	if (check::k_is_sanitized)
		return;
	const std::string list = "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]";
	const std::string text =
		list + ".all(a, " + list + ".all(b, " + list + ".all(c, a + b + c > 0)))";
	Devices many;
	for (int i = 0; i < 600; i++)
		many.add("n" + std::to_string(i), {device("gpu-0", "a")});
	CHECK(has(demand(many, {claim("c", {request("r", 1, text)})}), "too expensive"));
}

/* With 32 GPUs each. */
Devices many_nodes(int nodes)
{
	Devices out;
	for (int i = 0; i < nodes; i++) {
		std::vector<SliceDevice> list;
		for (int k = 0; k < 32; k++)
			list.push_back(device("gpu-" + std::to_string(k), "a"));
		out.add("n" + std::to_string(i), std::move(list));
	}
	return out;
}

ResourceClaim with_requests(int requests)
{
	std::vector<DeviceRequest> list;
	for (int i = 0; i < requests; i++)
		list.push_back(request("r" + std::to_string(i)));
	return claim("c", std::move(list));
}

/* What costs nothing in CEL is limited, too: classes need no selector. */
void looks_are_limited()
{
	Devices devices = many_nodes(check::k_is_sanitized ? 3 : 300);
	devices.classes["gpu"].selectors.clear();
	CHECK(demand(devices, {with_requests(1)}).starts_with("gpu:1 | n0 n1 "));
	CHECK(demand(devices, {with_requests(32)}).starts_with("gpu:32 | n0 n1 "));
	if (check::k_is_sanitized)
		return;
	/* a claim has at most 32 requests, and a pod any number of claims */
	std::vector<ResourceClaim> claims;
	for (int i = 0; i < 10; i++)
		claims.push_back(with_requests(32));
	CHECK(has(demand(devices, claims), "too expensive for all devices of the cluster"));
	/* the same as alternatives: not one way after the other to the end */
	std::vector<DeviceRequest> ways;
	for (int i = 0; i < 6; i++)
		ways.push_back(
			first_of("r", {request("r/a", 1, "false"), request("r/b", 1, "false")}));
	CHECK(has(demand(devices, {claim("c", std::move(ways))}), "no device"));
}

/* Each constraint compares all devices of its requests on each node. */
void constraints_are_limited()
{
	const Devices devices = many_nodes(check::k_is_sanitized ? 3 : 100);
	ResourceClaim one = with_requests(32);
	const auto constrain = [&](int constraints) {
		one.constraints.clear();
		for (int i = 0; i < constraints; i++)
			one.constraints.push_back({{}, std::string(k_driver) + "/model", false});
		return demand(devices, {one});
	};
	CHECK(constrain(2).starts_with("gpu:32 | n0 n1 "));
	if (check::k_is_sanitized)
		return;
	CHECK_EQUAL(constrain(32),
		"its resource claims: requests, selectors and constraints are too expensive for "
		"all devices of the cluster");
}

/* For each node they are compared with each other. */
void requests_for_admin_are_limited()
{
	const Devices devices = many_nodes(40);
	std::vector<ResourceClaim> claims;
	for (int i = 0; i < 20; i++) {
		claims.push_back(with_requests(32));
		for (DeviceRequest &one : claims.back().requests)
			one.is_for_admin = true;
	}
	if (!check::k_is_sanitized)
		CHECK(has(demand(devices, claims), "too expensive"));
	claims.resize(2);
	CHECK(demand(devices, claims).starts_with(" | n0 n1 "));
}

/* In kube-scheduler, too, a missing attribute fails the whole claim. */
void a_selector_that_fails()
{
	const std::string text = std::string("device.attributes['") + k_driver + "'].size == 1";
	const std::string why = demand(two_types(), {claim("c", {request("r", 1, text)})});
	CHECK(has(why, "node n1: request r: device gpu-0"));
}

void devices_of_two_rules()
{
	Devices devices = two_types();
	devices.rules = {rule("gpu"), rule("nic")};
	CHECK(has(demand(devices, {claim("c", {request("r")})}),
		"devices of GRES gpu and of GRES nic match"));
}

/* matchAttribute, distinctAttribute */
void constraints()
{
	struct Row {
		const char *first, *second;
		bool is_distinct;
		std::int64_t count;
		bool is_fit;
	};
	for (const Row &row : {Row{"x", "x", false, 2, true}, Row{"x", "y", false, 2, false},
		     Row{"x", "y", false, 1, true}, Row{"x", "y", true, 2, true},
		     Row{"x", "x", true, 2, false}}) {
		Devices devices;
		devices.rules = {rule("gpu")};
		devices.add("n1", {device("gpu-0", row.first), device("gpu-1", row.second)});
		ResourceClaim one = claim("c", {request("r", row.count)});
		one.constraints = {{{}, std::string(k_driver) + "/model", row.is_distinct}};
		CHECK_EQUAL(has(demand(devices, {one}), "| n1:"), !row.is_fit);
	}
	Devices devices = two_types();
	ResourceClaim missing = claim("c", {request("r", 2)});
	missing.constraints = {{{"r"}, std::string(k_driver) + "/numa", false}};
	CHECK(has(demand(devices, {missing}), "a device has no attribute gpu.example.com/numa"));
	missing.constraints.front().requests = {"other"};
	CHECK_EQUAL(demand(devices, {missing}), "gpu:2 | n1 n2");
}

void a_node_with_too_few()
{
	Devices devices = two_types();
	devices.add("n3", {device("gpu-0", "a"), device("gpu-1", "a"), device("gpu-2", "a")});
	CHECK_EQUAL(demand(devices, {claim("c", {request("r", 2), request("s")})}),
		"gpu:3 | n3 | n1: has 2 of the 3 devices that its resource claims ask for"
		" | n2: has 2 of the 3 devices that its resource claims ask for");
}

/* firstAvailable: the first alternative that a node could serve */
void alternatives()
{
	const DeviceRequest one = request("r/one", 1, of_model("b")),
			    two = request("r/two", 2, of_model("a")), many = request("r/many", 3),
			    none = request("r/none", 1, of_model("z"));
	const auto asked = [](std::vector<DeviceRequest> of_r, std::vector<DeviceRequest> of_s) {
		std::vector<DeviceRequest> all{first_of("r", std::move(of_r))};
		if (!of_s.empty())
			all.push_back(first_of("s", std::move(of_s)));
		return demand(two_types(), {claim("c", std::move(all))}).substr(0, 10);
	};
	CHECK_EQUAL(asked({two, one}, {}), "gpu:2 | n1");
	CHECK_EQUAL(asked({one, two}, {}), "gpu:1 | n2");
	CHECK_EQUAL(asked({many, none, two}, {}), "gpu:2 | n1");
	/* no node has a device of each model, so only one way is left */
	CHECK_EQUAL(asked({one}, {two, one}), "gpu:2 | n2");
	/* none can be served: the first one is told */
	CHECK(has(demand(two_types(), {claim("c", {first_of("r", {none, many})})}), "r/none"));
	CHECK(has(demand(two_types(), {claim("c", {first_of("r", {many, none})})}), "gpu:3"));
}

/* allocationMode All: the number that most nodes have */
void all_devices()
{
	Devices devices = two_types();
	devices.add("n3", {device("gpu-0", "a")});
	CHECK_EQUAL(demand(devices, {claim("c", {all_of(request("r"))})}),
		"gpu:2 | n1 n2 | n3: has 1 devices for request r of its resource claim, which asks "
		"for all, and most nodes have 2");
	CHECK_EQUAL(demand(two_types(), {claim("c", {all_of(request("r", 1, of_model("a")))})}),
		"gpu:2 | n1 | n2: has no device for request r of its resource claim");
	CHECK_EQUAL(demand(two_types(), {claim("c", {all_of(request("r")), request("s")})}),
		"gpu:3 | | n1: has 2 of the 3 devices that its resource claims ask for"
		" | n2: has 2 of the 3 devices that its resource claims ask for");
	Devices many;
	std::vector<SliceDevice> list;
	for (int i = 0; i < 33; i++)
		list.push_back(device("gpu-" + std::to_string(i), "a"));
	many.add("n1", std::move(list));
	CHECK(has(demand(many, {claim("c", {all_of(request("r"))})}), "more than 32 devices"));
}

/* adminAccess: Slurm counts no device, but the node must have them. */
void devices_for_admin()
{
	const DeviceRequest two = for_admin(request("r", 2, of_model("a")));
	CHECK_EQUAL(demand(two_types(), {claim("c", {two})}),
		" | n1 | n2: has no device for request r of its resource claim");
	Devices mixed;
	mixed.add("n1", {device("gpu-0", "a"), device("gpu-1", "b")});
	CHECK_EQUAL(demand(mixed, {claim("c", {two})}),
		" | | n1: has 1 devices for request r of its resource claim");
	CHECK_EQUAL(demand(mixed, {claim("c", {all_of(two)}), claim("d", {request("s")})}),
		"gpu:1 | n1");
}

/* In one claim a device is for one request only. */
void devices_for_admin_and_others()
{
	const DeviceRequest look = for_admin(request("look"));
	CHECK_EQUAL(demand(two_types(), {claim("c", {look, request("r", 2)})}),
		"gpu:2 | | n1: has 2 devices for request look of its resource claim, and other "
		"requests of the claim may need them | n2: has 2 devices for request look of its "
		"resource claim, and other requests of the claim may need them");
	CHECK_EQUAL(demand(two_types(), {claim("c", {look, request("r")})}), "gpu:1 | n1 n2");
	CHECK_EQUAL(demand(two_types(), {claim("c", {request("r", 2)}), claim("d", {look})}),
		"gpu:2 | n1 n2");
	CHECK(has(demand(two_types(), {claim("c", {all_of(look), request("r")})}), "gpu:1 | |"));
}

/* The constraint is on all devices of the node, however many most nodes have. */
void constraints_on_all_for_admin()
{
	Devices devices;
	devices.add("n1", {device("gpu-0", "a")});
	devices.add("n2", {device("gpu-0", "a"), device("gpu-1", "b")});
	ResourceClaim alike = claim("c", {for_admin(all_of(request("r")))});
	alike.constraints = {{{}, std::string(k_driver) + "/model", false}};
	CHECK(has(demand(devices, {alike}), " | n1 | n2: its devices differ in"));
}

/* Kubernetes gives all devices that the selectors match, or none. */
void all_devices_or_none()
{
	Devices devices = two_types();
	SliceDevice tainted = device("gpu-1", "b");
	tainted.taints = {{"broken", "", "NoSchedule"}};
	devices.add("n2", {device("gpu-0", "a"), tainted});
	CHECK_EQUAL(demand(devices, {claim("c", {for_admin(all_of(request("r")))})}),
		" | n1 | n2: request r of its resource claim asks for all devices, and device "
		"gpu-1 has a taint that is not tolerated");
	CHECK(has(demand(devices, {claim("c", {all_of(request("r"))})}), "| n2: request r of its"));
	/* the request names a type because of n3, and on n2 "all" is more */
	devices.add("n2", {device("gpu-0", "a"), device("gpu-1", "b")});
	devices.add("n3", {device("gpu-0", "a"), tainted});
	CHECK(has(demand(devices, {claim("c", {all_of(request("r"))})}),
		"gpu:a:2 | n1 | n2: has 1 of the 2 devices"));
	ResourceSlice half = slice("n1", {device("other-0", "x")});
	half.name += "-other", half.uid += "-other";
	half.pool.driver = "other.example.com", half.slice_count = 2;
	(void)devices.inventory.seen(half);
	CHECK(has(demand(devices, {claim("c", {all_of(request("r"))})}), "is incomplete"));
}

/* A claim with more than 64 ways is not looked at to the end. */
void too_many_alternatives()
{
	std::vector<DeviceRequest> requests;
	for (int i = 0; i < 7; i++)
		requests.push_back(
			first_of("r", {request("r/a", 1, of_model("a")), request("r/b")}));
	const std::vector<ResourceClaim> claims{claim("c", std::move(requests))};
	Alternatives ways({&claims.front()});
	int seen = 1;
	while (ways.next())
		seen++;
	CHECK_EQUAL(seen, 64);
}

void an_incomplete_pool()
{
	Devices devices = two_types();
	ResourceSlice half = slice("n3", {device("gpu-0", "a")});
	half.slice_count = 2;
	(void)devices.inventory.seen(half);
	const std::string got = demand(devices, {claim("c", {request("r")})});
	CHECK(has(got, "gpu:1 | n1 n2 | n3: its devices are not known"));
}

} // namespace

int main()
{
	return check::run_tests("device_demand",
		{TEST(any_device_of_the_class), TEST(a_selector_that_means_a_type),
			TEST(a_type_is_named_where_a_node_has_both), TEST(requests_are_added_up),
			TEST(no_request_for_any_type_beside_one_for_a_type),
			TEST(some_devices_of_a_type), TEST(what_cannot_be_served), TEST(limits),
			TEST(looks_are_limited), TEST(constraints_are_limited),
			TEST(requests_for_admin_are_limited), TEST(a_selector_that_fails),
			TEST(devices_of_two_rules), TEST(constraints), TEST(a_node_with_too_few),
			TEST(alternatives), TEST(too_many_alternatives), TEST(all_devices),
			TEST(devices_for_admin), TEST(devices_for_admin_and_others),
			TEST(constraints_on_all_for_admin), TEST(all_devices_or_none),
			TEST(an_incomplete_pool)});
}
