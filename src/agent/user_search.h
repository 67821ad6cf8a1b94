/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * user_search.h - looks up the users that annotations of namespaces name, and reports them to
 * World.
 *
 * A lookup may block as long as the directory behind NSS takes, so that it runs on a thread of its
 * own; everything else runs on the loop's thread. look_again() also retries users that were not
 * found.
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
	std::set<std::string> asked_; /* questions without an answer */
	std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
	/* Last member: its thread ends before the other members are destroyed. */
	slurm::Workers worker_;
};

} // namespace slurmkube::agent

#endif
