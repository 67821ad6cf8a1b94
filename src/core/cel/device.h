/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * device.h - what a CEL selector sees of a device of a ResourceSlice.
 */
#ifndef SLURMKUBE_CORE_CEL_DEVICE_H
#define SLURMKUBE_CORE_CEL_DEVICE_H

#include "src/core/cel/quantity.h"
#include "src/core/cel/semver.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace slurmkube::core::cel
{

/* A semantic version that keeps its text. */
class Version
{
      public:
	/* Nothing: not a version. */
	static std::optional<Version> parse(std::string_view text);

	[[nodiscard]] const std::string &text() const { return text_; }
	/* Refers to this object. */
	[[nodiscard]] Semver semver() const { return *parse_semver(text_); }

      private:
	explicit Version(std::string_view text) : text_(text) {}

	std::string text_;
};

using Attribute = std::variant<std::int64_t, bool, std::string, Version>;

template <class T> using ById = std::map<std::string, T, std::less<>>;
template <class T> using ByDomain = std::map<std::string, ById<T>, std::less<>>;

struct Device {
	std::string driver;
	bool allow_multiple_allocations = false;
	ByDomain<Attribute> attributes;
	ByDomain<Quantity> capacity;
};

/* name is DOMAIN/ID or ID, whose domain is the driver: set the driver first. */
void add_attribute(Device &device, std::string_view name, Attribute value);
void add_capacity(Device &device, std::string_view name, Quantity value);

} // namespace slurmkube::core::cel

#endif
