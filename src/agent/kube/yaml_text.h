/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * yaml_text.h - a YAML document that knows the line of each value.
 *
 * For files that people write. A node that is not of the requested kind answers with an empty
 * value; each node knows its line for messages. Aliases are refused. Nodes are valid as long as the
 * document.
 */
#ifndef SLURMKUBE_AGENT_KUBE_YAML_TEXT_H
#define SLURMKUBE_AGENT_KUBE_YAML_TEXT_H

#include "src/base/result.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <yaml.h>

namespace slurmkube::kube
{

class YamlNode
{
      public:
	YamlNode() = default;
	YamlNode(yaml_document_t *document, yaml_node_t *node) : document_(document), node_(node) {}

	explicit operator bool() const { return node_ != nullptr; }
	/* The first line is 1; 0: no node. */
	[[nodiscard]] std::size_t line() const
	{
		return node_ != nullptr ? node_->start_mark.line + 1 : 0;
	}
	/* The member of a mapping; no node if it is missing or has no value ("key:"). */
	[[nodiscard]] YamlNode get(std::string_view key) const;
	/* Keys and values of a mapping in the order of the file, including repeated keys; empty for
	 * other nodes. */
	[[nodiscard]] std::vector<std::pair<YamlNode, YamlNode>> members() const;
	/* Items of a sequence; empty for other nodes. */
	[[nodiscard]] std::vector<YamlNode> items() const;
	/* Text of a scalar; empty for other nodes. */
	[[nodiscard]] std::string text() const;
	[[nodiscard]] bool is_scalar() const
	{
		return node_ != nullptr && node_->type == YAML_SCALAR_NODE;
	}
	[[nodiscard]] bool is_sequence() const
	{
		return node_ != nullptr && node_->type == YAML_SEQUENCE_NODE;
	}
	[[nodiscard]] bool is_mapping() const
	{
		return node_ != nullptr && node_->type == YAML_MAPPING_NODE;
	}

      private:
	yaml_document_t *document_ = nullptr;
	yaml_node_t *node_ = nullptr;
};

class YamlText
{
      public:
	/* invalid: the text is "LINE: what"; the caller adds the file name. */
	static Result<YamlText> parse(std::string_view text);
	[[nodiscard]] YamlNode root() const;

      private:
	struct Delete {
		void operator()(yaml_document_t *document) const;
	};
	using Document = std::unique_ptr<yaml_document_t, Delete>;
	explicit YamlText(Document document) : document_(std::move(document)) {}
	Document document_;
};

} // namespace slurmkube::kube

#endif
