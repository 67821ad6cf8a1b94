/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/drain_reports.h"

#include "src/base/time_units.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* The watch shows a write within this time, or has failed and is started again. */
constexpr std::int64_t k_unseen_us = 30'000'000;

} // namespace

std::optional<ReportDrain> DrainReports::look_at(const std::string &name, const View &view, Now now)
{
	const auto node = view.kube.find(name);
	const auto last = written_.find(name);
	if (node == view.kube.end()) {
		if (last != written_.end() && !last->second.is_open)
			written_.erase(last);
		return std::nullopt;
	}
	if (last != written_.end() &&
		(last->second.uid != node->second.uid ||
			last->second.before != node->second.slurm_drain))
		last->second.is_unseen = false;
	const auto slurm = view.slurm.find(name);
	auto action = report_drain(node->second,
		slurm == view.slurm.end() ? nullptr : &slurm->second, view.plugin, view.policy);
	if (!action)
		return std::nullopt;
	if (last != written_.end()) {
		const Written &before = last->second;
		if (before.is_open)
			return std::nullopt; /* its answer marks the node */
		const std::int64_t due = before.next_us + (before.is_unseen ? k_unseen_us : 0);
		if (now.mono_us < due) {
			queue_.later(due, name);
			return std::nullopt;
		}
	}
	written_.insert_or_assign(name,
		Written{node->second.uid, node->second.slurm_drain, now.mono_us + view.interval_us,
			view.interval_us, true, true});
	return action;
}

std::vector<ReportDrain> DrainReports::take(const View &view, Now now)
{
	queue_.wake(now.mono_us);
	std::vector<ReportDrain> out;
	if (now.mono_us - second_us_ >= k_second_us) {
		second_us_ = now.mono_us;
		in_second_ = 0;
	}
	while (now.mono_us >= paused_until_us_ && in_flight_ < k_in_flight_max &&
		in_second_ < k_per_second_max) {
		const auto name = queue_.take_first();
		if (!name)
			break;
		auto action = look_at(*name, view, now);
		if (!action)
			continue;
		in_flight_++;
		in_second_++;
		out.push_back(std::move(*action));
	}
	return out;
}

void DrainReports::answered(const std::string &name, const Status &answer, Now now)
{
	in_flight_--;
	queue_.mark(name);
	const auto last = written_.find(name);
	if (last == written_.end())
		return;
	last->second.is_open = false;
	if (answer)
		return;
	/* A conflict is about this node alone: another one has its name now. */
	const bool is_about_node =
		answer.error().code == Errc::conflict || answer.error().code == Errc::not_found;
	if (!is_about_node)
		paused_until_us_ =
			std::max(paused_until_us_, now.mono_us + last->second.interval_us);
	last->second.is_unseen = false;
	last->second.next_us = now.mono_us + last->second.interval_us;
}

} // namespace slurmkube::core
