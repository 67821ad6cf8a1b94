/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/figures_text_jobs.h"

#include "src/agent/slurm/figures_text.h"
#include "src/codec/metrics_text.h"

#include <algorithm>

namespace slurmkube::slurm::figures
{

namespace
{

using codec::MetricKind;
using codec::MetricsText;
using Row = JobsByName::const_pointer;

constexpr JobFamily k_families[] = {
	{"_bootfail", &JobFigures::bootfail, "Number of jobs in BootFail state", nullptr, nullptr},
	{"_cancelled", &JobFigures::cancelled, "Number of jobs in Cancelled state", nullptr,
		nullptr},
	{"_completed", &JobFigures::completed, "Number of jobs in Completed state", nullptr,
		nullptr},
	{"_completing", &JobFigures::completing, "Number of jobs in Completing state", nullptr,
		nullptr},
	{"_configuring", &JobFigures::configuring, "Number of jobs in Configuring state", nullptr,
		nullptr},
	{"_cpus_alloc", &JobFigures::cpus_alloc, "Total number of Cpus allocated by jobs", nullptr,
		nullptr},
	{"_deadline", &JobFigures::deadline, "Number of jobs in Deadline state", nullptr, nullptr},
	{"_expediting", &JobFigures::expediting, "Number of jobs in Expediting state", nullptr,
		nullptr},
	{"_failed", &JobFigures::failed, "Number of jobs in Failed state", nullptr, nullptr},
	{"_fed_requeued", &JobFigures::fed_requeued, "Number of jobs requeued in a federation",
		nullptr, nullptr},
	{"_finished", &JobFigures::finished, "Number of finished jobs", nullptr,
		"Number of jobs in Finished"},
	{"_gpus_alloc", &JobFigures::gpus_alloc, "Total number of GPUs allocated by jobs", nullptr,
		nullptr},
	{"_hold", &JobFigures::hold, "Number of jobs in Hold state", nullptr, nullptr},
	{"_memory_alloc", &JobFigures::memory_alloc, "Total memory bytes allocated by jobs",
		nullptr, nullptr},
	{"_node_failed", &JobFigures::node_failed, "Number of jobs in Node Failed state", nullptr,
		nullptr},
	{"_nodes_alloc", &JobFigures::nodes_alloc, "Total number of nodes allocated by jobs",
		nullptr, nullptr, false},
	{"_outofmemory", &JobFigures::outofmemory, "Number of jobs in Out of Memory state", nullptr,
		nullptr},
	{"_pending", &JobFigures::pending, "Number of jobs in Pending state", nullptr, nullptr},
	{"_powerup_node", &JobFigures::powerup_node, "Number of jobs in PowerUp Node state",
		nullptr, nullptr},
	{"_preempted", &JobFigures::preempted, "Number of jobs in Preempted state", nullptr,
		nullptr},
	{"_requeued", &JobFigures::requeued, "Number of jobs in Requeued state", nullptr, nullptr},
	{"_resizing", &JobFigures::resizing, "Number of jobs in Resizing state", nullptr, nullptr},
	{"_revoked", &JobFigures::revoked, "Number of jobs in Revoked state",
		"Number of jobs revoked", "Number of revoked jobs"},
	{"_running", &JobFigures::running, "Number of jobs in Running state", nullptr, nullptr},
	{"_signaling", &JobFigures::signaling, "Number of jobs being signaled", nullptr,
		"Number of jobs in Signaling state"},
	{"_stageout", &JobFigures::stageout, "Number of jobs in StageOut state", nullptr, nullptr},
	{"_started", &JobFigures::started, "Number of started jobs", nullptr,
		"Number of jobs started"},
	{"_suspended", &JobFigures::suspended, "Number of jobs in Suspended state", nullptr,
		nullptr},
	{"_timeout", &JobFigures::timeout, "Number of jobs in Timeout state", nullptr, nullptr},
};

void add_rows(MetricsText &out, const std::vector<Row> &rows, const char *label,
	Figure JobFigures::*value)
{
	for (const Row row : rows)
		out.sample({{label, row->first}}, static_cast<double>(row->second.*value));
}

void add_owners(MetricsText &out, const std::vector<Row> &rows, const std::string &prefix,
	const char *label)
{
	for (const JobFamily &family : k_families) {
		out.family(prefix + family.suffix, MetricKind::gauge,
			family.owner_help ? family.owner_help : family.help);
		add_rows(out, rows, label, family.value);
	}
	out.family(prefix, MetricKind::gauge, "Total number of jobs");
	add_rows(out, rows, label, &JobFigures::jobs);
}

/* At most most of them: those with the most jobs, by name. */
std::vector<Row> largest(const JobsByName &all, std::size_t most)
{
	std::vector<Row> rows;
	for (const auto &one : all)
		rows.push_back(&one);
	std::ranges::stable_sort(rows, std::greater<>(), [](Row row) { return row->second.jobs; });
	rows.resize(std::min(rows.size(), most));
	std::ranges::sort(rows, std::less<>(), [](Row row) { return row->first; });
	return rows;
}

} // namespace

std::span<const JobFamily> job_families()
{
	return k_families;
}

std::string jobs_text(const Jobs &jobs)
{
	MetricsText out;
	for (const JobFamily &family : k_families) {
		out.family(
			std::string("slurm_jobs") + family.suffix, MetricKind::gauge, family.help);
		out.sample(static_cast<double>(jobs.all.*family.value));
	}
	out.family("slurm_jobs", MetricKind::gauge, "Total number of jobs");
	out.sample(static_cast<double>(jobs.all.jobs));
	return out.take_text();
}

std::string owners_text(const Jobs &jobs, const Limits &limits)
{
	MetricsText out;
	const std::vector<Row> users = largest(jobs.users, limits.users),
			       accounts = largest(jobs.accounts, limits.accounts);
	add_owners(out, users, "slurm_user_jobs", "username");
	add_owners(out, accounts, "slurm_account_jobs", "account");
	out.family(k_left_out, MetricKind::gauge, k_left_out_help);
	out.sample({{"label", "username"}}, static_cast<double>(jobs.users.size() - users.size()));
	out.sample({{"label", "account"}},
		static_cast<double>(jobs.accounts.size() - accounts.size()));
	return out.take_text();
}

} // namespace slurmkube::slurm::figures
