/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/people.h"

#include "src/agent/identity.h"
#include "src/base/log.h"
#include "src/codec/namespace.h"

namespace slurmkube::agent
{

namespace
{

constexpr std::size_t k_questions_max = 100'000;

Result<core::Person> find_person(const std::string &name)
{
	const auto found = find_known_user(name);
	if (!found)
		return found.error();
	return core::Person{found->user_id, found->group_id};
}

} // namespace

NamespaceSource::NamespaceSource(Loop &loop, core::World &world, std::function<void()> on_change)
    : loop_(loop), world_(world), on_change_(std::move(on_change)), worker_(1, k_questions_max)
{
}

void NamespaceSource::upserted(json_object *object)
{
	auto seen = codec::namespace_from_json(object);
	if (!seen) {
		log_warning("a namespace cannot be read: %s", seen.error().what.c_str());
		return;
	}
	world_.namespace_seen(std::move(*seen));
	if (listed_)
		look_again();
	on_change_();
}

void NamespaceSource::deleted(json_object *last_state)
{
	const auto seen = codec::namespace_from_json(last_state);
	if (!seen) {
		log_warning("a deleted namespace cannot be read: %s", seen.error().what.c_str());
		return;
	}
	world_.namespace_gone(seen->name);
	on_change_();
}

void NamespaceSource::listed(const std::set<std::string> &live_uids)
{
	log_info("namespaces listed count=%zu", live_uids.size());
	listed_ = true;
	world_.namespaces_listed(live_uids);
	look_again();
	on_change_();
}

void NamespaceSource::look_again()
{
	for (const std::string &name : world_.people_wanted()) {
		if (asked_.insert(name).second)
			ask(name);
	}
}

void NamespaceSource::ask(const std::string &name)
{
	const bool taken = worker_.add([this, name, alive = std::weak_ptr<const bool>(alive_)] {
		/* the thread ends before this object does; what it has posted may run later */
		loop_.post([this, name, alive, found = find_person(name)] {
			if (alive.expired())
				return;
			asked_.erase(name);
			log_info("user looked up name=%s%s%s", name.c_str(), found ? "" : ": ", found ? "" : found.error().what.c_str());
			world_.person_found(name, found);
			on_change_();
		});
		return true;
	});
	if (!taken)
		asked_.erase(name);
}

} // namespace slurmkube::agent
