/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * owner.h - objects that own pods: their identity, what they specify for the pods that they create,
 * and the paths under which the API serves them.
 *
 * Users write owners and owner references. These may choose options within the rules of their
 * namespace, and sizes; they never grant additional rights. Sizes come from an owner's spec and not
 * from counting pods, because many controllers create some pods only after others are Ready.
 */
#ifndef SLURMKUBE_CORE_MODEL_OWNER_H
#define SLURMKUBE_CORE_MODEL_OWNER_H

#include "src/core/model/pod.h"

#include <memory>
#include <string_view>

namespace slurmkube::core
{

/* Names one object of the API. */
struct OwnerId {
	std::string api_version, kind, name_space, name; /* "batch/v1", "Job" */
	auto operator<=>(const OwnerId &) const = default;
};

/* Pods of one template. */
struct Role {
	std::string name;
	std::uint32_t pods = 1;
	/* to combine a pod's two indices: that of its Job or replica, and that within it */
	std::uint32_t pods_per_job = 1;
	/* of a JobSet: roles of a later stage start when those of an earlier one are complete */
	std::uint32_t stage = 0;
	/* index that the controller's label gives to the first pod */
	std::uint32_t first_index = 0;
	Resources each;
	/* A pod made from the template, with constraints, devices, labels and the owner's
	 * namespace, but without name and uid. nullptr for an owner with a single role: the pods
	 * themselves show the same. */
	std::shared_ptr<const Pod> pod_template = nullptr;
	bool operator==(const Role &other) const;
};

/* The shorter of two deadlines; 0: none. */
std::int64_t earlier_deadline(std::int64_t one, std::int64_t other);

struct Owner {
	OwnerId id;
	std::string uid;
	std::optional<OwnerRef> controller;
	std::map<std::string, std::string> annotations; /* options only */
	std::vector<Role> roles;   /* in rank order; only for kinds whose pods may start together */
	std::uint32_t minimum = 0; /* of a PodGroup: how many of its pods start together */
	bool starts_together = false;
	/* its pods are replaced one by one, so the end of some pods does not concern the others */
	bool replaces_single_pods = false;
	/* seconds after the owner's start at which its controller ends its pods; 0: never */
	std::int64_t deadline_seconds = 0;
	/* creates no more pods, or is suspended, so that other jobs may have its nodes */
	bool is_finished = false;
	bool has_succeeded = false; /* finished with success */
	bool operator==(const Owner &) const = default;
};

/* A kind of owner that the agent reads. Other kinds end the chain of owners, because the agent has
 * no permission to read unknown kinds. */
struct OwnerKind {
	std::string_view group, kind, plural;
	std::string_view version; /* used where no reference gives one */
};
/* nullptr: not one of these kinds. */
const OwnerKind *known_kind(std::string_view api_version, std::string_view kind);
/* Finds the kind by its name alone, which is all that a job's marker contains. */
const OwnerKind *known_kind(std::string_view kind);
std::string api_version_of(const OwnerKind &kind);

/* For example "/apis/batch/v1/namespaces/x/jobs/y"; empty for unknown kinds, and for names that no
 * object can have. */
std::string path_of(const OwnerId &id);

/* Maximum number of pods in a gang. */
inline constexpr std::uint32_t k_gang_pods_max = 20'000;

} // namespace slurmkube::core

#endif
