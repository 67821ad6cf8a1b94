/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * figures_text.h - Slurm's own metrics, in Prometheus' text format.
 *
 * Names, labels and help texts are those of openmetrics.c in the sources of Slurm 25.11 and
 * 26.05. All families are gauges, as there: slurmctld sets its counters back to 0 each
 * midnight and when sdiag --reset asks for it.
 *
 * The number of values of each label has a limit (Limits). The jobs of users beyond the limit are
 * still part of the sums without labels.
 */
#ifndef SLURMKUBE_AGENT_SLURM_FIGURES_TEXT_H
#define SLURMKUBE_AGENT_SLURM_FIGURES_TEXT_H

#include "src/agent/slurm/figures.h"

#include <cstddef>
#include <string>

namespace slurmkube::slurm::figures
{

/* Values per label. */
struct Limits {
	std::size_t users = 1000, accounts = 1000, partitions = 300, nodes = 5000;
};

std::string jobs_text(const Jobs &jobs);
/* Users and accounts: those with the most jobs first. */
std::string owners_text(const Jobs &jobs, const Limits &limits);
std::string nodes_text(const Nodes &nodes, const Limits &limits);
/* The first partitions in slurm.conf. */
std::string partitions_text(
	const Partitions &partitions, const Nodes &nodes, const Jobs &jobs, const Limits &limits);
std::string scheduler_text(const Scheduler &scheduler);

/* The family that says how many values of a label are left out; each page with a limit has it. */
inline constexpr char k_left_out[] = "slurm_kube_label_values_left_out";
inline constexpr char k_left_out_help[] =
	"Values of a label that this page leaves out because there are too many.";

} // namespace slurmkube::slurm::figures

#endif
