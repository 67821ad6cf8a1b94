/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grouping.h - decides whether a pod runs alone or shares a job with others.
 *
 * Pure. The first rule that applies decides: PodGroup of scheduling.k8s.io with a gang policy,
 * PodGroup of scheduling.x-k8s.io, LeaderWorkerSet group, the topmost owner whose pods start
 * together (Owner::starts_together); otherwise the pod is alone. The annotation slurm-kube.io/gang
 * of the pod, or else of its nearest owner that has it, changes that: with "false" the pod is
 * alone, with "true" every owner with known roles counts as one whose pods start together. In the
 * same way slurm-kube.io/end-together sets InGang::ends_together; without it the owner's restart
 * policy decides. Only labels that the controllers document for their users are read.
 */
#ifndef SLURMKUBE_CORE_GANG_GROUPING_H
#define SLURMKUBE_CORE_GANG_GROUPING_H

#include "src/base/result.h"
#include "src/core/gang/components.h"

#include <functional>
#include <variant>

namespace slurmkube::core
{

/* One rank of a gang. */
struct Rank {
	std::string role;
	std::uint32_t index = 0; /* within its role */
	Resources requests;
	bool operator==(const Rank &) const = default;
};

/* How often the pod's JobSet had been restarted when the pod was created, from the label that its
 * controller sets; 0 without that label. */
std::uint32_t restart_of(const Pod &pod);

struct GangId {
	/* The uid in the job's marker: the owner's uid, with "/n" for a group of a LeaderWorkerSet
	 * or a later stage of a JobSet, and "+n" for a component (component_key()). */
	std::string key;
	std::string kind; /* "JobSet" */
	std::string name_space, name;
	bool operator==(const GangId &) const = default;
};

/*
 * Looks up an owner. Returns nullptr if the API server has not answered yet, and an empty optional
 * if there is no such object. uid: from the owner reference; empty if the pod names the object
 * without a uid. Without comparing uids, an answer about an older object of that name could be
 * taken for the pod's owner: a JobSet that restarts creates its Jobs again under their old names.
 */
using OwnerAnswer = const std::optional<Owner> *;
using OwnerLookup = std::function<OwnerAnswer(const OwnerId &, const std::string &uid)>;

struct Alone {
	/* options of the owners; nearer owners override */
	std::map<std::string, std::string> inherited;
	std::int64_t deadline_seconds = 0; /* the shortest of the owners' deadlines; 0: none */
};
struct InGang {
	GangId gang;
	OwnerId owner;
	/* Components of the whole workload; several if its roles do not fit one job. Empty for a
	 * PodGroup, which has no templates: its ranks are the pods that arrive. */
	std::vector<ComponentRoles> components;
	std::size_t component = 0; /* index of this pod's component */
	bool ends_together = true; /* the end of one component's job ends all components */
	std::uint32_t minimum = 0; /* of a PodGroup: pods that start together */
	std::string role;          /* of this pod */
	std::optional<std::uint32_t> index;
	std::map<std::string, std::string> inherited;
	std::int64_t deadline_seconds = 0;
};
struct NeedsOwner {
	OwnerId id;
};
using Grouping = std::variant<Alone, InGang, NeedsOwner>;

/* scheduler_names: ours, see roles_of_stage(). invalid: more than k_gang_pods_max pods would start
 * together; the text is shown to the pod's owner. */
Result<Grouping> group_of(
	const Pod &pod, const std::vector<std::string> &scheduler_names, const OwnerLookup &lookup);

/*
 * Whether a pod that World does not know may belong to the gang. A bound pod may if the annotations
 * of its binding name the gang; an unbound pod may if its controller, a label or its scheduling
 * group names the gang. Doubtful cases count as members, so that the gang's job is kept.
 */
bool may_be_member(const Pod &pod, const std::string &key, const GangId &gang);

/* The roles of that stage, which start together. Left out are roles whose template has the
 * annotation slurm-kube.io/gang: "false" or names another scheduler than ours. A template that
 * names no scheduler, or Kubernetes' default one, counts as ours, because an admission policy may
 * set the name on its pods. scheduler_names: ours; empty: all are. */
std::vector<Role> roles_of_stage(
	const Owner &owner, std::uint32_t stage, const std::vector<std::string> &scheduler_names);

/* Ranks in the order of the roles, and by index within a role; at most k_gang_pods_max. */
std::vector<Rank> ranks_of(const std::vector<Role> &roles);
std::optional<std::uint32_t> rank_at(
	const std::vector<Rank> &ranks, const std::string &role, std::uint32_t index);

} // namespace slurmkube::core

#endif
