/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/gang.h"

#include "src/core/translate.h"

#include <algorithm>
#include <unordered_map>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_mib = 1 << 20;
constexpr std::size_t k_look_back = 64; /* so many of the latest tasks are tried for a pod: all of them would take minutes for the largest gangs */
constexpr std::int64_t k_most_together = 64; /* pods of the largest kind whose memory one task is tried with */

std::int64_t divided_up(std::int64_t a, std::int64_t b)
{
	return a / b + (a % b > 0 ? 1 : 0);
}

/* What one task holds, or what is left of it. */
struct Load {
	std::int64_t milli_cpu = 0, memory_mib = 0;
	std::map<std::string, std::int64_t> extended;
};

bool fits(const Load &part, const Load &room)
{
	const auto has = [&](const auto &entry) {
		const auto found = room.extended.find(entry.first);
		return entry.second <= (found == room.extended.end() ? 0 : found->second);
	};
	return part.milli_cpu <= room.milli_cpu && part.memory_mib <= room.memory_mib && std::ranges::all_of(part.extended, has);
}

void take(Load &room, const Load &part)
{
	room.milli_cpu -= part.milli_cpu;
	room.memory_mib -= part.memory_mib;
	for (const auto &[name, amount] : part.extended)
		room.extended[name] -= amount;
}

void raise(Load &to, const Load &part)
{
	to.milli_cpu = std::max(to.milli_cpu, part.milli_cpu);
	to.memory_mib = std::max(to.memory_mib, part.memory_mib);
	for (const auto &[name, amount] : part.extended)
		to.extended[name] = std::max(to.extended[name], amount);
}

std::vector<Load> loads_of(const std::vector<Seat> &seats, std::uint64_t least_memory_mib)
{
	std::vector<Load> loads;
	for (const Seat &seat : seats) {
		Load load;
		load.milli_cpu = std::max<std::int64_t>(seat.requests.milli_cpu, 0);
		load.memory_mib = std::max(divided_up(seat.requests.memory_bytes, k_mib), static_cast<std::int64_t>(std::max<std::uint64_t>(least_memory_mib, 1)));
		for (const auto &[name, amount] : seat.requests.extended) {
			if (amount > 0 && name != "ephemeral-storage")
				load.extended[name] = amount;
		}
		loads.push_back(std::move(load));
	}
	return loads;
}

