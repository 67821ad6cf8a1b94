/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cel_device.h - the device of the tests of CEL, and a short form of their selectors.
 */
#ifndef SLURMKUBE_TESTSUITE_UNIT_CEL_DEVICE_H
#define SLURMKUBE_TESTSUITE_UNIT_CEL_DEVICE_H

#include "src/core/cel/selector.h"

#include <string>
#include <string_view>

namespace slurmkube::unit
{

namespace cel = slurmkube::core::cel;

inline cel::Device gpu()
{
	cel::Device out;
	out.driver = "gpu.nvidia.com";
	cel::add_attribute(out, "type", std::string("gpu"));
	cel::add_attribute(out, "gpu.nvidia.com/productName", std::string("NVIDIA A100-SXM4"));
	cel::add_attribute(out, "index", std::int64_t{3});
	cel::add_attribute(out, "rdma", true);
	cel::add_attribute(out, "driverVersion", *cel::Version::parse("1.2.3-rc.1"));
	cel::add_attribute(out, "greeting", std::string("Gr\u00FC\u00DFe"));
	cel::add_attribute(out, "largest", std::int64_t{9223372036854775807});
	cel::add_attribute(out, "resource.kubernetes.io/numaNode", std::int64_t{0});
	cel::add_capacity(out, "memory", *cel::Quantity::parse("40Gi"));
	cel::add_capacity(out, "gpu.nvidia.com/multiprocessors", *cel::Quantity::parse("98"));
	return out;
}

/* In the selectors of tests, @ stands for the attributes and # for the capacity of the driver. */
inline std::string written_out(std::string_view text)
{
	std::string out;
	for (const char c : text) {
		if (c == '@')
			out += "device.attributes[\"gpu.nvidia.com\"]";
		else if (c == '#')
			out += "device.capacity[\"gpu.nvidia.com\"]";
		else
			out += c;
	}
	return out;
}

/* "true", "false", "error" (on the device), or "refused" */
inline std::string verdict(std::string_view text)
{
	const auto selector = cel::compile(written_out(text));
	if (!selector)
		return "refused";
	const auto match = cel::matches(*selector, gpu());
	if (!match)
		return "error";
	return *match ? "true" : "false";
}

} // namespace slurmkube::unit

#endif
