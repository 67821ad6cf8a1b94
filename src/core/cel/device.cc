/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/device.h"

#include <utility>

namespace slurmkube::core::cel
{

namespace
{

template <class T>
void add(ByDomain<T> &to, const std::string &driver, std::string_view name, T value)
{
	const std::size_t slash = name.find('/');
	const bool qualified = slash != std::string_view::npos;
	const std::string_view domain = qualified ? name.substr(0, slash) : driver;
	const std::string_view id = qualified ? name.substr(slash + 1) : name;
	to[std::string(domain)].insert_or_assign(std::string(id), std::move(value));
}

} // namespace

std::optional<Version> Version::parse(std::string_view text)
{
	return parse_semver(text) ? std::optional(Version(text)) : std::nullopt;
}

void add_attribute(Device &device, std::string_view name, Attribute value)
{
	add(device.attributes, device.driver, name, std::move(value));
}

void add_capacity(Device &device, std::string_view name, Quantity value)
{
	add(device.capacity, device.driver, name, std::move(value));
}

} // namespace slurmkube::core::cel
