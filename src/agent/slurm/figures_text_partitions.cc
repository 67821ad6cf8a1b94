/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/figures_text.h"
#include "src/agent/slurm/figures_text_jobs.h"
#include "src/codec/metrics_text.h"

#include <algorithm>

namespace slurmkube::slurm::figures
{

namespace
{

using codec::MetricKind;
using codec::MetricsText;

template <class Figures> struct Family {
	const char *name;
	Figure Figures::*value;
	const char *help;
};

/* What a partition has. */
struct Row {
	const Partition *partition;
	JobFigures jobs;
	NodeFigures nodes;
	NodeStates states;
};

constexpr Family<JobFigures> k_more_job_families[] = {
	{"slurm_partition_jobs", &JobFigures::unfinished, "Number of jobs in this partition"},
	{"slurm_partition_jobs_max_job_nodes", &JobFigures::max_nodes,
		"Max of the max_nodes required of all pending jobs in that partition"},
	{"slurm_partition_jobs_max_job_nodes_nohold", &JobFigures::max_nodes_nohold,
		"Max of the max_nodes required of all pending jobs in that partition excluding "
		"Held jobs"},
	{"slurm_partition_jobs_min_job_nodes", &JobFigures::min_nodes,
		"Max of the min_nodes required of all pending jobs in that partition"},
	{"slurm_partition_jobs_min_job_nodes_nohold", &JobFigures::min_nodes_nohold,
		"Max of the min_nodes required of all pending jobs in that partition excluding "
		"Held jobs"},
	{"slurm_partition_jobs_wait_part_node_limit", &JobFigures::wait_part_node_limit,
		"Jobs wait partition node limit"},
};

constexpr Family<NodeFigures> k_sum_families[] = {
	{"slurm_partition_nodes_cpus_efctv", &NodeFigures::cpus_effective,
		"Number of effective CPUs on all nodes, excludes CoreSpec"},
	{"slurm_partition_nodes_cpus_idle", &NodeFigures::cpus_idle,
		"Number of idle CPUs on all nodes"},
	{"slurm_partition_nodes_cpus_alloc", &NodeFigures::cpus_alloc, "Number of allocated cpus"},
	{"slurm_partition_nodes_mem_alloc", &NodeFigures::memory_alloc,
		"Amount of allocated memory of all nodes"},
	{"slurm_partition_nodes_mem_avail", &NodeFigures::memory_effective,
		"Amount of available memory of all nodes"},
	{"slurm_partition_nodes_mem_free", &NodeFigures::memory_free,
		"Amount of free memory in all nodes"},
	{"slurm_partition_nodes_mem_tot", &NodeFigures::memory,
		"Total amount of memory of all nodes"},
	{"slurm_partition_gpus", &NodeFigures::gpus, "Partition total gpus"},
};

constexpr char k_draining[] =
	"Number of nodes in draining condition (Drain state with active jobs)";

constexpr Family<NodeStates> k_state_families[] = {
	{"slurm_partition_nodes_alloc", &NodeStates::alloc, "Nodes allocated"},
	{"slurm_partition_nodes_blocked", &NodeStates::blocked, "Nodes blocked"},
	{"slurm_partition_nodes_cg", &NodeStates::completing, "Nodes in completing state"},
	{"slurm_partition_nodes_cloud", &NodeStates::cloud, "Cloud nodes"},
	{"slurm_partition_nodes_down", &NodeStates::down, "Nodes in Down state"},
	{"slurm_partition_nodes_drain", &NodeStates::drain, "Nodes in Drain state"},
	{"slurm_partition_nodes_drained", &NodeStates::drained, "Nodes in Drained state"},
	{"slurm_partition_nodes_draining", &NodeStates::draining, k_draining},
	{"slurm_partition_nodes_dyn_future", &NodeStates::dyn_future,
		"Dynamic nodes in Future state"},
	{"slurm_partition_nodes_dyn_normal", &NodeStates::dyn_normal, "Dynamic nodes"},
	{"slurm_partition_nodes_external", &NodeStates::external, "External nodes"},
	{"slurm_partition_nodes_fail", &NodeStates::fail, "Nodes in Fail state"},
	{"slurm_partition_nodes_future", &NodeStates::future, "Nodes in Future state"},
	{"slurm_partition_nodes_idle", &NodeStates::idle, "Nodes in Idle state"},
	{"slurm_partition_nodes_invalid_reg", &NodeStates::invalid_reg,
		"Number of nodes with Invalid Registration flag"},
	{"slurm_partition_nodes_maint", &NodeStates::maint, "Nodes in maintenance state"},
	{"slurm_partition_nodes_mixed", &NodeStates::mixed, "Nodes in Mixed state"},
	{"slurm_partition_nodes_no_resp", &NodeStates::noresp, "Nodes in Not Responding state"},
	{"slurm_partition_nodes_planned", &NodeStates::planned, "Nodes in Planned state"},
	{"slurm_partition_nodes_power_down", &NodeStates::power_down, "Nodes marked to Power Down"},
	{"slurm_partition_nodes_power_up", &NodeStates::power_up, "Nodes marked to Power Up"},
	{"slurm_partition_nodes_powered_down", &NodeStates::powered_down, "Powered down nodes"},
	{"slurm_partition_nodes_powering_down", &NodeStates::powering_down, "Powering down nodes"},
	{"slurm_partition_nodes_powering_up", &NodeStates::powering_up, "Powering up nodes"},
	{"slurm_partition_nodes_reboot_issued", &NodeStates::reboot_issued,
		"Nodes which initiated reboot"},
	{"slurm_partition_nodes_reboot_requested", &NodeStates::reboot_req,
		"Nodes with Reboot Requested flag"},
	{"slurm_partition_nodes_resv", &NodeStates::resv, "Nodes with Reserved flag"},
	{"slurm_partition_nodes_unknown", &NodeStates::unknown, "Nodes in Unknown state"},
};

void add(NodeFigures &sum, const NodeFigures &one)
{
	for (const auto &family : k_sum_families)
		sum.*family.value += one.*family.value;
}

/* Nodes and partitions are two answers: a node may have been deleted between them. */
Row row_of(const Partition &partition, const Nodes &nodes, const Jobs &jobs)
{
	Row row{.partition = &partition, .jobs = {}, .nodes = {}, .states = {}};
	const auto found = jobs.partitions.find(partition.name);
	if (found != jobs.partitions.end())
		row.jobs = found->second;
	for (const std::size_t member : partition.members) {
		if (member >= nodes.size() || nodes[member].name.empty())
			continue;
		add(row.nodes, nodes[member].figures);
		count_state(row.states, nodes[member].state);
	}
	return row;
}

class Page
{
      public:
	explicit Page(std::vector<Row> rows) : rows_(std::move(rows)) {}

