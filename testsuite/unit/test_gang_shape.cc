/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shape of a gang's job: tasks, nodes and excess, by the pure functions. */
#include "src/core/model/natural_order.h"
#include "src/core/model/outcome.h"
#include "testsuite/unit/gang_stage.h"

#include <algorithm>

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

using Stage = GangStage;

std::vector<Rank> ranks(std::initializer_list<std::pair<std::uint32_t, Resources>> roles)
{
	std::vector<Rank> out;
	for (const auto &[pods, each] : roles) {
		for (std::uint32_t i = 0; i < pods; i++)
			out.push_back({std::to_string(each.milli_cpu), i, each});
	}
	return out;
}

/* ---- shape ---- */

void equal_pods_are_a_task_each()
{
	const GangShape shape = shape_of(ranks({{8, size(3500, 100)}}), 64);
	CHECK_EQUAL(shape.tasks, 8U);
	CHECK_EQUAL(shape.cpus_per_task, 4U);
	CHECK_EQUAL(shape.memory_mib_per_task, 100U);
}

void fractions_are_summed_before_they_are_rounded()
{
	const GangShape shape = shape_of(ranks({{10, size(100, 64)}}), 64);
	CHECK_EQUAL(shape.tasks, 1U);
	CHECK_EQUAL(shape.cpus_per_task, 1U);
	CHECK_EQUAL(shape.memory_mib_per_task, 640U);
	CHECK_EQUAL(shape_of(ranks({{25, size(100, 64)}}), 64).tasks, 3U);
	const GangShape tenths = shape_of(ranks({{25, size(250, 64)}}), 64, Packing::shared, 100);
	CHECK_EQUAL(tenths.tasks, 25U); /* 300m each: rounded up by less than 100m */
	CHECK_EQUAL(tenths.cpus_per_task, 3U);
	CHECK_EQUAL(shape_of(ranks({{10, size(100, 64)}}), 64, Packing::one_per_task).tasks, 10U);
}

/* A task's memory is shared out in proportion, whatever an option has made of it. */
void a_task_shares_its_memory_out()
{
	GangShape shape = shape_of(ranks({{2, size(250, 100)}, {1, size(250, 200)}}), 64);
	CHECK_EQUAL(shape.tasks, 1U);
	CHECK_EQUAL(shape.memory_mib_per_task, 400U);
	shape.memory_mib_per_task = 802;
	CHECK_EQUAL(memory_share_of(shape, 0), 200U);
	CHECK_EQUAL(memory_share_of(shape, 2), 401U);
	CHECK_EQUAL(memory_share_of(shape, 3), 0U);
	CHECK_EQUAL(memory_share_of({}, 0), 0U);
	CHECK_EQUAL(memory_share_of(shape_of(ranks({{2, size(4000, 10)}}), 64), 1), 64U);
}

/* A driver of one CPU and eight workers of four: the drivers share a task of a worker's size.
 * Whatever the mix, every pod lies in a task that can hold it. */
void unlike_roles_share_tasks_of_the_largest()
{
	const std::vector<Rank> mixed = ranks({{4, size(1000, 100)}, {8, size(4000, 400)}});
	const GangShape shape = shape_of(mixed, 64);
	CHECK_EQUAL(shape.tasks, 9U);
	CHECK_EQUAL(shape.cpus_per_task, 4U);
	std::map<std::uint32_t, std::int64_t> cpus, memory;
	for (std::size_t i = 0; i < mixed.size(); i++) {
		cpus[shape.task_of_rank[i]] += mixed[i].requests.milli_cpu;
		memory[shape.task_of_rank[i]] += mixed[i].requests.memory_bytes / k_mib;
	}
	for (const auto &[task, sum] : cpus)
		CHECK(sum <= std::int64_t{1000} * shape.cpus_per_task &&
			memory[task] <= static_cast<std::int64_t>(shape.memory_mib_per_task));
}

