/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slice.h - devices as drivers publish them (ResourceSlice), the classes that select among them
 * (DeviceClass), and taints that administrators add (DeviceTaintRule); resource.k8s.io/v1.
 *
 * Observed facts only, as plain values. Texts of opaque parameters are JSON.
 */
#ifndef SLURMKUBE_CORE_DEVICE_SLICE_H
#define SLURMKUBE_CORE_DEVICE_SLICE_H

#include "src/core/cel/device.h"
#include "src/core/model/node.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace slurmkube::core
{

/* A pool belongs to one driver; its name is unique only there. */
struct PoolId {
	std::string driver, name;
	auto operator<=>(const PoolId &) const = default;
};

/* Names of devices are unique within their pool. */
struct DeviceId {
	PoolId pool;
	std::string name;
	auto operator<=>(const DeviceId &) const = default;
};

struct SliceDevice {
	std::string name;
	cel::Device properties; /* what selectors see */
	std::vector<Taint> taints;
	/* Why Slurm cannot give this device to a job, with the field of the API: "consumesCounters"
	 * and the like; empty: it can. */
	std::string unsupported;
	std::vector<Taint> rule_taints = {}; /* by DeviceTaintRules; kept by Inventory */
};

struct ResourceSlice {
	std::string name, uid;
	PoolId pool;
	std::int64_t generation = 0;  /* of the pool; older slices of it do not count */
	std::int64_t slice_count = 0; /* number of slices of that generation */
	std::string node;             /* spec.nodeName; empty: the devices are not on one node */
	/* Why none of its devices can be given to a job; empty: nothing is against it. */
	std::string unsupported;
	std::vector<SliceDevice> devices;
};

struct DeviceClass {
	std::string name, uid;
	std::vector<std::string> selectors; /* CEL; a device must match all */
	std::vector<std::string> configs;   /* {"opaque": {...}}, to be copied into allocations */
	std::string extended_resource;      /* spec.extendedResourceName; empty: none */
	std::int64_t created = 0;           /* seconds since the epoch */
};

/* Adds a taint to all devices that meet each criterion which is set; without a selector to none. */
struct DeviceTaintRule {
	std::string name, uid;
	bool has_selector = false;
	std::optional<std::string> driver, pool, device; /* criteria; device: its name */
	Taint taint;
	bool operator==(const DeviceTaintRule &) const = default;
};

} // namespace slurmkube::core

#endif