	template <class Value> void add(const std::string &name, const char *help, Value value)
	{
		out_.family(name, MetricKind::gauge, help);
		for (const Row &row : rows_)
			out_.sample({{"partition", row.partition->name}},
				static_cast<double>(value(row)));
	}
	template <class Figures, std::size_t N>
	void add(const Family<Figures> (&families)[N], Figures Row::*part)
	{
		for (const auto &family : families)
			add(family.name, family.help,
				[&](const Row &row) { return row.*part.*family.value; });
	}
	/* A family without the label partition. */
	MetricsText &text() { return out_; }

      private:
	std::vector<Row> rows_;
	MetricsText out_;
};

} // namespace

std::string partitions_text(
	const Partitions &partitions, const Nodes &nodes, const Jobs &jobs, const Limits &limits)
{
	std::vector<Row> rows;
	for (const Partition &partition : partitions) {
		if (rows.size() < limits.partitions)
			rows.push_back(row_of(partition, nodes, jobs));
	}
	const std::size_t left_out = partitions.size() - rows.size();
	Page page(std::move(rows));
	page.text().family("slurm_partitions", MetricKind::gauge, "Total number of partitions");
	page.text().sample(static_cast<double>(partitions.size()));
	for (const JobFamily &family : job_families()) {
		if (family.is_for_partitions)
			page.add(std::string("slurm_partition_jobs") + family.suffix,
				family.partition_help ? family.partition_help : family.help,
				[&](const Row &row) { return row.jobs.*family.value; });
	}
	page.add(k_more_job_families, &Row::jobs);
	page.add("slurm_partition_nodes", "Partition total nodes",
		[](const Row &row) { return row.partition->nodes; });
	page.add("slurm_partition_cpus", "Partition total cpus",
		[](const Row &row) { return row.partition->cpus; });
	page.add(k_sum_families, &Row::nodes);
	page.add(k_state_families, &Row::states);
	page.text().family(k_left_out, MetricKind::gauge, k_left_out_help);
	page.text().sample({{"label", "partition"}}, static_cast<double>(left_out));
	return page.text().take_text();
}

} // namespace slurmkube::slurm::figures
