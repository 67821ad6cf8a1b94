/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The observing half of World for identities: namespaces, and the users that their annotations
 * name.
 *
 * A change applies to pods without a job. A live job keeps the identity under which it was
 * submitted.
 */
#include "src/core/model/selectors.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

bool names_namespaces(const std::vector<PodTerm> &terms)
{
	return std::ranges::any_of(
		terms, [](const PodTerm &term) { return term.namespace_selector.has_value(); });
}

} // namespace

void World::wake_unbound(const std::string &name_space)
{
	for (const auto &[uid, entry] : state_.pods) {
		if (entry.pod && entry.pod->node_name.empty() &&
			(name_space.empty() || entry.pod->name_space == name_space))
			queue_.mark(uid);
	}
}

void World::namespace_seen(Namespace seen)
{
	state_.taints.review_soon(state_.seen_us);
	std::erase_if(seen.annotations, [this](const auto &one) {
		return !reads_annotation(state_.settings.policy.namespaces, one.first);
	});
	Namespace &known = state_.settings.policy.identity_facts.namespaces[seen.name];
	if (known == seen)
		return;
	changes_.note_all(); /* the users of its pods */
	known = std::move(seen);
	wake_unbound(known.name);
	namespaces_changed();
}

void World::namespace_gone(const std::string &name)
{
	state_.settings.policy.identity_facts.namespaces.erase(name);
	wake_unbound(name);
	namespaces_changed();
}

void World::namespaces_listed(const std::set<std::string> &live_uids)
{
	std::erase_if(state_.settings.policy.identity_facts.namespaces,
		[&](const auto &one) { return !live_uids.contains(one.second.uid); });
	state_.sync.listed(Sync::List::namespaces);
	namespaces_changed();
}

/* Only what the old rules read of namespaces was kept, so all of them must be reported again. */
void World::set_identity_rules(std::vector<NamespaceRule> rules, std::uint32_t min_uid)
{
	state_.taints.review_soon(state_.seen_us);
	state_.settings.policy.namespaces = std::move(rules);
	state_.settings.policy.min_uid = min_uid;
	state_.settings.policy.identity_facts.namespaces.clear();
	state_.sync.unlisted(Sync::List::namespaces);
	wake_unbound("");
}

std::set<std::string> World::users_wanted() const
{
	const Policy &policy = state_.settings.policy;
	std::set<std::string> wanted;
	for (const auto &[name, seen] : policy.identity_facts.namespaces) {
		if (auto person = person_wanted(
			    {policy.namespaces, policy.min_uid, policy.identity_facts}, name))
			wanted.insert(std::move(*person));
	}
	return wanted;
}

void World::user_found(const std::string &name, const Result<SlurmUser> &person)
{
	state_.taints.review_soon(state_.seen_us);
	state_.settings.policy.identity_facts.users.insert_or_assign(name, person);
	wake_unbound("");
}

/* Until all namespaces are known, a namespace selector of anti-affinity selects all of them, and
 * one of affinity selects none. */
void World::select_namespaces(Pod &pod)
{
	if (!names_namespaces(pod.constraints.affinity) &&
		!names_namespaces(pod.constraints.anti_affinity))
		return;
	by_namespaces_.insert(pod.uid);
	for (auto *terms : {&pod.constraints.affinity, &pod.constraints.anti_affinity}) {
		for (PodTerm &term : *terms) {
			term.selected_namespaces.clear();
			if (!term.namespace_selector)
				continue;
			term.all_namespaces = !state_.sync.is_listed(Sync::List::namespaces) &&
				terms == &pod.constraints.anti_affinity;
			for (const auto &[name, seen] :
				state_.settings.policy.identity_facts.namespaces) {
				if (state_.sync.is_listed(Sync::List::namespaces) &&
					matches(*term.namespace_selector, seen.labels))
					term.selected_namespaces.push_back(name);
			}
		}
	}
}

} // namespace slurmkube::core
