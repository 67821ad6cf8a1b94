/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of NodeWatch that reports partitions with external and hybrid nodes. */
#include "src/base/guard.h"
#include "src/base/log.h"
#include "src/plugins/job_submit/kube/guard.h"
#include "src/plugins/job_submit/kube/node_watch.h"

#include <utility>

namespace slurmkube::plugin
{

/* A partition costs a walk over its nodes, so each has a hold of its own. */
void NodeWatch::report_mixed()
{
	if (!counts_.hybrids || std::exchange(told_.partitions, true))
		return;
	std::vector<std::string> names;
	const auto add = [](void *to, const char *name) noexcept {
		guard(
			0, [](const char *) {},
			[&] {
				static_cast<std::vector<std::string> *>(to)->emplace_back(name);
				return 0;
			});
	};
	{
		LockHold hold(KUBE_READ, meter_);
		kube_seam_each_partition(add, &names);
	}
	for (const std::string &name : names) {
		kube_node_kinds kinds = {};
		{
			LockHold hold(KUBE_READ, meter_);
			kinds = kube_seam_kinds_in(name.c_str(), feature_.c_str());
		}
		if (kinds.external && kinds.hybrid)
			log_warning("%s", mixed_trouble(name).c_str());
	}
}

} // namespace slurmkube::plugin
