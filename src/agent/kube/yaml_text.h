/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * yaml_text.h - a YAML document that remembers where each value stood.
 *
 * For files that people write: nodes answer with nothing where they are not what was asked for, and
 * know their line for messages. Aliases are refused. Nodes are valid as long as the document.
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
	/* 1 is the first. */
	[[nodiscard]] std::size_t line() const
	{
		return node_ != nullptr ? node_->start_mark.line + 1 : 0;
	}
	/* The member of a mapping, or no node; "key:" without a value counts as absent. */
	[[nodiscard]] YamlNode get(std::string_view key) const;
	/* Keys and values of a mapping in the order of the file, repeated keys too; empty for
	 * anything else. */
	[[nodiscard]] std::vector<std::pair<YamlNode, YamlNode>> members() const;
	/* Items of a sequence; empty for anything else. */
	[[nodiscard]] std::vector<YamlNode> items() const;
	/* A scalar's text; empty for anything else. */
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
	/* invalid: "LINE: what"; the caller puts the file's name before it. */
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
