/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * user_search.h - the users whom annotations of namespaces name, told to World.
 *
 * Looking a user up may block for as long as the directory behind NSS takes, so a thread of its own
 * does it. Who was not found is asked for again whenever look_again() is called. On the loop's
 * thread but for that one.
 */
#ifndef SLURMKUBE_AGENT_USER_SEARCH_H
#define SLURMKUBE_AGENT_USER_SEARCH_H

#include "src/agent/loop.h"
#include "src/agent/slurm/workers.h"
#include "src/core/world/world.h"

#include <functional>
#include <memory>
#include <set>

namespace slurmkube::agent
{

class UserSearch
{
      public:
	UserSearch(Loop &loop, core::World &world, std::function<void()> on_change);
	void look_again();

      private:
	void ask(const std::string &name);

	Loop &loop_;
	core::World &world_;
	std::function<void()> on_change_;
	std::set<std::string> asked_; /* and not answered */
	std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
	slurm::Workers worker_; /* last: its thread ends before the rest goes */
};

} // namespace slurmkube::agent

#endif
