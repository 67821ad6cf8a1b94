/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drain_report.h - what a Kubernetes node says of its state in Slurm: the condition SlurmDrain.
 *
 * Pure. The condition follows Slurm's state, whoever has set it, and is the cause of nothing.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_DRAIN_REPORT_H
#define SLURMKUBE_CORE_RECONCILE_DRAIN_REPORT_H

#include "src/core/reconcile/node_sync.h"

namespace slurmkube::core
{

/* What the condition should be; nullopt: Slurm's state says nothing about it. */
std::optional<DrainCondition> drain_condition(const SlurmNode &node);

/* The write that the node needs; nullopt: none. slurm: nullptr if Slurm has no such node. */
std::optional<ReportDrain> report_drain(const KubeNode &node, const SlurmNode *slurm,
	const PluginHello &plugin, const NodePolicy &policy);

} // namespace slurmkube::core

#endif
