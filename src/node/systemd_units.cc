/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/systemd_units.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include <systemd/sd-bus.h>

namespace slurmkube::node
{

namespace
{

using BusClock = std::chrono::steady_clock;

/* The runtime waits two seconds for an answer to its question. */
constexpr std::chrono::seconds k_systemd_limit{1};

struct CloseBus {
	void operator()(sd_bus *bus) const { sd_bus_close_unref(bus); }
};
using Bus = std::unique_ptr<sd_bus, CloseBus>;

Error bus_error(const std::string &unit, int error)
{
	return {Errc::io,
		"systemd does not set MemoryMax of " + unit + ": " + std::strerror(-error)};
}

/* At least 1: 0 means no limit of ours. */
std::uint64_t left_us(BusClock::time_point end)
{
	const auto left = std::chrono::ceil<std::chrono::microseconds>(end - BusClock::now());
	return static_cast<std::uint64_t>(std::max<std::int64_t>(left.count(), 1));
}

/* A call would connect by itself, but wait up to 90 s for a broker that does not answer. Returns a
 * negative errno. */
int connect_until(BusClock::time_point end, sd_bus *bus)
{
	while (sd_bus_is_ready(bus) == 0) {
		const int done = sd_bus_process(bus, nullptr);
		if (done < 0)
			return done;
		if (BusClock::now() >= end)
			return -ETIMEDOUT;
		if (done > 0)
			continue;
		if (const int waited = sd_bus_wait(bus, left_us(end));
			waited < 0 && waited != -EINTR)
			return waited;
	}
	return 0;
}

} // namespace

std::optional<std::string> slice_of(const std::string &cgroup)
{
	const std::string name = cgroup.substr(cgroup.rfind('/') + 1);
	return name.ends_with(".slice") ? std::optional(name) : std::nullopt;
}

Result<Ok> limit_memory_of_unit(const std::string &unit, std::int64_t limit)
{
	const BusClock::time_point end = BusClock::now() + k_systemd_limit;
	sd_bus *opened = nullptr;
	int status = sd_bus_open_system(&opened);
	const Bus bus(opened);
	if (status >= 0)
		status = connect_until(end, bus.get());
	if (status < 0)
		return bus_error(unit, status);
	(void)sd_bus_set_method_call_timeout(bus.get(), left_us(end));
	const int set = sd_bus_call_method(bus.get(), "org.freedesktop.systemd1",
		"/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
		"SetUnitProperties", nullptr, nullptr, "sba(sv)", unit.c_str(), 1, 1, "MemoryMax",
		"t", static_cast<std::uint64_t>(limit));
	return set < 0 ? Result<Ok>(bus_error(unit, set)) : Result<Ok>(Ok{});
}

} // namespace slurmkube::node
