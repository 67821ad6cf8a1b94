/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * owner.h - the objects that own pods: who they are, what they say of the pods that they will make,
 * and how to ask for them.
 *
 * Owner references and owners are written by users: they may choose options within the rules of
 * their namespace, and sizes; they never widen anything. Sizes come from an owner's spec, never
 * from counting pods: many controllers make some pods only after others are Ready.
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
	std::uint32_t pods_per_job = 1; /* of a JobSet: how a pod's two indices become one */
	/* of a JobSet: roles of a later stage start when an earlier one is complete */
	std::uint32_t stage = 0;
	std::uint32_t first_index = 0; /* what the controller's label says of the first pod */
	Resources each;
	/* A pod as the template has it: constraints, devices, labels, the owner's namespace; no
	 * name, no uid. Absent where the owner has one role: its pods say it. */
	std::shared_ptr<const Pod> pod_template = nullptr;
	bool operator==(const Role &other) const;
};

/* Of two limits; 0: none */
std::int64_t earlier_deadline(std::int64_t one, std::int64_t other);

struct Owner {
	OwnerId id;
	std::string uid;
	std::optional<OwnerRef> controller;
	std::map<std::string, std::string> annotations; /* options only */
	std::vector<Role> roles;   /* in rank order; of kinds whose pods start together */
	std::uint32_t minimum = 0; /* of a PodGroup: so many of its pods start together */
	bool starts_together = false;
	/* its pods are replaced one by one: the end of some says nothing of the others */
	bool replaces_single_pods = false;
	/* its pods are ended so long after its start, wherever they are by then; 0: never */
	std::int64_t deadline_seconds = 0;
	/* it makes no more pods, or is suspended: others want its nodes */
	bool is_finished = false;
	bool has_succeeded = false; /* and says that all went well */
	bool operator==(const Owner &) const = default;
};

/* Kinds that we ask for. Others end the chain of owners: we may not read what we do not know. */
struct OwnerKind {
	std::string_view group, kind, plural;
	std::string_view version; /* where no reference says it */
};
const OwnerKind *known_kind(std::string_view api_version, std::string_view kind);
/* By kind alone, as a job's marker has it. */
const OwnerKind *known_kind(std::string_view kind);
std::string api_version_of(const OwnerKind &kind);

/* "/apis/batch/v1/namespaces/x/jobs/y"; empty for kinds that are not known, and for names that no
 * object can have. */
std::string path_of(const OwnerId &id);

/* No gang has more pods. */
inline constexpr std::uint32_t k_gang_pods_max = 20'000;

} // namespace slurmkube::core

#endif
