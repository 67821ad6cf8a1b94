/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * syntax.h - the syntax tree of a selector.
 */
#ifndef SLURMKUBE_CORE_CEL_SYNTAX_H
#define SLURMKUBE_CORE_CEL_SYNTAX_H

#include "src/core/cel/function.h"
#include "src/core/cel/regex.h"
#include "src/core/cel/type.h"
#include "src/core/cel/value.h"

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::core::cel
{

/* Index of a node. */
using NodeId = std::size_t;

struct Node {
	/* bind: what the variable is, and where it is used. all, exists: list and condition.
	 * constants: a list of literals. */
	enum class Kind {
		literal,
		variable,
		select,
		index,
		call,
		list,
		constants,
		conditional,
		logical_and,
		logical_or,
		has,
		bind,
		all,
		exists,
	};
	Kind kind = Kind::literal;
	std::size_t at = 0; /* in the text */
	int height = 1;     /* of the tree below it */
	std::vector<NodeId> children;
	std::string_view name; /* of a variable, or of the field of a select */
	bool optional = false; /* .?field or [?index] */
	Function function = Function::equal;
	Value value; /* of a literal or of constants */

	/* set by the checker */
	Type type;
	std::size_t slot = 0;    /* of a variable, or of the one that bind, all or exists declare */
	std::size_t pattern = 0; /* of matches */
};

/* Nodes, values and names refer to text and strings: a program must not be moved or copied. */
struct Program {
	std::string text;
	std::deque<std::string> strings; /* values of string literals */
	std::vector<Node> nodes;
	NodeId root = 0;
	std::vector<Regex> patterns;
	/* One for each declaration, because what a bind declares is evaluated when it is first
	 * used, among other variables. 0 is the device. */
	std::size_t slots = 1;

	explicit Program(std::string_view of) : text(of) {}
	Program(const Program &) = delete;
	Program &operator=(const Program &) = delete;
};

} // namespace slurmkube::core::cel

#endif
