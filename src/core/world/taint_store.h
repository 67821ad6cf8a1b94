/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * taint_store.h - the taints that nodes have, and whether a pod of ours tolerates each.
 *
 * While nobody tolerates it a taint drains its node, as people expect to see in sinfo; else the
 * node is in service, and each pod is kept off it or not. Bounded by the taints that nodes have,
 * never by what pods write. Knows no other store: who tolerates what it is told, or asks.
 */
#ifndef SLURMKUBE_CORE_WORLD_TAINT_STORE_H
#define SLURMKUBE_CORE_WORLD_TAINT_STORE_H

#include "src/core/model/node.h"
#include "src/core/model/now.h"

#include <functional>
#include <map>
#include <vector>

namespace slurmkube::core
{

class TaintStore
{
      public:
	using IsTolerated = std::function<bool(const Taint &)>;

	void node_seen(const KubeNode &node, const IsTolerated &by_any);
	/* Of a pod whose namespace may use Slurm. Returns the taints of which it is the first. */
	std::vector<Taint> tolerated_by(const std::vector<Toleration> &tolerations);
	/* Looks at all of them again, if it is time. Returns those of which it is otherwise now. */
	std::vector<Taint> review(
		const std::map<std::string, KubeNode> &nodes, const IsTolerated &by_any, Now now);
	/* Whose pods may use Slurm is known of more namespaces now. seen_us: about now. */
	void review_soon(std::int64_t seen_us);

	[[nodiscard]] bool is_tolerated(const Taint &taint) const;
	[[nodiscard]] const std::map<Taint, bool> &all() const { return taints_; }

      private:
	std::map<Taint, bool> taints_;
	std::int64_t review_us_ = 0;
};

} // namespace slurmkube::core

#endif
