/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/gang/shape.h"

#include "src/core/model/amounts.h"
#include "src/core/policy/gres.h"
#include "src/core/translate/translate.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_mib = 1 << 20;
/* Number of most recent tasks that are tried for a pod. Trying all of them would take minutes for
 * the largest gangs. */
constexpr std::size_t k_look_back = 64;
/* Maximum number of pods of the largest kind for whose memory a task is sized. */
constexpr std::int64_t k_most_together = 64;

std::int64_t divided_up(std::int64_t a, std::int64_t b)
{
	return a / b + (a % b > 0 ? 1 : 0);
}

/* What one task holds, or what is left of it. */
struct Load {
	std::int64_t milli_cpu = 0, memory_mib = 0;
	std::map<std::string, std::int64_t> extended;
	bool operator==(const Load &) const = default;
};

bool fits(const Load &part, const Load &room)
{
	const auto has = [&](const auto &entry) {
		const auto found = room.extended.find(entry.first);
		return entry.second <= (found == room.extended.end() ? 0 : found->second);
	};
	return part.milli_cpu <= room.milli_cpu && part.memory_mib <= room.memory_mib &&
		std::ranges::all_of(part.extended, has);
}

void take(Load &room, const Load &part)
{
	room.milli_cpu -= part.milli_cpu;
	room.memory_mib -= part.memory_mib;
	for (const auto &[name, amount] : part.extended)
		room.extended[name] -= amount;
}

void raise_load(Load &to, const Load &part)
{
	to.milli_cpu = std::max(to.milli_cpu, part.milli_cpu);
	to.memory_mib = std::max(to.memory_mib, part.memory_mib);
	for (const auto &[name, amount] : part.extended)
		to.extended[name] = std::max(to.extended[name], amount);
}

/* milli_cpu_of_none: for pods that request neither CPU nor devices */
std::vector<Load> loads_of(const std::vector<Rank> &ranks, std::uint64_t least_memory_mib,
	std::int64_t milli_cpu_of_none)
{
	std::vector<Load> loads;
	for (const Rank &rank : ranks) {
		Load load;
		load.milli_cpu = std::max<std::int64_t>(rank.requests.milli_cpu, 0);
		load.memory_mib = std::max(divided_up(rank.requests.memory_bytes, k_mib),
			static_cast<std::int64_t>(std::max<std::uint64_t>(least_memory_mib, 1)));
		for (const auto &[name, amount] : rank.requests.extended) {
			if (amount > 0 && name != "ephemeral-storage")
				load.extended[name] = amount;
		}
		if (load.milli_cpu == 0 && load.extended.empty())
			load.milli_cpu = milli_cpu_of_none;
		loads.push_back(std::move(load));
	}
	return loads;
}

/* First fit in rank order. Tasks before `open` have no room even for the smallest pod. Tasks before
 * the one of an equal pod have none for this one either: with thousands of pods of one kind, trying
 * them again would take a second. */
std::vector<std::uint32_t> packed(const std::vector<Load> &loads, const Load &task,
	std::int64_t least_milli_cpu, std::uint32_t &tasks)
{
	std::vector<Load> rooms;
	std::vector<std::uint32_t> task_of;
	std::size_t open = 0, at = 0;
	const Load *before = nullptr;
	for (const Load &load : loads) {
		while (open < rooms.size() &&
			(rooms[open].milli_cpu < least_milli_cpu || rooms[open].memory_mib <= 0))
			open++;
		const std::size_t first =
			std::max(open, rooms.size() - std::min(rooms.size(), k_look_back));
		at = before && *before == load ? std::max(at, first) : first;
		before = &load;
		while (at < rooms.size() && !fits(load, rooms[at]))
			at++;
		if (at == rooms.size())
			rooms.push_back(task);
		take(rooms[at], load);
		task_of.push_back(static_cast<std::uint32_t>(at));
	}
	tasks = static_cast<std::uint32_t>(rooms.size());
	return task_of;
}

Load largest_of(const std::vector<Load> &loads, std::uint32_t cpu_unit)
{
	Load largest;
	for (const Load &load : loads)
		raise_load(largest, load);
	largest.milli_cpu =
		std::max<std::int64_t>(divided_up(largest.milli_cpu, cpu_unit), 1) * cpu_unit;
	return largest;
}

/*
 * Candidates for the memory of one task, from that of the largest pod upwards. Devices have no such
 * candidates: adding up pods of eight GPUs each would make a task that no node holds.
 */
