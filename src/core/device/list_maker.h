/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list_maker.h - the list of one rule on one node, device by device.
 */
#ifndef SLURMKUBE_CORE_DEVICE_LIST_MAKER_H
#define SLURMKUBE_CORE_DEVICE_LIST_MAKER_H

#include "src/core/device/inventory.h"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace slurmkube::core
{

std::string text_of(const PoolId &pool); /* "pool n1 of driver gpu.example.com" */

/* After the first trouble nothing is added. The rule must outlive the object. */
class ListMaker
{
      public:
	explicit ListMaker(const DeviceRule &rule) : rule_(rule) {}

	void fail(const std::string &trouble);
	/* The slice is of this node. */
	void add(const ResourceSlice &slice);
	/* In the order of the rule. */
	[[nodiscard]] DeviceList take();

      private:
	void add(const DeviceId &id, const SliceDevice &device, const std::string &unsupported);
	bool is_selected(const DeviceId &id, const SliceDevice &device);
	[[nodiscard]] std::optional<std::string> type_of(const SliceDevice &device) const;

	bool take_place(const DeviceId &id, const SliceDevice &device);
	[[nodiscard]] bool is_before(const ListedDevice &a, const ListedDevice &b) const;

	const DeviceRule &rule_;
	DeviceList list_;
	/* of CPUs: socket, core in it, CPU */
	std::map<DeviceId, std::array<std::int64_t, 3>> places_;
	std::set<std::int64_t> cpus_; /* their numbers in Linux */
};

} // namespace slurmkube::core

#endif
