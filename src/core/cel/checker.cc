/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/checker.h"

#include "src/core/cel/call_rules.h"
#include "src/core/cel/source.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

namespace slurmkube::core::cel
{

namespace
{

/* Names of which CEL knows something, as a type or as the beginning of the name of a function. A
 * variable of such a name could mean that. */
constexpr std::string_view k_known_names[] = {"authorizer", "base64", "bool", "bytes", "cel",
	"cidr", "device", "double", "duration", "dyn", "format", "google", "int", "ip", "jsonpatch",
	"kubernetes", "list", "map", "math", "net", "null_type", "optional", "optional_type",
	"regex", "sets", "string", "strings", "timestamp", "type", "uint", "url"};

struct Field {
	Base of;
	std::string_view name; /* empty: any */
	Base type;
};

constexpr Field k_fields[] = {
	{Base::device, "driver", Base::string},
	{Base::device, "allowMultipleAllocations", Base::boolean},
	{Base::device, "attributes", Base::attributes_by_domain},
	{Base::device, "capacity", Base::capacity_by_domain},
	{Base::attributes_by_domain, "", Base::attributes},
	{Base::attributes, "", Base::dyn},
	{Base::capacity_by_domain, "", Base::capacities},
	{Base::capacities, "", Base::quantity},
	{Base::dyn, "", Base::dyn},
};

std::optional<Base> field_type(Base of, std::string_view name)
{
	for (const Field &field : k_fields) {
		if (field.of == of && (field.name.empty() || field.name == name))
			return field.type;
	}
	return std::nullopt;
}

Type literal_type(const Value &value)
{
	static constexpr Base bases[] = {
		Base::boolean, Base::integer, Base::floating, Base::string};
	return {bases[std::min(value.is.index(), std::size(bases) - 1)], Type::Shape::plain};
}

bool may_be_bool(Type type)
{
	return is_assignable(type, Base::boolean);
}

class Checker
{
      public:
	explicit Checker(Program &program) : program_(program), source_{program.text} {}

	Status run()
	{
		scope_.push_back({"device", {Base::device, Type::Shape::plain}, 0});
		const Type type = check(program_.root);
		if (!error_ && !may_be_bool(type))
			wrong(0, "the selector is of type " + to_text(type) + ", not bool");
		return error_ ? Status(*error_) : Status(Ok{});
	}

      private:
	struct Variable {
		std::string_view name;
		Type type;
		std::size_t slot;
	};

	Type fail(Error error)
	{
		if (!error_)
			error_ = std::move(error);
		return k_dyn;
	}
	Type wrong(std::size_t at, const std::string &why) { return fail(source_.wrong(at, why)); }
	Type not_understood(std::size_t at, const std::string &what)
	{
		return fail(source_.not_understood(at, what));
	}

	/* The depth is limited by the parser. */
	Type check(NodeId id)
	{
		Node &node = program_.nodes[id];
		node.type = error_ ? k_dyn : type_of(node);
		return node.type;
	}

	Type type_of(Node &node)
	{
		switch (node.kind) {
		case Node::Kind::literal:
			return literal_type(node.value);
		case Node::Kind::variable:
			return variable(node);
		case Node::Kind::select:
			return select(node);
		case Node::Kind::index:
			return index(node);
		case Node::Kind::call:
			return call(node);
		case Node::Kind::list:
		case Node::Kind::constants:
			return list(node);
		case Node::Kind::conditional:
			return conditional(node);
		case Node::Kind::logical_and:
		case Node::Kind::logical_or:
			return logical(node);
		case Node::Kind::has:
			return has(node);
		case Node::Kind::bind:
			return declare(node, check(node.children[0]));
		case Node::Kind::all:
		case Node::Kind::exists:
			return quantifier(node);
		}
		return k_dyn;
	}

	Type variable(Node &node)
	{
		for (std::size_t i = scope_.size(); i-- > 0;) {
			if (scope_[i].name == node.name) {
				node.slot = scope_[i].slot;
				return scope_[i].type;
			}
		}
		return not_understood(node.at, "the name '" + std::string(node.name) + "'");
	}

	/* Checks the second child with a variable of this type. */
	Type declare(Node &node, Type type)
	{
		const bool known = std::find(std::begin(k_known_names), std::end(k_known_names),
					   node.name) != std::end(k_known_names);
		if (known || node.name.substr(0, 2) == "__")
			return not_understood(node.at, "a variable with this name");
		node.slot = program_.slots++;
		scope_.push_back({node.name, type, node.slot});
		const Type inner = check(node.children[1]);
		scope_.pop_back();
		return inner;
	}

