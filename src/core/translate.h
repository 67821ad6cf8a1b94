/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate.h - from a pod to the job that stands for it, under the rules that the administrator set.
 *
 * Pure. Whatever is refused says which key, which value and what to do about it; that text becomes a condition on the pod.
 */
#ifndef SLURMKUBE_CORE_TRANSLATE_H
#define SLURMKUBE_CORE_TRANSLATE_H

#include "src/base/result.h"
#include "src/core/gres.h"
#include "src/core/identity_rules.h"
#include "src/core/label_features.h"
#include "src/core/spec.h"
#include "src/core/when.h"

namespace slurmkube::core
{

/* What a PriorityClass of Kubernetes means in Slurm; options of the pod come before it. */
struct PriorityClassRule {
	std::string name;
	std::string qos; /* must be one that the namespace's rule allows; empty: none */
	std::int32_t nice = 0;
	bool operator==(const PriorityClassRule &) const = default;
};

struct Policy {
	std::string cluster = "kube";
	std::string cluster_uid = {}; /* kept by World: of the namespace kube-system */
	std::string scheduler_name;
	std::string default_partition = "kube";
	std::uint32_t default_time_limit_minutes = 0; /* 0: the partition's */
	std::uint32_t cpu_unit = k_whole_cpu; /* thousandths of a CPU that Slurm counts as one on external nodes */
	std::uint64_t least_memory_mib = 64;          /* of pods that request none: Slurm would give them the whole node */
	std::vector<NamespaceRule> namespaces = {};
	LabelFeatures features = {}; /* labels of nodes that are features in Slurm */
	GresTable gres = default_gres_table();
	std::uint32_t least_uid = 1000;  /* of users whom a namespace's annotation names */
	ZoneOffset zone_offset = nullptr; /* of times that users write without a zone */
	std::vector<PriorityClassRule> priority_classes = {};
	IdentityFacts identity_facts = {}; /* kept by World: what the rules look at */

	[[nodiscard]] Result<NamespaceRule> rule_of(const std::string &name_space) const { return core::rule_of({namespaces, least_uid, identity_facts}, name_space); }
};

/* invalid, denied: the pod can never run like this; the text is for its owner. again: who it is is not known yet. */
enum class Pods { one, gang };
Result<JobSpec> translate(const Pod &pod, const Policy &policy, std::uint32_t attempt, Pods pods = Pods::one);

/* Whether Slurm can honour what the pod demands, whoever it is and whatever its options say: no field that is not supported, no device without a rule. */
Status check_demands(const Pod &pod, const Policy &policy);

/* Slurm's CPUs, each of so many thousandths, and MiB; both whole, at least what Slurm can count. */
std::uint32_t cpus_of(const Resources &requests, std::uint32_t cpu_unit);
std::uint64_t memory_mib_of(const Resources &requests, std::uint64_t least_mib);

/* The time limit that a deadline means; 0: none */
std::uint32_t minutes_of_deadline(std::int64_t seconds);

/* Of what Slurm counts: whole CPUs, rounded up, and as text: "1 CPU", "2.5 CPUs". */
std::uint32_t whole_cpus(std::uint32_t slurm_cpus, std::uint32_t cpu_unit);
std::string cpus_text(std::uint32_t slurm_cpus, std::uint32_t cpu_unit);

} // namespace slurmkube::core

#endif
