/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * extended_resources.h - pods whose containers request devices as a resource: what has to be known
 * of them before they are submitted. device/extended_resource.h has the rules.
 */
#ifndef SLURMKUBE_CORE_WORLD_EXTENDED_RESOURCES_H
#define SLURMKUBE_CORE_WORLD_EXTENDED_RESOURCES_H

#include "src/core/placement/placement.h"
#include "src/core/world/state.h"

#include <optional>
#include <set>
#include <string>

namespace slurmkube::core
{

/* Says in the pod which of its resources devices back, as far as classes are known. */
void note_backed_by_classes(const State &state, Pod &pod);
/* The same for all pods, because classes or rules have changed. Returns those that differ now. */
std::set<PodUid> renew_backed(State &state);
/* The same for templates of the gang's roles, so that a job can ask for their devices before the
 * pods exist. */
void note_backed_roles(State &state, const PodUid &key, Gang &gang);
/* The gang is about to be forgotten. */
void forget_backed_roles(State &state, Gang &gang);
/* The template of the role, with the devices that back its resources. */
const Pod &template_of(const Gang &gang, const Role &role);
/* Why the devices of roles whose pods have not come cannot be asked for at present; empty: they
 * can. */
std::string trouble_of_backed_roles(const State &state, const Gang &gang);
/* Why the claim of the pod cannot be used; empty: it can, or has to be created. */
std::string extended_claim_trouble(const State &state, const Pod &pod, const ResourceClaim &claim);

/* Where a device plugin offers the resource, Kubernetes would take devices of that. nullopt: it
 * does not. */
std::optional<Refusal> device_plugin_refuses(
	const State &state, const Pod &pod, const std::string &node);

/* Claims that were created are gone or may be: they may be created again. */
void forget_creations(State &state, const std::set<PodUid> &pods);

} // namespace slurmkube::core

#endif
