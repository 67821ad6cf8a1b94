/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nri.h - the messages of the Node Resource Interface that the daemon reads and writes.
 *
 * Pure; input from the container runtime. Of pods and containers only the fields below are read.
 * Source: github.com/containerd/nri pkg/api/api.proto, v0.6 to v0.12.
 */
#ifndef SLURMKUBE_NODE_NRI_H
#define SLURMKUBE_NODE_NRI_H

#include "src/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::node
{

inline constexpr const char *k_nri_runtime_service = "nri.pkg.api.v1alpha1.Runtime";

/* Numbers of api.proto's Event; an event mask has bit n - 1 for event n. */
enum class NriEvent : int {
	run_pod_sandbox = 1,
	create_container = 4,
	start_container = 6,
	post_start_container = 7,
	update_container = 8,
	stop_container = 10,
	remove_container = 11,
};

enum class ContainerState : std::uint8_t {
	unknown = 0,
	created = 1,
	paused = 2,
	running = 3,
	stopped = 4,
};

struct Pod {
	std::string id; /* of the sandbox */
	std::string name, uid, name_space;
	std::string job;    /* the annotation of the agent's binding; empty: none */
	std::string memory; /* likewise; MiB */
	/* likewise, of a pod in a native job: core/model/native_job.h */
	std::string native_job = {};
	std::string cgroup_parent = {}; /* as the runtime names it */
};

/* A file of the container below /dev, beyond those that all containers have. */
struct Device {
	std::string path; /* in the container */
	char kind = 'c';  /* or 'b', or 'p' of a pipe; others are not known */
	std::uint32_t major = 0, minor = 0;
	bool operator==(const Device &) const = default;
};

struct Container {
	std::string id, pod_id, name;
	ContainerState state = ContainerState::unknown;
	std::string cgroups_path;      /* as the runtime names it; see cgroup_of() */
	std::int64_t memory_limit = 0; /* bytes; 0: none */
	std::vector<Device> devices = {};
};

/* CreateContainer, StartContainer, PostStartContainer, UpdateContainer, StopContainer,
 * RemoveContainer. */
struct ContainerRequest {
	Pod pod;
	Container container;
	/* UpdateContainer: the limit it is to have, in bytes; 0: as it is; negative: none */
	std::int64_t new_memory_limit = 0;
};

/* StateChange: the same, for events that have no request of their own. */
struct StateChange {
	int event = 0;
	ContainerRequest request;
};

/* One of the pieces of what runs already. */
struct Inventory {
	std::vector<Pod> pods;
	std::vector<Container> containers;
	bool more = false;
};

/* What a container gets. */
struct Confinement {
	std::string cpus, mems;        /* lists as in cpuset.cpus; empty: unchanged */
	std::int64_t memory_limit = 0; /* bytes; 0: unchanged */
	bool operator==(const Confinement &) const = default;
};

/* invalid: not protobuf, or without the container. */
Result<ContainerRequest> parse_container_request(std::string_view payload);
Result<Pod> parse_sandbox_request(std::string_view payload);
Result<StateChange> parse_state_change(std::string_view payload);
Result<Inventory> parse_inventory(std::string_view payload);
/* The runtime's name and version. */
Result<std::string> parse_configuration(std::string_view payload);

std::string registration(const std::string &name, const std::string &index);
/* has_native_pods: sandboxes, too. */
std::string subscription(bool has_native_pods);
std::string adjustment(const Confinement &confinement);

struct ContainerUpdate {
	std::string container_id;
	Confinement confinement;
};
std::string updates(const std::vector<ContainerUpdate> &updates, bool more = false);

} // namespace slurmkube::node

#endif
