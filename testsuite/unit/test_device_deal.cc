/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which claim gets which of the devices that Slurm has chosen, and what is written for it. */
#include "testsuite/unit/device_facts.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

constexpr char k_extra[] = "slurm-kube:gpu@gpu.example.com=gpu-0,gpu-1,gpu-2";

NodeAllocation given(const std::string &indices, std::uint64_t count)
{
	NodeAllocation out;
	out.node = "n1";
	out.gres = {{"gpu", "", count, indices}};
	return out;
}

Devices three()
{
	Devices out;
	out.add("n1", {device("gpu-0", "a"), device("gpu-1", "a"), device("gpu-2", "b")});
	return out;
}

std::vector<const ResourceClaim *> pointers(const std::vector<ResourceClaim> &claims)
{
	std::vector<const ResourceClaim *> out;
	for (const ResourceClaim &one : claims)
		out.push_back(&one);
	return out;
}

/* "c: r=gpu-0 s=gpu-1; d: ..." or the error */
std::string dealt(const Devices &devices, const std::vector<ResourceClaim> &claims,
	const NodeAllocation &slot, const std::string &extra = k_extra)
{
	const auto all = pointers(claims);
	const auto deals = deal(all, slot, extra, devices.sources());
	if (!deals)
		return deals.error().what;
	std::string out;
	for (const ClaimDeal &one : *deals) {
		out += (out.empty() ? "" : "; ") + one.claim->id.name + ":";
		for (const ChosenDevice &chosen : one.devices)
			out += " " + chosen.result.request + "=" + chosen.result.device.name;
	}
	return out;
}

void devices_by_index()
{
	CHECK_EQUAL(dealt(three(), {claim("c", {request("r")})}, given("1", 1)), "c: r=gpu-1");
	CHECK_EQUAL(dealt(three(), {claim("c", {request("r", 2)})}, given("0,2", 2)),
		"c: r=gpu-0 r=gpu-2");
	CHECK_EQUAL(dealt(three(), {claim("c", {request("r")}), claim("d", {request("s")})},
			    given("0-1", 2)),
		"c: r=gpu-0; d: s=gpu-1");
}

/* gpu-0 suits both requests, gpu-2 only the first. */
void every_request_gets_one()
{
	const ResourceClaim one = claim("c", {request("any"), request("only_a", 1, of_model("a"))});
	CHECK_EQUAL(dealt(three(), {one}, given("0,2", 2)), "c: any=gpu-2 only_a=gpu-0");
}

void what_cannot_be_dealt()
{
	const std::vector<ResourceClaim> one{claim("c", {request("r")})};
	CHECK(has(dealt(three(), one, given("", 1)), "Slurm names no indices of GRES gpu"));
	CHECK(has(dealt(three(), one, given("7", 1)), "index 7 of GRES gpu"));
	CHECK(has(dealt(three(), one, given("0", 1), ""), "not in its record in Slurm yet"));
	CHECK(has(dealt(three(), one, given("0", 0)), "no indices"));
	NodeAllocation none;
	none.node = "n1";
	CHECK(has(dealt(three(), one, none), "resource claim c, request r: Slurm gave no device"));
	CHECK(has(dealt(three(), one, given("0", 1), "slurm-kube:gpu@gpu.example.com=gpu-9"),
		"none is left that meets it"));
}

void a_device_that_changed_after_the_choice()
{
	Devices devices = three();
	SliceDevice tainted = device("gpu-0", "a");
	tainted.taints = {{"broken", "", "NoExecute"}};
	devices.add("n1", {tainted, device("gpu-1", "a"), device("gpu-2", "b")});
	CHECK(has(dealt(devices, {claim("c", {request("r")})}, given("0", 1)), "none is left"));
	ResourceClaim alike = claim("c", {request("r", 2)});
	alike.constraints = {{{}, std::string(k_driver) + "/model", false}};
	CHECK(has(dealt(three(), {alike}, given("1-2", 2)), "do not meet the constraint"));
	CHECK_EQUAL(dealt(three(), {alike}, given("0-1", 2)), "c: r=gpu-0 r=gpu-1");
}

