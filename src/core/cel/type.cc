/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/type.h"

namespace slurmkube::core::cel
{

namespace
{

const char *name_of(Base base)
{
	static constexpr const char *names[] = {"bool", "int", "double", "string", "quantity",
		"semver", "dyn", "uint", "device", "map(string, map(string, dyn))",
		"map(string, map(string, quantity))", "map(string, dyn)", "map(string, quantity)"};
	return names[static_cast<std::size_t>(base)];
}

} // namespace

std::string to_text(Type type)
{
	const std::string base = name_of(type.base);
	if (type.shape == Type::Shape::plain)
		return base;
	return (type.shape == Type::Shape::list ? "list(" : "optional(") + base + ")";
}

bool is_scalar(Type type)
{
	return type.shape == Type::Shape::plain && type.base < Base::device;
}

bool is_map(Type type)
{
	return type.shape == Type::Shape::plain && type.base > Base::device;
}

bool is_assignable(Type from, Base to)
{
	return is_scalar(from) && (from.base == to || from.base == Base::dyn || to == Base::dyn);
}

std::optional<Type> join(Type a, Type b)
{
	if (a == b)
		return a;
	if (is_scalar(a) && is_scalar(b) && (a.base == Base::dyn || b.base == Base::dyn))
		return Type{Base::dyn, Type::Shape::plain};
	return std::nullopt;
}

} // namespace slurmkube::core::cel
