/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inventory.h - the devices of each node, by the slices that drivers publish.
 *
 * Pure. The rules are those of kube-scheduler 1.37's pool gathering
 * (k8s.io/dynamic-resource-allocation/structured): only the highest generation of a pool counts,
 * and only if all its slices are there; a pool with two devices of one name is invalid.
 */
#ifndef SLURMKUBE_CORE_DEVICE_INVENTORY_H
#define SLURMKUBE_CORE_DEVICE_INVENTORY_H

#include "src/core/device/rule.h"
#include "src/core/device/slice.h"

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
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
	 * cannot be given to jobs; empty: it is complete. Then there are no devices here. */
	std::string trouble;
	bool operator==(const DeviceList &) const = default;
};

class Inventory
{
      public:
	/* Return the nodes whose devices may have changed. */
	std::set<std::string> seen(ResourceSlice slice);
	std::set<std::string> gone(const std::string &slice);
	std::set<std::string> listed(const std::set<std::string> &live_uids);
	/* The same for DeviceTaintRules. */
	std::set<std::string> seen(DeviceTaintRule rule);
	std::set<std::string> rule_gone(const std::string &name);
	std::set<std::string> rules_listed(const std::set<std::string> &live_uids);
	/* The rules are other ones now: lists of earlier ones need not be kept. */
	void forget_lists() { made_.lists.clear(); }
	/* false: the slices have not been listed yet, so nothing can be said about a node. */
	[[nodiscard]] bool is_listed() const { return is_listed_; }

	/* Valid until the next change, or forget_lists(). */
	[[nodiscard]] const DeviceList &on_node(
		const std::string &node, const DeviceRule &rule) const;
	/* One list for each rule. Two rules for one GRES with devices on the same node are trouble,
	 * because Slurm counts their indices together. */
	[[nodiscard]] std::vector<DeviceList> lists_on(
		const std::string &node, const DeviceRules &rules) const;
	/* All devices of the node, also those of no rule. */
	struct Devices {
		std::vector<DeviceId> ids;
		std::string trouble; /* a pool is incomplete or invalid; empty: these are all */
	};
	[[nodiscard]] Devices all_on(const std::string &node) const;
	/* Why it is not known at present which devices of the driver the node has: none is
	 * published, as while driver or kubelet restart, or a pool is incomplete; empty: it is. */
	[[nodiscard]] std::string trouble_on(
		const std::string &node, const std::string &driver) const;
	/* nullptr: no complete pool has such a device now. Valid until the next change. */
	[[nodiscard]] const SliceDevice *find(const DeviceId &id) const;
	/* Nodes on which the driver has published devices. Valid until the next change. */
	[[nodiscard]] const std::set<std::string> &nodes_of(const std::string &driver) const;

      private:
	/* The slices of a pool that count. */
	struct Pool {
		std::vector<const ResourceSlice *> slices;
		std::string trouble; /* incomplete or invalid; empty: its devices can be used */
		std::map<std::string_view, const SliceDevice *> by_name;
	};
	/* A list is made in n log n with attributes of each device, and is asked for with each
	 * request of each claim. */
	using Lists = std::deque<std::pair<DeviceRule, DeviceList>>; /* of one node */
	/* Views as they are asked for, with pointers into slices_: a copy begins anew. */
	struct Made {
		Made() = default;
		Made(const Made &) {}
		Made &operator=(const Made &other)
		{
			if (this != &other)
				pools.clear(), lists.clear(), nodes.clear();
			return *this;
		}
		std::map<PoolId, Pool> pools;
		std::map<std::string, Lists> lists;
		std::map<std::string, std::set<std::string>> nodes; /* by driver */
	};
	[[nodiscard]] Pool make_pool(const PoolId &id) const;
	[[nodiscard]] const Pool &pool(const PoolId &id) const;
	[[nodiscard]] std::set<PoolId> pools_on(
		const std::string &node, const std::string &driver) const;
	[[nodiscard]] std::set<std::string> nodes_of_pool(const PoolId &id) const;
	[[nodiscard]] DeviceList make_list(const std::string &node, const DeviceRule &rule) const;
	void forget(const PoolId &id, const std::set<std::string> &nodes);
	void drop(const ResourceSlice &slice);
	bool taint(ResourceSlice &slice) const;
	std::set<std::string> taint_again(const std::vector<DeviceTaintRule> &changed);

	std::map<std::string, ResourceSlice> slices_;                  /* by name */
	std::map<PoolId, std::set<std::string>> by_pool_;              /* names of slices */
	std::map<std::string, std::map<PoolId, std::size_t>> by_node_; /* number of slices */
	std::map<std::string, DeviceTaintRule> taint_rules_;           /* by name */
	mutable Made made_;
	bool is_listed_ = false;
};

/* "gpu:a100:4,gpu:h100:2", as slurm.conf says it; empty: no devices, or cores. */
std::string gres_of_list(const DeviceRule &rule, const DeviceList &list);

/*
 * The lists as they are kept in the record's `extra` of a Slurm node, so that indices of running
 * jobs keep their meaning when a pool changes. They are one word:
 * "slurm-kube:gpu@gpu.example.com=gpu-0,gpu-1;nic@dra.net=POOL/nic-0". A device is named alone if
 * its pool has the name of the node. Other words of `extra` are the site's, and stay. Instead of a
 * list with trouble the list that `extra` has stays.
 */
std::string frozen_text(const std::string &extra, const DeviceRules &rules,
	const std::vector<DeviceList> &lists, const std::string &node);
/* The devices of the rule by index, as the record says; empty: the record has no such list. */
std::vector<DeviceId> frozen_devices(
	const std::string &extra, const DeviceRule &rule, const std::string &node);

} // namespace slurmkube::core

#endif
