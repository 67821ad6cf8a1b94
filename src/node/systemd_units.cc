/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/systemd_units.h"

#include <cstring>
#include <memory>

#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>

namespace slurmkube::node
{

namespace
{

/* The runtime waits two seconds for an answer to its question. */
constexpr std::uint64_t k_systemd_limit_us = 1000000;

struct CloseBus {
	void operator()(sd_bus *bus) const { sd_bus_close_unref(bus); }
};
using Bus = std::unique_ptr<sd_bus, CloseBus>;

Error bus_error(const std::string &unit, int error)
{
	return {Errc::io,
		"systemd does not set MemoryMax of " + unit + ": " + std::strerror(-error)};
}

} // namespace

std::optional<std::string> slice_of(const std::string &cgroup)
{
	const std::string name = cgroup.substr(cgroup.rfind('/') + 1);
	return name.ends_with(".slice") ? std::optional(name) : std::nullopt;
}

Result<Ok> limit_memory_of_unit(const std::string &unit, std::int64_t limit)
{
	if (sd_booted() <= 0)
		return Ok{};
	sd_bus *opened = nullptr;
	const int status = sd_bus_open_system(&opened);
	const Bus bus(opened);
	if (status < 0)
		return bus_error(unit, status);
	(void)sd_bus_set_method_call_timeout(bus.get(), k_systemd_limit_us);
	const int set = sd_bus_call_method(bus.get(), "org.freedesktop.systemd1",
		"/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
		"SetUnitProperties", nullptr, nullptr, "sba(sv)", unit.c_str(), 1, 1, "MemoryMax",
		"t", static_cast<std::uint64_t>(limit));
	return set < 0 ? Result<Ok>(bus_error(unit, set)) : Result<Ok>(Ok{});
}

} // namespace slurmkube::node
