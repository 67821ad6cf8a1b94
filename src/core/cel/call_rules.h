/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_rules.h - the static type of a call, from those of its arguments.
 */
#ifndef SLURMKUBE_CORE_CEL_CALL_RULES_H
#define SLURMKUBE_CORE_CEL_CALL_RULES_H

#include "src/core/cel/function.h"
#include "src/core/cel/source.h"
#include "src/core/cel/type.h"

#include <variant>
#include <vector>

namespace slurmkube::core::cel
{

/* There are as many arguments as find_function() was asked for. */
std::variant<Type, Refusal> call_type(Function function, const std::vector<Type> &arguments);

/* The type of a value that is one or the other. */
std::variant<Type, Refusal> either_type(Type a, Type b);

} // namespace slurmkube::core::cel

#endif
