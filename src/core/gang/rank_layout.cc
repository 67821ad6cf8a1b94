/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/gang/rank_layout.h"

#include <algorithm>
#include <unordered_map>

namespace slurmkube::core
{

namespace
{

using NodeIndex = std::unordered_map<std::string_view, std::size_t>;

NodeIndex index_of(const std::vector<NodeAllocation> &nodes)
{
	NodeIndex index;
	for (const NodeAllocation &node : nodes)
		index.emplace(node.node, index.size());
	return index;
}

/* The generic resources that at least one share lists. Slurm does not report them for some jobs,
 * and a resource that is not reported must not limit the tasks. */
std::vector<Gres> listed(const std::vector<Gres> &wanted, const std::vector<NodeAllocation> &nodes)
{
	std::vector<Gres> out;
	std::ranges::copy_if(wanted, std::back_inserter(out), [&](const Gres &one) {
		return one.count > 0 && std::ranges::any_of(nodes, [&](const NodeAllocation &node) {
			return gres_count(node.gres, one) > 0;
		});
	});
	return out;
}

/* ---- tasks ---- */

struct TaskRoom {
	std::uint64_t free = 0;  /* tasks that still fit */
	std::uint64_t tasks = 0; /* tasks on the node */
	std::uint64_t given = 0; /* those of them that are not fixed */
};

std::uint64_t tasks_in(const NodeAllocation &share, const GangShape &shape,
	std::uint32_t tasks_per_node, const std::vector<Gres> &gres)
{
	std::uint64_t tasks = share.cpus / std::max(shape.cpus_per_task, 1U);
	if (share.memory_mib > 0)
		tasks = std::min(tasks,
			share.memory_mib / std::max<std::uint64_t>(shape.memory_mib_per_task, 1));
	for (const Gres &one : gres)
		tasks = std::min(tasks, gres_count(share.gres, one) / one.count);
	return tasks_per_node > 0 ? std::min<std::uint64_t>(tasks, tasks_per_node) : tasks;
}

/* Gives tasks to the nodes in rounds of one per node, as slurm_step_layout.c does, beginning with
 * the nodes that have the fewest. */
void share_out(std::vector<TaskRoom> &rooms, std::size_t tasks)
{
	std::vector<TaskRoom *> open;
	for (TaskRoom &room : rooms)
		open.push_back(&room);
	while (tasks > 0) {
		std::erase_if(open, [](const TaskRoom *room) { return room->free == 0; });
		if (open.empty())
			return;
		const std::uint64_t level =
			(*std::ranges::min_element(open, {}, &TaskRoom::tasks))->tasks;
		for (TaskRoom *room : open) {
			if (room->tasks > level || tasks == 0)
				continue;
			room->free--;
			room->tasks++;
			room->given++;
			tasks--;
		}
	}
}

/* ---- pods ---- */

struct ShareRoom {
	std::int64_t milli_cpu = 0, memory_bytes = 0; /* what is left of the share */
	bool counts_memory = false;
	std::map<std::string, std::int64_t> used; /* extended resources */
};

class Shares
{
      public:
	Shares(const std::vector<NodeAllocation> &nodes, std::uint32_t cpu_unit,
		const GresTable &table)
	    : nodes_(nodes), index_(index_of(nodes)), table_(table)
	{
		for (const NodeAllocation &node : nodes)
			rooms_.push_back({.milli_cpu = std::int64_t{node.cpus} * cpu_unit,
				.memory_bytes =
					static_cast<std::int64_t>((node.memory_mib + 1) << 20) -
					1, /* Slurm counts whole MiB */
				.counts_memory = node.memory_mib > 0,
				.used = {}});
	}

	void take(const std::string &node, const Resources &pod)
	{
		const auto at = index_.find(node);
		if (at != index_.end())
			take(at->second, pod);
	}

	bool try_take(const std::string &node, const Resources &pod)
	{
		const auto at = index_.find(node);
		if (at == index_.end() || !fits(at->second, pod))
			return false;
		take(at->second, pod);
		return true;
	}

