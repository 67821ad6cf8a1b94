/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * model.h - what we know of both sides, as plain values.
 *
 * Observed facts only: pods and nodes as the Kubernetes API shows them, jobs and nodes as the plugin in slurmctld reports them.
 * No behaviour, no pointers into anybody's tables. Times are seconds since the epoch (0 = unknown), sizes say their unit.
 */
#ifndef SLURMKUBE_CORE_MODEL_H
#define SLURMKUBE_CORE_MODEL_H

#include "src/core/demands.h"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slurmkube::core
{

struct PodUid {
	std::string text;
	auto operator<=>(const PodUid &) const = default;
};

struct JobId {
	std::uint32_t number = 0; /* 0 is no job */
	auto operator<=>(const JobId &) const = default;
};

/* ---- Kubernetes ---- */

/* A CPU in thousandths. Slurm's CPU on an external node is that, or what nodes.cpu_unit of the configuration says. */
inline constexpr std::uint32_t k_whole_cpu = 1000;

/* Effective requests of a pod, or a node's allocatable. */
struct Resources {
	std::int64_t milli_cpu = 0;
	std::int64_t memory_bytes = 0;
	std::int64_t pods = 0;                         /* a pod takes 1; a node's allocatable.pods */
	std::map<std::string, std::int64_t> extended; /* nvidia.com/gpu, hugepages-2Mi, ephemeral-storage (bytes) and the like */
	bool operator==(const Resources &) const = default;
};

enum class PodPhase { pending, running, succeeded, failed, unknown };

/* state.terminated of a container, or an empty reason with exit_code 0 while it has none */
struct ContainerEnd {
	std::string name;
	int exit_code = 0;
	int signal = 0;
	std::string reason; /* Completed, Error, OOMKilled, StartError, ... */
	bool operator==(const ContainerEnd &) const = default;
};

struct OwnerRef {
	std::string api_version; /* "batch/v1" */
	std::string kind, name, uid; /* the reference with controller=true */
	bool operator==(const OwnerRef &) const = default;
};

struct Condition {
	std::string reason, message;
	bool operator==(const Condition &) const = default;
};

struct Pod {
	PodUid uid;
	std::string name_space, name;
	std::string resource_version;
	std::string scheduler_name;
	std::string node_name; /* empty: not bound */
	PodPhase phase = PodPhase::pending;
	bool deleting = false; /* deletionTimestamp is set */
	std::int64_t deletion_grace_seconds = 0; /* of that deletion */
	std::int64_t created = 0;
	bool gated = false; /* spec.schedulingGates is not empty */
	std::int64_t termination_grace_seconds = 30;
	std::int64_t active_deadline_seconds = 0; /* 0: none */
	std::string priority_class;               /* spec.priorityClassName */
	std::string status_reason;                /* Evicted, OutOfcpu, DeadlineExceeded, ... */
	std::string status_message;
	std::string main_container; /* kubectl.kubernetes.io/default-container, or the only one, or the first */
	std::vector<ContainerEnd> ended_containers; /* init containers too, in spec order */
	bool container_runs = false;                /* any, init containers too */
	std::string waiting_reason;                 /* why the first container that waits does so: "ImagePullBackOff: Back-off pulling image ..." */
	Resources requests;
	Demands demands;
	std::map<std::string, std::string> annotations; /* only options, ours and by their aliases, and allocation.slurm-kube.io/ */
	std::map<std::string, std::string> labels;
	std::string scheduling_group; /* spec.schedulingGroup.podGroupName: a PodGroup of scheduling.k8s.io */
	std::optional<OwnerRef> controller;
	/* What the spec asks of placement that we cannot honour yet: field paths such as "spec.nodeSelector". Sorted. */
	std::vector<std::string> unsupported_fields;
	std::optional<Condition> not_scheduled;   /* condition PodScheduled with status False */
	std::optional<Condition> disruption;      /* condition DisruptionTarget with status True */
	std::optional<Condition> start_limit;     /* our own condition, status True: it did not start in time */
	bool operator==(const Pod &) const = default;
};

struct Taint {
	std::string key, value, effect;
	auto operator<=>(const Taint &) const = default;
};

/* What a GET of a Node object says. */
enum class NodeSight { none, not_ready, ready };

struct KubeNode {
	std::string name, uid;
	std::string internal_ip; /* first address of type InternalIP; may be empty */
	bool unschedulable = false;
	bool ready = false;          /* condition Ready is True */
	std::int64_t ready_since = 0; /* lastTransitionTime of that condition */
	std::string not_ready_reason;
	bool deleting = false;
	Resources allocatable;
	std::map<std::string, std::string> labels;
	std::vector<Taint> taints;
	bool operator==(const KubeNode &) const = default;
};

/* ---- Slurm ---- */

/* Who a job stands for. Written into admin_comment by the agent, as JSON; see doc/design/protocol.md. */
struct Marker {
	std::string cluster;    /* name of the Kubernetes cluster in the agent's configuration */
	std::string name_space, name;
	std::string kind;       /* "Pod", or the kind of the owner whose pods share the job */
	std::string uid;        /* of the pod; of the owner, with "/n" for a part of it */
	std::uint32_t attempt = 1;
	std::uint32_t user_id = 0, group_id = 0; /* who the job runs as; the plugin's hook applies them */
	std::string options = {};                /* which options Slurm was told: core/option_change.h; empty: not noted */
	std::string places = {};                 /* places_mark() of the nodes that the job is kept off */
	std::string note = {};                   /* what the site wrote into admin_comment beside it */
	std::string cluster_uid = {};            /* of the namespace kube-system; empty: not noted */
	bool given_up = false; /* the agent ended the job as it found no pod: no reason to delete one */
	bool operator==(const Marker &) const = default;
};

inline constexpr char k_pod_kind[] = "Pod"; /* of a marker: a job for one pod; any other kind is of a gang */

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
	bool configuring = false; /* PrologSlurmctld runs; of an ended job: it ended before that was over */
	bool held = false;
	std::string reason; /* of a pending job, as squeue prints it: "Resources", "Priority" */
	std::uint32_t user_id = 0;
	std::string partition;
	std::string account = {};                    /* empty: Slurm keeps none */
	std::optional<std::uint32_t> ended_by = {}; /* uid of who cancelled it, as far as Slurm knows */
	std::int64_t submit_time = 0;
	std::int64_t start_time = 0; /* of a pending job: the estimate, 0 = none */
	std::int64_t end_time = 0;
	std::uint32_t time_limit_minutes = 0; /* 0 = unlimited or not set */
	std::uint32_t exit_status = 0;        /* wait status */
	std::uint32_t priority = 0;
	std::vector<NodeAllocation> nodes; /* as SLURM_JOB_NODELIST has them: by name; empty unless allocated */
	bool operator==(const SlurmJob &) const = default;
};

