/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shared_claims.h - claims for devices that the pods of a gang name, and that they may share.
 *
 * All pods that use a claim must be where its devices are. So the job of such a gang asks for one
 * node, and there for the devices of all claims together, each shared claim counted once. Slurm
 * could not be told so by task.
 */
#ifndef SLURMKUBE_CORE_WORLD_SHARED_CLAIMS_H
#define SLURMKUBE_CORE_WORLD_SHARED_CLAIMS_H

#include "src/core/model/spec.h"
#include "src/core/world/state.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace slurmkube::core
{

/* Whether the pod names a claim, instead of a template of claims. */
bool names_claims(const Pod &pod);

/* The claims that live pods of the gang name, or templates of its pods. */
std::set<ResourceClaimId> shared_claims(const State &state, const Gang &gang);

/* What the job asks for on its only node: takes what claims ask for out of the ranks, see
 * claimed_resource(), and adds the shared claims. nullopt: the gang shares none. */
std::optional<std::string> gres_on_node(
	const State &state, const Gang &gang, std::vector<Rank> &ranks);

/* Makes it the job of a gang that shares claims. Errors: the gang cannot be on one node; the text
 * is for users. */
Status ask_for_one_node(const State &state, const PodUid &key, const Gang &gang,
	const std::string &gres, JobSpec &spec);

/* Adds nodes that have no devices for the shared claims. Error: none has; the text is for users. */
Status exclude_for_shared(const State &state, const Gang &gang, std::set<std::string> &excluded);

/* Why shared claims cannot be used at present; empty: they can. */
std::string trouble_of_shared(const State &state, const PodUid &key, const Gang &gang);

} // namespace slurmkube::core

#endif
