/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The model slurmctld's GRES: which devices a node has, and which a job gets. */
#include "src/core/model/index_list.h"
#include "src/core/policy/gres.h"
#include "testsuite/sim/slurm.h"

#include <algorithm>

namespace slurmkube::sim
{

std::uint32_t gpus_in(const std::string &gres)
{
	const core::Gres any{.name = "gpu", .type = "", .count = 0, .indices = ""};
	return static_cast<std::uint32_t>(core::gres_count(core::gres_from_text(gres), any));
}

std::vector<std::uint32_t> Slurm::free_gpus(const SlurmNodeTruth &node) const
{
	std::set<std::uint32_t> used;
	for (const auto &[id, job] : state.jobs) {
		const auto *share = share_on(job, node.facts.name);
		if (!share || share->gres.empty())
			continue;
		const auto indices = core::indices_of(share->gres.front().indices);
		used.insert(indices->begin(), indices->end());
	}
	std::vector<std::uint32_t> out;
	for (std::uint32_t i = 0; i < gpus_in(node.facts.gres); i++) {
		if (!used.contains(i))
			out.push_back(i);
	}
	return out;
}

void Slurm::give_gpus(const JobTruth &job, core::NodeAllocation &share) const
{
	/* an exclusive job has more CPUs than its tasks */
	const std::size_t wanted =
		job.gpus_on_node.value_or(job.gpus * (share.memory_mib / job.memory_mib));
	if (wanted == 0)
		return;
	std::vector<std::uint32_t> given = free_gpus(state.nodes.at(share.node));
	const auto first = static_cast<std::ptrdiff_t>(
		stage_.dice.roll(Topic::schedule, job.facts.id.number) % given.size());
	std::rotate(given.begin(), given.begin() + first, given.end());
	given.resize(wanted);
	std::ranges::sort(given);
	std::string indices;
	for (const std::uint32_t one : given)
		indices += (indices.empty() ? "" : ",") + std::to_string(one);
	share.gres = {{.name = "gpu", .type = "", .count = wanted, .indices = indices}};
}

Status Slurm::set_extra(const std::string &name, const std::string &extra)
{
	const auto node = state.nodes.find(name);
	if (node == state.nodes.end())
		return Error{Errc::not_found, "Invalid node name specified"};
	node->second.facts.extra = extra;
	stage_.tell([&] { return "Slurm's node " + name + " has " + extra; });
	node_changed(name);
	return Ok{};
}

} // namespace slurmkube::sim
