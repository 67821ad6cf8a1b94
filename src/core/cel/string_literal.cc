/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/string_literal.h"

#include "src/core/cel/utf8.h"

#include <optional>
#include <string_view>

namespace slurmkube::core::cel
{

namespace
{

bool is_quote(char c)
{
	return c == '"' || c == '\'';
}

bool is_raw_prefix(char c)
{
	return c == 'r' || c == 'R';
}

struct Escape {
	char letter, value;
};

constexpr Escape k_escapes[] = {{'a', '\a'}, {'b', '\b'}, {'f', '\f'}, {'n', '\n'}, {'r', '\r'},
	{'t', '\t'}, {'v', '\v'}, {'\\', '\\'}, {'\'', '\''}, {'"', '"'}, {'`', '`'}, {'?', '?'}};

int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

struct Numeric {
	std::size_t digits;
	int base;
};

/* The form of a numeric escape; letter is what follows the backslash. */
std::optional<Numeric> numeric_form(char letter)
{
	switch (letter) {
	case 'x':
	case 'X':
		return Numeric{2, 16};
	case 'u':
		return Numeric{4, 16};
	case 'U':
		return Numeric{8, 16};
	case '0':
	case '1':
	case '2':
	case '3':
		return Numeric{3, 8};
	default:
		return std::nullopt;
	}
}

/* The code point of a numeric escape. text begins with its first digit. */
std::optional<char32_t> numeric_value(std::string_view text, Numeric form)
{
	if (text.size() < form.digits)
		return std::nullopt;
	char32_t value = 0;
	for (std::size_t i = 0; i < form.digits; i++) {
		const int digit = digit_value(text[i]);
		if (digit >= form.base)
			return std::nullopt;
		value = value * static_cast<char32_t>(form.base) + static_cast<char32_t>(digit);
	}
	return is_code_point(value) ? std::optional(value) : std::nullopt;
}

class Reader
{
      public:
	Reader(const Source &source, std::size_t at) : source_(source), begin_(at), at_(at) {}

	Result<StringLiteral> read()
	{
		raw_ = is_raw_prefix(source_.text[at_]);
		if (raw_)
			at_++;
		quote_ = source_.text.substr(at_, 1);
		find_triple_quote();
		at_ += quote_.size();
		while (rest().substr(0, quote_.size()) != quote_) {
			const Status taken = take_one();
			if (!taken)
				return taken.error();
		}
		return StringLiteral{at_ + quote_.size(), std::move(value_)};
	}

      private:
	[[nodiscard]] std::string_view rest() const { return source_.text.substr(at_); }

	/* Three quotes begin a long string. */
	void find_triple_quote()
	{
		const std::string_view three = source_.text.substr(at_, 3);
		if (three == "'''" || three == R"(""")")
			quote_ = three;
	}

	Status take_one()
	{
		const bool is_long = quote_.size() == 3;
		if (rest().empty() || (!is_long && (rest()[0] == '\n' || rest()[0] == '\r')))
			return source_.wrong(begin_, "the string does not end");
		if (rest()[0] == '\\' && !raw_)
			return take_escape();
		if (rest()[0] == '\r') { /* newlines are \n in the value */
			value_ += '\n';
			at_ += rest().substr(0, 2) == "\r\n" ? 2U : 1U;
			return Ok{};
		}
		value_ += rest()[0];
		at_++;
		return Ok{};
	}

	Status take_escape()
	{
		const std::string_view escape = rest().substr(1);
		for (const Escape &known : k_escapes) {
			if (!escape.empty() && known.letter == escape[0]) {
				value_ += known.value;
				at_ += 2;
				return Ok{};
			}
		}
		const auto form = escape.empty() ? std::nullopt : numeric_form(escape[0]);
		const std::size_t letters = form && form->base == 16 ? 1 : 0;
		const auto value =
			form ? numeric_value(escape.substr(letters), *form) : std::nullopt;
		if (!value)
			return source_.wrong(at_, "this escape does not exist");
		append_utf8(value_, *value);
		at_ += 1 + letters + form->digits;
		return Ok{};
	}

	const Source &source_;
	std::size_t begin_, at_;
	bool raw_ = false;
	std::string_view quote_;
	std::string value_;
};

} // namespace

bool begins_string(const Source &source, std::size_t at)
{
	const std::string_view text = source.text.substr(at);
	return !text.empty() &&
		(is_quote(text[0]) ||
			(text.size() > 1 && is_raw_prefix(text[0]) && is_quote(text[1])));
}

Result<StringLiteral> read_string(const Source &source, std::size_t at)
{
	return Reader(source, at).read();
}

} // namespace slurmkube::core::cel
