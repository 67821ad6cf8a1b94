/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_owner.cc - an owner of pods, and the ranks and the job shape that follow from it.
 *
 * The input is the owner; the target makes up a pod that refers to it from its roles.
 */
#include "src/codec/json.h"
#include "src/codec/owner.h"
#include "src/core/gang/shape.h"
#include "testsuite/fuzz/fuzz.h"

#include <algorithm>

using namespace slurmkube;
using namespace slurmkube::fuzz;

namespace
{

/* Every rank lies in a task, and the pods in a task never exceed its size. */
void check_shape(const std::vector<core::Rank> &ranks)
{
	const core::GangShape shape = core::shape_of(ranks, 1);
	MUST(shape.task_of_rank.size() == ranks.size() && shape.tasks <= ranks.size());
	std::vector<std::int64_t> milli_cpu(shape.tasks), pods(shape.tasks);
	for (std::size_t i = 0; i < ranks.size(); i++) {
		MUST(shape.task_of_rank[i] < shape.tasks);
		milli_cpu[shape.task_of_rank[i]] += ranks[i].requests.milli_cpu;
		pods[shape.task_of_rank[i]]++;
	}
	for (const std::int64_t load : milli_cpu)
		MUST(load <= std::int64_t{shape.cpus_per_task} * 1000);
	MUST(std::ranges::find(pods, 0) == pods.end());
}

core::Pod pod_of(const core::Owner &owner)
{
	core::Pod pod;
	pod.uid = {"p"};
	pod.name_space = owner.id.name_space;
	pod.name = "pod";
	pod.controller =
		core::OwnerRef{owner.id.api_version, owner.id.kind, owner.id.name, owner.uid};
	if (!owner.roles.empty())
		pod.labels = {{"jobset.sigs.k8s.io/replicatedjob-name", owner.roles.back().name},
			{"jobset.sigs.k8s.io/job-index", "0"},
			{"batch.kubernetes.io/job-completion-index", "0"},
			{"training.kubeflow.org/replica-type", owner.roles.back().name},
			{"ray.io/group", owner.roles.back().name}};
	return pod;
}

void check_grouping(const core::Owner &owner)
{
	const std::optional<core::Owner> answer = owner;
	const auto grouping = core::group_of(pod_of(owner), {"slurm"},
		[&](const core::OwnerId &, const std::string &) { return &answer; });
	MUST(says_why(grouping));
	if (!grouping)
		return;
	if (const auto *in = std::get_if<core::InGang>(&*grouping)) {
		MUST(in->gang.key.starts_with(owner.uid) &&
			core::component_of_key(in->gang.key) == in->component);
		MUST(in->components.empty() || in->component < in->components.size());
		MUST(in->components.size() <= core::k_components_most);
		for (const core::ComponentRoles &component : in->components) {
			const std::vector<core::Rank> ranks = core::ranks_of(component.roles);
			MUST((in->components.size() == 1 ||
				     ranks.size() == component.workload_ranks.size()) &&
				ranks.size() <= core::k_gang_pods_max);
			check_shape(ranks);
		}
	}
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const auto object = codec::parse_json(Input(data, size).rest(), std::size_t{1} << 20);
	MUST(says_why(object));
	if (!object)
		return 0;
	const auto owner = codec::owner_from_json(object->get());
	MUST(says_why(owner));
	if (!owner)
		return 0;
	for (const core::Role &role : owner->roles)
		MUST(role.pods >= 1 && role.pods <= core::k_gang_pods_max + 1 &&
			role.each.milli_cpu >= 0 && role.each.memory_bytes >= 0);
	const std::string path = core::path_of(owner->id);
	MUST(path.find("..") == std::string::npos &&
		path.find_first_of("?#% ") == std::string::npos);
	check_grouping(*owner);
	return 0;
}
