/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spec.h - what the agent asks Slurm for: jobs and nodes. Plain values that core computes and
 * agent/slurm passes to Slurm.
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
	/* user and identity rule in words, for messages */
	std::string as_whom = {};
	std::string user = {};                /* user name or number as in the rule */
	std::uint32_t tasks = 1;              /* 1: on one node; more: on any nodes */
	std::uint32_t cpus = 1;               /* per task */
	std::uint64_t memory_mib = 0;         /* per task; 0: Slurm's default */
	std::string gres_of_task = {};        /* of a gang, per task: "gpu:1" */
	std::uint32_t tasks_per_node = 0;     /* maximum; 0: as many as fit */
	std::uint32_t time_limit_minutes = 0; /* 0: the partition's default */
	std::optional<std::uint32_t> priority;
	/* nodes separated by commas, set only if the job's pods already run there; overrides
	 * options.required_nodes */
	std::string required_node;
	/* longest grace period of its pods, for the Epilog of hybrid nodes */
	std::uint32_t grace_seconds = 30;
	/* nodes where Kubernetes does not let the pods run; sorted */
	std::vector<std::string> excluded_nodes = {};
	JobOptions options = {};
	bool operator==(const JobSpec &) const = default;
};

struct NodeSpec {
	std::string name;
	std::string address; /* an IP, never a name: resolving one stops slurmctld for seconds */
	int port = 0;        /* 0: Slurm's default */
	std::uint32_t cpus = 1;
	std::uint32_t cores_per_socket = 1; /* each CPU is a core */
	std::uint64_t memory_mib = 1;
	std::string features; /* comma separated */
	std::string gres;
	bool operator==(const NodeSpec &) const = default;
};

enum class NodeStateChange { drain, undrain, down, up };

} // namespace slurmkube::core

#endif
