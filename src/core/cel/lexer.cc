/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/lexer.h"

#include "src/base/digits.h"
#include "src/core/cel/string_literal.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace slurmkube::core::cel
{

namespace
{

constexpr std::string_view k_hex_digits = "0123456789abcdefABCDEF";
constexpr std::string_view k_first_letters =
	"_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view k_letters =
	"_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
constexpr std::string_view k_spaces = " \t\r\n\f";
constexpr std::string_view k_words[] = {"in", "true", "false", "null"};
/* longer ones first */
constexpr std::string_view k_symbols[] = {"==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "[",
	"]", "(", ")", "{", "}", ".", ",", "-", "?", ":", "+", "*", "/", "%"};

bool is_one_of(std::string_view text, std::string_view set)
{
	return !text.empty() && set.find(text[0]) != std::string_view::npos;
}

class Lexer
{
      public:
	explicit Lexer(const Source &source) : source_(source) {}

	Result<std::vector<Token>> run()
	{
		for (skip_space(); !rest().empty(); skip_space()) {
			const Status taken = take_token();
			if (!taken)
				return taken.error();
		}
		push(Token::Kind::end, 0);
		return std::move(tokens_);
	}

      private:
	[[nodiscard]] std::string_view rest() const { return source_.text.substr(at_); }

	[[nodiscard]] std::size_t run_of(std::string_view set, std::size_t from = 0) const
	{
		const std::size_t end = rest().find_first_not_of(set, from);
		return std::min(end, rest().size()) - std::min(from, rest().size());
	}

	void push(Token::Kind kind, std::size_t size)
	{
		tokens_.push_back(Token{kind, at_, rest().substr(0, size), {}});
		at_ += size;
	}

	void skip_space()
	{
		while (is_one_of(rest(), k_spaces) || rest().substr(0, 2) == "//") {
			if (is_one_of(rest(), k_spaces))
				at_ += run_of(k_spaces);
			else
				at_ += std::min(rest().find('\n'), rest().size());
		}
	}

	Status take_token()
	{
		if (begins_string(source_, at_))
			return take_string();
		if (is_one_of(rest(), k_first_letters))
			return take_name();
		if (is_one_of(rest(), k_digits) ||
			(rest()[0] == '.' && is_one_of(rest().substr(1), k_digits)))
			return take_number();
		for (const std::string_view symbol : k_symbols) {
			if (rest().substr(0, symbol.size()) == symbol) {
				push(Token::Kind::symbol, symbol.size());
				return Ok{};
			}
		}
		if (rest()[0] == '`')
			return source_.not_understood(at_, "an identifier in back quotes");
		return source_.wrong(at_, "this character has no meaning here");
	}

	Status take_string()
	{
		auto literal = read_string(source_, at_);
		if (!literal)
			return literal.error();
		push(Token::Kind::string, literal->end - at_);
		tokens_.back().value = std::move(literal->value);
		return Ok{};
	}

	Status take_name()
	{
		const std::size_t size = run_of(k_letters);
		const std::string_view name = rest().substr(0, size);
		if (is_one_of(rest(), "bB") && is_one_of(rest().substr(size), "'\"") && size <= 2)
			return source_.not_understood(at_, "bytes");
		const bool is_word = std::find(std::begin(k_words), std::end(k_words), name) !=
			std::end(k_words);
		push(is_word ? Token::Kind::word : Token::Kind::identifier, size);
		return Ok{};
	}

	/* The part behind the digits: e, a sign or none, digits; 0 if there is no such part. */
	[[nodiscard]] std::size_t exponent_size(std::size_t from) const
	{
		if (from >= rest().size() || !is_one_of(rest().substr(from), "eE"))
			return 0;
		const std::size_t sign = is_one_of(rest().substr(from + 1), "+-") ? 1 : 0;
		const std::size_t digits = run_of(k_digits, from + 1 + sign);
		return digits > 0 ? 1 + sign + digits : 0;
	}

	Status take_number()
	{
		const std::size_t hex = rest().substr(0, 2) == "0x" ? run_of(k_hex_digits, 2) : 0;
		const std::size_t whole = hex > 0 ? hex + 2 : run_of(k_digits);
		std::size_t size = whole;
		if (hex == 0) {
			const bool dot = size < rest().size() && rest()[size] == '.' &&
				run_of(k_digits, size + 1) > 0;
			size += dot ? 1 + run_of(k_digits, size + 1) : 0;
			size += exponent_size(size);
		}
		if (size == whole && is_one_of(rest().substr(size), "uU"))
			return source_.not_understood(at_, "an unsigned number");
		push(size == whole ? Token::Kind::integer : Token::Kind::floating, size);
		return Ok{};
	}

	const Source &source_;
	std::size_t at_ = 0;
	std::vector<Token> tokens_;
};

} // namespace

Result<std::vector<Token>> tokenize(const Source &source)
{
	return Lexer(source).run();
}

} // namespace slurmkube::core::cel
