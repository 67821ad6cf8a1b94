/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod.h - a pod as the Kubernetes API shows it, and what it requests.
 *
 * Observed facts only, as plain values: no behaviour, and no pointers into other data. Times are
 * seconds since the epoch (0: unknown); names of sizes contain the unit.
 */
#ifndef SLURMKUBE_CORE_MODEL_POD_H
#define SLURMKUBE_CORE_MODEL_POD_H

#include "src/core/model/scheduling_constraints.h"

#include <endian.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slurmkube::core
{

struct PodUid {
	std::string text;

	bool operator==(const PodUid &) const = default;
	/* In the order of the texts. Maps of thousands of pods are searched all the time, and the
	 * first bytes of uids, which are random, mostly differ. */
	std::strong_ordering operator<=>(const PodUid &other) const
	{
		const auto by_head = head() <=> other.head();
		return by_head != 0 ? by_head : text <=> other.text;
	}

      private:
	/* The first eight bytes as a number of that order. */
	[[nodiscard]] std::uint64_t head() const
	{
		std::uint64_t bytes = 0;
		std::memcpy(&bytes, text.data(), std::min(sizeof(bytes), text.size()));
		return be64toh(bytes);
	}
};

/* Thousandths of a CPU in a whole one. A Slurm CPU on an external node is a whole CPU, or what
 * nodes.cpu_unit of the configuration says. */
inline constexpr std::uint32_t k_whole_cpu = 1000;

/* Effective requests of a pod, or a node's allocatable. */
struct Resources {
	std::int64_t milli_cpu = 0;
	std::int64_t memory_bytes = 0;
	/* 1 for a pod; allocatable.pods for a node */
	std::int64_t pods = 0;
	/* nvidia.com/gpu, hugepages-2Mi, ephemeral-storage (bytes) and the like */
	std::map<std::string, std::int64_t> extended;
	bool operator==(const Resources &) const = default;
};

enum class PodPhase { pending, running, succeeded, failed, unknown };

/* A container's state.terminated; without it, the reason is empty and exit_code 0. */
struct ContainerEnd {
	std::string name;
	int exit_code = 0;
	int signal = 0;
	std::string reason; /* Completed, Error, OOMKilled, StartError, ... */
	bool operator==(const ContainerEnd &) const = default;
};

/* The owner reference with controller=true. */
struct OwnerRef {
	std::string api_version; /* "batch/v1" */
	std::string kind, name, uid;
	bool operator==(const OwnerRef &) const = default;
};

struct Condition {
	std::string reason, message;
	bool operator==(const Condition &) const = default;
};

/* One of spec.resourceClaims: devices for the pod. */
struct PodResourceClaim {
	std::string name;  /* within the pod */
	std::string claim; /* the ResourceClaim; empty: it is not made yet */
	/* Made of a template for this pod, and controlled by it. */
	bool is_own = false;
	/* Kubernetes says that the pod needs no claim of that name. */
	bool is_needless = false;
	std::string made_of = {}; /* the ResourceClaimTemplate; empty: none */
	/* Not in the spec: the agent makes the claim, for Pod::backed. */
	bool is_extended = false;
	bool operator==(const PodResourceClaim &) const = default;
};

/* A container of a pod with spec.resourceClaims. */
struct ContainerClaims {
	std::string container;
	bool is_short_lived = false; /* an init container that ends before the next one starts */
	bool may_restart = false;
	std::int64_t milli_cpu = 0;      /* that it requests */
	std::vector<std::string> claims; /* names within the pod */
	bool has_restart_rules = false;  /* they may restart all containers of the pod */
	bool operator==(const ContainerClaims &) const = default;
};

/* What a container requests of resources that devices may back (may_be_devices()). */
struct ContainerDevices {
	struct Amount {
		std::uint32_t place =
			0; /* of the resource, among all that the container requests */
		std::int64_t count = 0;
		bool operator==(const Amount &) const = default;
	};
	std::string container;
	std::uint32_t number = 0; /* in the spec, init containers first */
	/* An init container that ends before the next one starts: others use its devices, too. */
	bool is_short_lived = false;
	std::map<std::string, Amount> amounts; /* by resource */
	bool operator==(const ContainerDevices &) const = default;
};

/* One of status.extendedResourceClaimStatus.requestMappings. */
struct DeviceMapping {
	std::string container, resource;
	std::string request; /* of the claim */
	bool operator==(const DeviceMapping &) const = default;
};

/* status.extendedResourceClaimStatus */
struct ExtendedClaimStatus {
	std::string claim;
	std::vector<DeviceMapping> mappings;
	bool operator==(const ExtendedClaimStatus &) const = default;
};

/* A resource of the pod's containers for which it gets devices. */
struct BackedResource {
	std::string device_class; /* empty: it is not known any more */
	std::int64_t amount = 0;  /* which Pod::requests would have otherwise */
	bool operator==(const BackedResource &) const = default;
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
	bool container_runs = false;                /* any container, including init containers */
	/* reason and message of the first waiting container: "ImagePullBackOff: Back-off pulling
	 * image ..." */
	std::string waiting_reason;
	Resources requests;
	SchedulingConstraints constraints;
	bool has_memory_volume = false; /* an emptyDir with a medium: Memory, or huge pages */
	std::vector<PodResourceClaim> resource_claims;
	std::vector<ContainerClaims> container_claims; /* empty: the spec names no claims */
	/* Containers without such requests are left out. */
	std::vector<ContainerDevices> container_devices;
	std::optional<ExtendedClaimStatus> extended_claim;
	/* By name: not observed, see note_backed() of device/extended_resource.h. */
	std::map<std::string, BackedResource> backed;
	/* only options, under our prefix or an alias, and allocation.slurm-kube.io/ */
	std::map<std::string, std::string> annotations;
	std::size_t annotation_bytes = 0; /* keys and values of all annotations */
	std::map<std::string, std::string> labels;
	/* spec.schedulingGroup.podGroupName: a PodGroup of scheduling.k8s.io */
	std::string scheduling_group;
	std::optional<OwnerRef> controller;
	/* Placement constraints of the spec that are not supported, with their field paths, such as
	 * "spec.workloadRef". Sorted. */
	std::vector<std::string> unsupported_fields;
	std::optional<Condition> not_scheduled; /* condition PodScheduled with status False */
	std::optional<Condition> disruption;    /* condition DisruptionTarget with status True */
	/* condition slurm-kube.io/StartLimit with status True: the pod did not start in time */
	std::optional<Condition> start_limit;
	bool operator==(const Pod &) const = default;
};

/* NAMESPACE/NAME, as text for users */
inline std::string name_of(const Pod &pod)
{
	return pod.name_space + "/" + pod.name;
}

} // namespace slurmkube::core

#endif
