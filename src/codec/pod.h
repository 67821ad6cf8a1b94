/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod.h - a v1 Pod in JSON to core::Pod.
 *
 * Reads only what core::Pod holds and never touches managedFields. Foreign input: wrong types count
 * as absent, wrong quantities and times are errors that name the field. Without name, namespace or
 * uid it is no pod.
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

/* A pod as its owner's template has it: without name, uid and status, in the owner's namespace.
 * Volumes that are made for each pod are left out. */
Result<core::Pod> pod_from_template(json_object *pod_template, const std::string &name_space);

/* What kube-scheduler would count for the pod: containers and sidecars, or the largest step of
 * initialisation, whichever is more; pod level requests instead of either; overhead on top; what a
 * resize has already granted. pods is 1. */
Result<core::Resources> effective_requests(View<schema::k_pod> pod);

/* Adds the field paths of the spec that ask for a placement we do not honour yet;
 * scheduling_constraints.h names the rest. */
void note_unsupported(View<schema::k_spec> spec, std::set<std::string> &fields);

/* The reference with controller=true in metadata.ownerReferences. */
std::optional<core::OwnerRef> controller_of(Views<schema::k_owner> owners);

/* metadata.uid, or empty: enough for objects that are only counted. */
std::string uid_of(json_object *object);

} // namespace slurmkube::codec

#endif
