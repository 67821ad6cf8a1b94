/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grouping.h - does a pod run alone, or with others in one job?
 *
 * Pure. First that applies: PodGroup of scheduling.k8s.io with a gang policy, PodGroup of
 * scheduling.x-k8s.io, LeaderWorkerSet group, the topmost owner whose pods start together (JobSet,
 * MPIJob, PyTorchJob, RayCluster, Indexed Job with completions == parallelism), else alone. The
 * annotation slurm-kube.io/gang on the pod or an owner ("true", "false") decides where it is given.
 * slurm-kube.io/end-together decides InGang::ends_together in the same way; without it the owner's
 * restart policy does.
 * The labels that are read are those which the controllers document for their users.
 */
#ifndef SLURMKUBE_CORE_GANG_GROUPING_H
#define SLURMKUBE_CORE_GANG_GROUPING_H

#include "src/base/result.h"
#include "src/core/gang/components.h"

#include <functional>
#include <variant>

namespace slurmkube::core
{

/* One place in a gang, in rank order. */
struct Rank {
	std::string role;
	std::uint32_t index = 0; /* within its role */
	Resources requests;
	bool operator==(const Rank &) const = default;
};

/* How often the pod's owner has made all pods of the workload anew before it. */
std::uint32_t restart_of(const Pod &pod);

struct GangId {
	/* The marker's uid: the uid of the owner, with "/n" for a part of it, and "+n" for a
	 * component (component_key) */
	std::string key;
	std::string kind; /* "JobSet" */
	std::string name_space, name;
	bool operator==(const GangId &) const = default;
};

/*
 * What is asked of the owners' table: nullptr where the answer is not there yet, an empty optional
 * where there is no such object. With the uid that a reference gives, or an empty one: an answer
 * about another object of that name may be older than the pod, as when a JobSet makes its Jobs anew
 * under their old names.
 */
using OwnerAnswer = const std::optional<Owner> *;
using OwnerLookup = std::function<OwnerAnswer(const OwnerId &, const std::string &uid)>;

struct Alone {
	std::map<std::string, std::string> inherited; /* options of the owners; nearer ones win */
	std::int64_t deadline_seconds = 0;            /* the earliest of the owners; 0: none */
};
struct InGang {
	GangId gang;
	OwnerId owner;
	/* of the whole workload, more than one where its roles do not fit one job; empty: of a
	 * PodGroup, whose ranks are the pods that come */
	std::vector<ComponentRoles> components;
	std::size_t component = 0; /* that of this pod */
	bool ends_together = true; /* all components, when the job of one has ended */
	std::uint32_t minimum = 0; /* of a PodGroup */
	std::string role;          /* of this pod */
	std::optional<std::uint32_t> index;
	std::map<std::string, std::string> inherited;
	std::int64_t deadline_seconds = 0;
};
struct NeedsOwner {
	OwnerId id;
};
using Grouping = std::variant<Alone, InGang, NeedsOwner>;

/* invalid: what its owner says makes no sense; the text is for the pod. */
Result<Grouping> group_of(const Pod &pod, const OwnerLookup &lookup);

/*
 * Whether a pod that no watch has shown may be one of the gang: bound under it, or of an owner, a
 * label or a group with its name. On doubt it is: its job is kept.
 */
bool may_be_member(const Pod &pod, const std::string &key, const GangId &gang);

/* Those that start together with the roles of that stage; without roles whose template has the
 * annotation slurm-kube.io/gang: "false", or names another scheduler than ours. A template that
 * names none, or Kubernetes' default, may get ours by an admission policy. */
std::vector<Role> roles_of_stage(
	const Owner &owner, std::uint32_t stage, const std::string &scheduler_name);

/* One after the other: those of a role lie side by side, by index. */
std::vector<Rank> ranks_of(const std::vector<Role> &roles);
std::optional<std::uint32_t> rank_at(
	const std::vector<Rank> &ranks, const std::string &role, std::uint32_t index);

} // namespace slurmkube::core

#endif
