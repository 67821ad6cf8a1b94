/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slices, classes, rules and claims for tests about devices. */
#ifndef SLURMKUBE_TESTSUITE_UNIT_DEVICE_FACTS_H
#define SLURMKUBE_TESTSUITE_UNIT_DEVICE_FACTS_H

#include "src/core/device/deal.h"
#include "src/core/device/demand.h"
#include "src/core/device/given.h"
#include "testsuite/unit/check.h"

namespace slurmkube::check
{

inline constexpr char k_driver[] = "gpu.example.com";

inline bool has(const std::string &text, const std::string &part)
{
	return text.find(part) != std::string::npos;
}

inline core::SliceDevice device(const std::string &name, const std::string &model)
{
	core::SliceDevice out;
	out.name = name;
	out.properties.driver = k_driver;
	core::cel::add_attribute(out.properties, "model", model);
	return out;
}

/* The only slice of the pool of that node. */
inline core::ResourceSlice slice(const std::string &node, std::vector<core::SliceDevice> devices)
{
	core::ResourceSlice out;
	out.name = "slice-" + node;
	out.uid = "uid-slice-" + node;
	out.pool = {k_driver, node};
	out.generation = 1;
	out.slice_count = 1;
	out.node = node;
	out.devices = std::move(devices);
	return out;
}

inline core::cel::Selector selector(const std::string &text)
{
	return *core::cel::compile(text);
}

inline core::DeviceRule rule(const std::string &gres, const std::string &type_attribute = {})
{
	core::DeviceRule out;
	out.driver = k_driver;
	out.gres = gres;
	out.type_attribute = type_attribute;
	return out;
}

/* What a cluster with such devices looks like. */
struct Devices {
	core::Inventory inventory;
	std::map<std::string, core::DeviceClass> classes;
	core::DeviceRules rules{rule("gpu", "model")};
	core::Selectors selectors;

	Devices()
	{
		classes["gpu"] = {"gpu", "uid-gpu",
			{std::string("device.driver == '") + k_driver + "'"}, {}, ""};
		(void)inventory.listed({});
	}
	[[nodiscard]] core::DeviceSources sources() const
	{
		return {inventory, classes, rules, selectors};
	}
	void add(const std::string &node, std::vector<core::SliceDevice> devices)
	{
		(void)inventory.seen(slice(node, std::move(devices)));
	}
};

inline core::DeviceRequest all_of(core::DeviceRequest request)
{
	request.is_all = true;
	return request;
}

inline core::DeviceRequest for_admin(core::DeviceRequest request)
{
	request.is_for_admin = true;
	return request;
}

/* firstAvailable: their names must have the form NAME/ALTERNATIVE. */
inline core::DeviceRequest first_of(
	const std::string &name, std::vector<core::DeviceRequest> alternatives)
{
	core::DeviceRequest out;
	out.name = name;
	out.alternatives = std::move(alternatives);
	return out;
}

inline core::DeviceRequest request(
	const std::string &name, std::int64_t count = 1, const std::string &selected = {})
{
	core::DeviceRequest out;
	out.name = name;
	out.device_class = "gpu";
	out.count = count;
	if (!selected.empty())
		out.selectors = {selected};
	return out;
}

inline core::ResourceClaim claim(const std::string &name, std::vector<core::DeviceRequest> requests)
{
	core::ResourceClaim out;
	out.id = {"default", name};
	out.uid = "uid-" + name;
	out.resource_version = "1";
	out.requests = std::move(requests);
	return out;
}

inline std::string of_model(const std::string &model)
{
	return std::string("device.attributes['") + k_driver + "'].model == '" + model + "'";
}

} // namespace slurmkube::check

#endif
