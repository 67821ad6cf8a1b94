/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/evaluator.h"

#include "src/core/cel/access.h"
#include "src/core/cel/apply.h"
#include "src/core/cel/decision.h"

#include <optional>
#include <string>
#include <utility>

namespace slurmkube::core::cel
{

namespace
{

/* The cost limit is Kubernetes' (CELSelectorExpressionMaxCost). Some steps cost nothing there, so
 * we count steps as well. No selector that is meant to select comes near. */
constexpr std::size_t k_most_cost = 1'000'000, k_most_steps = 4'000'000;
/* Counting the code points of a text is among them. */
constexpr std::size_t k_bytes_per_step = 16;
/* The operations per element into which cel-go expands all and exists. */
constexpr std::size_t k_cost_in_all = 3, k_cost_in_exists = 4;
/* Kubernetes looks constants up in a table at no cost. We go through the list. */
constexpr std::size_t k_constants_per_cost = 16;
constexpr std::size_t k_list_cost = 10;

class Evaluation
{
      public:
	Evaluation(const Program &program, const Device &device)
	    : program_(program), variables_(program.slots)
	{
		variables_[0].value = Value{&device};
	}

	Result<bool> run()
	{
		const auto value = evaluate(program_.root);
		if (!value)
			return value.error();
		const bool *truth = is_plain(*value) ? as<bool>(*value) : nullptr;
		if (truth == nullptr)
			return failed(std::string("the selector is a ") + type_name(*value) +
				", not true or false");
		return *truth;
	}

	[[nodiscard]] std::size_t cost() const { return cost_; }

      private:
	struct Variable {
		NodeId declared_as = 0;
		std::optional<Result<Value>> value; /* nothing: not evaluated yet */
	};

	static bool is_plain(const Value &value)
	{
		return value.wrapping == Value::Wrapping::plain;
	}

	static Error failed(const std::string &what) { return {Errc::invalid, what}; }

	/* These errors are not absorbed by && and ||. */
	Error abort(Error error)
	{
		if (!aborted_)
			aborted_ = std::move(error);
		return *aborted_;
	}

	void charge(std::size_t cost)
	{
		cost_ += cost;
		if (cost_ > k_most_cost || steps_ > k_most_steps)
			abort({Errc::too_large, "the evaluation of the selector takes too long"});
	}

	/* The depth is limited by the parser. */
	Result<Value> evaluate(NodeId id)
	{
		steps_++;
		charge(0);
		if (aborted_)
			return *aborted_;
		auto value = value_of(program_.nodes[id]);
		return aborted_ ? Result<Value>(*aborted_) : std::move(value);
	}

	Result<Value> value_of(const Node &node)
	{
		switch (node.kind) {
		case Node::Kind::literal:
		case Node::Kind::constants:
			return node.value;
		case Node::Kind::variable:
			return variable(node);
		case Node::Kind::select:
			return select(node);
		case Node::Kind::index:
			return index(node);
		case Node::Kind::call:
			return call(node);
		case Node::Kind::list:
			return list(node);
		case Node::Kind::conditional:
			return conditional(node);
		case Node::Kind::logical_and:
			return logical(node, false);
		case Node::Kind::logical_or:
			return logical(node, true);
		case Node::Kind::has:
			return has(node);
		case Node::Kind::bind:
			variables_[node.slot] = {node.children[0], std::nullopt};
			return evaluate(node.children[1]);
		case Node::Kind::all:
			return quantifier(node, false);
		case Node::Kind::exists:
			return quantifier(node, true);
		}
		return Error{Errc::internal, "the evaluation of a selector meets an unknown form"};
	}

	/* What a bind declares is evaluated at its first use, so that an error in it does not
	 * matter if it is never used. */
	Result<Value> variable(const Node &node)
	{
		charge(1);
		Variable &variable = variables_[node.slot];
		if (!variable.value)
			variable.value = evaluate(variable.declared_as);
		return *variable.value;
	}

	/* A chain of fields that begins with a call costs one more. */
	void charge_access(NodeId of)
	{
		const Node::Kind kind = program_.nodes[of].kind;
		const bool continues = kind == Node::Kind::variable || kind == Node::Kind::select ||
			kind == Node::Kind::index;
		charge(continues ? 1 : 2);
	}

	static Result<Value> accessed(std::optional<Value> found, bool optional,
		const char *missing, std::string_view key)
	{
		if (!found && !optional)
			return failed(missing + (": '" + std::string(key) + "'"));
		if (!optional)
			return *std::move(found);
		Value value = found ? *std::move(found) : Value{};
		value.wrapping = found ? Value::Wrapping::some : Value::Wrapping::none;
		return value;
	}

	Result<Value> select(const Node &node)
	{
		auto of = evaluate(node.children[0]);
		charge_access(node.children[0]);
		if (!of || of->wrapping == Value::Wrapping::none)
			return of;
		return accessed(find_field(*of, node.name), node.optional || !is_plain(*of),
			"no such key", node.name);
	}

