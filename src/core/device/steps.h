/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steps.h - what has to be written so that a claim says which devices Slurm has chosen.
 *
 * The order is that of kube-scheduler 1.37 (plugin dynamicresources, bindClaim): the finalizer
 * first, then allocation and reservation in one write. Each step may be repeated. The versions are
 * preconditions of the write. A claim for extended resources is created before that, and named in
 * the pod's status after it.
 */
#ifndef SLURMKUBE_CORE_DEVICE_STEPS_H
#define SLURMKUBE_CORE_DEVICE_STEPS_H

#include "src/core/device/resource_claim.h"
#include "src/core/model/pod.h"

#include <cstddef>
#include <string>
#include <vector>

namespace slurmkube::core
{

/* Keeps the claim from being deleted while devices are allocated for it. */
inline constexpr char k_claim_finalizer[] = "resource.kubernetes.io/delete-protection";
/* Maximum number of pods that a claim can be reserved for. */
inline constexpr std::size_t k_claim_users_most = 256;

/* Its name follows from the pod, so a repetition makes no second claim. */
struct CreateClaim {
	ResourceClaimId claim;
	std::string pod_name, pod_uid; /* the owner */
	std::vector<DeviceRequest> requests;
	bool operator==(const CreateClaim &) const = default;
};

struct ProtectClaim {
	ResourceClaimId claim;
	std::string uid, version;
	std::vector<std::string> finalizers; /* the claim's own, and ours at the end */
	bool operator==(const ProtectClaim &) const = default;
};

/* A device for a request, with what has to be copied into the allocation. */
struct ChosenDevice {
	DeviceResult result;
	std::string tolerations_text; /* of the request; JSON, or empty */
	bool operator==(const ChosenDevice &) const = default;
};

struct ChosenConfig {
	bool is_from_class = false;
	std::vector<std::string> requests; /* empty: all */
	std::string parameters;            /* JSON: {"opaque": {...}} */
	bool operator==(const ChosenConfig &) const = default;
};

/* A pod for which a claim is reserved. */
struct ClaimUser {
	std::string name, uid;
	bool operator==(const ClaimUser &) const = default;
};

struct AllocateDevices {
	ResourceClaimId claim;
	std::string uid, version;
	std::string node;
	std::vector<ChosenDevice> devices;
	std::vector<ChosenConfig> configs;
	std::vector<ClaimUser> users; /* several: pods of one gang */
	bool operator==(const AllocateDevices &) const = default;
};

/* Reserves a claim that is allocated for further pods of the gang that uses it. */
struct ReserveClaim {
	ResourceClaimId claim;
	std::string uid, version;
	std::vector<ClaimUser> users;
	bool operator==(const ReserveClaim &) const = default;
};

/* Undoes AllocateDevices or ReserveClaim for a pod that has not been bound. */
struct ReleaseDevices {
	ResourceClaimId claim;
	std::string uid, version;
	/* The pod whose reservation ends, while other pods keep the devices; empty: the devices are
	 * given back. */
	std::string leaving_uid = {};
	bool operator==(const ReleaseDevices &) const = default;
};

/* Tells the kubelet which requests of the claim are for which container. */
struct MapRequests {
	ResourceClaimId claim;
	std::string pod_name, pod_uid;
	std::vector<DeviceMapping> mappings;
	bool operator==(const MapRequests &) const = default;
};

} // namespace slurmkube::core

#endif
