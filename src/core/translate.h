/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate.h - from a pod to the job that stands for it, under the rules that the administrator set.
 *
 * Pure. Whatever is refused says which key, which value and what to do about it; that text becomes a condition on the pod.
 */
#ifndef SLURMKUBE_CORE_TRANSLATE_H
#define SLURMKUBE_CORE_TRANSLATE_H

#include "src/base/result.h"
#include "src/core/spec.h"

namespace slurmkube::core
{

/* What pods of a namespace may be in Slurm. The first entry of a list is the default; an empty list leaves the choice to Slurm and allows none. */
struct NamespaceRule {
	std::string name_space; /* "*": every namespace not named before */
	std::uint32_t user_id = 0, group_id = 0;
	std::vector<std::string> accounts, partitions, qos;
};

struct Policy {
	std::string cluster = "kube";
	std::string scheduler_name;
	std::string default_partition = "kube";
	std::uint32_t default_time_limit_minutes = 0; /* 0: the partition's */
	std::uint64_t least_memory_mib = 64;          /* of pods that request none: Slurm would give them the whole node */
	std::vector<NamespaceRule> namespaces;
};

/* invalid: the pod can never run like this; the text is for its owner. */
Result<JobSpec> translate(const Pod &pod, const Policy &policy, std::uint32_t attempt);

/* Whole CPUs and whole MiB, at least what Slurm can count. */
std::uint32_t cpus_of(const Resources &requests);
std::uint64_t memory_mib_of(const Resources &requests, std::uint64_t least_mib);

} // namespace slurmkube::core

#endif
