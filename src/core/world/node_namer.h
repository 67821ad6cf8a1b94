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

	/* Jobs that begin and end decide names, too. A look may take long, and each of other names
	 * makes the plugin report everything again. */
	[[nodiscard]] bool is_due(Now now) const
	{
		const bool is_unsettled = has_named_pods_ || !troubles_.empty();
		return now.mono_us >= next_us_ && (is_changed_ || is_unsettled);
	}
	[[nodiscard]] bool was_asked() const { return was_asked_; }
	/* was_known: all that names depend on was known; else they are asked for again. */
	void found(std::vector<std::string> troubles, bool was_known, bool must_report, Now now)
	{
		troubles_ = std::move(troubles);
		was_asked_ = true;
		is_changed_ = !was_known;
		if (!was_known)
			return;
		next_us_ = now.mono_us + (must_report ? pause(now) : k_look_us);
	}
	[[nodiscard]] const std::vector<std::string> &troubles() const { return troubles_; }

      private:
	static constexpr std::int64_t k_look_us = 5'000'000, k_pause_us = 60'000'000,
				      k_quiet_us = 300'000'000;
	static constexpr unsigned k_quick_most = 8;

	/* A person corrects some labels; labels that change all the time close the link rarely. */
	std::int64_t pause(Now now)
	{
		if (now.mono_us >= renamed_us_ + k_quiet_us)
			renames_ = 0;
		renamed_us_ = now.mono_us;
		return ++renames_ < k_quick_most ? k_look_us : k_pause_us;
	}

	bool is_changed_ = true, has_named_pods_ = false, was_asked_ = false;
	std::int64_t next_us_ = 0, renamed_us_ = 0;
	unsigned renames_ = 0; /* without a quiet time in between */
	std::vector<std::string> troubles_;
};

} // namespace slurmkube::core

#endif
