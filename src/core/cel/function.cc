/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/function.h"

#include <algorithm>

namespace slurmkube::core::cel
{

namespace
{

struct Name {
	std::string_view name;
	Style style;
	std::size_t arguments; /* with that before the dot */
	Function function;
};

constexpr Name k_names[] = {
	{"==", Style::oper, 2, Function::equal},
	{"!=", Style::oper, 2, Function::different},
	{"<", Style::oper, 2, Function::less},
	{"<=", Style::oper, 2, Function::less_or_equal},
	{">", Style::oper, 2, Function::greater},
	{">=", Style::oper, 2, Function::greater_or_equal},
	{"+", Style::oper, 2, Function::add},
	{"-", Style::oper, 2, Function::subtract},
	{"*", Style::oper, 2, Function::multiply},
	{"/", Style::oper, 2, Function::divide},
	{"%", Style::oper, 2, Function::remainder},
	{"-", Style::oper, 1, Function::negate},
	{"!", Style::oper, 1, Function::logical_not},
	{"in", Style::oper, 2, Function::in},
	{"size", Style::global, 1, Function::size},
	{"size", Style::member, 1, Function::size},
	{"orValue", Style::member, 2, Function::or_value},
	{"hasValue", Style::member, 1, Function::has_value},
	{"value", Style::member, 1, Function::value},
	{"startsWith", Style::member, 2, Function::starts_with},
	{"endsWith", Style::member, 2, Function::ends_with},
	{"contains", Style::member, 2, Function::contains},
	{"matches", Style::member, 2, Function::matches},
	{"matches", Style::global, 2, Function::matches},
	{"lowerAscii", Style::member, 1, Function::lower_ascii},
	{"upperAscii", Style::member, 1, Function::upper_ascii},
	{"quantity", Style::global, 1, Function::quantity},
	{"isQuantity", Style::global, 1, Function::is_quantity},
	{"sign", Style::global, 1, Function::sign},
	{"semver", Style::global, 1, Function::semver},
	{"isSemver", Style::global, 1, Function::is_semver},
	{"compareTo", Style::member, 2, Function::compare_to},
	{"isGreaterThan", Style::member, 2, Function::is_greater_than},
	{"isLessThan", Style::member, 2, Function::is_less_than},
};

/* right is equal to left if there is one argument. */
struct Overload {
	Function function;
	std::size_t arguments;
	Base left, right, result;
};

constexpr Overload unary(Function function, Base argument, Base result)
{
	return {function, 1, argument, argument, result};
}

constexpr Overload binary(Function function, Base both, Base result)
{
	return {function, 2, both, both, result};
}

/* int and double can be ordered among each other, but not computed with. */
constexpr Overload k_overloads[] = {
	binary(Function::less, Base::boolean, Base::boolean),
	binary(Function::less, Base::integer, Base::boolean),
	binary(Function::less, Base::floating, Base::boolean),
	binary(Function::less, Base::string, Base::boolean),
	{Function::less, 2, Base::integer, Base::floating, Base::boolean},
	{Function::less, 2, Base::floating, Base::integer, Base::boolean},
	binary(Function::add, Base::integer, Base::integer),
	binary(Function::add, Base::no_value, Base::no_value),
	binary(Function::add, Base::floating, Base::floating),
	binary(Function::add, Base::string, Base::string),
	binary(Function::subtract, Base::integer, Base::integer),
	binary(Function::subtract, Base::no_value, Base::no_value),
	binary(Function::subtract, Base::floating, Base::floating),
	binary(Function::remainder, Base::integer, Base::integer),
	binary(Function::remainder, Base::no_value, Base::no_value),
	unary(Function::negate, Base::integer, Base::integer),
	unary(Function::negate, Base::floating, Base::floating),
	unary(Function::logical_not, Base::boolean, Base::boolean),
	binary(Function::starts_with, Base::string, Base::boolean),
	unary(Function::lower_ascii, Base::string, Base::string),
	unary(Function::quantity, Base::string, Base::quantity),
	unary(Function::is_quantity, Base::string, Base::boolean),
	unary(Function::sign, Base::quantity, Base::integer),
	unary(Function::semver, Base::string, Base::semver),
	binary(Function::compare_to, Base::quantity, Base::integer),
	binary(Function::compare_to, Base::semver, Base::integer),
	binary(Function::is_less_than, Base::quantity, Base::boolean),
	binary(Function::is_less_than, Base::semver, Base::boolean),
};

/* Functions with the same overloads. */
Function representative(Function function)
{
	switch (function) {
	case Function::less_or_equal:
	case Function::greater:
	case Function::greater_or_equal:
		return Function::less;
	case Function::multiply:
	case Function::divide:
		return Function::subtract;
	case Function::ends_with:
	case Function::contains:
	case Function::matches:
		return Function::starts_with;
	case Function::upper_ascii:
		return Function::lower_ascii;
	case Function::is_semver:
		return Function::is_quantity;
	case Function::is_greater_than:
		return Function::is_less_than;
	default:
		return function;
	}
}

bool fits(const Overload &overload, const std::vector<Type> &arguments)
{
	return overload.arguments == arguments.size() &&
		is_assignable(arguments[0], overload.left) &&
		is_assignable(arguments.back(), overload.right);
}

} // namespace

std::optional<Function> find_function(std::string_view name, Style style, std::size_t arguments)
{
	for (const Name &known : k_names) {
		if (known.name == name && known.style == style && known.arguments == arguments)
			return known.function;
	}
	return std::nullopt;
}

std::optional<Type> result_type(Function function, const std::vector<Type> &arguments)
{
	std::optional<Type> result;
	for (const Overload &overload : k_overloads) {
		if (overload.function != representative(function) || !fits(overload, arguments))
			continue;
		const bool differs = result && result->base != overload.result;
		result = Type{differs ? Base::dyn : overload.result, Type::Shape::plain};
	}
	return result;
}

} // namespace slurmkube::core::cel
