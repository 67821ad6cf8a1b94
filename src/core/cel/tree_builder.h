/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree_builder.h - what the parser works with: the tokens ahead, the nodes made so far, and the
 * first error.
 */
#ifndef SLURMKUBE_CORE_CEL_TREE_BUILDER_H
#define SLURMKUBE_CORE_CEL_TREE_BUILDER_H

#include "src/core/cel/lexer.h"
#include "src/core/cel/source.h"
#include "src/core/cel/syntax.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::core::cel
{

/* After an error the next token is the last one, so that every loop over tokens ends. */
class TreeBuilder
{
      protected:
	TreeBuilder(Program &program, std::vector<Token> tokens);

	[[nodiscard]] const std::optional<Error> &error() const { return error_; }

	[[nodiscard]] const Token &next() const { return tokens_[next_]; }
	/* The last token follows itself. */
	[[nodiscard]] const Token &after_next() const;
	[[nodiscard]] bool is(std::string_view symbol) const;
	/* Returns the token that was the next one. */
	const Token &advance();
	bool take(std::string_view symbol);
	void expect(std::string_view symbol);

	/* These return a node of no meaning. */
	NodeId wrong(std::size_t at, const std::string &why);
	NodeId not_understood(std::size_t at, const std::string &what);
	NodeId unexpected();
	NodeId too_deep(std::size_t at);

	NodeId make(Node::Kind kind, std::size_t at, std::vector<NodeId> children);
	NodeId call(
		std::string_view name, Style style, std::size_t at, std::vector<NodeId> arguments);

	Program &program_;

      private:
	NodeId fail(Error error);

	Source source_;
	std::vector<Token> tokens_;
	std::size_t next_ = 0;
	std::optional<Error> error_;
};

} // namespace slurmkube::core::cel

#endif
