/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/apply.h"

#include "src/core/cel/access.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace slurmkube::core::cel
{

namespace
{

Error failed(const std::string &what)
{
	return {Errc::invalid, what};
}

Error wrong_types(const std::vector<Value> &arguments)
{
	std::string text;
	for (const Value &argument : arguments)
		text += (text.empty() ? "" : ", ") + std::string(type_name(argument));
	return failed("a function or operator does not take " + text);
}

Result<Value> equality(Function function, const Value &a, const Value &b)
{
	const Equality result = compare_equal(a, b);
	if (function == Function::different)
		return Value{result != Equality::equal};
	if (result == Equality::error)
		return wrong_types({a, b});
	return Value{result == Equality::equal};
}

Result<Value> ordering(Function function, const Value &a, const Value &b)
{
	const auto order = compare_order(a, b);
	if (!order)
		return order.error();
	switch (function) {
	case Function::less:
		return Value{*order < 0};
	case Function::less_or_equal:
		return Value{*order <= 0};
	case Function::greater:
		return Value{*order > 0};
	default:
		return Value{*order >= 0};
	}
}

Result<Value> divided(Function function, std::int64_t a, std::int64_t b)
{
	if (b == 0)
		return failed("division by zero");
	if (a == std::numeric_limits<std::int64_t>::min() && b == -1)
		return failed("int overflow");
	return Value{function == Function::divide ? a / b : a % b};
}

Result<Value> computed(Function function, std::int64_t a, std::int64_t b)
{
	std::int64_t result = 0;
	bool overflow = false;
	switch (function) {
	case Function::add:
		overflow = __builtin_add_overflow(a, b, &result);
		break;
	case Function::subtract:
		overflow = __builtin_sub_overflow(a, b, &result);
		break;
	case Function::multiply:
		overflow = __builtin_mul_overflow(a, b, &result);
		break;
	default:
		return divided(function, a, b);
	}
	if (overflow)
		return failed("int overflow");
	return Value{result};
}

/* Nothing: there is no such operation on doubles. */
std::optional<double> computed(Function function, double a, double b)
{
	switch (function) {
	case Function::add:
		return a + b;
	case Function::subtract:
		return a - b;
	case Function::multiply:
		return a * b;
	case Function::divide:
		return a / b;
	default:
		return std::nullopt;
	}
}

Result<Value> arithmetic(Function function, const Value &a, const Value &b, Texts &texts)
{
	const auto *left = as<std::int64_t>(a), *right = as<std::int64_t>(b);
	if (left != nullptr && right != nullptr)
		return computed(function, *left, *right);
	const auto *left_double = as<double>(a), *right_double = as<double>(b);
	if (left_double != nullptr && right_double != nullptr) {
		const auto result = computed(function, *left_double, *right_double);
		return result ? Result<Value>(Value{*result}) : wrong_types({a, b});
	}
	const auto *left_text = as<std::string_view>(a), *right_text = as<std::string_view>(b);
	if (function != Function::add || left_text == nullptr || right_text == nullptr)
		return wrong_types({a, b});
	texts.push_back(std::string(*left_text) + std::string(*right_text));
	return Value{std::string_view(texts.back())};
}

Result<Value> negated(const Value &value)
{
	if (const auto *number = as<double>(value))
		return Value{-*number};
	const auto *number = as<std::int64_t>(value);
	if (number == nullptr)
		return wrong_types({value});
	if (*number == std::numeric_limits<std::int64_t>::min())
		return failed("int overflow");
	return Value{-*number};
}

std::string with_case(std::string_view text, char first, char last, int shift)
{
	std::string out(text);
	for (char &c : out)
		c = static_cast<char>(c >= first && c <= last ? c + shift : c);
	return out;
}

Result<Value> cased(Function function, const Value &value, Texts &texts)
{
	const auto *text = as<std::string_view>(value);
	if (text == nullptr)
		return wrong_types({value});
	constexpr int shift = 'a' - 'A';
	texts.push_back(function == Function::lower_ascii ? with_case(*text, 'A', 'Z', shift)
							  : with_case(*text, 'a', 'z', -shift));
	return Value{std::string_view(texts.back())};
}

Result<Value> text_test(Function function, const Value &value, const Value &part)
{
	const auto *text = as<std::string_view>(value), *wanted = as<std::string_view>(part);
	if (text == nullptr || wanted == nullptr)
		return wrong_types({value, part});
	if (function == Function::contains)
		return Value{text->find(*wanted) != std::string_view::npos};
	return Value{function == Function::starts_with ? text->starts_with(*wanted)
						       : text->ends_with(*wanted)};
}

/* quantity, isQuantity, semver, isSemver */
Result<Value> parsed(Function function, const Value &value)
{
	const auto *text = as<std::string_view>(value);
	if (text == nullptr)
		return wrong_types({value});
	if (function == Function::semver || function == Function::is_semver) {
		const auto version = parse_semver(*text);
		if (function == Function::is_semver)
			return Value{version.has_value()};
		return version ? Result<Value>(Value{*version})
			       : failed("not a semantic version: '" + std::string(*text) + "'");
	}
	auto quantity = Quantity::parse(*text);
	if (function == Function::is_quantity)
		return Value{quantity.has_value()};
	return quantity ? Result<Value>(Value{std::move(*quantity)})
			: failed("not a quantity: '" + std::string(*text) + "'");
}

Result<Value> comparison(Function function, const Value &a, const Value &b)
{
	int order = 0;
	const auto *left = as<Quantity>(a), *right = as<Quantity>(b);
	const auto *left_version = as<Semver>(a), *right_version = as<Semver>(b);
	if (left != nullptr && right != nullptr)
		order = left->compare(*right);
	else if (left_version != nullptr && right_version != nullptr)
		order = compare(*left_version, *right_version);
	else
		return wrong_types({a, b});
	if (function == Function::compare_to)
		return Value{std::int64_t{order}};
	return Value{function == Function::is_less_than ? order < 0 : order > 0};
}

Result<Value> in_list(const Value &value, const Value &container)
{
	const auto *list = as<List>(container);
	const auto *key = as<std::string_view>(value);
	const auto found = key == nullptr ? std::nullopt : has_key(container, *key);
	if (found)
		return Value{*found};
	if (list == nullptr)
		return wrong_types({value, container});
	return Value{std::any_of((*list)->begin(), (*list)->end(), [&](const Value &element) {
		return compare_equal(value, element) == Equality::equal;
	})};
}

Result<Value> size(const Value &of)
{
	const auto number = number_of_elements(of);
	return number ? Result<Value>(Value{*number}) : wrong_types({of});
}

Result<Value> sign(const Value &of)
{
	const auto *quantity = as<Quantity>(of);
	return quantity != nullptr ? Result<Value>(Value{std::int64_t{quantity->sign()}})
				   : wrong_types({of});
}

Result<Value> opposite(const Value &of)
{
	const bool *truth = as<bool>(of);
	return truth != nullptr ? Result<Value>(Value{!*truth}) : wrong_types({of});
}

Result<Value> unwrapped(Value value)
{
	if (value.wrapping == Value::Wrapping::none)
		return failed("value() of an optional without a value");
	value.wrapping = Value::Wrapping::plain;
	return value;
}

Error unknown_function()
{
	return {Errc::internal, "the evaluation of a selector does not know a function"};
}

Result<Value> apply_to_one(Function function, const Value &value, Texts &texts)
{
	switch (function) {
	case Function::negate:
		return negated(value);
	case Function::logical_not:
		return opposite(value);
	case Function::size:
		return size(value);
	case Function::has_value:
		return Value{value.wrapping == Value::Wrapping::some};
	case Function::value:
		return unwrapped(value);
	case Function::lower_ascii:
	case Function::upper_ascii:
		return cased(function, value, texts);
	case Function::quantity:
	case Function::is_quantity:
	case Function::semver:
	case Function::is_semver:
		return parsed(function, value);
	case Function::sign:
		return sign(value);
	default:
		return unknown_function();
	}
}

Result<Value> apply_to_two(Function function, const Value &a, const Value &b, Texts &texts)
{
	switch (function) {
	case Function::equal:
	case Function::different:
		return equality(function, a, b);
	case Function::less:
	case Function::less_or_equal:
	case Function::greater:
	case Function::greater_or_equal:
		return ordering(function, a, b);
	case Function::add:
	case Function::subtract:
	case Function::multiply:
	case Function::divide:
	case Function::remainder:
		return arithmetic(function, a, b, texts);
	case Function::in:
		return in_list(a, b);
	case Function::starts_with:
	case Function::ends_with:
	case Function::contains:
		return text_test(function, a, b);
	case Function::compare_to:
	case Function::is_greater_than:
	case Function::is_less_than:
		return comparison(function, a, b);
	default:
		return unknown_function();
	}
}

} // namespace

Result<Value> apply(Function function, const std::vector<Value> &arguments, Texts &texts)
{
	return arguments.size() == 1 ? apply_to_one(function, arguments[0], texts)
				     : apply_to_two(function, arguments[0], arguments[1], texts);
}

} // namespace slurmkube::core::cel
