/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * policy.h - the administrator's rules, and the data that World keeps with them because the rules
 * need it.
 */
#ifndef SLURMKUBE_CORE_POLICY_POLICY_H
#define SLURMKUBE_CORE_POLICY_POLICY_H

#include "src/core/model/when.h"
#include "src/core/policy/gres.h"
#include "src/core/policy/identity_rules.h"
#include "src/core/policy/label_features.h"

#include <string>
#include <vector>

namespace slurmkube::core
{

/* What a PriorityClass of Kubernetes means in Slurm. Options of the pod override it. */
struct PriorityClassRule {
	std::string name;
	std::string qos; /* must be one that the namespace's rule allows; empty: none */
	std::int32_t nice = 0;
	bool operator==(const PriorityClassRule &) const = default;
};

struct Policy {
	std::string cluster = "kube";
	std::string cluster_uid = {}; /* uid of the namespace kube-system, kept by World */
	std::vector<std::string> scheduler_names; /* of the pods that Slurm schedules */
	std::string default_partition = "kube";
	std::uint32_t default_time_limit_minutes = 0; /* 0: the partition's */
	/* thousandths of a CPU that Slurm counts as one on external nodes */
	std::uint32_t cpu_unit = k_whole_cpu;
	/* for pods that request less or none; Slurm would give a job without memory the whole
	 * node */
	std::uint64_t least_memory_mib = 64;
	std::vector<NamespaceRule> namespaces = {};
	LabelFeatures features = {}; /* labels of nodes that are features in Slurm */
	GresTable gres = default_gres_table();
	/* Devices of resource claims are GRES by rules; false: such claims are refused. */
	bool has_device_rules = false;
	/* Users may run pods within their native jobs on hybrid nodes. */
	bool pods_in_native_jobs = false;
	std::uint32_t min_uid = 1000;     /* minimum for users named by annotations */
	ZoneOffset zone_offset = nullptr; /* for times that users write without a zone */
	std::vector<PriorityClassRule> priority_classes = {};
	IdentityFacts identity_facts = {}; /* kept by World */

	[[nodiscard]] Result<NamespaceRule> rule_of(const std::string &name_space) const
	{
		return core::rule_of({namespaces, min_uid, identity_facts}, name_space);
	}
};

} // namespace slurmkube::core

#endif
