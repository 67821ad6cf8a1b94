/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * taint_store.h - the taints of nodes, and whether any of our pods tolerates each.
 *
 * A taint that no pod tolerates drains its node, as administrators expect to see in sinfo.
 * Otherwise the node stays in service, and the taint is judged for each pod. The size is bounded by
 * the taints of nodes, not by the tolerations of pods. This store knows no other store: callers
 * pass tolerations, or a function that looks for them.
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
	/* For a pod whose namespace may use Slurm. Returns the taints that no pod had tolerated
	 * before. */
	std::vector<Taint> tolerated_by(const std::vector<Toleration> &tolerations);
	/* Judges all taints again if that is due. Returns the taints for which the result has
	 * changed. */
	std::vector<Taint> review(
		const std::map<std::string, KubeNode> &nodes, const IsTolerated &by_any, Now now);
	/* More is known about the namespaces that may use Slurm, so the next review is soon.
	 * seen_us: the present time, monotonic microseconds. */
	void review_soon(std::int64_t seen_us);

	[[nodiscard]] bool is_tolerated(const Taint &taint) const;
	[[nodiscard]] const std::map<Taint, bool> &all() const { return taints_; }

      private:
	std::map<Taint, bool> taints_;
	std::int64_t review_us_ = 0;
};

} // namespace slurmkube::core

#endif
