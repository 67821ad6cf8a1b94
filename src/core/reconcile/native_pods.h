/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * native_pods.h - pods that run within a native job of their user (option job): which job may take
 * a pod, and when a bound pod has to end. Pure.
 *
 * Texts for users are in report_native.cc. Of a job that slurmctld does not know and of another
 * user's job the text is the same, so that it tells nothing of other users.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_NATIVE_PODS_H
#define SLURMKUBE_CORE_RECONCILE_NATIVE_PODS_H

#include "src/base/result.h"
#include "src/core/model/eviction.h"
#include "src/core/model/native_job.h"
#include "src/core/model/node.h"
#include "src/core/model/spec.h"
#include "src/core/reconcile/facts.h"

namespace slurmkube::core
{

/* slurmctld's last word about a job; not_found: there is none of that number. nullptr where it is
 * passed: it has not been asked yet. */
using NativeAnswer = Result<NativeJob>;

/* What other pods have of the job, bound ones and those that are being bound. */
struct NativeUse {
	std::size_t pods = 0;
	std::int64_t milli_cpu = 0;
	std::uint64_t memory_mib = 0;
};

/* The node of the job, as the pod sees it. */
struct NativeNode {
	const KubeNode *kube = nullptr;
	const SlurmNode *record = nullptr;
	PlaceFacts place;
};

/* Where a pod may be bound. */
struct NativePlace {
	NativeMark mark;
	std::string node;
	std::uint32_t cpus = 0; /* of the job */
	std::uint64_t memory_mib = 0;
};

inline constexpr std::size_t k_pods_per_native_job = 64;
inline constexpr std::int64_t k_native_grace_seconds = 30;
/* Each question about an array describes all its tasks. */
inline constexpr std::size_t k_array_tasks_max = 100;

/* What the pod asks for, whatever its job is. invalid: it can never run in a native job. */
Status check_native_pod(const Pod &pod, const JobSpec &spec);

/* invalid: this job cannot take the pod. again: not now. spec: translate() of the pod. */
Result<const NativeJob *> native_job_for(const JobSpec &spec, const NativeAnswer *answer);
Result<NativePlace> place_in(
	const NativeJob &job, const Pod &pod, const NativeUse &others, const NativeNode &node);

/* Whether a bound pod has to end. */
enum class NativeEnd {
	none,
	/* slurmctld says that there is no such job: it must say so twice */
	doubted,
	/* The same, if nodes have the same names in Slurm and here. With a wrong prefix of names a
	 * job seems to be elsewhere. */
	left_node,
	certain,
};
struct NativeVerdict {
	NativeEnd end = NativeEnd::none;
	Eviction cause = Eviction::unknown;
	std::string why = {}; /* completes "Slurm job 12 " */
};
/* cluster: the Slurm cluster that has answered. It says nothing about jobs of another one. */
NativeVerdict judge_bound(const NativeMark &mark, const std::string &node,
	const NativeAnswer *answer, const std::string &cluster);

/* Whether a pod that waits for the job may be bound soon. */
bool may_start(const NativeAnswer *answer);

} // namespace slurmkube::core

#endif
