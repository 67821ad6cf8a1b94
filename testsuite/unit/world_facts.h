/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world_facts.h - the settings and nodes that tests of World start from.
 */
#ifndef SLURMKUBE_TESTSUITE_UNIT_WORLD_FACTS_H
#define SLURMKUBE_TESTSUITE_UNIT_WORLD_FACTS_H

#include "src/core/names.h"
#include "src/core/world.h"
#include "testsuite/unit/check.h"

namespace slurmkube::check
{

using namespace slurmkube::core;

constexpr std::int64_t k_second = 1'000'000;

/* Cluster "main"; every namespace may run jobs as user 1; managed nodes have the usual label. */
inline Settings plain_settings()
{
	Settings s;
	s.policy.cluster = "main";
	s.policy.namespaces = {{.name_space = "*", .user_id = 1, .group_id = 1, .accounts = {}, .partitions = {}, .qos = {}}};
	s.nodes.label_key = names::k_managed_label;
	return s;
}

/* A ready node that is ours, with more memory than any test needs. */
inline KubeNode kube_node(const std::string &name, const std::string &uid, std::int64_t milli_cpu)
{
	KubeNode n;
	n.name = name;
	n.uid = uid;
	n.ready = true;
	n.labels = {{names::k_managed_label, "true"}};
	n.allocatable = {.milli_cpu = milli_cpu, .memory_bytes = std::int64_t{1} << 40, .pods = 100, .extended = {}};
	return n;
}

inline SlurmNode slurm_node(const std::string &name, std::uint32_t cpus)
{
	SlurmNode n;
	n.name = name;
	n.base = NodeBase::idle;
	n.cpus = cpus;
	n.memory_mib = cpus > 0 ? 1 << 20 : 0;
	return n;
}

} // namespace slurmkube::check

#endif
