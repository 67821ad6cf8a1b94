/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inventory.h - the devices of each node, by the slices that drivers publish.
 *
 * Pure. The rules are those of kube-scheduler 1.37's pool gathering
 * (k8s.io/dynamic-resource-allocation/structured): only the highest generation of a pool counts, and
 * only if all its slices are there; a pool with two devices of one name is invalid.
 */
#ifndef SLURMKUBE_CORE_DEVICE_INVENTORY_H
#define SLURMKUBE_CORE_DEVICE_INVENTORY_H

#include "src/core/device/rule.h"
#include "src/core/device/slice.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace slurmkube::core
{

/* A device of a node that is part of a GRES there. */
struct ListedDevice {
	DeviceId id;
	std::string type; /* of the GRES; empty: none */
	bool operator==(const ListedDevice &) const = default;
};

/* The devices of one rule on one node, in the order of Slurm's indices: grouped by type, then as
 * the rule says. */
struct DeviceList {
	std::vector<ListedDevice> devices;
	/* Why the list cannot be made at present: a pool is incomplete or invalid, or a device
	 * cannot be given to jobs; empty: it is complete. */
	std::string trouble;
};

class Inventory
{
      public:
	/* Return the nodes whose devices may have changed. */
	std::set<std::string> seen(ResourceSlice slice);
	std::set<std::string> gone(const std::string &slice);
	std::set<std::string> listed(const std::set<std::string> &live_uids);
	/* false: the slices have not been listed yet, so nothing can be said about a node. */
	[[nodiscard]] bool is_listed() const { return is_listed_; }

	[[nodiscard]] DeviceList on_node(const std::string &node, const DeviceRule &rule) const;
	/* nullptr: no complete pool has such a device now. Valid until the next change. */
	[[nodiscard]] const SliceDevice *find(const DeviceId &id) const;
	/* Nodes on which the driver has published devices. */
	[[nodiscard]] std::set<std::string> nodes_of(const std::string &driver) const;

      private:
	std::map<std::string, ResourceSlice> slices_; /* by name */
	std::map<std::string, std::set<std::string>> by_node_;
	bool is_listed_ = false;
};

/* "gpu:a100:4,gpu:h100:2", as slurm.conf says it; empty: no devices. */
std::string gres_of_list(const DeviceRule &rule, const DeviceList &list);

/*
 * The list as it is kept in the record's `extra` of a Slurm node, so that indices of running jobs
 * keep their meaning when a pool changes: "slurm-kube:gpu=gpu-0,gpu-1 nic=POOL/nic-0". A device is
 * named alone if its pool has the name of the node. Other text in `extra` is the site's.
 */
std::string frozen_text(const std::string &extra, const DeviceRules &rules,
	const std::vector<DeviceList> &lists, const std::string &node);
/* The devices of the rule by index, as the record says; empty: the record has no such list. */
std::vector<DeviceId> frozen_devices(
	const std::string &extra, const DeviceRule &rule, const std::string &node);

} // namespace slurmkube::core

#endif
