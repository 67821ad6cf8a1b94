/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drain_reports.h - when the condition SlurmDrain is written, and on which nodes.
 *
 * At most k_in_flight_max writes have no answer at any time, at most k_per_second_max begin in a
 * second, and each node gets at most one per report interval. If the API server refuses a write or
 * does not answer, all of them pause: a missing right costs a few requests per interval, however
 * many nodes there are. report_drain() makes the decisions.
 */
#ifndef SLURMKUBE_CORE_WORLD_DRAIN_REPORTS_H
#define SLURMKUBE_CORE_WORLD_DRAIN_REPORTS_H

#include "src/core/model/now.h"
#include "src/core/reconcile/drain_report.h"
#include "src/core/world/work_queue.h"

namespace slurmkube::core
{

class DrainReports
{
      public:
	static constexpr std::size_t k_in_flight_max = 8, k_per_second_max = 50;

	/* The present state. Borrowed for the duration of a call. */
	struct View {
		const std::map<std::string, KubeNode> &kube;
		const std::map<std::string, SlurmNode> &slurm;
		const PluginHello &plugin;
		const NodePolicy &policy;
		std::int64_t interval_us;
	};

	void mark(const std::string &name) { queue_.mark(name); }
	std::vector<ReportDrain> take(const View &view, Now now);
	/* The answer to a report. */
	void answered(const std::string &name, const Status &answer, Now now);

      private:
	/* The last write to a node. */
	struct Written {
		std::string uid;
		std::optional<DrainCondition> before; /* what the watch showed then */
		std::int64_t next_us;                 /* no other write before this time */
		std::int64_t interval_us;
		bool is_open;   /* without an answer */
		bool is_unseen; /* the watch does not show its effect yet */
	};
	std::optional<ReportDrain> look_at(const std::string &name, const View &view, Now now);

	WorkQueue<std::string> queue_;
	std::map<std::string, Written> written_; /* by node */
	std::size_t in_flight_ = 0, in_second_ = 0;
	std::int64_t second_us_ = 0; /* its beginning */
	std::int64_t paused_until_us_ = 0;
};

} // namespace slurmkube::core

#endif
