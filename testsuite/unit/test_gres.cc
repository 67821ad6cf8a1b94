/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/policy/gres.h"
#include "src/core/reconcile/node_sync.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::core;

namespace
{

Resources asks(std::map<std::string, std::int64_t> extended)
{
	return {.milli_cpu = 0, .memory_bytes = 0, .pods = 1, .extended = std::move(extended)};
}

void pods_ask_by_the_table()
{
	const GresTable table = default_gres_table();
	CHECK_EQUAL(gres_of_pod(asks({}), table).value(), "");
	CHECK_EQUAL(gres_of_pod(asks({{"nvidia.com/gpu", 2}}), table).value(), "gpu:2");
	CHECK_EQUAL(gres_of_pod(asks({{"nvidia.com/gpu", 0}}), table).value(), "");
	CHECK_EQUAL(gres_of_pod(asks({{"nvidia.com/mig-1g.5gb", 1}, {"nvidia.com/gpu", 1}}), table)
			    .value(),
		"gpu:1,gpu:mig-1g.5gb:1");
	CHECK_EQUAL(gres_of_pod(asks({{"gpu.intel.com/i915", 1}, {"gpu.intel.com/xe", 2}}), table)
			    .value(),
		"gpu:3");
	CHECK_EQUAL(
		gres_of_pod(asks({{"hugepages-2Mi", 1}, {"ephemeral-storage", 1}}), table).value(),
		"");
}

void what_no_rule_names_is_refused_by_name()
{
	for (const char *resource :
		{"example.com/fpga", "nvidia.com/mig-", "nvidia.com/gpus", "gpu"}) {
		const auto asked = gres_of_pod(asks({{resource, 1}}), default_gres_table());
		REQUIRE(!asked.ok());
		CHECK(asked.error().what.find(std::string(resource) + ":") != std::string::npos);
		CHECK(asked.error().what.find("'gres' in slurmkubed.yaml") != std::string::npos);
	}
}

void nodes_offer_with_their_types()
{
	KubeNode node;
	node.allocatable.extended = {{"nvidia.com/gpu", 4}, {"nvidia.com/mig-1g.5gb", 2},
		{"example.com/other", 9}, {"amd.com/gpu", 0}};
	CHECK_EQUAL(gres_of_node(node, default_gres_table()), "gpu:4,gpu:mig-1g.5gb:2");
	const GresTable typed = {{.resource = "nvidia.com/gpu",
		.name = "gpu",
		.type = "",
		.type_label = "nvidia.com/gpu.product"}};
	CHECK_EQUAL(gres_of_node(node, typed), "gpu:4");
	node.labels["nvidia.com/gpu.product"] = "NVIDIA-A100,x=1";
	CHECK_EQUAL(gres_of_node(node, typed), "gpu:nvidia-a100_x_1:4");
}

void a_list_is_searched_by_whole_names()
{
	CHECK(lists_gres("gpu:a100:4,fpga:1", "gpu"));
	CHECK(lists_gres("gpu:a100:4,fpga:1", "fpga"));
	CHECK(lists_gres("fpga", "fpga"));
	CHECK(!lists_gres("gpu:a100:4", "a100"));
	CHECK(!lists_gres("gpus:4", "gpu"));
	CHECK(!lists_gres("", "gpu"));
}

void a_node_differs_in_size_and_not_in_where_its_devices_are()
{
	NodeSpec spec;
	spec.cpus = 4;
	spec.memory_mib = 100;
	spec.gres = "gpu:2";
	SlurmNode node;
	node.cpus = 4;
	node.memory_mib = 100;
	node.gres = "gpu:2(S:0)";
	CHECK(!differs(spec, node));
	node.gres = "gpu:1(S:0)";
	CHECK(differs(spec, node));
	node.gres = "gpu:2";
	node.cpus = 3;
	CHECK(differs(spec, node));
	node.cpus = 4;
	node.memory_mib = 99;
	CHECK(differs(spec, node));
}

} // namespace

int main()
{
	return check::run_tests("gres",
		{TEST(pods_ask_by_the_table), TEST(what_no_rule_names_is_refused_by_name),
			TEST(nodes_offer_with_their_types), TEST(a_list_is_searched_by_whole_names),
			TEST(a_node_differs_in_size_and_not_in_where_its_devices_are)});
}
