/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * number_literal.h - numbers as they are written in a selector.
 */
#ifndef SLURMKUBE_CORE_CEL_NUMBER_LITERAL_H
#define SLURMKUBE_CORE_CEL_NUMBER_LITERAL_H

#include "src/core/cel/value.h"

#include <optional>
#include <string_view>

namespace slurmkube::core::cel
{

/* text is a token without its sign. Nothing: out of range. */
std::optional<Value> read_integer(std::string_view text, bool negative);
std::optional<Value> read_double(std::string_view text, bool negative);

} // namespace slurmkube::core::cel

#endif
