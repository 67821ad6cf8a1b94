/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * owner.h - converts an object that owns pods from JSON to core::Owner: Job, JobSet,
 * LeaderWorkerSet, PodGroup, Kubeflow's jobs, RayCluster, and objects that only pass options on
 * (Deployment, ReplicaSet, StatefulSet, CronJob, TrainJob, RayJob).
 *
 * Input that users have written: counts out of range become the nearest value in range, fields of a
 * wrong type count as absent, and wrong quantities are errors that name the template. Field names
 * are those of batch/v1, jobset.x-k8s.io/v1alpha2, leaderworkerset.x-k8s.io/v1,
 * scheduling.x-k8s.io/v1alpha1, scheduling.k8s.io/v1beta1, kubeflow.org and ray.io/v1.
 */
#ifndef SLURMKUBE_CODEC_OWNER_H
#define SLURMKUBE_CODEC_OWNER_H

#include "src/base/result.h"
#include "src/codec/json.h"
#include "src/core/model/owner.h"

namespace slurmkube::codec
{

/* invalid: no kind or name, no uid or one that cannot be a uid, more than 1000 templates, or a
 * wrong quantity. */
Result<core::Owner> owner_from_json(json_object *object);

} // namespace slurmkube::codec

#endif