	/* A field of an optional is optional. */
	Type select(const Node &node)
	{
		const Type of = check(node.children[0]);
		const auto type = of.shape == Type::Shape::list ? std::nullopt
								: field_type(of.base, node.name);
		if (!type)
			return wrong(node.at, to_text(of) + " has no such field");
		const bool optional = node.optional || of.shape == Type::Shape::optional;
		return {*type, optional ? Type::Shape::optional : Type::Shape::plain};
	}

	Type index(const Node &node)
	{
		const Type of = check(node.children[0]), by = check(node.children[1]);
		const bool optional = node.optional || of.shape == Type::Shape::optional;
		const auto shape = optional ? Type::Shape::optional : Type::Shape::plain;
		if (by == k_dyn)
			return not_understood(node.at, "an index that is an attribute");
		if (of.shape == Type::Shape::list)
			return by == k_int ? Type{of.base, shape} : bad_index(node, of, by);
		if (of == k_dyn && !node.optional && (by == k_int || by == k_string))
			return k_dyn;
		if (of.base == Base::dyn)
			return not_understood(node.at, "an index of an attribute");
		const auto type = field_type(of.base, "");
		if (!type || of.base == Base::device || by != k_string)
			return bad_index(node, of, by);
		return {*type, shape};
	}

	Type bad_index(const Node &node, Type of, Type by)
	{
		return wrong(node.at, to_text(of) + " has no index of type " + to_text(by));
	}

	Type list(const Node &node)
	{
		const Type first = check(node.children[0]);
		for (const NodeId child : node.children) {
			if (check(child) != first)
				return wrong(program_.nodes[child].at,
					"the elements of a list must have one type");
		}
		if (!is_scalar(first))
			return not_understood(node.at, "a list of " + to_text(first));
		return {first.base, Type::Shape::list};
	}

	Type conditional(const Node &node)
	{
		const Type condition = check(node.children[0]);
		const Type yes = check(node.children[1]), no = check(node.children[2]);
		if (!may_be_bool(condition))
			return wrong(node.at, "the condition is of type " + to_text(condition));
		return outcome(node.at, either_type(yes, no));
	}

	Type logical(const Node &node)
	{
		for (const NodeId child : node.children) {
			const Type type = check(child);
			if (!may_be_bool(type))
				return wrong(program_.nodes[child].at,
					"this is of type " + to_text(type) + ", not bool");
		}
		return k_bool;
	}

	Type has(const Node &node)
	{
		const Type type = check(node.children[0]);
		if (type.shape == Type::Shape::optional)
			return not_understood(node.at, "has() of an optional");
		return k_bool;
	}

	Type quantifier(Node &node)
	{
		const Type range = check(node.children[0]);
		Type element = k_dyn;
		if (range.shape == Type::Shape::list)
			element.base = range.base;
		else if (is_map(range))
			element = k_string;
		else if (range != k_dyn)
			return wrong(node.at, to_text(range) + " has no elements");
		const Type condition = declare(node, element);
		if (!error_ && !may_be_bool(condition))
			return wrong(node.at, "the condition is of type " + to_text(condition));
		return k_bool;
	}

	Type call(Node &node)
	{
		std::vector<Type> types;
		for (const NodeId child : node.children)
			types.push_back(check(child));
		if (error_)
			return k_dyn;
		if (node.function == Function::matches)
			add_pattern(node);
		return outcome(node.at, call_type(node.function, types));
	}

	Type outcome(std::size_t at, std::variant<Type, Refusal> type)
	{
		const auto *refusal = std::get_if<Refusal>(&type);
		return refusal == nullptr ? std::get<Type>(type)
					  : fail(source_.refuse(at, *refusal));
	}

	void add_pattern(Node &node)
	{
		const Node &argument = program_.nodes[node.children[1]];
		const auto *text = as<std::string_view>(argument.value);
		if (argument.kind != Node::Kind::literal || text == nullptr) {
			not_understood(argument.at, "a pattern that is not written out");
			return;
		}
		auto compiled = Regex::compile(*text);
		if (const auto *refusal = std::get_if<Refusal>(&compiled)) {
			fail(source_.refuse(argument.at, *refusal));
			return;
		}
		node.pattern = program_.patterns.size();
		program_.patterns.push_back(std::move(std::get<Regex>(compiled)));
	}

	Program &program_;
	Source source_;
	std::optional<Error> error_;
	std::vector<Variable> scope_;
};

} // namespace

Status check(Program &program)
{
	return Checker(program).run();
}

} // namespace slurmkube::core::cel
