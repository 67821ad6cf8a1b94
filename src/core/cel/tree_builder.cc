/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/tree_builder.h"

#include <algorithm>
#include <utility>

namespace slurmkube::core::cel
{

namespace
{

constexpr int k_highest = 96;

} // namespace

TreeBuilder::TreeBuilder(Program &program, std::vector<Token> tokens)
    : program_(program), source_{program.text}, tokens_(std::move(tokens))
{
}

const Token &TreeBuilder::after_next() const
{
	return tokens_[std::min(next_ + 1, tokens_.size() - 1)];
}

bool TreeBuilder::is(std::string_view symbol) const
{
	return next().kind == Token::Kind::symbol && next().text == symbol;
}

const Token &TreeBuilder::advance()
{
	const std::size_t taken = next_;
	next_ = std::min(next_ + 1, tokens_.size() - 1);
	return tokens_[taken];
}

bool TreeBuilder::take(std::string_view symbol)
{
	if (!is(symbol))
		return false;
	advance();
	return true;
}

void TreeBuilder::expect(std::string_view symbol)
{
	if (!take(symbol))
		wrong(next().at, "'" + std::string(symbol) + "' is expected here");
}

NodeId TreeBuilder::fail(Error error)
{
	if (!error_)
		error_ = std::move(error);
	next_ = tokens_.size() - 1;
	program_.nodes.emplace_back();
	return program_.nodes.size() - 1;
}

NodeId TreeBuilder::wrong(std::size_t at, const std::string &why)
{
	return fail(source_.wrong(at, why));
}

NodeId TreeBuilder::not_understood(std::size_t at, const std::string &what)
{
	return fail(source_.not_understood(at, what));
}

NodeId TreeBuilder::unexpected()
{
	if (is("{"))
		return not_understood(next().at, "a map or message");
	return wrong(next().at, "this is not expected here");
}

NodeId TreeBuilder::too_deep(std::size_t at)
{
	return not_understood(at, "expressions that are nested so deeply");
}

NodeId TreeBuilder::make(Node::Kind kind, std::size_t at, std::vector<NodeId> children)
{
	Node node;
	node.kind = kind;
	node.at = at;
	for (const NodeId child : children)
		node.height = std::max(node.height, program_.nodes[child].height + 1);
	if (node.height > k_highest)
		return too_deep(at);
	node.children = std::move(children);
	program_.nodes.push_back(std::move(node));
	return program_.nodes.size() - 1;
}

NodeId TreeBuilder::call(
	std::string_view name, Style style, std::size_t at, std::vector<NodeId> arguments)
{
	const auto function = find_function(name, style, arguments.size());
	if (!function)
		return not_understood(at, "the function '" + std::string(name) + "'");
	const NodeId id = make(Node::Kind::call, at, std::move(arguments));
	program_.nodes[id].function = *function;
	return id;
}

} // namespace slurmkube::core::cel
