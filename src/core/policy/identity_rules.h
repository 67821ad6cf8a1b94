/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * identity_rules.h - who the pods of a namespace are in Slurm.
 *
 * Pure. Rules come from slurmkubed.yaml; what they look at besides a namespace's name - its labels
 * and annotations - only the cluster's administrator can write (doc/admin.md says which rights that
 * presumes). Nothing of a pod is looked at here. A rule whose namespace has not been seen, and a
 * user who is still being looked up, answer Errc::again: nobody guesses.
 */
#ifndef SLURMKUBE_CORE_POLICY_IDENTITY_RULES_H
#define SLURMKUBE_CORE_POLICY_IDENTITY_RULES_H

#include "src/base/result.h"
#include "src/core/model/label_selector.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::core
{

/* What only some may do, beyond choosing among the lists of their rule. Named under `permissions`
 * of a rule. */
inline constexpr std::string_view k_permissions[] = {
	"may_set_priority", /* options priority, and nice below 0 */
	"may_use_burst_buffer",
};

/* What pods of a namespace may be in Slurm. The first entry of a list is the default; an empty list
 * leaves the choice to Slurm and allows none. */
struct NamespaceRule {
	std::string name_space; /* "*" or empty: whatever the rest matches */
	std::uint32_t user_id = 0, group_id = 0;
	std::vector<std::string> accounts, partitions, qos;
	std::vector<std::string> permissions = {}; /* of k_permissions */
	/* "*": whatever Slurm lets the user have. There is no default */
	std::vector<std::string> reservations = {}, wckeys = {};

	/* What a namespace must have besides; empty: nothing. */
	LabelSelector selector = {};
	std::string selector_text = {}; /* as written */
	std::string annotation_key = {};
	std::optional<std::string> annotation_value = {}; /* none: any */

	/* Keys of annotations of the namespace that say what the rule leaves open. A namespace
	 * without user_from does not match. */
	std::string user_from = {}, accounts_from = {}, partitions_from = {}, qos_from = {};
	bool has_group = false; /* group_id holds whoever the user is */

	/* as written, for texts; of a rule that rule_of() returns: also from the annotation */
	std::string user = {};
	std::string text = {}; /* set by rule_of(): "identity rule 2 (selector team=physics)" */
	bool operator==(const NamespaceRule &) const = default;
};

bool may(const NamespaceRule &rule, std::string_view permission);

/* A namespace as the API server shows it. */
struct Namespace {
	std::string name, uid;
	bool deleting = false;
	std::map<std::string, std::string> labels, annotations;
	bool operator==(const Namespace &) const = default;
};

/* A user of this machine, as the agent found it. */
struct SlurmUser {
	std::uint32_t user_id = 0, group_id = 0;
	bool operator==(const SlurmUser &) const = default;
};

/* What rules are applied to. Grows and shrinks as the watch and the look-ups tell. */
struct IdentityFacts {
	std::map<std::string, Namespace> namespaces; /* by name */
	/* by what annotations name: a user name or a number */
	std::map<std::string, Result<SlurmUser>> people;
};

struct IdentityRules {
	const std::vector<NamespaceRule> &rules;
	std::uint32_t min_uid; /* of users whom an annotation names */
	const IdentityFacts &facts;
};

/*
 * The first rule that matches, filled in. again: the namespace or its user is not known yet.
 * denied: no rule matches, or the namespace's annotations name what they may not; the text says
 * which.
 */
Result<NamespaceRule> rule_of(const IdentityRules &identity, const std::string &name_space);

/* Whom to look up so that rule_of() can answer: a user name or number from an annotation. nullopt:
 * nobody. */
std::optional<std::string> person_wanted(
	const IdentityRules &identity, const std::string &name_space);

/* Keys of annotations that some rule reads; all others need not be kept. */
bool reads_annotation(const std::vector<NamespaceRule> &rules, const std::string &key);

/* "user phys (uid 1001) by identity rule 1 (namespace physics)" */
std::string as_whom(const NamespaceRule &rule);

} // namespace slurmkube::core

#endif
