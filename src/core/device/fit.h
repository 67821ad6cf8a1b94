/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fit.h - which devices of which nodes meet one request of a claim.
 *
 * Pure. Slurm chooses the devices, and it can be told no more than a GRES name and a type. So what
 * counts is whether all devices of a type on a node meet the request.
 */
#ifndef SLURMKUBE_CORE_DEVICE_FIT_H
#define SLURMKUBE_CORE_DEVICE_FIT_H

#include "src/base/result.h"
#include "src/core/device/inventory.h"
#include "src/core/device/resource_claim.h"
#include "src/core/device/selectors.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slurmkube::core
{

/* Borrowed for the duration of a call. */
struct DeviceSources {
	const Inventory &inventory;
	const std::map<std::string, DeviceClass> &classes; /* by name */
	const DeviceRules &rules;
	const Selectors &selectors;
	/* What all evaluations for one pod may cost together, in CEL's units: any user may write
	 * claims, and all devices of the cluster are looked at. */
	static constexpr std::size_t k_cost_most = 10'000'000;
	/* of looking at a device, or at a node, for a request or a constraint */
	static constexpr std::size_t k_look_cost = 5;
};

/* Adds to cost. too_large: it is more than k_cost_most. */
Status charge(std::size_t units, std::size_t &cost);

struct RequestFit {
	struct Count {
		std::size_t matching = 0, all = 0;
	};
	const DeviceRule *rule = nullptr; /* whose devices match; of the sources */
	/* of that rule: by node, and there by type */
	std::map<std::string, std::map<std::string, Count>> nodes;
	std::map<std::string, std::string> troubles; /* why a node's devices are not known */
	/* of a request for all devices: why a node cannot give all, see all_on() */
	std::map<std::string, std::string> incomplete;
};

/* Whether the device meets the request: selectors of class and request, and taints. Errors: the
 * class does not exist; a selector is not understood, or fails for this device as it would in
 * kube-scheduler, and then the whole claim fails. */
Result<bool> is_met_by(
	const DeviceRequest &request, const SliceDevice &device, const DeviceSources &from);
/* The same. cost grows by what the evaluation costs; too_large: it is more than k_cost_most. */
Result<bool> is_met_by(const DeviceRequest &request, const SliceDevice &device,
	const DeviceSources &from, std::size_t &cost);

/* Errors: as above; no device meets the request, or devices of several rules do; it is for CPUs in
 * a way that is not served. */
Result<RequestFit> fit_of(
	const DeviceRequest &request, const DeviceSources &from, std::size_t &cost);

/* The devices of the node that meet the request, in the order of their indices. Errors: those of
 * is_met_by(). */
Result<std::vector<DeviceId>> matching_on(
	const std::string &node, const DeviceRequest &request, const DeviceSources &from);

/* The same for a request for all devices, which Kubernetes meets with all that the selectors match,
 * or not at all. Errors: those; one of these devices has a taint that is not tolerated, or is part
 * of no GRES; a pool of the node is incomplete; there is no such device. */
Result<std::vector<DeviceId>> all_on(
	const std::string &node, const DeviceRequest &request, const DeviceSources &from);

/* The value with its kind, to be compared. name: DOMAIN/ID. nullopt: the device has none. */
std::optional<std::string> attribute_of(const SliceDevice &device, const std::string &name);

/* Whether the list names the request, or the one whose alternative it is. */
bool names(const std::vector<std::string> &requests, const std::string &request);

bool concerns(const DeviceConstraint &constraint, const std::string &request);

} // namespace slurmkube::core

#endif
