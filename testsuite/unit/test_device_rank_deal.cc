/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sharing out the devices of a gang's job among its pods on a node. */
#include "src/core/device/rank_deal.h"
#include "testsuite/unit/device_facts.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

constexpr char k_extra[] = "slurm-kube:gpu@gpu.example.com=gpu-0,gpu-1,gpu-2,gpu-3";

Devices four()
{
	Devices out;
	out.add("n1",
		{device("gpu-0", "x"), device("gpu-1", "x"), device("gpu-2", "a"),
			device("gpu-3", "a")});
	return out;
}

NodeAllocation given(const std::string &indices, std::uint64_t count)
{
	NodeAllocation out;
	out.node = "n1";
	out.gres = {{"gpu", "", count, indices}};
	return out;
}

ResourceClaim says(ResourceClaim claim, const std::string &uid,
	std::initializer_list<std::pair<const char *, const char *>> devices)
{
	claim.allocation.emplace();
	for (const auto &[request, name] : devices)
		claim.allocation->results.push_back({request, {{k_driver, "n1"}, name}});
	claim.reserved_for = {uid};
	return claim;
}

/* A pod and its claims. */
struct Rank {
	std::string uid;
	std::vector<ResourceClaim> claims;
	bool is_bound = false;
	std::optional<AllocateDevices> sent = {};
	std::vector<const ResourceClaim *> shared = {};
};

/* "a: c=gpu-0 d=gpu-1; b: ..." or the error */
std::string dealt(const Devices &devices, const std::vector<Rank> &ranks,
	const NodeAllocation &slot = given("0-3", 4))
{
	std::vector<RankClaims> asked;
	for (const Rank &one : ranks) {
		RankClaims &rank = asked.emplace_back();
		rank.pod_uid = one.uid;
		rank.is_bound = one.is_bound;
		rank.sent = one.sent;
		rank.shared = one.shared;
		for (const ResourceClaim &claim : one.claims)
			rank.claims.push_back(&claim);
	}
	const auto deals = deal_to_ranks(asked, slot, k_extra, devices.sources());
	if (!deals)
		return deals.error().what;
	std::string out;
	for (std::size_t i = 0; i < ranks.size(); i++) {
		out += (out.empty() ? "" : "; ") + ranks[i].uid + ":";
		for (const ClaimDeal &deal : (*deals)[i]) {
			const auto at = static_cast<std::size_t>(&deal - (*deals)[i].data());
			const std::size_t shared = asked[i].shared.size();
			CHECK(deal.claim ==
				(at < shared ? asked[i].shared[at] : asked[i].claims[at - shared]));
			for (const ChosenDevice &one : deal.devices)
				out += " " + deal.claim->id.name + "=" + one.result.device.name;
		}
	}
	return out;
}

ResourceClaim one(const std::string &name)
{
	return claim(name, {request("r")});
}

void in_the_order_of_ranks()
{
	CHECK_EQUAL(dealt(four(), {{"a", {one("c")}}, {"b", {one("d")}}}, given("1,3", 2)),
		"a: c=gpu-1; b: d=gpu-3");
	CHECK_EQUAL(dealt(four(), {{"a", {}}, {"b", {one("d"), one("e")}}}, given("1,3", 2)),
		"a:; b: d=gpu-1 e=gpu-3");
	CHECK(has(dealt(four(), {{"a", {one("c")}}, {"b", {one("d")}}}, given("1", 1)),
		"resource claim d, request r"));
}

void what_is_written_stays()
{
	CHECK_EQUAL(
		dealt(four(), {{"a", {one("c")}}, {"b", {says(one("d"), "b", {{"r", "gpu-0"}})}}},
			given("0-1", 2)),
		"a: c=gpu-1; b: d=gpu-0");
	/* a pod of two claims, of which the second is written */
	CHECK_EQUAL(dealt(four(),
			    {{"a", {one("c"), says(one("d"), "a", {{"r", "gpu-0"}})}},
				    {"b", {one("e")}}},
			    given("0-2", 3)),
		"a: c=gpu-1 d=gpu-0; b: e=gpu-2");
	/* of another pod, or no device of the job */
	CHECK_EQUAL(
		dealt(four(), {{"a", {says(one("c"), "z", {{"r", "gpu-1"}})}}}, given("0-1", 2)),
		"a: c=gpu-0");
	CHECK_EQUAL(
		dealt(four(), {{"a", {says(one("c"), "a", {{"r", "gpu-3"}})}}}, given("0-1", 2)),
		"a: c=gpu-0");
}