std::vector<std::int64_t> memory_choices(
	const std::vector<Load> &loads, const Load &largest, Packing packing)
{
	std::vector<std::int64_t> choices{largest.memory_mib};
	if (packing == Packing::one_per_task)
		return choices;
	const std::int64_t least_cpu =
		std::ranges::min_element(loads, {}, &Load::milli_cpu)->milli_cpu;
	const std::int64_t least_memory =
		std::ranges::min_element(loads, {}, &Load::memory_mib)->memory_mib;
	const std::int64_t most_pods =
		std::min(largest.milli_cpu / std::max<std::int64_t>(least_cpu, 1), k_most_together);
	for (std::int64_t times = 2; times <= most_pods; times++)
		choices.push_back(largest.memory_mib * times);
	/* room for small pods beside a large one */
	for (std::int64_t times = 1; times < most_pods && least_memory < largest.memory_mib;
		times *= 2)
		choices.push_back(largest.memory_mib + least_memory * times);
	return choices;
}

Load sum_of(const std::vector<Load> &loads)
{
	Load sum;
	for (const Load &load : loads) {
		sum.milli_cpu += load.milli_cpu;
		sum.memory_mib += load.memory_mib;
		for (const auto &[name, amount] : load.extended)
			sum.extended[name] += amount;
	}
	return sum;
}

double share(std::int64_t part, std::int64_t whole)
{
	return static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(whole, 1));
}

/* Sum, over CPUs, memory and each kind of device, of what the job asks for relative to what its
 * pods request. */
double cost_of(const Load &sum, const Load &task, std::uint32_t tasks)
{
	double each = share(task.milli_cpu, sum.milli_cpu) + share(task.memory_mib, sum.memory_mib);
	for (const auto &[name, amount] : task.extended)
		each += share(amount, sum.extended.at(name));
	return tasks * each;
}

/* All tasks have one size, so pods of different sizes leave room in them that no other job can use.
 * Rounding a pod up to whole Slurm CPUs does not count as excess, because a pod with a job of its
 * own is rounded up too. */
std::string excess_of(
	const GangShape &shape, const std::vector<Load> &loads, std::uint32_t cpu_unit)
{
	std::uint64_t cpus = 0;
	for (const Load &load : loads)
		cpus += static_cast<std::uint64_t>(
			std::max<std::int64_t>(divided_up(load.milli_cpu, cpu_unit), 1));
	const Load sum = sum_of(loads);
	const std::uint64_t all_cpus = std::uint64_t{shape.tasks} * shape.cpus_per_task,
			    all_memory = shape.tasks * shape.memory_mib_per_task;
	std::string text;
	const auto add = [&text](const std::string &part) {
		text += (text.empty() ? "" : ", ") + part;
	};
	if (all_cpus > cpus)
		add(cpus_text(static_cast<std::uint32_t>(all_cpus), cpu_unit) + " for " +
			cpus_text(static_cast<std::uint32_t>(cpus), cpu_unit));
	if (all_memory > static_cast<std::uint64_t>(sum.memory_mib))
		add(std::to_string(all_memory) + " MiB for " + std::to_string(sum.memory_mib) +
			" MiB");
	for (const auto &[name, amount] : shape.extended_per_task) {
		if (amount * shape.tasks > sum.extended.at(name))
			add(std::to_string(amount * shape.tasks) + " " +
				name.substr(name.starts_with('/') ? 1 : 0) + " for " +
				std::to_string(sum.extended.at(name)));
	}
	return text.empty() ? text
			    : "the job has more than its pods ask for (" + text +
			"), because all tasks of a job have one size";
}

} // namespace

