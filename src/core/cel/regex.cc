/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/regex.h"

#include "src/core/cel/utf8.h"

#include <optional>
#include <string>

namespace slurmkube::core::cel
{

namespace
{

constexpr int k_deepest_group = 30;
constexpr char32_t k_last = 0x10FFFF;

struct NamedSet {
	char letter; /* the capital is the opposite */
	std::vector<std::pair<char32_t, char32_t>> ranges;
};

const std::vector<NamedSet> &named_sets()
{
	static const std::vector<NamedSet> sets = {{'d', {{'0', '9'}}},
		{'w', {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
		{'s', {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}}};
	return sets;
}

bool is_letter_or_digit(char32_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The character that an escape means; nothing: the escape is not understood. */
std::optional<char32_t> escaped(char32_t c)
{
	constexpr std::string_view letters = "ntrfva", values = "\n\t\r\f\v\a";
	if (c < 0x80 && !is_letter_or_digit(c))
		return c;
	const std::size_t at = c < 0x80 ? letters.find(static_cast<char>(c)) : letters.npos;
	return at == letters.npos ? std::nullopt : std::optional<char32_t>(values[at]);
}

} // namespace

/* Recursive descent. Steps are made from the end of the pattern's parts to their beginning: each
 * part gets a last step "skip" whose successor is set by the part behind it. */
class RegexCompiler
{
      public:
	explicit RegexCompiler(std::string_view pattern) : rest_(pattern) {}

	std::variant<Regex, Refusal> run()
	{
		if (!is_utf8(rest_))
			return Refusal{true, "the pattern is not UTF-8"};
		const Part all = alternatives(0);
		if (!refusal_ && !rest_.empty())
			refuse(true, "')' without '('");
		if (refusal_)
			return *refusal_;
		regex_.start_ = all.first;
		regex_.steps_[all.last].next = add({Kind::found, 0, 0, 0});
		return std::move(regex_);
	}

      private:
	using Kind = Regex::Step::Kind;
	struct Part {
		std::size_t first = 0, last = 0;
	};

	std::size_t add(Regex::Step step)
	{
		regex_.steps_.push_back(step);
		return regex_.steps_.size() - 1;
	}

	Part single(Regex::Step step)
	{
		const std::size_t last = add({Kind::skip, 0, 0, 0});
		step.next = last;
		return {add(step), last};
	}

	Part nothing()
	{
		const std::size_t only = add({Kind::skip, 0, 0, 0});
		return {only, only};
	}

	Part set(Regex::Set of)
	{
		regex_.sets_.push_back(std::move(of));
		return single({Kind::set, 0, 0, regex_.sets_.size() - 1});
	}

	Part refuse(bool is_wrong, std::string what)
	{
		if (!refusal_)
			refusal_ = Refusal{is_wrong, std::move(what)};
		rest_ = {};
		return nothing();
	}

	bool take(char c)
	{
		if (rest_.empty() || rest_[0] != c)
			return false;
		rest_.remove_prefix(1);
		return true;
	}

	char32_t take_code_point()
	{
		const CodePoint next = first_code_point(rest_);
		rest_.remove_prefix(next.bytes);
		return next.value;
	}

	Part alternatives(int depth)
	{
		if (depth > k_deepest_group)
			return refuse(false, "groups that are nested so deeply");
		Part all = sequence(depth);
		while (take('|')) {
			const Part more = sequence(depth);
			const Part joined = nothing();
			regex_.steps_[all.last].next = joined.last;
			regex_.steps_[more.last].next = joined.last;
			all = {add({Kind::either, all.first, more.first, 0}), joined.last};
		}
		return all;
	}

	Part sequence(int depth)
	{
		Part all = nothing();
		while (!rest_.empty() && rest_[0] != '|' && rest_[0] != ')') {
			const Part more = repeated(depth);
			regex_.steps_[all.last].next = more.first;
			all.last = more.last;
		}
		return all;
	}

	[[nodiscard]] bool at_repetition() const
	{
		return !rest_.empty() && (rest_[0] == '*' || rest_[0] == '+' || rest_[0] == '?');
	}

	Part repeated(int depth)
	{
		if (at_repetition())
			return refuse(true, "a repetition of nothing, or of a repetition");
		const bool is_anchor = rest_[0] == '^' || rest_[0] == '$';
		const Part once = atom(depth);
		if (!at_repetition())
			return once;
		if (is_anchor)
			return refuse(false, "a repeated ^ or $");
		const Part all = repeat(once, static_cast<char>(take_code_point()));
		take('?'); /* lazy: matches the same texts */
		return all;
	}

	Part repeat(Part once, char how)
	{
		const std::size_t last = add({Kind::skip, 0, 0, 0});
		const std::size_t loop = add({Kind::either, once.first, last, 0});
		regex_.steps_[once.last].next = how == '?' ? last : loop;
		return {how == '+' ? once.first : loop, last};
	}

	Part atom(int depth)
	{
		const char32_t c = take_code_point();
		switch (c) {
		case '(':
			return group(depth);
		case '[':
			return bracket();
		case '\\':
			return escape();
		case '{':
			return refuse(false, "{ in a pattern");
		case '^':
			return single({Kind::begin, 0, 0, 0});
		case '$':
			return single({Kind::end, 0, 0, 0});
		case '.':
			return set({true, {{'\n', '\n'}}});
		default:
			return set({false, {{c, c}}});
		}
	}

	Part group(int depth)
	{
		if (take('?') && !take(':'))
			return refuse(false, "(? in a pattern");
		const Part inner = alternatives(depth + 1);
		return refusal_ || take(')') ? inner : refuse(true, "'(' without ')'");
	}

	Part escape()
	{
		if (rest_.empty())
			return refuse(true, "\\ at the end of the pattern");
		const char32_t c = take_code_point();
		for (const NamedSet &named : named_sets()) {
			const auto letter = static_cast<char32_t>(named.letter);
			if (c == letter || c == letter - 'a' + 'A')
				return set({c != letter, named.ranges});
		}
		const auto meant = escaped(c);
		return meant ? set({false, {{*meant, *meant}}})
			     : refuse(false, "this escape in a pattern");
	}

	/* One end of a range in brackets. */
	std::optional<char32_t> bracket_character()
	{
		if (rest_.empty())
			return std::nullopt;
		const char32_t c = take_code_point();
		if (c == '[' && !rest_.empty() && rest_[0] == ':')
			return std::nullopt;
		if (c != '\\')
			return c;
		return rest_.empty() ? std::nullopt : escaped(take_code_point());
	}

	bool bracket_named_set(Regex::Set &out)
	{
		for (const NamedSet &named : named_sets()) {
			if (rest_.size() > 1 && rest_[0] == '\\' && rest_[1] == named.letter) {
				out.ranges.insert(
					out.ranges.end(), named.ranges.begin(), named.ranges.end());
				rest_.remove_prefix(2);
				return true;
			}
		}
		return false;
	}

	/* False: refused. */
	bool bracket_range(Regex::Set &out)
	{
		const auto first = bracket_character();
		auto last = first;
		if (rest_.size() > 1 && rest_[0] == '-' && rest_[1] != ']') {
			rest_.remove_prefix(1);
			last = bracket_character();
		}
		if (!first || !last || *last > k_last) {
			refuse(false, "this set of characters in a pattern");
			return false;
		}
		if (*last < *first) {
			refuse(true, "a range whose end is before its begin");
			return false;
		}
		out.ranges.emplace_back(*first, *last);
		return true;
	}

	Part bracket()
	{
		Regex::Set out;
		out.negated = take('^');
		for (bool first = true; first || !take(']'); first = false) {
			if (rest_.empty())
				return refuse(true, "'[' without ']'");
			if (!bracket_named_set(out) && !bracket_range(out))
				return nothing();
		}
		return set(std::move(out));
	}

	std::string_view rest_;
	Regex regex_;
	std::optional<Refusal> refusal_;
};

std::variant<Regex, Refusal> Regex::compile(std::string_view pattern)
{
	return RegexCompiler(pattern).run();
}

} // namespace slurmkube::core::cel
