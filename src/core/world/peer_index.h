/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peer_index.h - which pods of ours mind who is beside them. Knows no store.
 */
#ifndef SLURMKUBE_CORE_WORLD_PEER_INDEX_H
#define SLURMKUBE_CORE_WORLD_PEER_INDEX_H

#include "src/core/model/pod.h"

#include <set>

namespace slurmkube::core
{

class PeerIndex
{
      public:
	void note(const Pod &pod);
	void forget(const PodUid &uid);

	/* Those that mind who is beside them. */
	[[nodiscard]] const std::set<PodUid> &choosy() const { return choosy_; }
	[[nodiscard]] bool is_choosy(const PodUid &uid) const { return choosy_.contains(uid); }
	/* Those that may keep others off their node, and off its zone or the like. */
	[[nodiscard]] const std::set<PodUid> &averse() const { return averse_; }
	[[nodiscard]] const std::set<PodUid> &far_minded() const { return far_minded_; }

      private:
	std::set<PodUid> choosy_, averse_, far_minded_;
};

} // namespace slurmkube::core

#endif