namespace
{

struct Candidate {
	GangShape shape;
	double cost = 0;
	bool is_held = false; /* the nodes, when empty, hold all tasks */
};

bool are_held(const GangShape &shape, const NodeSizes &nodes)
{
	std::vector<std::int64_t> pods(shape.tasks);
	for (const std::uint32_t task : shape.task_of_rank)
		pods[task]++;
	const std::int64_t most_pods = *std::ranges::max_element(pods);
	std::uint64_t places = 0;
	for (const auto &[node, count] : nodes) {
		if (node.pods == 0 || node.pods >= most_pods)
			places += count *
				tasks_on(node, shape.cpus_per_task, shape.memory_mib_per_task);
	}
	return nodes.empty() || places >= shape.tasks;
}

GangShape shape_with(
	const std::vector<Load> &loads, const Load &task, Packing packing, std::uint32_t cpu_unit)
{
	GangShape shape{.tasks = 0,
		.cpus_per_task = static_cast<std::uint32_t>(task.milli_cpu / cpu_unit),
		.memory_mib_per_task = static_cast<std::uint64_t>(task.memory_mib),
		.extended_per_task = task.extended,
		.task_of_rank = {}};
	if (packing == Packing::one_per_task) {
		for (; shape.tasks < loads.size(); shape.tasks++)
			shape.task_of_rank.push_back(shape.tasks);
		return shape;
	}
	const std::int64_t least = std::ranges::min_element(loads, {}, &Load::milli_cpu)->milli_cpu;
	shape.task_of_rank = packed(loads, task, least, shape.tasks);
	return shape;
}

void note_memory(GangShape &shape, const std::vector<Load> &loads)
{
	shape.memory_mib_of_task.resize(shape.tasks);
	for (std::size_t rank = 0; rank < loads.size(); rank++) {
		const auto counted = static_cast<std::uint64_t>(loads[rank].memory_mib);
		shape.memory_mib_of_rank.push_back(counted);
		shape.memory_mib_of_task[shape.task_of_rank[rank]] += counted;
	}
}

/* The cheapest shape that the nodes hold; if they hold none, the cheapest of all. */
Candidate best_of(const std::vector<Load> &loads, Packing packing, std::uint32_t cpu_unit,
	const NodeSizes &nodes)
{
	Load task = largest_of(loads, cpu_unit);
	const Load sum = sum_of(loads);
	Candidate best;
	for (const std::int64_t memory : memory_choices(loads, task, packing)) {
		task.memory_mib = memory;
		Candidate next{.shape = shape_with(loads, task, packing, cpu_unit)};
		next.cost = cost_of(sum, task, next.shape.tasks);
		next.is_held = are_held(next.shape, nodes);
		const bool is_better =
			next.is_held == best.is_held ? next.cost < best.cost : next.is_held;
		if (best.shape.tasks == 0 || is_better)
			best = std::move(next);
	}
	best.shape.excess = excess_of(best.shape, loads, cpu_unit);
	note_memory(best.shape, loads);
	return best;
}

} // namespace

std::uint64_t memory_share_of(const GangShape &shape, std::uint32_t rank)
{
	if (rank >= shape.memory_mib_of_rank.size())
		return 0;
	const std::uint64_t own = shape.memory_mib_of_rank[rank],
			    all = shape.memory_mib_of_task[shape.task_of_rank[rank]];
	return own == all ? shape.memory_mib_per_task : shape.memory_mib_per_task * own / all;
}

std::uint64_t tasks_on(
	const NodeSize &node, std::uint32_t cpus, std::uint64_t memory_mib, const std::string &gres)
{
	std::uint64_t tasks = node.cpus / std::max(cpus, 1U);
	if (memory_mib > 0)
		tasks = std::min(tasks, node.memory_mib / memory_mib);
	for (const Gres &wanted : gres_from_text(gres)) {
		if (wanted.count > 0)
			tasks = std::min(tasks,
				gres_count(gres_from_text(node.gres), wanted) / wanted.count);
	}
	return tasks;
}

GangShape shape_of(const std::vector<Rank> &ranks, std::uint64_t least_memory_mib, Packing packing,
	std::uint32_t cpu_unit, const NodeSizes &nodes)
{
	if (ranks.empty())
		return {};
	Candidate whole =
		best_of(loads_of(ranks, least_memory_mib, cpu_unit), packing, cpu_unit, nodes);
	if (whole.is_held || packing == Packing::one_per_task)
		return std::move(whole.shape);
	Candidate folded = best_of(loads_of(ranks, least_memory_mib, 0), packing, cpu_unit, nodes);
	return std::move(folded.is_held ? folded.shape : whole.shape);
}

void raise(Resources &to, const Resources &at_least)
{
	to.milli_cpu = std::max(to.milli_cpu, at_least.milli_cpu);
	to.memory_bytes = std::max(to.memory_bytes, at_least.memory_bytes);
	to.pods = std::max(to.pods, at_least.pods);
	for (const auto &[name, amount] : at_least.extended)
		to.extended[name] = std::max(to.extended[name], amount);
}

std::string node_list_of(const std::vector<NodeAllocation> &nodes, std::size_t max_bytes)
{
	std::string out;
	for (const NodeAllocation &node : nodes) {
		if (out.size() + node.node.size() + 1 > max_bytes)
			break;
		out += (out.empty() ? "" : ",") + node.node;
	}
	return out;
}

} // namespace slurmkube::core
