/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * regex.h - the part of RE2 that selectors use, matched in linear time.
 *
 * std::regex backtracks, recurses and knows bytes only, and POSIX has another syntax. Understood:
 * characters, . [] [^] * + ? (also lazy) | () (?:) ^ $, \d \w \s and their opposites, escaped
 * punctuation and \n, \t, \r, \f, \v, \a. As in Go, a pattern matches if it matches anywhere, . is
 * any code point but a newline, and ^ and $ are the ends of the text.
 */
#ifndef SLURMKUBE_CORE_CEL_REGEX_H
#define SLURMKUBE_CORE_CEL_REGEX_H

#include "src/core/cel/source.h"

#include <cstddef>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace slurmkube::core::cel
{

class Regex
{
      public:
	static std::variant<Regex, Refusal> compile(std::string_view pattern);

	/* Takes time in proportion to the length of the text times that of the pattern. */
	[[nodiscard]] bool matches(std::string_view text) const;

      private:
	friend class RegexCompiler;
	friend class RegexRun;

	struct Set {
		bool negated = false;
		std::vector<std::pair<char32_t, char32_t>> ranges;
		[[nodiscard]] bool has(char32_t c) const;
	};
	struct Step {
		/* either: goes on at next and at other; skip: at next */
		enum class Kind { set, either, skip, begin, end, found };
		Kind kind = Kind::skip;
		std::size_t next = 0, other = 0;
		std::size_t set = 0;
	};

	std::vector<Set> sets_;
	std::vector<Step> steps_;
	std::size_t start_ = 0;
};

} // namespace slurmkube::core::cel

#endif