	Result<Value> index(const Node &node)
	{
		auto of = evaluate(node.children[0]);
		charge_access(node.children[0]);
		if (!of || of->wrapping == Value::Wrapping::none)
			return of;
		const auto by = evaluate(node.children[1]);
		if (!by)
			return by;
		const auto *key = as<std::string_view>(*by);
		return accessed(find_element(*of, *by), node.optional || !is_plain(*of),
			key != nullptr ? "no such key" : "index out of bounds",
			key != nullptr ? *key : std::string_view("int"));
	}

	Result<Value> has(const Node &node)
	{
		const Node &field = program_.nodes[node.children[0]];
		const auto of = evaluate(field.children[0]);
		charge_access(field.children[0]);
		if (!of)
			return of;
		return Value{find_field(*of, field.name).has_value()};
	}

	Result<Value> list(const Node &node)
	{
		std::vector<Value> values;
		charge(k_list_cost + node.children.size());
		for (const NodeId child : node.children) {
			auto value = evaluate(child);
			if (!value)
				return value;
			values.push_back(std::move(*value));
		}
		return Value{std::make_shared<const std::vector<Value>>(std::move(values))};
	}

	Result<Value> conditional(const Node &node)
	{
		charge(1);
		auto condition = evaluate(node.children[0]);
		if (!condition)
			return condition;
		const bool *truth = as<bool>(*condition);
		if (truth == nullptr)
			return failed("the condition of ?: is not true or false");
		return evaluate(node.children[*truth ? 1 : 2]);
	}

	/* decisive is the value that makes the other operands, and their errors, irrelevant. */
	Result<Value> logical(const Node &node, bool decisive)
	{
		Decision decision(decisive);
		for (const NodeId child : node.children) {
			if (decision.take(evaluate(child)) || aborted_)
				break;
		}
		return decision.result();
	}

	Result<Value> quantifier(const Node &node, bool decisive)
	{
		const auto range = evaluate(node.children[0]);
		const std::size_t per_element = decisive ? k_cost_in_exists : k_cost_in_all;
		charge(1 + per_element); /* one more look at the end */
		if (!range)
			return range;
		const auto elements = elements_of(*range);
		if (!elements)
			return failed(std::string("a ") + type_name(*range) + " has no elements");
		Decision decision(decisive);
		for (const Value &element : **elements) {
			charge(per_element);
			variables_[node.slot].value = element;
			if (decision.take(evaluate(node.children[1])) || aborted_)
				break;
		}
		return decision.result();
	}

	Result<Value> call(const Node &node)
	{
		if (node.function == Function::or_value)
			return or_value(node);
		std::vector<Value> arguments;
		std::optional<Error> error;
		for (const NodeId child : node.children) {
			auto value = evaluate(child);
			if (!value && !error)
				error = value.error();
			arguments.push_back(value ? std::move(*value) : Value{});
		}
		return error ? charge_failed_call(node, arguments, *error)
			     : call_with(node, arguments);
	}

	/* An error as an argument is the result, but costs as a call does. */
	Error charge_failed_call(
		const Node &node, const std::vector<Value> &arguments, const Error &error)
	{
		charge(cost_of(node.function, arguments));
		return aborted_ ? *aborted_ : error;
	}

	Result<Value> call_with(const Node &node, const std::vector<Value> &arguments)
	{
		const Node &last = program_.nodes[node.children.back()];
		if (node.function == Function::in && last.kind == Node::Kind::constants)
			return in_constants(arguments[0], **as<List>(last.value));
		steps_ += size_of(arguments[0]) / k_bytes_per_step;
		charge(cost_of(node.function, arguments));
		if (aborted_)
			return *aborted_;
		return node.function == Function::matches ? matches(node, arguments[0])
							  : apply(node.function, arguments, texts_);
	}

	Result<Value> or_value(const Node &node)
	{
		charge(1);
		auto optional = evaluate(node.children[0]);
		if (!optional)
			return optional;
		if (optional->wrapping == Value::Wrapping::none)
			return evaluate(node.children[1]);
		optional->wrapping = Value::Wrapping::plain;
		return optional;
	}

	/* Kubernetes' table has no place for versions, and the evaluation ends there. */
	Result<Value> in_constants(const Value &value, const std::vector<Value> &list)
	{
		charge(1 + list.size() / k_constants_per_cost);
		const Equality found = find_in_constants(value, list);
		if (found == Equality::error)
			return abort(
				failed("a version cannot be looked up in a list of constants"));
		return Value{found == Equality::equal};
	}

	Result<Value> matches(const Node &node, const Value &value)
	{
		const auto *text = as<std::string_view>(value);
		if (text == nullptr)
			return failed(std::string("matches() of a ") + type_name(value));
		return Value{program_.patterns[node.pattern].matches(*text)};
	}

	const Program &program_;
	std::vector<Variable> variables_;
	Texts texts_;
	std::size_t cost_ = 0, steps_ = 0;
	std::optional<Error> aborted_;
};

} // namespace

Result<bool> evaluate(const Program &program, const Device &device, std::size_t &cost)
{
	Evaluation evaluation(program, device);
	auto result = evaluation.run();
	cost += evaluation.cost();
	return result;
}

} // namespace slurmkube::core::cel
