/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lexer.h - the tokens of a CEL expression.
 */
#ifndef SLURMKUBE_CORE_CEL_LEXER_H
#define SLURMKUBE_CORE_CEL_LEXER_H

#include "src/base/result.h"
#include "src/core/cel/source.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::core::cel
{

struct Token {
	/* word: "in", "true", "false" and "null", which are no identifiers */
	enum class Kind { end, identifier, word, integer, floating, string, symbol };
	Kind kind = Kind::end;
	std::size_t at = 0;
	std::string_view text; /* of the source */
	std::string value;     /* of a string, without quotes and escapes */
};

/* The last token is the end. */
Result<std::vector<Token>> tokenize(const Source &source);

} // namespace slurmkube::core::cel

#endif
