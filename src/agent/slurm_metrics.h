/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_metrics.h - when slurmctld is asked for Slurm's own metrics: /metrics/jobs,
 * /metrics/jobs-users-accts, /metrics/nodes, /metrics/partitions, /metrics/scheduler.
 *
 * A scrape gets the last answer, and if it is older than k_interval, asks for the next one. So
 * slurmctld gets at most one RPC of each kind per k_interval however many clients scrape, and none
 * if none does. Everything runs on the loop's thread.
 */
#ifndef SLURMKUBE_AGENT_SLURM_METRICS_H
#define SLURMKUBE_AGENT_SLURM_METRICS_H

#include "src/agent/slurm/figures_pages.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace slurmkube::agent
{

class SlurmMetrics
{
      public:
	using Answers = slurm::figures::Answers;
	using Kind = slurm::figures::Kind;
	using Kinds = slurm::figures::Kinds;
	using Page = slurm::figures::Page;
	using Done = std::function<void(Answers)>;
	/* Asks slurmctld for what is due. done must be called later, once, even if nothing was
	 * answered. */
	using Ask = std::function<void(const Answers &before, const Kinds &due, Done done)>;

	static constexpr std::int64_t k_interval_us = 30'000'000;

	/* now: microseconds of a clock that never goes back. */
	SlurmMetrics(Ask ask, std::function<std::int64_t()> now_us);

	/* The page of a path; nullopt: no page of Slurm. */
	static std::optional<Page> page_at(const std::string &path);

	/* The text of the page, with the ages of its answers; before the first answer only these
	 * families, without samples. */
	std::string scrape(Page page);

	/* Whether PrivateData of slurm.conf hides jobs, users or accounts, as far as slurmctld has
	 * answered; no page names a user before that. Asks as scrape() does. */
	bool is_private();

      private:
	void want(const Kinds &kinds);
	void ask_for_due();
	void answered(Answers answers);
	[[nodiscard]] std::string ages(Page page) const;

	Ask ask_;
	std::function<std::int64_t()> now_us_;
	Answers answers_;
	Kinds wanted_; /* asked for by a scrape, and due */
	bool is_asking_ = false;
	std::map<Kind, std::int64_t> asked_us_, answered_us_;
};

} // namespace slurmkube::agent

#endif
