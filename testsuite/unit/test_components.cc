/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which roles of a workload share a job. */
#include "src/core/gang/components.h"
#include "testsuite/unit/builders.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

constexpr std::int64_t k_gib = 1 << 30;

Role role(const char *name, std::uint32_t pods, std::int64_t milli_cpu, std::int64_t gib = 1,
	const SchedulingConstraints &constraints = {})
{
	Pod pod;
	pod.requests = make_requests(milli_cpu, gib * k_gib);
	pod.constraints = constraints;
	return {.name = name,
		.pods = pods,
		.each = pod.requests,
		.pod_template = std::make_shared<const Pod>(pod)};
}

Role with_gpus(Role role, std::int64_t gpus)
{
	role.each.extended = {{"nvidia.com/gpu", gpus}};
	return role;
}

SchedulingConstraints in_pool(const char *pool)
{
	SchedulingConstraints constraints;
	constraints.node_selector = {{"pool", pool}};
	return constraints;
}

/* "head|a b": the roles of each component */
std::string text_of(const std::vector<ComponentRoles> &components)
{
	std::string text;
	for (const ComponentRoles &component : components) {
		text += text.empty() ? "" : "|";
		for (const Role &one : component.roles)
			text += (text.empty() || text.back() == '|' ? "" : " ") + one.name;
	}
	return text;
}

Role with_claim(Role role, const PodResourceClaim &claim)
{
	Pod pod = *role.pod_template;
	pod.resource_claims = {claim};
	role.pod_template = std::make_shared<const Pod>(pod);
	return role;
}

/* Roles of one claim share a job, whatever their sizes: pods of several jobs cannot share it. */
void roles_by_their_claims_for_devices()
{
	const PodResourceClaim x{"c", "x", false, false, ""}, y{"c", "y", false, false, ""},
		own{"c", "", true, false, "x"};
	const Role leader = role("leader", 1, 1000), worker = role("worker", 1, 32000);
	const auto parts = [&](const PodResourceClaim &one, const PodResourceClaim &other) {
		return text_of(components_of({with_claim(leader, one), with_claim(worker, other)}));
	};
	CHECK_EQUAL(parts(x, x), "leader worker");
	CHECK_EQUAL(parts(x, y), "leader|worker");
	CHECK_EQUAL(parts(own, own), "leader|worker");
	CHECK_EQUAL(parts(own, x), "leader|worker");
}

void roles_by_what_they_want()
{
	SchedulingConstraints tolerant;
	tolerant.tolerations = {{"gpu", TolerationOp::exists, "", ""}};
	const struct {
		std::vector<Role> roles;
		const char *components;
	} cases[] = {
		{{}, ""},
		{{role("only", 4, 1000)}, "only"},
		{{role("a", 1, 1000), role("b", 4, 1000)}, "a b"},
		{{role("a", 1, 1000, 1, in_pool("x")), role("b", 4, 1000)}, "a|b"},
		{{role("a", 1, 1000), role("b", 4, 1000, 1, tolerant)}, "a|b"},
		{{role("a", 1, 1000), with_gpus(role("b", 4, 1000), 1)}, "a|b"},
		{{with_gpus(role("a", 1, 1000), 8), with_gpus(role("b", 4, 1000), 1)}, "a|b"},
		{{role("a", 1, 1000, 1, in_pool("x")), role("b", 4, 1000),
			 role("c", 1, 1000, 1, in_pool("x"))},
			"a c|b"},
		{{role("driver", 1, 1000), role("worker", 4, 4000)},
			"driver worker"}, /* 20 CPUs for 17 */
		{{role("leader", 1, 1000), role("worker", 1, 32000)},
			"leader|worker"}, /* 64 CPUs for 33 */
		{{role("leader", 1, 1000, 1), role("worker", 1, 1000, 64)},
			"leader|worker"}, /* 128 GiB for 65 */
		{{role("leader", 1, 1000, 6), role("helper", 6, 150)},
			"leader helper"}, /* they share a task */
		{{role("none", 0, 1000, 1, in_pool("x")), role("b", 4, 1000)}, "none|b"},
	};
	for (const auto &one : cases)
		CHECK_EQUAL(text_of(components_of(one.roles)), one.components);
}

void ranks_go_over_all_in_the_owners_order()
{
	const auto components = components_of({role("a", 2, 1000, 1, in_pool("x")),
		role("b", 1, 1000), role("c", 2, 1000, 1, in_pool("x"))});
	REQUIRE(components.size() == 2);
	CHECK((components[0].workload_ranks == std::vector<std::uint32_t>{0, 1, 3, 4}));
	CHECK((components[1].workload_ranks == std::vector<std::uint32_t>{2}));
}

/* An owner with a hundred different templates must not create a hundred jobs. */
void there_are_few()
{
	std::vector<Role> sizes, pools;
	for (int i = 0; i < 100; i++) {
		sizes.push_back(role(std::to_string(i).c_str(), 1, 1000 << (i % 10), 1));
		pools.push_back(role(
			std::to_string(i).c_str(), 1, 1000, 1, in_pool(std::to_string(i).c_str())));
	}
	CHECK_EQUAL(components_of(sizes).size(), 1U);
	CHECK_EQUAL(components_of(pools).size(), k_components_most);
	CHECK_EQUAL(components_of(pools).back().roles.size(), 93U);
}

void keys()
{
	CHECK_EQUAL(component_key("uid/1", 0), "uid/1");
	CHECK_EQUAL(component_key("uid/1", 2), "uid/1+2");
	CHECK_EQUAL(workload_key("uid/1+2"), "uid/1");
	CHECK_EQUAL(workload_key("uid"), "uid");
	CHECK_EQUAL(component_of_key("uid/1+2"), 2U);
	CHECK_EQUAL(component_of_key("uid"), 0U);
	CHECK_EQUAL(component_of_key("uid+x"), 0U);
}

} // namespace

int main()
{
	return run_tests("components",
		{TEST(roles_by_what_they_want), TEST(roles_by_their_claims_for_devices),
			TEST(ranks_go_over_all_in_the_owners_order), TEST(there_are_few),
			TEST(keys)});
}
