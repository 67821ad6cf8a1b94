/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_namer.h - when the names that nodes have in Slurm by their labels are worked out anew
 * (policy/label_names.h).
 */
#ifndef SLURMKUBE_CORE_WORLD_NODE_NAMER_H
#define SLURMKUBE_CORE_WORLD_NODE_NAMER_H

#include "src/core/model/now.h"
#include "src/core/policy/label_names.h"

#include <optional>
#include <utility>

namespace slurmkube::core
{

class NodeNamer
{
      public:
	/* A node has come, has gone, or has other labels. */
	void changed() { is_changed_ = true; }
	/* Another agent may have led: what this one called the nodes does not count. */
	void begin_again() { begins_ = is_changed_ = true; }
	/* No node keeps a name because of its jobs. */
	[[nodiscard]] bool begins() const { return begins_; }
	/* Labels with troubles are looked at again each second, because jobs end. */
	[[nodiscard]] bool is_due(Now now) const
	{
		return is_changed_ || (!troubles_.empty() && now.mono_us >= next_us_);
	}
	void found(std::vector<std::string> troubles, Now now)
	{
		constexpr std::int64_t k_again_us = 1'000'000;
		troubles_ = std::move(troubles);
		begins_ = is_changed_ = false;
		next_us_ = now.mono_us + k_again_us;
	}
	[[nodiscard]] const std::vector<std::string> &troubles() const { return troubles_; }

      private:
	bool is_changed_ = true, begins_ = true;
	std::int64_t next_us_ = 0;
	std::vector<std::string> troubles_;
};

} // namespace slurmkube::core

#endif
