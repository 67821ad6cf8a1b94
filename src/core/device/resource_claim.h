/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * resource_claim.h - a claim for devices (ResourceClaim of resource.k8s.io/v1) as the API server
 * shows it.
 *
 * Observed facts only, as plain values. Claims for volumes are in placement/claims.h.
 */
#ifndef SLURMKUBE_CORE_DEVICE_RESOURCE_CLAIM_H
#define SLURMKUBE_CORE_DEVICE_RESOURCE_CLAIM_H

#include "src/core/device/slice.h"
#include "src/core/model/scheduling_constraints.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace slurmkube::core
{

struct ResourceClaimId {
	std::string name_space, name;
	auto operator<=>(const ResourceClaimId &) const = default;
};

/* One of spec.devices.requests: `exactly`, or `firstAvailable` with alternatives in order of
 * preference, each of which has the name REQUEST/ALTERNATIVE. Then the members between are not
 * used. */
struct DeviceRequest {
	std::string name;
	std::string device_class;
	std::vector<std::string> selectors; /* CEL; a device must match all */
	std::int64_t count = 1;
	bool is_all = false;                 /* allocationMode All: count does not matter */
	bool is_for_admin = false;           /* adminAccess: the devices stay free for others */
	std::vector<Toleration> tolerations; /* of taints of devices */
	/* the same as the API has them, JSON; empty: none */
	std::string tolerations_text;
	std::vector<DeviceRequest> alternatives;
	/* Field of the API that cannot be honoured, such as "exactly.capacity"; empty: none. */
	std::string unsupported;
	bool operator==(const DeviceRequest &) const = default;
};

/* One of spec.devices.constraints: all devices of the requests have the same value, or each has
 * another one. */
struct DeviceConstraint {
	std::vector<std::string> requests; /* empty: all */
	std::string attribute;             /* DOMAIN/ID */
	bool is_distinct = false;
	bool operator==(const DeviceConstraint &) const = default;
};

/* One of spec.devices.config. */
struct ClaimConfig {
	std::vector<std::string> requests; /* empty: all */
	std::string parameters;            /* JSON: {"opaque": {...}} */
	bool operator==(const ClaimConfig &) const = default;
};

/* One of status.allocation.devices.results. */
struct DeviceResult {
	std::string request;
	DeviceId device;
	/* adminAccess: it does not take the device from others */
	bool is_for_admin = false;
	bool operator==(const DeviceResult &) const = default;
};

struct Allocation {
	std::vector<DeviceResult> results;
	bool operator==(const Allocation &) const = default;
};

struct ResourceClaim {
	ResourceClaimId id;
	std::string uid; /* empty: it has to be created */
	std::string resource_version;
	std::string owner_uid; /* of the controller: the pod, for a claim made of a template */
	/* Made by a scheduler for a pod's extended resources. */
	bool is_extended = false;
	bool deleting = false;
	std::vector<std::string> finalizers;
	std::vector<DeviceRequest> requests;
	std::vector<DeviceConstraint> constraints;
	std::vector<ClaimConfig> configs;
	std::optional<Allocation> allocation;
	std::vector<std::string> reserved_for; /* uids of pods */
	/* Field of the API that cannot be honoured; empty: none. */
	std::string unsupported;
	bool operator==(const ResourceClaim &) const = default;
};

} // namespace slurmkube::core

#endif