/* The job reports the excess caused by different roles, and no other rounding. */
void the_excess_of_unlike_roles_is_told()
{
	/* rounded up like any pod */
	CHECK_EQUAL(shape_of(ranks({{8, size(3500, 100)}}), 64).excess, "");
	CHECK_EQUAL(shape_of(ranks({{4, size(1000, 100)}, {8, size(4000, 400)}}), 64).excess, "");
	CHECK_EQUAL(shape_of(ranks({{1, size(16000, 1600)}, {8, size(4000, 400)}}), 64).excess, "");
	CHECK_EQUAL(shape_of(ranks({{1, size(1000, 100)}, {2, size(4000, 400)}}), 64).excess,
		"the job has more than its pods ask for (12 CPUs for 9 CPUs, 1200 MiB for 900 "
		"MiB), because all tasks of a job have one size");
	Resources with_gpu = size(4000, 400);
	with_gpu.extended["nvidia.com/gpu"] = 8;
	CHECK_EQUAL(shape_of(ranks({{1, size(4000, 400)}, {2, with_gpu}}), 64).excess,
		"the job has more than its pods ask for (24 nvidia.com/gpu for 16), because all "
		"tasks of a job have one size");
	CHECK_EQUAL(shape_of(ranks({{1, size(100, 64)}, {1, size(400, 64)}}), 64,
			    Packing::one_per_task, 100)
			    .excess,
		"the job has more than its pods ask for (0.8 CPUs for 0.5 CPUs), because all tasks "
		"of a job have one size");
}

/* For two roles and one resource, whatever their sizes and counts: first fit wastes less than
 * half of each task but one. */
void a_job_of_unlike_roles_is_not_twice_their_sum()
{
	for (std::int64_t small = 1; small <= 16; small++) {
		for (std::uint32_t count = 1; count <= 20; count++) {
			const GangShape shape =
				shape_of(ranks({{count, size(small * 1000, small * 64)},
						 {20 - count, size(16000, 16 * 64)}}),
					64);
			const std::int64_t asked = small * count + std::int64_t{16} * (20 - count),
					   has = std::int64_t{shape.tasks} * shape.cpus_per_task;
			CHECK(has >= asked);
			CHECK(has <= 2 * asked + shape.cpus_per_task);
			CHECK_EQUAL(shape.excess.find(" for " + std::to_string(asked) + " CPU") !=
					std::string::npos,
				has > asked);
		}
	}
}

void devices_count_as_much_as_cpus()
{
	Resources with_gpu = size(500, 64);
	with_gpu.extended["nvidia.com/gpu"] = 1;
	const GangShape shape = shape_of(ranks({{4, with_gpu}}), 64);
	CHECK(std::int64_t{shape.tasks} * shape.extended_per_task.at("nvidia.com/gpu") >= 4);
}

void names_are_sorted_as_people_count()
{
	const std::vector<std::string_view> sorted = {"", "a", "a-0", "a-00", "a-1", "a-01", "a-1b",
		"a-2", "a-9", "a-10", "a-10-2", "a-10-11", "a-99999999999999999999998",
		"a-99999999999999999999999", "ab", "b1", "b02", "b3"};
	for (std::size_t i = 0; i < sorted.size(); i++) {
		for (std::size_t j = 0; j < sorted.size(); j++)
			CHECK_EQUAL(natural_less(sorted[i], sorted[j]), i < j);
	}
}

Resources with_gpus(std::int64_t gpus, std::int64_t milli_cpu = 0, std::int64_t mib = 64)
{
	Resources out = size(milli_cpu, mib);
	out.extended["nvidia.com/gpu"] = gpus;
	return out;
}

/* "tasks x CPUs, MiB, GPUs" */
std::string shape_on(const NodeSizes &nodes, const std::vector<Rank> &pods)
{
	const GangShape shape = shape_of(pods, 64, Packing::shared, k_whole_cpu, nodes);
	const auto gpus = shape.extended_per_task.find("nvidia.com/gpu");
	return std::to_string(shape.tasks) + "x" + std::to_string(shape.cpus_per_task) + "," +
		std::to_string(shape.memory_mib_per_task) + "," +
		std::to_string(gpus == shape.extended_per_task.end() ? 0 : gpus->second);
}

