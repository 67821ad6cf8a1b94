/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod.h - a pod as the Kubernetes API shows it, and what it requests.
 *
 * Observed facts only, as plain values: no behaviour, no pointers into anybody's tables. Times are
 * seconds since the epoch (0: unknown), sizes say their unit.
 */
#ifndef SLURMKUBE_CORE_MODEL_POD_H
#define SLURMKUBE_CORE_MODEL_POD_H

#include "src/core/model/scheduling_constraints.h"

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

/* A CPU in thousandths. Slurm's CPU on an external node is that, or what nodes.cpu_unit of the
 * configuration says. */
inline constexpr std::uint32_t k_whole_cpu = 1000;

/* Effective requests of a pod, or a node's allocatable. */
struct Resources {
	std::int64_t milli_cpu = 0;
	std::int64_t memory_bytes = 0;
	/* a pod takes 1; a node's allocatable.pods */
	std::int64_t pods = 0;
	/* nvidia.com/gpu, hugepages-2Mi, ephemeral-storage (bytes) and the like */
	std::map<std::string, std::int64_t> extended;
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
	std::string api_version;     /* "batch/v1" */
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
	bool deleting = false;                   /* deletionTimestamp is set */
	std::int64_t deletion_grace_seconds = 0; /* of that deletion */
	std::int64_t created = 0;
	bool gated = false; /* spec.schedulingGates is not empty */
	std::int64_t termination_grace_seconds = 30;
	std::int64_t active_deadline_seconds = 0; /* 0: none */
	std::string priority_class;               /* spec.priorityClassName */
	std::string status_reason;                /* Evicted, OutOfcpu, DeadlineExceeded, ... */
	std::string status_message;
	/* kubectl.kubernetes.io/default-container, or the only one, or the first */
	std::string main_container;
	std::vector<ContainerEnd> ended_containers; /* init containers too, in spec order */
	bool container_runs = false;                /* any, init containers too */
	/* why the first container that waits does so: "ImagePullBackOff: Back-off pulling image
	 * ..." */
	std::string waiting_reason;
	Resources requests;
	SchedulingConstraints constraints;
	/* only options, ours and by their aliases, and allocation.slurm-kube.io/ */
	std::map<std::string, std::string> annotations;
	std::map<std::string, std::string> labels;
	/* spec.schedulingGroup.podGroupName: a PodGroup of scheduling.k8s.io */
	std::string scheduling_group;
	std::optional<OwnerRef> controller;
	/* What the spec asks of placement that we cannot honour yet: field paths such as
	 * "spec.nodeSelector". Sorted. */
	std::vector<std::string> unsupported_fields;
	std::optional<Condition> not_scheduled; /* condition PodScheduled with status False */
	std::optional<Condition> disruption;    /* condition DisruptionTarget with status True */
	/* our own condition, status True: it did not start in time */
	std::optional<Condition> start_limit;
	bool operator==(const Pod &) const = default;
};

} // namespace slurmkube::core

#endif