enum class NodeBase { unknown, down, idle, allocated, mixed, error, future };

struct SlurmNode {
	std::string name;
	NodeBase base = NodeBase::unknown;
	bool drain = false;
	bool not_responding = false;
	bool completing = false;
	std::string reason;
	std::string features; /* comma separated, as configured */
	std::string address;
	bool dynamic = false;
	std::uint32_t cpus = 0;
	std::uint64_t memory_mib = 0;
	std::string gres; /* as configured */
	bool operator==(const SlurmNode &) const = default;
};

/* What the plugin says of itself when it connects. */
enum class Family { emulated, native };

struct PluginHello {
	int protocol = 0;
	std::string plugin_version;
	std::string slurm_version; /* "22.05.8" */
	std::uint32_t slurm_version_number = 0; /* SLURM_VERSION_NUMBER */
	std::string cluster_name;  /* Slurm's ClusterName */
	Family family = Family::emulated;
	int sink_port = 0;
	std::string node_feature;
	std::string config_error; /* of kube.conf; empty when it is fine */
	int pid = 0;              /* of slurmctld */
	std::string host;         /* where slurmctld is in control; empty: an older plugin */
	bool whole_sockets = false; /* SelectTypeParameters=CR_Socket */
	std::string partitions;     /* of kube.conf, for pods only: "kube,gpu"; empty: an older plugin */
	bool has_prolog = false;    /* jobs that start may be configuring for a while: PrologSlurmctld */
	bool operator==(const PluginHello &) const = default;
};

/* Microseconds. */
struct Cost {
	std::uint64_t count = 0;
	double mean_us = 0, p99_us = 0, max_us = 0;
	bool operator==(const Cost &) const = default;
};

struct PluginStats {
	Cost hook, lock_hold, lock_wait;
	Cost hook_cpu, lock_cpu; /* processor time of the same hooks and holds: what is missing to the clock is the machine's doing */
	double duty_percent = 0; /* share of the last period in which the plugin held a lock */
	std::uint64_t placeholders = 0, external_nodes = 0;
	std::uint64_t refused = 0, duplicates_refused = 0, sink_contacts = 0, reconnects = 0, queue_drops = 0;
	std::uint64_t sink_refused = 0; /* of sink_contacts: neither root's nor slurmctld's, closed unread */
	std::string unmarked; /* ids of jobs without a marker on external nodes, "7,9"; the first ones */
	bool operator==(const PluginStats &) const = default;
};

} // namespace slurmkube::core

#endif
