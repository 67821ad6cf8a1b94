/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * policy.h - the rules that the administrator set, and what World keeps beside them for their sake.
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
	/* thousandths of a CPU that Slurm counts as one on external nodes */
	std::uint32_t cpu_unit = k_whole_cpu;
	/* of pods that request none: Slurm would give them the whole node */
	std::uint64_t least_memory_mib = 64;
	std::vector<NamespaceRule> namespaces = {};
	LabelFeatures features = {}; /* labels of nodes that are features in Slurm */
	GresTable gres = default_gres_table();
	std::uint32_t min_uid = 1000;     /* of users whom a namespace's annotation names */
	ZoneOffset zone_offset = nullptr; /* of times that users write without a zone */
	std::vector<PriorityClassRule> priority_classes = {};
	IdentityFacts identity_facts = {}; /* kept by World: what the rules look at */

	[[nodiscard]] Result<NamespaceRule> rule_of(const std::string &name_space) const
	{
		return core::rule_of({namespaces, min_uid, identity_facts}, name_space);
	}
};

} // namespace slurmkube::core

#endif
