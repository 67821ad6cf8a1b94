/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate.h - from a pod to the job that stands for it, under the rules that the administrator
 * set.
 *
 * Pure. Whatever is refused says which key, which value and what to do about it; that text becomes
 * a condition on the pod.
 */
#ifndef SLURMKUBE_CORE_TRANSLATE_TRANSLATE_H
#define SLURMKUBE_CORE_TRANSLATE_TRANSLATE_H

#include "src/base/result.h"
#include "src/core/model/spec.h"
#include "src/core/policy/policy.h"

namespace slurmkube::core
{

/* invalid, denied: the pod can never run like this; the text is for its owner. again: who it is is
 * not known yet. */
enum class Pods { one, gang };
Result<JobSpec> translate(
	const Pod &pod, const Policy &policy, std::uint32_t attempt, Pods pods = Pods::one);

/* Whether Slurm can honour what the pod constraints, whoever it is and whatever its options say: no
 * field that is not supported, no device without a rule. */
Status check_constraints(const Pod &pod, const Policy &policy);

} // namespace slurmkube::core

#endif
