/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/value.h"

#include "src/core/cel/order.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace slurmkube::core::cel
{

namespace
{

constexpr double k_two_to_63 = 9223372036854775808.0;

Equality yes_or_no(bool equal)
{
	return equal ? Equality::equal : Equality::different;
}

bool is_nan(const Value &value)
{
	const double *number = as<double>(value);
	return number != nullptr && std::isnan(*number);
}

/* As cel-go: an int within the range of a double is compared as a double. */
int compare_numbers(double a, std::int64_t b)
{
	if (a < -k_two_to_63)
		return -1;
	return a > k_two_to_63 ? 1 : order(a, static_cast<double>(b));
}

/* Nothing: they are not both numbers. NaN must have been excluded. */
std::optional<int> number_order(const Value &a, const Value &b)
{
	const auto *left = as<std::int64_t>(a), *right = as<std::int64_t>(b);
	const auto *left_double = as<double>(a), *right_double = as<double>(b);
	if (left != nullptr && right != nullptr)
		return order(*left, *right);
	if (left_double != nullptr && right_double != nullptr)
		return order(*left_double, *right_double);
	if (left_double != nullptr && right != nullptr)
		return compare_numbers(*left_double, *right);
	if (left != nullptr && right_double != nullptr)
		return -compare_numbers(*right_double, *left);
	return std::nullopt;
}

/* A double that is exactly an int, in the range in which cel-go converts. */
bool is_same_int(double number, std::int64_t value)
{
	return number > -k_two_to_63 && number < k_two_to_63 && std::trunc(number) == number &&
		static_cast<std::int64_t>(number) == value;
}

bool is_listed(const Value &value, const Value &element)
{
	const auto *number = as<std::int64_t>(value), *listed = as<std::int64_t>(element);
	const auto *number_double = as<double>(value), *listed_double = as<double>(element);
	if (number != nullptr && listed_double != nullptr)
		return is_same_int(*listed_double, *number);
	if (number_double != nullptr && listed != nullptr)
		return *number_double == static_cast<double>(*listed);
	return compare_equal(value, element) == Equality::equal;
}

} // namespace

const char *type_name(const Value &value)
{
	static constexpr const char *names[] = {"bool", "int", "double", "string", "quantity",
		"semver", "list", "device", "map", "map", "map", "map"};
	static_assert(std::size(names) == std::variant_size_v<decltype(Value::is)>);
	return value.wrapping == Value::Wrapping::plain ? names[value.is.index()] : "optional";
}

Value to_value(const Attribute &attribute)
{
	if (const auto *number = std::get_if<std::int64_t>(&attribute))
		return Value{*number};
	if (const auto *truth = std::get_if<bool>(&attribute))
		return Value{*truth};
	if (const auto *version = std::get_if<Version>(&attribute))
		return Value{version->semver()};
	return Value{std::string_view(std::get<std::string>(attribute))};
}

std::size_t size_of(const Value &value)
{
	if (const auto *text = as<std::string_view>(value))
		return text->size();
	if (const auto *list = as<List>(value))
		return (*list)->size();
	return 1;
}

Equality compare_equal(const Value &a, const Value &b)
{
	if (const auto *left = as<Quantity>(a)) {
		const auto *right = as<Quantity>(b);
		return right == nullptr ? Equality::error : yes_or_no(left->compare(*right) == 0);
	}
	if (const auto *left = as<Semver>(a)) {
		const auto *right = as<Semver>(b);
		return right == nullptr ? Equality::error : yes_or_no(compare(*left, *right) == 0);
	}
	if (is_nan(a) || is_nan(b))
		return Equality::different;
	if (const auto numbers = number_order(a, b))
		return yes_or_no(*numbers == 0);
	const auto *left_text = as<std::string_view>(a), *right_text = as<std::string_view>(b);
	if (left_text != nullptr && right_text != nullptr)
		return yes_or_no(*left_text == *right_text);
	const bool *left = as<bool>(a), *right = as<bool>(b);
	return yes_or_no(left != nullptr && right != nullptr && *left == *right);
}

Equality find_in_constants(const Value &value, const std::vector<Value> &list)
{
	if (as<Semver>(value) != nullptr)
		return Equality::error;
	return yes_or_no(!is_nan(value) && as<Quantity>(value) == nullptr &&
		std::any_of(list.begin(), list.end(),
			[&](const Value &element) { return is_listed(value, element); }));
}

Result<int> compare_order(const Value &a, const Value &b)
{
	if (is_nan(a) || is_nan(b))
		return Error{Errc::invalid, "NaN has no place in an order"};
	if (const auto numbers = number_order(a, b))
		return *numbers;
	const auto *left_text = as<std::string_view>(a), *right_text = as<std::string_view>(b);
	if (left_text != nullptr && right_text != nullptr)
		return order(*left_text, *right_text);
	const bool *left = as<bool>(a), *right = as<bool>(b);
	if (left != nullptr && right != nullptr)
		return order(*left, *right);
	return Error{Errc::invalid,
		std::string("cannot compare ") + type_name(a) + " with " + type_name(b)};
}

} // namespace slurmkube::core::cel
