/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/call_rules.h"

#include <string>

namespace slurmkube::core::cel
{

namespace
{

using Outcome = std::variant<Type, Refusal>;

Refusal not_understood(const std::string &what)
{
	return {false, what};
}

Refusal bad_arguments(const std::vector<Type> &types)
{
	std::string text;
	for (const Type &type : types)
		text += (text.empty() ? "" : ", ") + to_text(type);
	return {true, "this cannot be done with " + text};
}

Outcome when(bool fits, Type result, const std::vector<Type> &types)
{
	return fits ? Outcome(result) : Outcome(bad_arguments(types));
}

Outcome equality(Type a, Type b)
{
	if (is_scalar(a) && is_scalar(b))
		return when(join(a, b).has_value(), k_bool, {a, b});
	if (a == b || a == k_dyn || b == k_dyn)
		return not_understood("a comparison of " + to_text(a == k_dyn ? b : a));
	return bad_arguments({a, b});
}

Outcome membership(Type element, Type container)
{
	if (!is_scalar(element))
		return not_understood("a search for " + to_text(element));
	if (is_map(container) && element == k_dyn)
		return not_understood("a key that is an attribute");
	if (is_map(container))
		return when(element == k_string, k_bool, {element, container});
	if (container == k_dyn)
		return k_bool;
	const bool fits =
		container.shape == Type::Shape::list && is_assignable(element, container.base);
	return when(fits, k_bool, {element, container});
}

Outcome size(Type of)
{
	const bool has_size =
		is_assignable(of, Base::string) || is_map(of) || of.shape == Type::Shape::list;
	return when(has_size, k_int, {of});
}

/* hasValue, value, orValue */
Outcome of_optional(Function function, const std::vector<Type> &types)
{
	if (types[0] == k_dyn)
		return not_understood("an attribute as an optional");
	if (types[0].shape != Type::Shape::optional)
		return bad_arguments(types);
	const Type inner = {types[0].base, Type::Shape::plain};
	if (function == Function::has_value)
		return k_bool;
	return function == Function::value ? Outcome(inner) : either_type(inner, types[1]);
}

} // namespace

Outcome either_type(Type a, Type b)
{
	if (const auto either = join(a, b))
		return *either;
	const std::string both = to_text(a) + " and " + to_text(b);
	if (is_scalar(a) && is_scalar(b))
		return Refusal{true, both + " have no common type"};
	return not_understood(both + " in one place");
}

Outcome call_type(Function function, const std::vector<Type> &arguments)
{
	switch (function) {
	case Function::equal:
	case Function::different:
		return equality(arguments[0], arguments[1]);
	case Function::in:
		return membership(arguments[0], arguments[1]);
	case Function::size:
		return size(arguments[0]);
	case Function::or_value:
	case Function::has_value:
	case Function::value:
		return of_optional(function, arguments);
	case Function::add:
		if (arguments[0].shape == Type::Shape::list)
			return not_understood("a sum of lists");
		break;
	default:
		break;
	}
	const auto result = result_type(function, arguments);
	return result ? Outcome(*result) : Outcome(bad_arguments(arguments));
}

} // namespace slurmkube::core::cel
