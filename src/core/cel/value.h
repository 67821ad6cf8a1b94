/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * value.h - a value of CEL while a selector is evaluated.
 *
 * Texts are views into the selector, the device or the evaluation, so that a value is cheap to
 * copy.
 */
#ifndef SLURMKUBE_CORE_CEL_VALUE_H
#define SLURMKUBE_CORE_CEL_VALUE_H

#include "src/base/result.h"
#include "src/core/cel/device.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

namespace slurmkube::core::cel
{

struct Value;
using List = std::shared_ptr<const std::vector<Value>>;

/* Maps of the device. A null pointer is the empty map of a domain that the device lacks. */
using Attributes = const ById<Attribute> *;
using Capacities = const ById<Quantity> *;
using AttributesByDomain = const ByDomain<Attribute> *;
using CapacityByDomain = const ByDomain<Quantity> *;

struct Value {
	/* plain: no optional; none: an optional without a value */
	enum class Wrapping { plain, some, none };

	std::variant<bool, std::int64_t, double, std::string_view, Quantity, Semver, List,
		const Device *, AttributesByDomain, CapacityByDomain, Attributes, Capacities>
		is = false;
	Wrapping wrapping = Wrapping::plain;
};

/* Nothing if the value is of another type. Only of values that are no optional. */
template <class T> const T *as(const Value &value)
{
	return std::get_if<T>(&value.is);
}

/* "int", "string" and so on, for errors. */
const char *type_name(const Value &value);

Value to_value(const Attribute &attribute);

/* The size by which the cost of comparing the value is reckoned. */
std::size_t size_of(const Value &value);

enum class Equality { equal, different, error };

/* A quantity or a version compared with another type is an error, but not the other way round. */
Equality compare_equal(const Value &a, const Value &b);

/* Whether a constant list has the value. Numbers are compared as Kubernetes' table of the list's
 * elements does. error: versions cannot be looked up in that table. */
Equality find_in_constants(const Value &value, const std::vector<Value> &list);

/* -1, 0 or 1; an error if the two cannot be ordered. */
Result<int> compare_order(const Value &a, const Value &b);

} // namespace slurmkube::core::cel

#endif
