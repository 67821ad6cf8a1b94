/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/people.h"

#include "src/agent/identity.h"
#include "src/base/log.h"

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

People::People(Loop &loop, core::World &world, std::function<void()> on_change)
    : loop_(loop), world_(world), on_change_(std::move(on_change)), worker_(1, k_questions_max)
{
}

void People::look_again()
{
	for (const std::string &name : world_.people_wanted()) {
		if (asked_.insert(name).second)
			ask(name);
	}
}

void People::ask(const std::string &name)
{
	const bool taken = worker_.add([this, name, alive = std::weak_ptr<const bool>(alive_)] {
		/* the thread ends before this object does; what it has posted may run later */
		loop_.post([this, name, alive, found = find_person(name)] {
			if (alive.expired())
				return;
			asked_.erase(name);
			log_info("user looked up name=%s%s%s", name.c_str(), found ? "" : ": ", found ? "" : found.error().what.c_str());
			world_.observe(core::PersonFound{name, found});
			on_change_();
		});
		return true;
	});
	if (!taken)
		asked_.erase(name);
}

} // namespace slurmkube::agent
