/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job.h - a placeholder job as slurmctld reports it, and the marker in it.
 *
 * Observed facts only, as plain values: no behaviour, and no pointers into other data. Times are
 * seconds since the epoch (0: unknown); names of sizes contain the unit.
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
	std::uint32_t number = 0; /* 0: no job */
	auto operator<=>(const JobId &) const = default;
};

/* The pod or the pods that a job stands for. The agent writes it into admin_comment as JSON; see
 * doc/design/protocol.md. */
struct Marker {
	std::string cluster; /* name of the Kubernetes cluster in the agent's configuration */
	std::string name_space, name;
	std::string kind; /* "Pod", or the kind of the owner whose pods share the job */
	std::string uid;  /* of the pod, or the key of a gang (GangId in core/gang/grouping.h) */
	std::uint32_t attempt = 1;
	/* user and group that the job runs as; the plugin's hook sets them in the job */
	std::uint32_t user_id = 0, group_id = 0;
	/* the options that Slurm was given (core/options/change.h); empty: not recorded */
	std::string options = {};
	/* exclusions_digest() of the nodes that the job must not use */
	std::string exclusions = {};
	/* text from the site in admin_comment, kept beside the marker */
	std::string note = {};
	/* uid of the namespace kube-system; empty: not recorded */
	std::string cluster_uid = {};
	/* the agent ended the job because it found no pod for it; the end of the job must then not
	 * delete a pod that exists after all */
	bool given_up = false;
	/* Since when its pods have gained age in the queue, if earlier jobs were given back before
	 * the pods ran; 0: there was none. The plugin gives this job that age. */
	std::int64_t since = 0;
	/* The end of another component's job does not end this one. Noted at the submission, so
	 * that every agent reads the same. */
	bool ends_apart = false;
	bool operator==(const Marker &) const = default;
};

/* A job that is to be ended. The number alone may mean another job after slurmctld was killed. */
struct MarkedJob {
	JobId id;
	Marker marker; /* empty: not known */
};

/* Marker::kind of a job for one pod; every other kind is that of a gang */
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
	std::string indices; /* for example "0-1,3"; empty if Slurm keeps none */
	bool operator==(const Gres &) const = default;
};

struct NodeAllocation {
	std::string node;
	std::uint32_t cpus = 0;
	std::string core_ids; /* Slurm's abstract core numbers within the node: "0-3" */
	std::uint64_t memory_mib = 0;
	std::vector<Gres> gres;
	bool operator==(const NodeAllocation &) const = default;
};

struct SlurmJob {
	JobId id;
	Marker marker;
	JobState state = JobState::unknown;
	bool completing = false;
	/* PrologSlurmctld is running, or Prolog on a hybrid node; for an ended job: the job ended
	 * before they did, or because Prolog failed */
	bool configuring = false;
	/* Slurm 25.05 and later: no slurmd has a part in the job, whatever its nodes are */
	bool is_external = false;
	bool held = false;
	std::string reason; /* of a pending job, as squeue prints it: "Resources", "Priority" */
	std::uint32_t user_id = 0;
	std::string partition;
	std::string account = {}; /* empty: Slurm keeps none */
	/* uid of the user who cancelled the job, if Slurm knows it */
	std::optional<std::uint32_t> ended_by = {};
	std::int64_t submit_time = 0;
	/* since when Slurm has counted its age; 0: not yet (held, dependent, over a limit) */
	std::int64_t accrue_time = 0;
	std::int64_t start_time = 0; /* for a pending job: Slurm's estimate; 0: none */
	std::int64_t end_time = 0;
	std::uint32_t time_limit_minutes = 0; /* 0 = unlimited or not set */
	std::uint32_t exit_status = 0;        /* wait status, see wait(2) */
	std::uint32_t priority = 0;
	/* sorted by name, as in SLURM_JOB_NODELIST; empty if the job has no allocation */
	std::vector<NodeAllocation> nodes;
	bool operator==(const SlurmJob &) const = default;
};

} // namespace slurmkube::core

#endif