/* The API server may have done it, although the watch has not shown it. */
void what_is_being_written_stays()
{
	AllocateDevices sent;
	sent.claim = one("d").id;
	sent.uid = one("d").uid;
	sent.devices = {{{"r", {{k_driver, "n1"}, "gpu-0"}}, ""}};
	CHECK_EQUAL(
		dealt(four(), {{"a", {one("c")}}, {"b", {one("d")}, false, sent}}, given("0-1", 2)),
		"a: c=gpu-1; b: d=gpu-0");
	sent.uid = "of another claim with that name";
	CHECK_EQUAL(
		dealt(four(), {{"a", {one("c")}}, {"b", {one("d")}, false, sent}}, given("0-1", 2)),
		"a: c=gpu-0; b: d=gpu-1");
}

void a_bound_pod_keeps_what_it_has()
{
	const std::vector<Rank> ranks{{"a", {says(one("c"), "a", {{"r", "gpu-0"}})}},
		{"b", {says(one("d"), "b", {{"r", "gpu-0"}})}, true}};
	CHECK_EQUAL(dealt(four(), ranks, given("0-1", 2)), "a: c=gpu-1; b: d=gpu-0");
	/* its job was lost, and the new one has other devices */
	CHECK_EQUAL(
		dealt(four(),
			{{"a", {one("c")}}, {"b", {says(one("d"), "b", {{"r", "gpu-3"}})}, true}},
			given("0-1", 2)),
		"a: c=gpu-0; b: d=gpu-3");
}

/* One of its two devices is the job's: no other pod gets it. */
void a_bound_pod_with_one_device_of_the_job()
{
	const ResourceClaim both =
		says(claim("d", {request("r", 2)}), "b", {{"r", "gpu-0"}, {"r", "gpu-3"}});
	CHECK_EQUAL(dealt(four(), {{"a", {one("c")}}, {"b", {both}, true}}, given("0-1", 2)),
		"a: c=gpu-1; b: d=gpu-0 d=gpu-3");
}

/* The first pod comes alone, and must not take what only the second can use. */
void devices_that_suit_fewer_go_first()
{
	const auto mixed = [](const std::string &name) {
		return claim(name, {request("any"), request("x", 1, of_model("x"))});
	};
	CHECK_EQUAL(dealt(four(), {{"b", {mixed("d")}}}), "b: d=gpu-2 d=gpu-0");
	const ResourceClaim first = says(mixed("d"), "b", {{"any", "gpu-2"}, {"x", "gpu-0"}});
	CHECK_EQUAL(dealt(four(), {{"a", {mixed("c")}}, {"b", {first}, true}}),
		"a: c=gpu-3 c=gpu-1; b: d=gpu-2 d=gpu-0");
	/* if what is written leaves too little, it is written anew */
	const ResourceClaim greedy = says(mixed("d"), "b", {{"any", "gpu-1"}, {"x", "gpu-0"}});
	CHECK_EQUAL(dealt(four(), {{"a", {mixed("c")}}, {"b", {greedy}}}),
		"a: c=gpu-2 c=gpu-0; b: d=gpu-3 d=gpu-1");
}

/* A device that was written may have got a taint since. */
void what_does_not_fit_any_more()
{
	Devices devices;
	SliceDevice tainted = device("gpu-0", "x");
	tainted.taints = {{"broken", "", "NoExecute"}};
	devices.add("n1", {tainted, device("gpu-1", "x")});
	const ResourceClaim written = says(one("c"), "a", {{"r", "gpu-0"}});
	CHECK(has(dealt(devices, {{"a", {written}}}, given("0", 1)), "none is left"));
	CHECK_EQUAL(dealt(devices, {{"a", {written}, true}}, given("0", 1)), "a: c=gpu-0");
}

