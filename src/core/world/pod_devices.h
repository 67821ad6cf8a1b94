/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod_devices.h - what the resource claims of a pod ask for and allow. device/ has the rules.
 */
#ifndef SLURMKUBE_CORE_WORLD_POD_DEVICES_H
#define SLURMKUBE_CORE_WORLD_POD_DEVICES_H

#include "src/core/placement/placement.h"
#include "src/core/world/state.h"

namespace slurmkube::core
{

DeviceSources device_sources(const State &state);

/* As the API server has it; one for extended resources also if it has to be created. nullptr: there
 * is none. */
const ResourceClaim *claim_of(const State &state, const Pod &pod, const PodResourceClaim &one);

/* Which claims of a pod: own ones are made of templates, for it alone; the others are named, and
 * pods of a gang may share them (shared_claims.h). */
enum class ClaimPart { all, own, named };

/* The claims of the pod, in the order of its spec. Errors: they cannot be used at present; the text
 * is for users. The pointers are valid until the next observation. */
Result<std::vector<const ResourceClaim *>> resource_claims_of(
	const State &state, const Pod &pod, ClaimPart part = ClaimPart::all);

/* The claim is allocated or reserved, and not only for pods of the component. */
bool is_used_by_others(const State &state, const ResourceClaim &claim, const PodUid &key);

/* Why the claim cannot be used by a pod of the component; empty: it can, or is used by pods of the
 * component. */
std::string trouble_of_claim(const State &state, const ResourceClaimId &id, const PodUid &key);

/* What Slurm has to be asked for. Errors: the same, and those of demand_of(). The pointer is valid
 * until the next call. */
Result<const DeviceDemand *> device_demand(
	const State &state, const Pod &pod, ClaimPart part = ClaimPart::all);

/* Why the claims do not allow the pod on this node; nullopt: they do, or are not known yet. Of a
 * pod of a gang only its own ones count. */
std::optional<Refusal> devices_refuse(
	const State &state, const PodUid &uid, const Pod &pod, const std::string &node);

/* What the claims, the slices and the classes say has been read. */
bool are_devices_listed(const State &state);
/* Why claims, slices, classes or taint rules cannot be read; empty: they can, or are just read. */
const std::string &unreadable_devices(const State &state);

/* ---- gangs: gang_devices.cc ---- */

/* A pod of the gang that is not bound has claims, and they have not been read: the shape of its job
 * is not known. */
bool are_claims_unread(const State &state, const Gang &gang);

/* Adds what the claims of the pod ask for, as far as it is known; see claimed_resource(). */
void add_claimed(const State &state, const Pod &pod, Resources &requests);

/* Why claims of pods that wait cannot be used at present; empty: they can. */
std::string device_trouble_of_gang(const State &state, const PodUid &key, const Gang &gang);

} // namespace slurmkube::core

#endif
