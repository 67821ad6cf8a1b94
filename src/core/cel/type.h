/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * type.h - the static types of a selector.
 *
 * As in Kubernetes, an attribute has the type dyn: what it is turns out when a device is looked at.
 * dyn stands for scalars here, never for a list, a map or an optional: the checker refuses what
 * would mix them.
 */
#ifndef SLURMKUBE_CORE_CEL_TYPE_H
#define SLURMKUBE_CORE_CEL_TYPE_H

#include <optional>
#include <string>

namespace slurmkube::core::cel
{

/* no_value: Kubernetes' overloads for a type of which selectors cannot have values. */
enum class Base {
	boolean,
	integer,
	floating,
	string,
	quantity,
	semver,
	dyn,
	no_value,
	device,
	attributes_by_domain,
	capacity_by_domain,
	attributes,
	capacities,
};

struct Type {
	enum class Shape { plain, list, optional };
	Base base = Base::dyn;
	Shape shape = Shape::plain;
	bool operator==(const Type &) const = default;
};

inline constexpr Type k_bool = {Base::boolean, Type::Shape::plain};
inline constexpr Type k_int = {Base::integer, Type::Shape::plain};
inline constexpr Type k_string = {Base::string, Type::Shape::plain};
inline constexpr Type k_dyn = {Base::dyn, Type::Shape::plain};

/* "list(string)" and the like */
std::string to_text(Type type);

bool is_scalar(Type type);
bool is_map(Type type);
/* A value of type from may be given where scalar to is wanted. */
bool is_assignable(Type from, Base to);
inline Type optional_of(Type type)
{
	return {type.base, Type::Shape::optional};
}

/* The type of a value that has one type or the other. Nothing: there is none. */
std::optional<Type> join(Type a, Type b);

} // namespace slurmkube::core::cel

#endif
