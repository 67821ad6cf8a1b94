/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod.h - converts a v1 Pod from JSON to core::Pod.
 *
 * Reads only what core::Pod contains, and never managedFields. Users have written the input: fields
 * of a wrong type count as absent, and wrong quantities and times are errors that name the field.
 * An object without name, namespace or uid is invalid.
 */
#ifndef SLURMKUBE_CODEC_POD_H
#define SLURMKUBE_CODEC_POD_H

#include "src/base/result.h"
#include "src/codec/pod_schema.h"
#include "src/codec/view.h"
#include "src/core/model/pod.h"

#include <set>

namespace slurmkube::codec
{

Result<core::Pod> pod_from_json(json_object *pod);

/* A pod made from its owner's template: without name, uid and status, in the owner's namespace.
 * Volumes that are created for each pod are left out. */
Result<core::Pod> pod_from_template(json_object *pod_template, const std::string &name_space);

/* The requests that kube-scheduler counts for the pod: those of containers and sidecars, or of the
 * largest step of initialisation if that is more; requests at pod level override both, and the
 * overhead is added. A container counts with at least what a resize has already granted. `pods` is
 * 1. */
Result<core::Resources> effective_requests(View<schema::k_pod> pod);

/* Adds the paths of fields of the spec with placement constraints that are not supported.
 * scheduling_constraints.h reports the others. */
void note_unsupported(View<schema::k_spec> spec, std::set<std::string> &fields);

/* spec.resourceClaims, with the names that status.resourceClaimStatuses gives to claims made of
 * templates. */
std::vector<core::PodResourceClaim> resource_claims_of_pod(View<schema::k_spec> spec,
	View<schema::k_status> status, std::set<std::string> &unsupported);

/* All containers of a pod with resource claims, with the claims that each uses; otherwise none. */
std::vector<core::ContainerClaims> container_claims_of(
	View<schema::k_spec> spec, std::set<std::string> &unsupported);

/* Which containers request resources that devices may back. Those without are left out. */
std::vector<core::ContainerDevices> container_devices_of(View<schema::k_spec> spec);

/* status.extendedResourceClaimStatus */
std::optional<core::ExtendedClaimStatus> extended_claim_of_pod(View<schema::k_status> status);

/* The reference with controller=true in metadata.ownerReferences. */
std::optional<core::OwnerRef> controller_of(Views<schema::k_owner> owners);

/* metadata.uid, or empty. For objects of which nothing else is needed. */
std::string uid_of(json_object *object);

} // namespace slurmkube::codec

#endif