std::string step_of(const ResourceClaim &one)
{
	const Devices devices = three();
	const auto deals = deal({&one}, given("1", 1), k_extra, devices.sources());
	if (!deals)
		return deals.error().what;
	const auto step = next_step(deals->front(), "n1", "p", "u");
	if (!step)
		return is_done(deals->front(), "u") ? "done" : "none";
	static const char *const names[] = {"protect", "allocate", "reserve", "release", "create"};
	return names[step->index()];
}

void steps_in_the_order_of_kube_scheduler()
{
	ResourceClaim one = claim("c", {request("r")});
	CHECK_EQUAL(step_of(one), "protect");
	one.uid.clear();
	CHECK_EQUAL(step_of(one), "create");
	one.uid = "uid-c";
	one.finalizers = {"a", k_claim_finalizer};
	CHECK_EQUAL(step_of(one), "allocate");
	one.allocation = Allocation{{{"r", {{k_driver, "n1"}, "gpu-1"}}}};
	CHECK_EQUAL(step_of(one), "none"); /* nobody has it: Kubernetes will take it away */
	one.reserved_for = {"u"};
	CHECK_EQUAL(step_of(one), "done");
	one.allocation->results.front().device.name = "gpu-0";
	CHECK_EQUAL(step_of(one), "release");
	one.reserved_for = {"u", "v"};
	CHECK_EQUAL(step_of(one), "none");
	one.allocation.reset();
	CHECK_EQUAL(step_of(one), "none");
}

/* What pod "b" does, whose gang has the waiting pods a and b, and others. */
std::string shared_step(
	std::vector<std::string> reserved, bool is_right = true, const char *pod = "b")
{
	ResourceClaim one = claim("c", {request("r")});
	one.finalizers = {k_claim_finalizer};
	if (!reserved.empty())
		one.allocation =
			Allocation{{{"r", {{k_driver, "n1"}, is_right ? "gpu-1" : "gpu-0"}}}};
	one.reserved_for = std::move(reserved);
	const Devices devices = three();
	const auto deals = deal({&one}, given("1", 1), k_extra, devices.sources());
	const ClaimUsers users{{{"pod-a", "a"}, {"pod-b", "b"}}, {"old"}};
	const auto step = next_step(deals->front(), "n1", "pod", pod, users);
	if (!step)
		return is_done(deals->front(), pod) ? "done" : "none";
	std::string out;
	const auto add = [&](const char *verb, const std::vector<ClaimUser> &list) {
		out = verb;
		for (const ClaimUser &user : list)
			out += " " + user.name;
	};
	if (const auto *allocate = std::get_if<AllocateDevices>(&*step))
		add("allocate", allocate->users);
	if (const auto *reserve = std::get_if<ReserveClaim>(&*step))
		add("reserve", reserve->users);
	if (const auto *release = std::get_if<ReleaseDevices>(&*step))
		out = "release " + release->leaving_uid;
	return out;
}

void steps_of_pods_that_share_a_claim()
{
	/* the first of them writes for all */
	CHECK_EQUAL(shared_step({}, true, "a"), "allocate pod-a pod-b");
	CHECK_EQUAL(shared_step({}), "none");
	CHECK_EQUAL(shared_step({"a"}), "reserve pod-b");
	CHECK_EQUAL(shared_step({"a"}, true, "a"), "done");
	CHECK_EQUAL(shared_step({"old"}, true, "a"), "reserve pod-a pod-b");
	CHECK_EQUAL(shared_step({"old"}), "none");
	CHECK_EQUAL(shared_step({"a", "b"}), "done");
	CHECK_EQUAL(shared_step({"stranger"}, true, "a"), "none");
	CHECK_EQUAL(shared_step({"a", "stranger"}), "none");
	/* they leave one after the other, and the last one gives the devices back */
	CHECK_EQUAL(shared_step({"a", "b"}, false), "none");
	CHECK_EQUAL(shared_step({"a", "b"}, false, "a"), "release a");
	CHECK_EQUAL(shared_step({"b"}, false), "release ");
	/* wherever the API server has put them */
	CHECK_EQUAL(shared_step({"b", "old"}, false), "release b");
	CHECK_EQUAL(shared_step({"old", "b"}, false), "release b");
}

