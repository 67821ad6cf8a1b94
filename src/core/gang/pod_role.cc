/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/gang/pod_role.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace slurmkube::core
{

std::string label_value(const Pod &pod, const char *key)
{
	const auto found = pod.labels.find(key);
	return found == pod.labels.end() ? std::string() : found->second;
}

std::optional<std::uint32_t> label_number(const Pod &pod, const char *key)
{
	const std::string text = label_value(pod, key);
	std::uint32_t value = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	if (text.empty() || error != std::errc() || end != text.data() + text.size())
		return std::nullopt;
	return value;
}

namespace
{

PodRole place_in_job_set(const Pod &pod, const Owner &set)
{
	PodRole place{label_value(pod, "jobset.sigs.k8s.io/replicatedjob-name"), std::nullopt};
	const auto job = label_number(pod, "jobset.sigs.k8s.io/job-index");
	const auto pod_index = label_number(pod, "batch.kubernetes.io/job-completion-index");
	const auto role = std::ranges::find(set.roles, place.role, &Role::name);
	if (role != set.roles.end() && job && pod_index)
		place.index = *job * role->pods_per_job + *pod_index;
	return place;
}

PodRole place_in_lws(const Pod &pod)
{
	const std::uint32_t index =
		label_number(pod, "leaderworkerset.sigs.k8s.io/worker-index").value_or(0);
	return index == 0 ? PodRole{"leader", 0} : PodRole{"worker", index - 1};
}

PodRole place_in_kubeflow(const Pod &pod, const Owner &job)
{
	std::string type = label_value(pod, "training.kubeflow.org/replica-type");
	if (type.empty())
		type = label_value(pod, "training.kubeflow.org/job-role");
	/* the label has the replica type in lower case, the spec does not; workers of an MPIJob
	 * have an index label too, launchers do not */
	const auto same = [&](const Role &role) {
		return std::ranges::equal(role.name, type, [](char a, char b) {
			return std::tolower(static_cast<unsigned char>(a)) ==
				std::tolower(static_cast<unsigned char>(b));
		});
	};
	const auto role = std::ranges::find_if(job.roles, same);
	auto index = label_number(pod, "training.kubeflow.org/replica-index");
	if (role != job.roles.end() && index && *index >= role->first_index)
		*index -= role->first_index;
	return {role == job.roles.end() ? type : role->name, index};
}

PodRole place_in_ray(const Pod &pod, const Owner &cluster)
{
	if (label_value(pod, "ray.io/node-type") == "head")
		return {"head", 0};
	PodRole place{label_value(pod, "ray.io/group"), std::nullopt};
	const auto role = std::ranges::find(cluster.roles, place.role, &Role::name);
	const auto replica = label_number(pod, "ray.io/worker-group-replica-index"),
		   host = label_number(pod, "ray.io/replica-host-index");
	if (role != cluster.roles.end() && replica && host)
		place.index = *replica * role->pods_per_job + *host;
	return place;
}

} // namespace

PodRole pod_role_of(const Pod &pod, const Owner &owner)
{
	const std::string &kind = owner.id.kind;
	if (kind == "JobSet")
		return place_in_job_set(pod, owner);
	if (kind == "LeaderWorkerSet")
		return place_in_lws(pod);
	if (kind == "RayCluster")
		return place_in_ray(pod, owner);
	if (kind == "Job")
		return {"", label_number(pod, "batch.kubernetes.io/job-completion-index")};
	if (kind == "PodGroup")
		return {};
	return place_in_kubeflow(pod, owner);
}

} // namespace slurmkube::core