/* First fit in rank order. Tasks before `open` take no pod any more. */
std::vector<std::uint32_t> packed(const std::vector<Load> &loads, const Load &task, std::int64_t least_milli_cpu, std::uint32_t &tasks)
{
	std::vector<Load> rooms;
	std::vector<std::uint32_t> task_of;
	std::size_t open = 0;
	for (const Load &load : loads) {
		while (open < rooms.size() && (rooms[open].milli_cpu < least_milli_cpu || rooms[open].memory_mib <= 0))
			open++;
		std::size_t at = std::max(open, rooms.size() - std::min(rooms.size(), k_look_back));
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
		raise(largest, load);
	largest.milli_cpu = std::max<std::int64_t>(divided_up(largest.milli_cpu, cpu_unit), 1) * cpu_unit;
	return largest;
}

Load scaled(const Load &largest, std::int64_t times)
{
	Load task = largest;
	task.memory_mib *= times;
	for (auto &[name, amount] : task.extended)
		amount *= times;
	return task;
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

/* How much more than necessary is asked for, of CPUs, of memory and of each kind of device. */
double cost_of(const Load &sum, const Load &task, std::uint32_t tasks)
{
	double each = share(task.milli_cpu, sum.milli_cpu) + share(task.memory_mib, sum.memory_mib);
	for (const auto &[name, amount] : task.extended)
		each += share(amount, sum.extended.at(name));
	return tasks * each;
}

/* Tasks have one size: unlike pods leave room in them that nobody else gets. Rounding to CPUs of Slurm is no excess, a pod alone has it too. */
std::string excess_of(const GangShape &shape, const std::vector<Load> &loads, std::uint32_t cpu_unit)
{
	std::uint64_t cpus = 0;
	for (const Load &load : loads)
		cpus += static_cast<std::uint64_t>(std::max<std::int64_t>(divided_up(load.milli_cpu, cpu_unit), 1));
	const Load sum = sum_of(loads);
	const std::uint64_t all_cpus = std::uint64_t{shape.tasks} * shape.cpus_per_task, all_memory = shape.tasks * shape.memory_mib_per_task;
	std::string text;
	const auto add = [&text](const std::string &part) { text += (text.empty() ? "" : ", ") + part; };
	if (all_cpus > cpus)
		add(cpus_text(static_cast<std::uint32_t>(all_cpus), cpu_unit) + " for " + cpus_text(static_cast<std::uint32_t>(cpus), cpu_unit));
	if (all_memory > static_cast<std::uint64_t>(sum.memory_mib))
		add(std::to_string(all_memory) + " MiB for " + std::to_string(sum.memory_mib) + " MiB");
	for (const auto &[name, amount] : shape.extended_per_task) {
		if (amount * shape.tasks > sum.extended.at(name))
			add(std::to_string(amount * shape.tasks) + " " + name + " for " + std::to_string(sum.extended.at(name)));
	}
	return text.empty() ? text : "the job has more than its pods ask for (" + text + "), because all tasks of a job have one size";
}

} // namespace

GangShape shape_of(const std::vector<Seat> &seats, std::uint64_t least_memory_mib, Packing packing, std::uint32_t cpu_unit)
{
	GangShape best;
	if (seats.empty())
		return best;
	const std::vector<Load> loads = loads_of(seats, least_memory_mib);
	const Load largest = largest_of(loads, cpu_unit);
	const std::int64_t least = std::ranges::min_element(loads, {}, &Load::milli_cpu)->milli_cpu;
	const std::int64_t most_pods = packing == Packing::one_per_task ? 1 : std::min(largest.milli_cpu / std::max<std::int64_t>(least, 1), k_most_together);
	const Load sum = sum_of(loads);
	double best_cost = 0;
	for (std::int64_t times = 1; times <= std::max<std::int64_t>(most_pods, 1); times++) {
		Load task = scaled(largest, times);
		std::uint32_t tasks = 0;
		std::vector<std::uint32_t> task_of;
		if (packing == Packing::one_per_task) {
			for (; tasks < loads.size(); tasks++)
				task_of.push_back(tasks);
		} else {
			task_of = packed(loads, task, least, tasks);
		}
		const double cost = cost_of(sum, task, tasks);
		if (!best.task_of_seat.empty() && cost >= best_cost)
			continue;
		best_cost = cost;
		best = {.tasks = tasks,
			.cpus_per_task = static_cast<std::uint32_t>(task.milli_cpu / cpu_unit),
			.memory_mib_per_task = static_cast<std::uint64_t>(task.memory_mib),
			.extended_per_task = task.extended,
			.task_of_seat = std::move(task_of)};
	}
	best.excess = excess_of(best, loads, cpu_unit);
	return best;
}

std::vector<std::string> nodes_of_tasks(const GangShape &shape, const std::vector<NodeAllocation> &nodes, const std::map<std::uint32_t, std::string> &fixed,
					std::uint32_t tasks_per_node)
{
	std::vector<std::uint32_t> room;
	std::unordered_map<std::string_view, std::size_t> index;
	for (const NodeAllocation &node : nodes) {
		index.emplace(node.node, room.size());
		const std::uint32_t by_cpus = node.cpus / std::max(shape.cpus_per_task, 1U);
		room.push_back(tasks_per_node > 0 ? std::min(by_cpus, tasks_per_node) : by_cpus);
	}
	std::vector<std::string> out(shape.tasks);
	for (const auto &[task, name] : fixed) {
		const auto node = index.find(name);
		if (task >= shape.tasks || node == index.end())
			continue;
		out[task] = name;
		std::uint32_t &left = room[node->second];
		left -= left > 0 ? 1 : 0;
	}
	std::size_t at = 0;
	for (std::string &name : out) {
		if (!name.empty())
			continue;
		while (at < nodes.size() && room[at] == 0)
			at++;
		if (at == nodes.size())
			break;
		name = nodes[at].node;
		room[at]--;
	}
	return out;
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
