/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * function.h - the operators and functions that selectors may use, and their types.
 *
 * Those that work on lists, maps or optionals (in, size, orValue and so on) have no types here: the
 * checker has a rule for each.
 */
#ifndef SLURMKUBE_CORE_CEL_FUNCTION_H
#define SLURMKUBE_CORE_CEL_FUNCTION_H

#include "src/core/cel/type.h"

#include <optional>
#include <string_view>
#include <vector>

namespace slurmkube::core::cel
{

enum class Function {
	equal,
	different,
	less,
	less_or_equal,
	greater,
	greater_or_equal,
	add,
	subtract,
	multiply,
	divide,
	remainder,
	negate,
	logical_not,
	in,
	size,
	or_value,
	has_value,
	value,
	starts_with,
	ends_with,
	contains,
	matches,
	lower_ascii,
	upper_ascii,
	quantity,
	is_quantity,
	sign,
	semver,
	is_semver,
	compare_to,
	is_greater_than,
	is_less_than,
};

enum class Style { oper, global, member };

/* Nothing: no such function, or not with this style. */
std::optional<Function> find_function(std::string_view name, Style style, std::size_t arguments);

/* The type of the result if the function takes arguments of these types. As in Kubernetes, dyn may
 * be any type, so that several overloads may fit. Nothing: none fits. */
std::optional<Type> result_type(Function function, const std::vector<Type> &arguments);

} // namespace slurmkube::core::cel

#endif