	/* Pods of the same size usually follow each other. A node without room for one of them has
	 * none for the next, so the search continues where the previous one ended. */
	std::string take_anywhere(const Resources &pod)
	{
		if (!last_ || *last_ != pod)
			from_ = 0;
		last_ = pod;
		while (from_ < nodes_.size() && !fits(from_, pod))
			from_++;
		if (from_ == nodes_.size())
			return {};
		take(from_, pod);
		return nodes_[from_].node;
	}

      private:
	[[nodiscard]] std::vector<Gres> devices_of(const Resources &all) const
	{
		const auto text = gres_of_pod(all, table_);
		return listed(text ? gres_from_text(*text) : std::vector<Gres>(), nodes_);
	}

	[[nodiscard]] bool fits(std::size_t at, const Resources &pod) const
	{
		const ShareRoom &room = rooms_[at];
		if (pod.milli_cpu > room.milli_cpu ||
			(room.counts_memory && pod.memory_bytes > room.memory_bytes))
			return false;
		if (pod.extended.empty())
			return true;
		Resources all = pod;
		for (const auto &[name, amount] : room.used)
			all.extended[name] += amount;
		return std::ranges::all_of(devices_of(all), [&](const Gres &one) {
			return gres_count(nodes_[at].gres, one) >= one.count;
		});
	}

	void take(std::size_t at, const Resources &pod)
	{
		rooms_[at].milli_cpu -= pod.milli_cpu;
		rooms_[at].memory_bytes -= pod.memory_bytes;
		for (const auto &[name, amount] : pod.extended)
			rooms_[at].used[name] += amount;
	}

	const std::vector<NodeAllocation> &nodes_;
	NodeIndex index_;
	const GresTable &table_;
	std::vector<ShareRoom> rooms_;
	std::optional<Resources> last_;
	std::size_t from_ = 0;
};

} // namespace

std::vector<std::string> nodes_of_tasks(const GangShape &shape,
	const std::vector<NodeAllocation> &nodes, const std::map<std::uint32_t, std::string> &fixed,
	std::uint32_t tasks_per_node, const std::vector<Gres> &gres_of_task)
{
	const std::vector<Gres> gres = listed(gres_of_task, nodes);
	const NodeIndex index = index_of(nodes);
	std::vector<TaskRoom> rooms;
	for (const NodeAllocation &node : nodes)
		rooms.push_back({.free = tasks_in(node, shape, tasks_per_node, gres)});
	std::vector<std::string> out(shape.tasks);
	std::size_t left = shape.tasks;
	for (const auto &[task, name] : fixed) {
		const auto node = index.find(name);
		if (task >= shape.tasks || node == index.end())
			continue;
		out[task] = name;
		left--;
		TaskRoom &room = rooms[node->second];
		room.tasks++;
		room.free -= room.free > 0 ? 1 : 0;
	}
	share_out(rooms, left);
	std::size_t at = 0;
	for (std::string &name : out) {
		while (name.empty() && at < nodes.size() && rooms[at].given == 0)
			at++;
		if (!name.empty() || at == nodes.size())
			continue;
		name = nodes[at].node;
		rooms[at].given--;
	}
	return out;
}

void fit_to_shares(std::vector<Occupant> &pods, const std::vector<NodeAllocation> &nodes,
	std::uint32_t cpu_unit, const GresTable &table)
{
	Shares shares(nodes, cpu_unit, table);
	for (const Occupant &pod : pods) {
		if (pod.is_bound)
			shares.take(pod.node, *pod.requests);
	}
	for (Occupant &pod : pods) {
		if (!pod.is_bound && !shares.try_take(pod.node, *pod.requests))
			pod.node.clear();
	}
	for (Occupant &pod : pods) {
		if (pod.node.empty() && !pod.is_bound)
			pod.node = shares.take_anywhere(*pod.requests);
	}
}

} // namespace slurmkube::core
