/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm_metrics.h"

#include "src/base/log.h"
#include "src/codec/metrics_text.h"

#include <utility>

namespace slurmkube::agent
{

using slurm::figures::kinds_of;
using slurm::figures::name_of;

SlurmMetrics::SlurmMetrics(Ask ask, std::function<std::int64_t()> now_us)
    : ask_(std::move(ask)), now_us_(std::move(now_us))
{
}

std::optional<SlurmMetrics::Page> SlurmMetrics::page_at(const std::string &path)
{
	/* the paths of slurmctld since 25.11 */
	static const std::map<std::string, Page> k_paths = {
		{"/metrics/jobs", Page::jobs},
		{"/metrics/jobs-users-accts", Page::owners},
		{"/metrics/nodes", Page::nodes},
		{"/metrics/partitions", Page::partitions},
		{"/metrics/scheduler", Page::scheduler},
	};
	const auto found = k_paths.find(path);
	return found == k_paths.end() ? std::nullopt : std::optional(found->second);
}

std::string SlurmMetrics::scrape(Page page)
{
	const auto found = answers_.pages.find(page);
	std::string text = found == answers_.pages.end() ? "" : *found->second;
	text += ages(page);
	want(kinds_of(page));
	return text;
}

bool SlurmMetrics::is_private()
{
	want({Kind::jobs});
	return answers_.jobs && answers_.jobs->is_private;
}

std::string SlurmMetrics::ages(Page page) const
{
	codec::MetricsText out;
	out.family("slurm_kube_slurm_answer_age_seconds", codec::MetricKind::gauge,
		"Age of the answers of slurmctld on this page, by kind of request.");
	for (const Kind kind : kinds_of(page)) {
		const auto at = answered_us_.find(kind);
		if (at != answered_us_.end())
			out.sample({{"request", name_of(kind)}},
				static_cast<double>(now_us_() - at->second) / 1e6);
	}
	return out.take_text();
}

void SlurmMetrics::want(const Kinds &kinds)
{
	const std::int64_t now = now_us_();
	for (const Kind kind : kinds) {
		const auto asked = asked_us_.find(kind);
		if (asked == asked_us_.end() || now - asked->second >= k_interval_us)
			wanted_.insert(kind);
	}
	ask_for_due();
}

/* One request at a time: it takes the answers before it along, and returns all of them. */
void SlurmMetrics::ask_for_due()
{
	if (is_asking_ || wanted_.empty())
		return;
	is_asking_ = true;
	const Kinds due = std::exchange(wanted_, {});
	for (const Kind kind : due)
		asked_us_[kind] = now_us_();
	ask_(answers_, due, [this](Answers answers) { answered(std::move(answers)); });
}

void SlurmMetrics::answered(Answers answers)
{
	is_asking_ = false;
	answers_ = std::move(answers);
	for (const Kind kind : answers_.answered)
		answered_us_[kind] = now_us_();
	for (const auto &[kind, trouble] : answers_.troubles)
		log_debug(
			"metrics of Slurm: no answer about %s: %s", name_of(kind), trouble.c_str());
	ask_for_due();
}

} // namespace slurmkube::agent
