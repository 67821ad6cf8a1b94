/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/user_search.h"

#include "src/agent/identity.h"
#include "src/base/log.h"

namespace slurmkube::agent
{

namespace
{

constexpr std::size_t k_questions_max = 100'000;

Result<core::SlurmUser> slurm_user(const std::string &name)
{
	const auto found = find_known_user(name);
	if (!found)
		return found.error();
	return core::SlurmUser{found->user_id, found->group_id};
}

} // namespace

UserSearch::UserSearch(Loop &loop, core::World &world, std::function<void()> on_change)
    : loop_(loop), world_(world), on_change_(std::move(on_change)), worker_(1, k_questions_max)
{
}

void UserSearch::look_again()
{
	for (const std::string &name : world_.users_wanted()) {
		if (asked_.insert(name).second)
			ask(name);
	}
}

void UserSearch::ask(const std::string &name)
{
	const bool taken = worker_.add([this, name, alive = std::weak_ptr<const bool>(alive_)] {
		/* the thread ends before this object does, but what it has posted may run later */
		loop_.post([this, name, alive, found = slurm_user(name)] {
			if (alive.expired())
				return;
			asked_.erase(name);
			log_info("user looked up name=%s%s%s", name.c_str(), found ? "" : ": ",
				found ? "" : found.error().what.c_str());
			world_.observe(core::UserFound{name, found});
			on_change_();
		});
		return true;
	});
	if (!taken)
		asked_.erase(name);
}

} // namespace slurmkube::agent
