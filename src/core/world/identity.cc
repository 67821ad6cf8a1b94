/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The observing half of World for identities: namespaces, and the users that their annotations name.
 *
 * A change reaches pods that wait without a job; a job that lives keeps whom it was submitted as.
 */
#include "src/core/world/world.h"

namespace slurmkube::core
{

void World::wake_unbound(const std::string &name_space)
{
	for (const auto &[uid, group] : groups_) {
		if (group.pod && group.pod->node_name.empty() && (name_space.empty() || group.pod->name_space == name_space))
			queue_.mark(uid);
	}
}

void World::namespace_seen(Namespace seen)
{
	taints_.review_soon(seen_us_);
	std::erase_if(seen.annotations, [this](const auto &one) { return !reads_annotation(settings_.policy.namespaces, one.first); });
	Namespace &known = settings_.policy.identity_facts.namespaces[seen.name];
	if (known == seen)
		return;
	known = std::move(seen);
	wake_unbound(known.name);
	namespaces_changed();
}

void World::namespace_gone(const std::string &name)
{
	settings_.policy.identity_facts.namespaces.erase(name);
	wake_unbound(name);
	namespaces_changed();
}

void World::namespaces_listed(const std::set<std::string> &live_uids)
{
	std::erase_if(settings_.policy.identity_facts.namespaces, [&](const auto &one) { return !live_uids.contains(one.second.uid); });
	sync_.listed(Sync::List::namespaces);
	namespaces_changed();
}

/* Of namespaces only what the old rules read has been kept. */
void World::set_identity_rules(std::vector<NamespaceRule> rules, std::uint32_t least_uid)
{
	taints_.review_soon(seen_us_);
	settings_.policy.namespaces = std::move(rules);
	settings_.policy.least_uid = least_uid;
	settings_.policy.identity_facts.namespaces.clear();
	sync_.unlisted(Sync::List::namespaces);
	wake_unbound("");
}

std::set<std::string> World::people_wanted() const
{
	const Policy &policy = settings_.policy;
	std::set<std::string> wanted;
	for (const auto &[name, seen] : policy.identity_facts.namespaces) {
		if (auto person = person_wanted({policy.namespaces, policy.least_uid, policy.identity_facts}, name))
			wanted.insert(std::move(*person));
	}
	return wanted;
}

void World::person_found(const std::string &name, const Result<Person> &person)
{
	taints_.review_soon(seen_us_);
	settings_.policy.identity_facts.people.insert_or_assign(name, person);
	wake_unbound("");
}

} // namespace slurmkube::core
