/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns of matches(). */
#include "src/core/cel/regex.h"
#include "testsuite/unit/check.h"

#include <string>

using namespace slurmkube::core::cel;

namespace
{

std::string result(const char *pattern, const std::string &text)
{
	const auto compiled = Regex::compile(pattern);
	if (const auto *refusal = std::get_if<Refusal>(&compiled))
		return refusal->is_wrong ? "wrong" : "not understood";
	return std::get<Regex>(compiled).matches(text) ? "yes" : "no";
}

struct Row {
	const char *pattern, *text, *result;
};

void patterns_match_as_in_re2()
{
	static constexpr Row rows[] = {
		{"", "", "yes"},
		{"", "abc", "yes"},
		{"b", "abc", "yes"},
		{"d", "abc", "no"},
		{"^b", "abc", "no"},
		{"^a", "abc", "yes"},
		{"c$", "abc", "yes"},
		{"b$", "abc", "no"},
		{"^$", "", "yes"},
		{"^$", "\n", "no"},
		{"a$", "a\n", "no"},
		{"^b", "a\nb", "no"},
		{"a.c", "abc", "yes"},
		{"a.c", "a\nc", "no"},
		{"^.$", "\u00FC", "yes"},
		{"^.$", "\U0001F600", "yes"},
		{"^..$", "\u00FC", "no"},
		{"^.$", "\xff", "yes"},
		{"ab*c", "ac", "yes"},
		{"ab*c", "abbbc", "yes"},
		{"ab+c", "ac", "no"},
		{"ab+c", "abbc", "yes"},
		{"^ab?c$", "abbc", "no"},
		{"^ab?c$", "ac", "yes"},
		{"^a*?$", "aaa", "yes"},
		{"^a+?b??$", "aab", "yes"},
		{"^(ab)*$", "abab", "yes"},
		{"^(ab)*$", "aba", "no"},
		{"^(a|b)+$", "abba", "yes"},
		{"^(?:a|b)c$", "bc", "yes"},
		{"^a|b$", "ac", "yes"},
		{"^(a|b)$", "ac", "no"},
		{"^(a||b)$", "", "yes"},
		{"^()$", "", "yes"},
		{"a||b", "x", "yes"},
		{"(a*)*b", "aab", "yes"},
		{"^((a*)+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "no"},
		{"[a-c]x", "bx", "yes"},
		{"[a-c]x", "dx", "no"},
		{"[^a-c]", "abc", "no"},
		{"[^a-c]", "\n", "yes"},
		{"[]a]", "]", "yes"},
		{"[^]a]", "]", "no"},
		{"[a-]", "-", "yes"},
		{"[-a]", "-", "yes"},
		{"^[\\d-z]+$", "1-z", "yes"},
		{"[a\\]b]", "]", "yes"},
		{"[\u00FC-\u00FE]", "\u00FD", "yes"},
		{"[^\u00FC]", "\u00FC", "no"},
		{"^[[]$", "[", "yes"},
		{"^\\d\\w\\s$", "1_ ", "yes"},
		{"\\D", "123", "no"},
		{"\\W", "a_1", "no"},
		{"\\S", " \t\n\f\r", "no"},
		{"\\s", "\v", "no"},
		{"\\.", "a", "no"},
		{"\\.\\*\\[\\\\", ".*[\\", "yes"},
		{"\\n\\t", "\n\t", "yes"},
		{"a}", "a}", "yes"},
		{"a]", "a]", "yes"},
		{"a,-", "a,-", "yes"},
		{"(^a|b)$", "a", "yes"},
		{"^.*a100.*$", "nvidia a100-sxm4", "yes"},
		{"^.*a100.*$", "tesla t4", "no"},
	};
	for (const Row &row : rows)
		CHECK_EQUAL(row.pattern + (" " + result(row.pattern, row.text)),
			row.pattern + (" " + std::string(row.result)));
}

void other_patterns_are_refused()
{
	static constexpr Row rows[] = {
		{"(", "", "wrong"},
		{")", "", "wrong"},
		{"a)", "", "wrong"},
		{"[", "", "wrong"},
		{"[a", "", "wrong"},
		{"[]", "", "wrong"},
		{"[b-a]", "", "wrong"},
		{"*", "", "wrong"},
		{"+a", "", "wrong"},
		{"(*)", "", "wrong"},
		{"a|*", "", "wrong"},
		{"a**", "", "wrong"},
		{"a*+", "", "wrong"},
		{"a*??", "", "wrong"},
		{"\\", "", "wrong"},
		{"\xff", "", "wrong"},
		{"a{2}", "", "not understood"},
		{"{", "", "not understood"},
		{"(?i)a", "", "not understood"},
		{"(?P<n>a)", "", "not understood"},
		{"^*", "", "not understood"},
		{"$+", "", "not understood"},
		{"\\b", "", "not understood"},
		{"\\x41", "", "not understood"},
		{"\\pL", "", "not understood"},
		{"\\1", "", "not understood"},
		{"\\\u00FC", "", "not understood"},
		{"[[:alpha:]]", "", "not understood"},
		{"[\\D]", "", "not understood"},
	};
	for (const Row &row : rows)
		CHECK_EQUAL(row.pattern + (" " + result(row.pattern, row.text)),
			row.pattern + (" " + std::string(row.result)));
}

/* A matcher that backtracks takes more than the age of the universe. */
void matching_takes_linear_time()
{
	const std::string text(5000, 'a');
	std::string pattern;
	for (int i = 0; i < 100; i++)
		pattern += "(a?)*a*";
	CHECK_EQUAL(result((pattern + "b").c_str(), text), "no");
	CHECK_EQUAL(result("^(([a-z])+.)+[A-Z]([a-z])+$", text), "no");
	CHECK_EQUAL(result("^(a|aa|aaa)*$", text), "yes");
}

} // namespace

int main()
{
	return slurmkube::check::run_tests("cel_regex",
		{
			TEST(patterns_match_as_in_re2),
			TEST(other_patterns_are_refused),
			TEST(matching_takes_linear_time),
		});
}
