/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job.h - a placeholder job as slurmctld has it, and the marker in it.
 *
 * Observed facts only, as plain values: no behaviour, no pointers into anybody's tables. Times are
 * seconds since the epoch (0: unknown), sizes say their unit.
 */
#ifndef SLURMKUBE_CORE_MODEL_JOB_H
#define SLURMKUBE_CORE_MODEL_JOB_H

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace slurmkube::core
{

struct JobId {
	std::uint32_t number = 0; /* 0 is no job */
	auto operator<=>(const JobId &) const = default;
};

/* Who a job stands for. Written into admin_comment by the agent, as JSON; see
 * doc/design/protocol.md. */
struct Marker {
	std::string cluster; /* name of the Kubernetes cluster in the agent's configuration */
	std::string name_space, name;
	std::string kind; /* "Pod", or the kind of the owner whose pods share the job */
	std::string uid;  /* of the pod; of the owner, with "/n" for a part of it */
	std::uint32_t attempt = 1;
	/* who the job runs as; the plugin's hook applies them */
	std::uint32_t user_id = 0, group_id = 0;
	/* which options Slurm was told: core/options/change.h; empty: not noted */
	std::string options = {};
	/* exclusions_digest() of the nodes that the job is kept off */
	std::string exclusions = {};
	/* what the site wrote into admin_comment beside it */
	std::string note = {};
	/* of the namespace kube-system; empty: not noted */
	std::string cluster_uid = {};
	/* the agent ended the job as it found no pod: no reason to delete one */
	bool given_up = false;
	/* when the first of the jobs was submitted that were given back before their pods ran;
	 * 0: there was none. The plugin gives the job the age that these had */
	std::int64_t since = 0;
	bool operator==(const Marker &) const = default;
};

/* of a marker: a job for one pod; any other kind is of a gang */
inline constexpr char k_pod_kind[] = "Pod";

enum class JobState {
	pending,
	running,
	suspended,
	complete,
	cancelled,
	failed,
	timeout,
	node_fail,
	preempted,
	boot_fail,
	deadline,
	oom,
	unknown,
};

struct Gres {
	std::string name, type;
	std::uint64_t count = 0;
	std::string indices; /* "0-1,3", empty where Slurm keeps none */
	bool operator==(const Gres &) const = default;
};

struct NodeAllocation {
	std::string node;
	std::uint32_t cpus = 0;
	std::string core_ids; /* Slurm's abstract numbers within the node, "0-3" */
	std::uint64_t memory_mib = 0;
	std::vector<Gres> gres;
	bool operator==(const NodeAllocation &) const = default;
};

struct SlurmJob {
	JobId id;
	Marker marker;
	JobState state = JobState::unknown;
	bool completing = false;
	/* PrologSlurmctld runs; of an ended job: it ended before that was over */
	bool configuring = false;
	bool held = false;
	std::string reason; /* of a pending job, as squeue prints it: "Resources", "Priority" */
	std::uint32_t user_id = 0;
	std::string partition;
	std::string account = {}; /* empty: Slurm keeps none */
	/* uid of who cancelled it, as far as Slurm knows */
	std::optional<std::uint32_t> ended_by = {};
	std::int64_t submit_time = 0;
	std::int64_t start_time = 0; /* of a pending job: the estimate, 0 = none */
	std::int64_t end_time = 0;
	std::uint32_t time_limit_minutes = 0; /* 0 = unlimited or not set */
	std::uint32_t exit_status = 0;        /* wait status */
	std::uint32_t priority = 0;
	/* as SLURM_JOB_NODELIST has them: by name; empty unless allocated */
	std::vector<NodeAllocation> nodes;
	bool operator==(const SlurmJob &) const = default;
};

} // namespace slurmkube::core

#endif