void at_most_256_users()
{
	std::vector<std::string> reserved;
	for (int i = 0; i < 255; i++)
		reserved.emplace_back("old");
	CHECK_EQUAL(shared_step(reserved, true, "a"), "reserve pod-a");
	CHECK_EQUAL(shared_step(reserved), "none");
	reserved.emplace_back("old");
	CHECK_EQUAL(shared_step(reserved, true, "a"), "none");
}

/* allocationMode All: the job has all that meet the request, or the pod is not bound. */
void all_devices()
{
	const ResourceClaim all = claim("c", {all_of(request("r", 1, of_model("a")))});
	CHECK_EQUAL(dealt(three(), {all}, given("0-1", 2)), "c: r=gpu-0 r=gpu-1");
	CHECK(has(dealt(three(), {all}, given("0", 1)), "none is left that meets it"));
	CHECK(has(dealt(three(), {all}, given("0,2", 2)), "none is left that meets it"));
}

/* Kubernetes gives all devices that the selectors match, or none. */
void all_devices_or_none()
{
	Devices devices = three();
	SliceDevice tainted = device("gpu-1", "a");
	tainted.taints = {{"broken", "", "NoExecute"}};
	devices.add("n1", {device("gpu-0", "a"), tainted, device("gpu-2", "b")});
	const DeviceRequest all = all_of(request("r", 1, of_model("a")));
	NodeAllocation none;
	none.node = "n1";
	CHECK(has(dealt(devices, {claim("c", {all})}, given("0", 1)), "gpu-1 has a taint"));
	CHECK(has(dealt(devices, {claim("c", {for_admin(all)})}, none), "gpu-1 has a taint"));
	devices.rules[0].only =
		selector(std::string("device.attributes['") + k_driver + "'].model == 'a'");
	CHECK(has(dealt(devices, {claim("c", {all_of(request("r"))})}, given("0", 1)),
		"gpu-1 has a taint"));
	CHECK(has(dealt(devices, {claim("c", {all_of(request("r", 1, of_model("b")))})},
			  given("0", 1)),
		"gpu-2 is part of no GRES"));
}

/* An alternative that asks for all devices is not met by none of them. */
void all_of_no_devices()
{
	const DeviceRequest none = all_of(request("r/none", 1, of_model("z")));
	CHECK(has(dealt(three(), {claim("c", {none})}, given("0", 1)), "on node n1 is none"));
	CHECK_EQUAL(dealt(three(), {claim("c", {first_of("r", {none, request("r/any")})})},
			    given("2", 1)),
		"c: r/any=gpu-2");
}

/* adminAccess: the agent chooses, and the result says so. */
void devices_for_admin()
{
	NodeAllocation none;
	none.node = "n1";
	const ResourceClaim two = claim("c", {for_admin(request("r", 2, of_model("a")))});
	CHECK_EQUAL(dealt(three(), {two}, none), "c: r=gpu-0 r=gpu-1");
	CHECK_EQUAL(
		dealt(three(),
			{claim("c", {request("s")}), claim("d", {for_admin(all_of(request("r")))})},
			given("1", 1)),
		"c: s=gpu-1; d: r=gpu-0 r=gpu-1 r=gpu-2");
	CHECK(has(dealt(three(), {claim("c", {for_admin(request("r", 4))})}, none),
		"too few devices"));
	const Devices devices = three();
	const auto deals = deal({&two}, none, k_extra, devices.sources());
	CHECK(deals.ok() && deals->front().devices.front().result.is_for_admin);
}

