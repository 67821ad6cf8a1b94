/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_namer.h - when the names that nodes have in Slurm by their labels are worked out anew
 * (policy/label_names.h).
 */
#ifndef SLURMKUBE_CORE_WORLD_NODE_NAMER_H
#define SLURMKUBE_CORE_WORLD_NODE_NAMER_H

#include "src/core/model/now.h"
#include "src/core/policy/label_names.h"

#include <utility>

namespace slurmkube::core
{

class NodeNamer
{
      public:
	/* A node has come, has gone, or has another label; or Slurm has reported its nodes. */
	void changed() { is_changed_ = true; }
	/* A pod was bound to a node with such a name. */
	void named_pod_seen() { is_changed_ |= !std::exchange(has_named_pods_, true); }
	[[nodiscard]] bool has_named_pods() const { return has_named_pods_; }

	/* Other names make the plugin report everything again, so they wait for each other. Jobs
	 * that begin and end decide names, too. */
	[[nodiscard]] bool is_due(Now now) const
	{
		const bool is_unsettled = has_named_pods_ || !troubles_.empty();
		return now.mono_us >= pause_until_us_ &&
			(is_changed_ || (is_unsettled && now.mono_us >= again_us_));
	}
	[[nodiscard]] bool was_asked() const { return was_asked_; }
	/* was_known: all that names depend on was known; else they are asked for again. */
	void found(std::vector<std::string> troubles, bool was_known, bool are_others, Now now)
	{
		constexpr std::int64_t k_pause_us = 10'000'000, k_again_us = 5'000'000;
		troubles_ = std::move(troubles);
		was_asked_ = true;
		is_changed_ = !was_known;
		again_us_ = now.mono_us + k_again_us;
		if (was_known && are_others)
			pause_until_us_ = now.mono_us + k_pause_us;
	}
	[[nodiscard]] const std::vector<std::string> &troubles() const { return troubles_; }

      private:
	bool is_changed_ = true, has_named_pods_ = false, was_asked_ = false;
	std::int64_t pause_until_us_ = 0, again_us_ = 0;
	std::vector<std::string> troubles_;
};

} // namespace slurmkube::core

#endif