/* A job must not need more than a node holds. Each of these jobs was refused or waited forever
 * when pods under one CPU shared tasks regardless of node sizes. */
void pods_share_a_task_only_as_far_as_nodes_hold_it()
{
	constexpr std::int64_t k_gib = 1024;
	const NodeSizes gpu_nodes{
		{{.cpus = 64, .memory_mib = 900 * k_gib, .pods = 110, .gres = "gpu:8"}, 3}};
	const NodeSizes plain{{{.cpus = 16, .memory_mib = 64 * k_gib, .pods = 110}, 6}},
		large{{{.cpus = 16, .memory_mib = 128 * k_gib, .pods = 110}, 6}};
	const NodeSizes one_large{{{.cpus = 16, .memory_mib = 64 * k_gib, .pods = 110}, 6},
		{{.cpus = 16, .memory_mib = 128 * k_gib, .pods = 110}, 1}};
	const NodeSizes few_pods{{{.cpus = 16, .memory_mib = 64 * k_gib, .pods = 20}, 6}},
		tiny{{{.cpus = 2, .memory_mib = 64 * k_gib, .pods = 110}, 1}};
	const struct {
		const char *what;
		const NodeSizes &nodes;
		std::vector<Rank> pods;
		const char *shape;
	} rows[] = {
		{"2 pods of 8 GPUs", gpu_nodes, ranks({{2, with_gpus(8)}}), "2x1,64,8"},
		{"9 pods of a GPU", gpu_nodes, ranks({{9, with_gpus(1)}}), "9x1,64,1"},
		{"no nodes are known", {}, ranks({{9, with_gpus(1)}}), "9x1,64,1"},
		{"4 pods of 40 GiB", plain, ranks({{4, size(500, 40 * k_gib)}}), "4x1,40960,0"},
		{"4 pods of 40 GiB, larger nodes", large, ranks({{4, size(500, 40 * k_gib)}}),
			"2x1,81920,0"},
		{"4 pods of 40 GiB, one larger node", one_large,
			ranks({{4, size(500, 40 * k_gib)}}), "4x1,40960,0"},
		{"4 pods of 20 GiB without CPU", plain, ranks({{4, size(0, 20 * k_gib)}}),
			"4x1,20480,0"},
		{"pods without requests count as alone", plain, ranks({{4, size(0, 0)}}),
			"4x1,64,0"},
		{"unless that is too much", tiny, ranks({{4, size(0, 0)}}), "1x1,256,0"},
		{"100 pods of 10m", plain, ranks({{100, size(10, 64)}}), "2x1,3200,0"},
		{"100 pods of 10m, 20 a node", few_pods, ranks({{100, size(10, 64)}}),
			"5x1,1280,0"},
		{"a launcher beside GPU workers", gpu_nodes,
			ranks({{1, size(100, 64)}, {2, with_gpus(8, 0, 100 * k_gib)}}),
			"2x1,102464,8"},
	};
	for (const auto &row : rows)
		CHECK_EQUAL(std::string(row.what) + ": " + shape_on(row.nodes, row.pods),
			std::string(row.what) + ": " + row.shape);
}

} // namespace

int main()
{
	return check::run_tests("gang_shape",
		{
			TEST(equal_pods_are_a_task_each),
			TEST(fractions_are_summed_before_they_are_rounded),
			TEST(a_task_shares_its_memory_out),
			TEST(unlike_roles_share_tasks_of_the_largest),
			TEST(the_excess_of_unlike_roles_is_told),
			TEST(a_job_of_unlike_roles_is_not_twice_their_sum),
			TEST(devices_count_as_much_as_cpus),
			TEST(names_are_sorted_as_people_count),
			TEST(pods_share_a_task_only_as_far_as_nodes_hold_it),
		});
}