/* As in kube-scheduler: a request with adminAccess shares devices with other claims only. */
void a_device_once_in_a_claim()
{
	const DeviceRequest look = for_admin(request("look")), other = for_admin(request("other"));
	CHECK_EQUAL(dealt(three(), {claim("c", {look, request("r"), other})}, given("0", 1)),
		"c: look=gpu-1 r=gpu-0 other=gpu-2");
	CHECK_EQUAL(dealt(three(), {claim("c", {request("r")}), claim("d", {look})}, given("0", 1)),
		"c: r=gpu-0; d: look=gpu-0");
	CHECK(has(dealt(three(), {claim("c", {for_admin(all_of(request("look"))), request("r")})},
			  given("0", 1)),
		"too few devices that meet it and no other request of it"));
}

/* What Slurm gave says which alternative was asked for. */
void alternatives()
{
	const DeviceRequest r =
		first_of("r", {request("r/b", 1, of_model("b")), request("r/two", 2)});
	CHECK_EQUAL(dealt(three(), {claim("c", {r})}, given("2", 1)), "c: r/b=gpu-2");
	CHECK_EQUAL(
		dealt(three(), {claim("c", {r})}, given("0-1", 2)), "c: r/two=gpu-0 r/two=gpu-1");
	CHECK(has(dealt(three(), {claim("c", {r})}, given("0", 1)), "request r/b: of the devices"));
	ResourceClaim one = claim("c", {r});
	one.constraints = {{{"r"}, std::string(k_driver) + "/model", false}};
	CHECK(has(dealt(three(), {one}, given("0,2", 2)), "c: r/b=gpu-2"));
	one.configs = {{{"r/b"}, "{}"}, {{"r"}, "{}"}, {{"r/two"}, "{}"}, {{}, "{}"}};
	Devices devices = three();
	devices.classes["gpu"].configs = {"{}"};
	const auto deals = deal({&one}, given("0-1", 2), k_extra, devices.sources());
	CHECK(deals.ok());
	const auto &configs = deals->front().configs;
	CHECK_EQUAL(configs.size(), std::size_t{4});
	CHECK(configs[0] == (ChosenConfig{true, {"r/two"}, "{}"}));
	CHECK(configs[1] == (ChosenConfig{false, {"r"}, "{}"}));
	CHECK(configs[2] == (ChosenConfig{false, {"r/two"}, "{}"}));
	CHECK(deals->front().claim == &one);
}

/* As kube-scheduler does, each class's configuration comes once, then that of the claim. */
void configuration_is_copied()
{
	Devices devices = three();
	devices.classes["gpu"].configs = {R"({"opaque":{"driver":"x"}})"};
	ResourceClaim one = claim("c", {request("r"), request("s")});
	one.configs = {{{"s"}, R"({"opaque":{"driver":"y"}})"}};
	const auto deals = deal({&one}, given("0-1", 2), k_extra, devices.sources());
	CHECK(deals.ok());
	const auto &configs = deals->front().configs;
	CHECK_EQUAL(configs.size(), std::size_t{2});
	CHECK(configs[0] == (ChosenConfig{true, {"r", "s"}, R"({"opaque":{"driver":"x"}})"}));
	CHECK(configs[1] == (ChosenConfig{false, {"s"}, R"({"opaque":{"driver":"y"}})"}));
}

} // namespace

int main()
{
	return check::run_tests("device_deal",
		{TEST(devices_by_index), TEST(every_request_gets_one), TEST(what_cannot_be_dealt),
			TEST(a_device_that_changed_after_the_choice),
			TEST(steps_in_the_order_of_kube_scheduler), TEST(configuration_is_copied),
			TEST(alternatives), TEST(all_devices), TEST(all_devices_or_none),
			TEST(all_of_no_devices), TEST(devices_for_admin),
			TEST(a_device_once_in_a_claim), TEST(steps_of_pods_that_share_a_claim),
			TEST(at_most_256_users)});
}
