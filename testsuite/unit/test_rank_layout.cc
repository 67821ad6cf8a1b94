/* SPDX-License-Identifier: GPL-2.0-or-later */
/* On which node of an allocation each task and each pod of a gang lies. */
#include "src/core/gang/rank_layout.h"
#include "testsuite/unit/gang_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

using Names = std::vector<std::string>;
using Fixed = std::map<std::uint32_t, std::string>;

GangShape tasks_of(std::uint32_t tasks, std::uint32_t cpus, std::uint64_t memory_mib = 64)
{
	return {.tasks = tasks,
		.cpus_per_task = cpus,
		.memory_mib_per_task = memory_mib,
		.extended_per_task = {},
		.task_of_rank = {}};
}

NodeAllocation share(const char *node, std::uint32_t cpus, std::uint64_t memory_mib,
	std::uint64_t gpus = 0, const char *type = "")
{
	NodeAllocation out = make_allocation(node, cpus, memory_mib);
	if (gpus > 0)
		out.gres.push_back({"gpu", type, gpus, ""});
	return out;
}

const std::vector<Gres> k_four_gpus{{"gpu", "", 4, ""}};

void tasks_fill_nodes_in_the_order_given()
{
	const GangShape shape = tasks_of(5, 4);
	CHECK((nodes_of_tasks(shape, nodes({{"b", 8}, {"a", 4}, {"c", 8}}), {}) ==
		Names{"b", "b", "a", "c", "c"}));
	/* running ranks keep their nodes; the others take what is left */
	CHECK((nodes_of_tasks(shape, nodes({{"b", 8}, {"a", 4}, {"c", 8}}), {{0, "c"}, {4, "b"}}) ==
		Names{"c", "b", "a", "c", "b"}));
	CHECK((nodes_of_tasks(shape, nodes({{"b", 8}, {"a", 8}}), {}) ==
		Names{"b", "b", "a", "a", ""}));
	CHECK((nodes_of_tasks(shape, nodes({{"a", 64}, {"b", 64}, {"c", 64}}), {}, 2) ==
		Names{"a", "a", "b", "b", "c"}));
}

/* With exclusive nodes or MaxMemPerCPU, the CPUs of a share do not tell the number of its tasks. */
void shares_limit_tasks_by_memory_and_devices()
{
	const GangShape four = tasks_of(4, 1, 1024);
	CHECK((nodes_of_tasks(four, {share("a", 64, 0, 8), share("b", 64, 0, 8)}, {}, 0,
		       k_four_gpus) == Names{"a", "a", "b", "b"}));
	CHECK((nodes_of_tasks(four, {share("a", 64, 0, 12), share("b", 64, 0, 4)}, {}, 0,
		       k_four_gpus) == Names{"a", "a", "a", "b"}));
	CHECK((nodes_of_tasks(four, {share("a", 64, 0, 8, "a100"), share("b", 64, 0, 8, "h100")},
		       {}, 0, {{"gpu", "", 4, ""}}) == Names{"a", "a", "b", "b"}));
	CHECK((nodes_of_tasks(four, {share("a", 6, 3 * 1024), share("b", 2, 1024)}, {}) ==
		Names{"a", "a", "a", "b"}));
	/* allocations that do not list devices */
	CHECK((nodes_of_tasks(four, {share("a", 64, 0), share("b", 64, 0)}, {}, 0, k_four_gpus) ==
		Names{"a", "a", "b", "b"}));
}

void larger_shares_are_filled_evenly()
{
	CHECK((nodes_of_tasks(tasks_of(4, 1), nodes({{"a", 64}, {"b", 64}}), {}) ==
		Names{"a", "a", "b", "b"}));
	CHECK((nodes_of_tasks(tasks_of(5, 1), nodes({{"a", 64}, {"b", 64}}), {}) ==
		Names{"a", "a", "a", "b", "b"}));
	CHECK((nodes_of_tasks(tasks_of(5, 1), nodes({{"a", 1}, {"b", 64}, {"c", 64}}), {}) ==
		Names{"a", "b", "b", "c", "c"}));
	/* the order in which ranks start does not affect the others' nodes */
	const Names all =
		nodes_of_tasks(tasks_of(7, 1), nodes({{"a", 64}, {"b", 64}, {"c", 2}}), {});
	for (std::uint32_t first = 0; first < 7; first++) {
		for (std::uint32_t second = 0; second < 7; second++)
			CHECK((nodes_of_tasks(tasks_of(7, 1),
				       nodes({{"a", 64}, {"b", 64}, {"c", 2}}),
				       Fixed{{first, all[first]}, {second, all[second]}}) == all));
	}
	CHECK((nodes_of_tasks(tasks_of(4, 1), nodes({{"a", 64}, {"b", 64}}),
		       {{2, "a"}, {3, "a"}}) == Names{"b", "b", "a", "a"}));
}

std::string fitted(std::vector<Occupant> pods, const std::vector<NodeAllocation> &shares)
{
	fit_to_shares(pods, shares, k_whole_cpu, default_gres_table());
	std::string out;
	for (const Occupant &pod : pods)
		out += (out.empty() ? "" : " ") + (pod.node.empty() ? std::string("-") : pod.node);
	return out;
}

void no_share_is_given_out_twice()
{
	const Resources small = size(1000, 100), large = size(2000, 200);
	Resources gpus = small;
	gpus.extended["nvidia.com/gpu"] = 4;
	const std::vector<NodeAllocation> two = {share("a", 2, 200, 8), share("b", 2, 200, 4)};
	CHECK_EQUAL(fitted({{&small, false, "a"}, {&small, false, "a"}, {&small, false, "b"}}, two),
		"a a b");
	/* another node of the job has room */
	CHECK_EQUAL(fitted({{&large, true, "a"}, {&small, false, "a"}, {&small, false, "a"}}, two),
		"a b b");
	/* pods larger than their tasks */
	CHECK_EQUAL(fitted({{&large, false, "a"}, {&large, false, "a"}, {&large, false, "b"}}, two),
		"a - b");
	CHECK_EQUAL(fitted({{&gpus, false, "b"}, {&gpus, false, "b"}, {&gpus, false, "a"},
				   {&gpus, false, "a"}},
			    two),
		"b - a a");
	CHECK_EQUAL(fitted({{&small, false, "gone"}, {&small, false, ""}}, two), "a a");
	CHECK_EQUAL(fitted({{&small, true, "elsewhere"}}, two), "elsewhere");
}

} // namespace

int main()
{
	return check::run_tests("layout",
		{
			TEST(tasks_fill_nodes_in_the_order_given),
			TEST(shares_limit_tasks_by_memory_and_devices),
			TEST(larger_shares_are_filled_evenly),
			TEST(no_share_is_given_out_twice),
		});
}
