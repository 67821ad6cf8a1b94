/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate.h - from a pod to the job that stands for it, under the administrator's rules.
 *
 * Pure. Every error says which key, which value and what to do about it, because its text becomes a
 * condition of the pod.
 */
#ifndef SLURMKUBE_CORE_TRANSLATE_TRANSLATE_H
#define SLURMKUBE_CORE_TRANSLATE_TRANSLATE_H

#include "src/base/result.h"
#include "src/core/model/spec.h"
#include "src/core/policy/policy.h"

namespace slurmkube::core
{

/* invalid, denied: the pod cannot run as it is; the text is for its owner. again: the pod's
 * identity in Slurm is not known yet. */
enum class Pods { one, gang };
Result<JobSpec> translate(
	const Pod &pod, const Policy &policy, std::uint32_t attempt, Pods pods = Pods::one);

/* Whether Slurm can honour the pod's constraints, regardless of its identity and options. invalid:
 * a field is not supported, or a device has no rule. */
Status check_constraints(const Pod &pod, const Policy &policy);

} // namespace slurmkube::core

#endif
