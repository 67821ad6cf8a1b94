/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spec.h - what we ask Slurm for: jobs and nodes. Plain values that core computes and agent/slurm
 * carries out.
 */
#ifndef SLURMKUBE_CORE_MODEL_SPEC_H
#define SLURMKUBE_CORE_MODEL_SPEC_H

#include "src/core/model/job.h"
#include "src/core/model/job_options.h"

namespace slurmkube::core
{

struct JobSpec {
	Marker marker;
	std::string name;
	/* account and qos empty: Slurm's default for the user */
	std::string partition, account, qos;
	std::string comment;
	std::uint32_t user_id = 0, group_id = 0;
	/* the same for people, with the rule that says so */
	std::string as_whom = {};
	std::string user = {};                /* a name or number, as the rule has it */
	std::uint32_t tasks = 1;              /* one: on one node. More: wherever Slurm puts them */
	std::uint32_t cpus = 1;               /* of a task */
	std::uint64_t memory_mib = 0;         /* of a task; 0: Slurm's default */
	std::string gres_of_task = {};        /* of a gang: "gpu:1" */
	std::uint32_t tasks_per_node = 0;     /* at most so many; 0: as many as fit */
	std::uint32_t time_limit_minutes = 0; /* 0: the partition's default */
	std::optional<std::uint32_t> priority;
	/* only to take up pods that already run there: a list with commas; comes before
	 * options.required_nodes */
	std::string required_node;
	std::vector<std::string> excluded_nodes = {}; /* where Kubernetes forbids it; sorted */
	JobOptions options = {};
	bool operator==(const JobSpec &) const = default;
};

struct NodeSpec {
	std::string name;
	std::string address; /* an IP, never a name: resolving one stops slurmctld for seconds */
	int port = 0;        /* 0: Slurm's default */
	std::uint32_t cpus = 1;
	std::uint32_t cores_per_socket = 1; /* CPUs are cores */
	std::uint64_t memory_mib = 1;
	std::string features; /* comma separated */
	std::string gres;
	bool operator==(const NodeSpec &) const = default;
};

enum class NodeStateChange { drain, undrain, down, up };

} // namespace slurmkube::core

#endif
