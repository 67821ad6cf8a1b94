/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * string_literal.h - string literals of CEL: four kinds of quotes, raw or with escapes.
 */
#ifndef SLURMKUBE_CORE_CEL_STRING_LITERAL_H
#define SLURMKUBE_CORE_CEL_STRING_LITERAL_H

#include "src/base/result.h"
#include "src/core/cel/source.h"

#include <cstddef>
#include <string>

namespace slurmkube::core::cel
{

struct StringLiteral {
	std::size_t end = 0; /* behind the last quote */
	std::string value;
};

/* True if a literal begins there: a quote, or r and a quote. */
bool begins_string(const Source &source, std::size_t at);
Result<StringLiteral> read_string(const Source &source, std::size_t at);

} // namespace slurmkube::core::cel

#endif
