/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * identity_rules.h - maps namespaces to Slurm users, accounts and partitions.
 *
 * Pure. The rules come from slurmkubed.yaml. Besides the name of a namespace they use its labels
 * and annotations, which only the cluster's administrator can write (doc/admin.md says which rights
 * this requires). They use nothing that is in a pod. If a rule needs a namespace that has not been
 * seen, or a user whose lookup has not finished, the answer is Errc::again instead of a guess.
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

/* Permissions beyond the choices in the lists of a rule. They are named under `permissions` of the
 * rule. */
inline constexpr std::string_view k_permissions[] = {
	"may_set_priority", /* options priority, and nice below 0 */
	"may_use_burst_buffer",
};

/* The identity of a namespace's pods in Slurm. The first entry of a list is the default. If a list
 * is empty, pods may not choose: jobs get Slurm's default account and QOS, and the
 * default_partition of Policy. */
struct NamespaceRule {
	std::string name_space; /* "*" or empty: every name */
	std::uint32_t user_id = 0, group_id = 0;
	std::vector<std::string> accounts, partitions, qos;
	std::vector<std::string> permissions = {}; /* of k_permissions */
	/* "*": everything that Slurm permits the user. These lists have no default. */
	std::vector<std::string> reservations = {}, wckeys = {};

	/* What the namespace must have in addition; empty: nothing. */
	LabelSelector selector = {};
	std::string selector_text = {}; /* as written */
	std::string annotation_key = {};
	std::optional<std::string> annotation_value = {}; /* none: any */

	/* Keys of annotations of the namespace that replace the user or the lists of the rule. A
	 * namespace without the annotation user_from does not match. */
	std::string user_from = {}, accounts_from = {}, partitions_from = {}, qos_from = {};
	bool has_group = false; /* group_id applies, whichever user the annotation names */

	/* user as written in the rule or, if rule_of() returns the rule, in the annotation; for
	 * messages */
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

/* A user of this machine, as the agent has looked it up. */
struct SlurmUser {
	std::uint32_t user_id = 0, group_id = 0;
	bool operator==(const SlurmUser &) const = default;
};

/* What the rules are applied to. Watches and lookups add and remove entries. */
struct IdentityFacts {
	std::map<std::string, Namespace> namespaces; /* by name */
	/* by the user name or number in the annotation */
	std::map<std::string, Result<SlurmUser>> users;
};

struct IdentityRules {
	const std::vector<NamespaceRule> &rules;
	std::uint32_t min_uid; /* minimum for users named by annotations */
	const IdentityFacts &facts;
};

/*
 * The first rule that matches, completed from the namespace's annotations. again: the namespace or
 * its user is not known yet. denied: no rule matches, or the namespace's annotations name something
 * that is not allowed; the error says which.
 */
Result<NamespaceRule> rule_of(const IdentityRules &identity, const std::string &name_space);

/* The user name or number from an annotation that must be looked up before rule_of() can answer;
 * nullopt: none. */
std::optional<std::string> person_wanted(
	const IdentityRules &identity, const std::string &name_space);

/* Whether a rule reads annotations with this key; all others need not be stored. */
bool reads_annotation(const std::vector<NamespaceRule> &rules, const std::string &key);

/* "user phys (uid 1001) by identity rule 1 (namespace physics)" */
std::string as_whom(const NamespaceRule &rule);

} // namespace slurmkube::core

#endif
