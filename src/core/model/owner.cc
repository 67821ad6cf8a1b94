/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/owner.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace slurmkube::core
{

namespace
{

constexpr std::array k_kinds = {
	OwnerKind{"apps", "ReplicaSet", "replicasets", "v1"},
	OwnerKind{"apps", "Deployment", "deployments", "v1"},
	OwnerKind{"apps", "StatefulSet", "statefulsets", "v1"},
	OwnerKind{"batch", "Job", "jobs", "v1"},
	OwnerKind{"batch", "CronJob", "cronjobs", "v1"},
	OwnerKind{"jobset.x-k8s.io", "JobSet", "jobsets", "v1alpha2"},
	OwnerKind{"leaderworkerset.x-k8s.io", "LeaderWorkerSet", "leaderworkersets", "v1"},
	OwnerKind{"scheduling.x-k8s.io", "PodGroup", "podgroups", "v1alpha1"},
	OwnerKind{"scheduling.k8s.io", "PodGroup", "podgroups", "v1beta1"},
	OwnerKind{"kubeflow.org", "MPIJob", "mpijobs", "v2beta1"},
	OwnerKind{"kubeflow.org", "PyTorchJob", "pytorchjobs", "v1"},
	OwnerKind{"trainer.kubeflow.org", "TrainJob", "trainjobs", "v1alpha1"},
	OwnerKind{"ray.io", "RayCluster", "rayclusters", "v1"},
	OwnerKind{"ray.io", "RayJob", "rayjobs", "v1"},
};

/* A DNS subdomain, like the names of objects, namespaces and API groups. Other characters might
 * have a meaning in a URL. */
bool is_plain(std::string_view text)
{
	const auto fits = [](char c) {
		return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
	};
	return !text.empty() && text.size() <= 253 && text.find("..") == std::string_view::npos &&
		text != "." && std::ranges::all_of(text, fits);
}

std::string_view group_of(std::string_view api_version)
{
	const auto slash = api_version.find('/');
	return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

std::string_view version_of(std::string_view api_version)
{
	return api_version.substr(api_version.find('/') + 1);
}

} // namespace

std::int64_t earlier_deadline(std::int64_t one, std::int64_t other)
{
	return one <= 0 || other <= 0 ? std::max<std::int64_t>({one, other, 0})
				      : std::min(one, other);
}

bool Role::operator==(const Role &other) const
{
	const auto fields = [](const Role &role) {
		return std::tie(role.name, role.pods, role.pods_per_job, role.stage,
			role.first_index, role.each);
	};
	const bool is_same_template = pod_template && other.pod_template
		? *pod_template == *other.pod_template
		: pod_template == other.pod_template;
	return fields(*this) == fields(other) && is_same_template;
}

const OwnerKind *known_kind(std::string_view api_version, std::string_view kind)
{
	const auto found = std::ranges::find_if(k_kinds, [&](const OwnerKind &k) {
		return k.kind == kind && k.group == group_of(api_version);
	});
	return found == k_kinds.end() ? nullptr : &*found;
}

const OwnerKind *known_kind(std::string_view kind)
{
	const auto found =
		std::ranges::find_if(k_kinds, [&](const OwnerKind &k) { return k.kind == kind; });
	return found == k_kinds.end() ? nullptr : &*found;
}

std::string api_version_of(const OwnerKind &kind)
{
	return std::string(kind.group) + "/" + std::string(kind.version);
}

std::string path_of(const OwnerId &id)
{
	const OwnerKind *kind = known_kind(id.api_version, id.kind);
	const std::string_view version = version_of(id.api_version);
	if (!kind || !is_plain(version) || !is_plain(id.name_space) || !is_plain(id.name))
		return {};
	return "/apis/" + std::string(kind->group) + "/" + std::string(version) + "/namespaces/" +
		id.name_space + "/" + std::string(kind->plural) + "/" + id.name;
}

} // namespace slurmkube::core
