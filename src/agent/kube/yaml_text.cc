/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/kube/yaml_text.h"

#include "src/base/owned.h"

namespace slurmkube::kube
{

namespace
{

/* An initialised parser. text must outlive it. */
class Parser
{
      public:
	explicit Parser(std::string_view text)
	{
		ok_ = yaml_parser_initialize(&parser_) != 0;
		if (ok_)
			/* libyaml ends the process if the pointer is null, as that of an empty view
			 * may be */
			yaml_parser_set_input_string(&parser_,
				reinterpret_cast<const unsigned char *>(
					text.empty() ? "" : text.data()),
				text.size());
	}
	Parser(const Parser &) = delete;
	Parser &operator=(const Parser &) = delete;
	~Parser()
	{
		if (ok_)
			yaml_parser_delete(&parser_);
	}
	[[nodiscard]] bool ok() const { return ok_; }
	yaml_parser_t *get() { return &parser_; }
	Error error() const
	{
		const char *problem =
			parser_.problem != nullptr ? parser_.problem : "cannot be read";
		return Error{Errc::invalid,
			std::to_string(parser_.problem_mark.line + 1) + ": not YAML: " + problem};
	}

      private:
	yaml_parser_t parser_{};
	bool ok_ = false;
};

/* Aliases allow documents that are much larger than their text, or that contain themselves. */
Status refuse_aliases(std::string_view text)
{
	Parser parser(text);
	for (bool more = parser.ok(); more;) {
		yaml_event_t event;
		if (yaml_parser_parse(parser.get(), &event) == 0)
			return parser.error();
		const bool alias = event.type == YAML_ALIAS_EVENT;
		const std::size_t line = event.start_mark.line + 1;
		more = event.type != YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
		if (alias)
			return Error{Errc::invalid,
				std::to_string(line) +
					": YAML aliases are not supported; write the value out"};
	}
	return Ok{};
}

bool is_null(const yaml_node_t *node)
{
	if (node == nullptr)
		return true;
	if (node->type != YAML_SCALAR_NODE || node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	const std::string_view text(
		reinterpret_cast<const char *>(node->data.scalar.value), node->data.scalar.length);
	return text.empty() || text == "null" || text == "~";
}

} // namespace

YamlNode YamlNode::get(std::string_view key) const
{
	if (!is_mapping())
		return {};
	for (auto *pair = node_->data.mapping.pairs.start; pair < node_->data.mapping.pairs.top;
		pair++) {
		if (YamlNode(document_, yaml_document_get_node(document_, pair->key)).text() != key)
			continue;
		yaml_node_t *value = yaml_document_get_node(document_, pair->value);
		return is_null(value) ? YamlNode() : YamlNode(document_, value);
	}
	return {};
}

std::vector<std::pair<YamlNode, YamlNode>> YamlNode::members() const
{
	std::vector<std::pair<YamlNode, YamlNode>> list;
	if (!is_mapping())
		return list;
	for (auto *pair = node_->data.mapping.pairs.start; pair < node_->data.mapping.pairs.top;
		pair++)
		list.emplace_back(YamlNode(document_, yaml_document_get_node(document_, pair->key)),
			YamlNode(document_, yaml_document_get_node(document_, pair->value)));
	return list;
}

std::vector<YamlNode> YamlNode::items() const
{
	std::vector<YamlNode> list;
	if (node_ == nullptr || node_->type != YAML_SEQUENCE_NODE)
		return list;
	for (auto *item = node_->data.sequence.items.start; item < node_->data.sequence.items.top;
		item++)
		list.emplace_back(document_, yaml_document_get_node(document_, *item));
	return list;
}

std::string YamlNode::text() const
{
	if (!is_scalar())
		return {};
	return {reinterpret_cast<const char *>(node_->data.scalar.value),
		node_->data.scalar.length};
}

void YamlText::Delete::operator()(yaml_document_t *document) const
{
	yaml_document_delete(document);
	delete document;
}

Result<YamlText> YamlText::parse(std::string_view text)
{
	if (auto done = refuse_aliases(text); !done)
		return done.error();
	Parser parser(text);
	if (!parser.ok())
		return Error{Errc::internal, "1: out of memory"};
	auto *raw = new yaml_document_t{};
	if (yaml_parser_load(parser.get(), raw) == 0) {
		delete raw;
		return parser.error();
	}
	return YamlText(Document(raw));
}

YamlNode YamlText::root() const
{
	return {document_.get(), yaml_document_get_root_node(document_.get())};
}

} // namespace slurmkube::kube