void alternatives()
{
	const auto either = [](const std::string &name) {
		return claim(name,
			{first_of("r", {request("r/two", 2), request("r/x", 1, of_model("x"))})});
	};
	CHECK_EQUAL(dealt(four(), {{"a", {either("c")}}, {"b", {either("d")}}}),
		"a: c=gpu-0 c=gpu-1; b: d=gpu-2 d=gpu-3");
	CHECK_EQUAL(dealt(four(), {{"a", {either("c")}}, {"b", {either("d")}}}, given("0-1", 2)),
		"a: c=gpu-0; b: d=gpu-1");
	/* beside a pod whose claim has none */
	CHECK_EQUAL(dealt(four(), {{"a", {one("c")}}, {"b", {either("d")}}}, given("0-1", 2)),
		"a: c=gpu-0; b: d=gpu-1");
	/* with a second claim that has none; four devices are too few for three each */
	CHECK_EQUAL(dealt(four(),
			    {{"a", {either("c"), claim("e", {request("r")})}},
				    {"b", {either("d"), claim("f", {request("r")})}}}),
		"a: c=gpu-0 e=gpu-2; b: d=gpu-1 f=gpu-3");
}

void a_shared_claim_is_served_once()
{
	const ResourceClaim all = one("s");
	CHECK_EQUAL(dealt(four(),
			    {{"a", {one("c")}, false, {}, {&all}},
				    {"b", {one("d")}, false, {}, {&all}}, {"x", {one("e")}}},
			    given("0-3", 4)),
		"a: s=gpu-0 c=gpu-1; b: s=gpu-0 d=gpu-2; x: e=gpu-3");
	CHECK(has(dealt(four(), {{"a", {one("c")}, false, {}, {&all}}}, given("0", 1)),
		"resource claim c, request r"));
}

void a_shared_claim_keeps_its_devices()
{
	/* reserved for a pod that has ended, not for these two */
	const ResourceClaim all = says(one("s"), "z", {{"r", "gpu-1"}});
	CHECK_EQUAL(
		dealt(four(), {{"a", {one("c")}, false, {}, {&all}}, {"b", {}, false, {}, {&all}}},
			given("0-1", 2)),
		"a: s=gpu-1 c=gpu-0; b: s=gpu-1");
	/* not a device of the job: only a bound pod keeps it */
	const ResourceClaim other = says(one("s"), "b", {{"r", "gpu-3"}});
	CHECK_EQUAL(dealt(four(), {{"a", {}, false, {}, {&other}}, {"b", {}, false, {}, {&other}}},
			    given("0-1", 2)),
		"a: s=gpu-0; b: s=gpu-0");
	CHECK_EQUAL(dealt(four(), {{"a", {}, false, {}, {&other}}, {"b", {}, true, {}, {&other}}},
			    given("0-1", 2)),
		"a: s=gpu-3; b: s=gpu-3");
	/* the first pod's write may have been done */
	const ResourceClaim free = one("s");
	AllocateDevices sent;
	sent.claim = free.id;
	sent.uid = free.uid;
	sent.devices = {{{"r", {{k_driver, "n1"}, "gpu-1"}}, ""}};
	CHECK_EQUAL(dealt(four(), {{"a", {}, false, sent, {&free}}, {"b", {}, false, {}, {&free}}},
			    given("0-1", 2)),
		"a: s=gpu-1; b: s=gpu-1");
}

/* Each alternative of the shared claim with each of the others, which all take the same. */
void alternatives_of_a_shared_claim()
{
	const ResourceClaim all =
		claim("s", {first_of("r", {request("r/two", 2), request("r/one")})});
	const auto either = [](const std::string &name) {
		return claim(name,
			{first_of("r", {request("r/two", 2), request("r/x", 1, of_model("x"))})});
	};
	CHECK_EQUAL(dealt(four(),
			    {{"a", {either("c")}, false, {}, {&all}},
				    {"b", {either("d")}, false, {}, {&all}}}),
		"a: s=gpu-2 s=gpu-3 c=gpu-0; b: s=gpu-2 s=gpu-3 d=gpu-1");
	CHECK_EQUAL(dealt(four(),
			    {{"a", {either("c")}, false, {}, {&all}},
				    {"b", {either("d")}, false, {}, {&all}}},
			    given("0-2", 3)),
		"a: s=gpu-2 c=gpu-0; b: s=gpu-2 d=gpu-1");
}

} // namespace

int main()
{
	return check::run_tests("device_rank_deal",
		{TEST(in_the_order_of_ranks), TEST(what_is_written_stays),
			TEST(what_is_being_written_stays), TEST(a_bound_pod_keeps_what_it_has),
			TEST(a_bound_pod_with_one_device_of_the_job),
			TEST(devices_that_suit_fewer_go_first), TEST(what_does_not_fit_any_more),
			TEST(alternatives), TEST(a_shared_claim_is_served_once),
			TEST(a_shared_claim_keeps_its_devices),
			TEST(alternatives_of_a_shared_claim)});
}
