/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * access.h - fields and elements of values.
 */
#ifndef SLURMKUBE_CORE_CEL_ACCESS_H
#define SLURMKUBE_CORE_CEL_ACCESS_H

#include "src/core/cel/value.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace slurmkube::core::cel
{

/* A field of the device or an entry of a map. Nothing: there is none. The map of a domain always
 * exists: it is empty if the device has nothing of that domain. */
std::optional<Value> find_field(const Value &of, std::string_view key);

/* An entry of a map by a string, or an element of a list by an int. */
std::optional<Value> find_element(const Value &of, const Value &index);

/* "key in map". Unlike find_field() it does not find the domains that the device lacks. Nothing: it
 * is no map. */
std::optional<bool> has_key(const Value &map, std::string_view key);

/* The elements of a list, or the keys of a map. Nothing: it is neither. */
std::optional<List> elements_of(const Value &range);

/* The number of code points, elements or entries. Nothing: it has no size. */
std::optional<std::int64_t> number_of_elements(const Value &of);

} // namespace slurmkube::core::cel

#endif
