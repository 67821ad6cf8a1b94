/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/parser.h"

#include "src/core/cel/lexer.h"
#include "src/core/cel/number_literal.h"
#include "src/core/cel/tree_builder.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace slurmkube::core::cel
{

namespace
{

constexpr int k_deepest = 48; /* Kubernetes' parser allows 250 levels in all */
constexpr std::string_view k_reserved[] = {"as", "break", "const", "continue", "else", "for",
	"function", "if", "import", "let", "loop", "package", "namespace", "return", "var", "void",
	"while"};
constexpr std::string_view k_relations[] = {"==", "!=", "<", "<=", ">", ">=", "in"};
constexpr std::string_view k_sums[] = {"+", "-"}, k_products[] = {"*", "/", "%"};

bool is_number(const Token &token)
{
	return token.kind == Token::Kind::integer || token.kind == Token::Kind::floating;
}

template <std::size_t N> bool is_among(std::string_view text, const std::string_view (&list)[N])
{
	return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

/* Recursive descent by the grammar of cel-go. */
class Parser : private TreeBuilder
{
      public:
	Parser(Program &program, std::vector<Token> tokens)
	    : TreeBuilder(program, std::move(tokens))
	{
	}

	Status run()
	{
		program_.root = expression();
		if (next().kind != Token::Kind::end)
			unexpected();
		return error() ? Status(*error()) : Status(Ok{});
	}

      private:
	using Kind = Node::Kind;

	NodeId expression()
	{
		if (nesting_ == k_deepest)
			return too_deep(next().at);
		nesting_++;
		const NodeId id = conditional();
		nesting_--;
		return id;
	}

	NodeId conditional()
	{
		const NodeId condition = alternatives();
		const std::size_t at = next().at;
		if (!take("?"))
			return condition;
		const NodeId yes = alternatives();
		expect(":");
		const NodeId no = expression();
		return make(Kind::conditional, at, {condition, yes, no});
	}

	NodeId alternatives() { return chain("||", Kind::logical_or, &Parser::conjunction); }
	NodeId conjunction() { return chain("&&", Kind::logical_and, &Parser::relation); }

	NodeId chain(std::string_view symbol, Kind kind, NodeId (Parser::*part)())
	{
		std::vector<NodeId> children = {(this->*part)()};
		const std::size_t at = next().at;
		while (take(symbol))
			children.push_back((this->*part)());
		return children.size() == 1 ? children[0] : make(kind, at, std::move(children));
	}

	NodeId relation() { return binary(k_relations, &Parser::sum); }
	NodeId sum() { return binary(k_sums, &Parser::product); }
	NodeId product() { return binary(k_products, &Parser::unary); }

	template <std::size_t N>
	NodeId binary(const std::string_view (&operators)[N], NodeId (Parser::*part)())
	{
		NodeId left = (this->*part)();
		while ((next().kind == Token::Kind::symbol || next().kind == Token::Kind::word) &&
			is_among(next().text, operators)) {
			const Token &symbol = advance();
			const NodeId right = (this->*part)();
			left = call(symbol.text, Style::oper, symbol.at, {left, right});
		}
		return left;
	}

	NodeId unary()
	{
		const bool is_literal = is("-") && is_number(after_next());
		if ((!is("!") && !is("-")) || is_literal)
			return member();
		const Token &symbol = advance();
		if (is(symbol.text))
			return not_understood(symbol.at, "this operator twice");
		return call(symbol.text, Style::oper, symbol.at, {member()});
	}

	NodeId member()
	{
		NodeId id = primary();
		while (is(".") || is("[")) {
			const std::size_t at = next().at;
			id = take(".") ? field(id, at) : index(id, at);
		}
		return id;
	}

	NodeId field(NodeId of, std::size_t at)
	{
		const bool optional = take("?");
		if (next().kind != Token::Kind::identifier)
			return unexpected();
		const Token &name = advance();
		if (is("("))
			return optional ? unexpected() : member_call(of, name);
		const NodeId id = make(Kind::select, at, {of});
		program_.nodes[id].name = name.text;
		program_.nodes[id].optional = optional;
		return id;
	}

	NodeId index(NodeId of, std::size_t at)
	{
		advance();
		const bool optional = take("?");
		const NodeId inner = expression();
		expect("]");
		const NodeId id = make(Kind::index, at, {of, inner});
		program_.nodes[id].optional = optional;
		return id;
	}

	/* Up to the closing bracket. */
	std::vector<NodeId> arguments()
	{
		std::vector<NodeId> out;
		expect("(");
		if (take(")"))
			return out;
		do
			out.push_back(expression());
		while (take(","));
		expect(")");
		return out;
	}

	NodeId member_call(NodeId of, const Token &name)
	{
		std::vector<NodeId> given = arguments();
		const Node &target = program_.nodes[of];
		if (name.text == "bind" && target.kind == Kind::variable && target.name == "cel" &&
			given.size() == 3)
			return scope(Kind::bind, name.at, given[0], {given[1], given[2]});
		if ((name.text == "all" || name.text == "exists") && given.size() == 2)
			return scope(name.text == "all" ? Kind::all : Kind::exists, name.at,
				given[0], {of, given[1]});
		given.insert(given.begin(), of);
		return call(name.text, Style::member, name.at, std::move(given));
	}

	/* What declares a variable. */
	NodeId scope(Kind kind, std::size_t at, NodeId variable, std::vector<NodeId> children)
	{
		if (program_.nodes[variable].kind != Kind::variable)
			return wrong(
				program_.nodes[variable].at, "the name of a variable is expected");
		const std::string_view name = program_.nodes[variable].name;
		const NodeId id = make(kind, at, std::move(children));
		program_.nodes[id].name = name;
		return id;
	}

	NodeId primary()
	{
		const std::size_t at = next().at;
		switch (next().kind) {
		case Token::Kind::identifier:
			return name();
		case Token::Kind::string:
			program_.strings.push_back(advance().value);
			return literal(at, Value{std::string_view(program_.strings.back())});
		case Token::Kind::word:
			return word();
		case Token::Kind::integer:
		case Token::Kind::floating:
			return number(at, false);
		case Token::Kind::symbol:
			break;
		case Token::Kind::end:
			return wrong(at, "something is missing here");
		}
		if (take("-"))
			return is_number(next()) ? number(at, true) : unexpected();
		if (take("[")) {
			return list(at);
		}
		if (is("."))
			return not_understood(at, "a name that begins with a dot");
		if (!take("("))
			return unexpected();
		const NodeId inner = expression();
		expect(")");
		return inner;
	}

	NodeId literal(std::size_t at, Value value)
	{
		const NodeId id = make(Kind::literal, at, {});
		program_.nodes[id].value = std::move(value);
		return id;
	}

	NodeId number(std::size_t at, bool negative)
	{
		const Token &token = advance();
		const auto value = token.kind == Token::Kind::integer
			? read_integer(token.text, negative)
			: read_double(token.text, negative);
		return value ? literal(at, *value) : wrong(at, "this number is out of range");
	}

	NodeId word()
	{
		const std::size_t at = next().at;
		if (next().text == "in")
			return unexpected();
		if (next().text == "null")
			return not_understood(at, "null");
		return literal(at, Value{advance().text == "true"});
	}

	NodeId name()
	{
		const Token &token = advance();
		if (is_among(token.text, k_reserved))
			return wrong(token.at, "this word is reserved");
		if (is("("))
			return global_call(token);
		const NodeId id = make(Kind::variable, token.at, {});
		program_.nodes[id].name = token.text;
		return id;
	}

	NodeId global_call(const Token &name)
	{
		std::vector<NodeId> given = arguments();
		if (name.text != "has" || given.size() != 1)
			return call(name.text, Style::global, name.at, std::move(given));
		const Node &field = program_.nodes[given[0]];
		if (!error() && (field.kind != Kind::select || field.optional))
			return wrong(field.at, "has() needs a field, as has(a.b)");
		return make(Kind::has, name.at, std::move(given));
	}

	NodeId list(std::size_t at)
	{
		std::vector<NodeId> elements;
		while (!is("]")) {
			if (is("?"))
				return not_understood(next().at, "an optional element");
			if (is(",") && elements.empty())
				break;
			elements.push_back(expression());
			if (!take(","))
				break;
		}
		if (elements.empty())
			return not_understood(at, "an empty list");
		expect("]");
		return list_of(at, std::move(elements));
	}

	NodeId list_of(std::size_t at, std::vector<NodeId> elements)
	{
		std::vector<Value> values;
		for (const NodeId element : elements) {
			if (program_.nodes[element].kind == Kind::literal)
				values.push_back(program_.nodes[element].value);
		}
		const bool constant = values.size() == elements.size();
		const NodeId id =
			make(constant ? Kind::constants : Kind::list, at, std::move(elements));
		if (constant)
			program_.nodes[id].value.is =
				std::make_shared<const std::vector<Value>>(std::move(values));
		return id;
	}

	int nesting_ = 0;
};

} // namespace

Status parse(Program &program)
{
	auto tokens = tokenize(Source{program.text});
	if (!tokens)
		return tokens.error();
	return Parser(program, std::move(*tokens)).run();
}

} // namespace slurmkube::core::cel
