/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/config_value.h"

#include "src/base/owned.h"
#include "src/core/model/names.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <yaml.h>

namespace slurmkube::skube
{

namespace
{

constexpr std::size_t k_file_max = std::size_t{1} << 20;

Result<std::string> contents_of(const std::string &path)
{
	const Owned<FILE, fclose> file(fopen(path.c_str(), "re"));
	if (!file)
		return Error{errno == ENOENT ? Errc::not_found : Errc::io,
			path + " cannot be read: " + std::generic_category().message(errno)};
	std::string all;
	std::array<char, 4096> piece;
	while (const std::size_t got = fread(piece.data(), 1, piece.size(), file.get())) {
		all.append(piece.data(), got);
		if (all.size() > k_file_max)
			return Error{Errc::too_large, path + " is longer than 1 MiB"};
	}
	if (ferror(file.get()))
		return Error{Errc::io, path + " cannot be read: it is not a file, or an I/O error"};
	return all;
}

std::string_view scalar(const yaml_node_t *node)
{
	return node && node->type == YAML_SCALAR_NODE
		? std::string_view(reinterpret_cast<const char *>(node->data.scalar.value),
			  node->data.scalar.length)
		: std::string_view();
}

/* nullptr: the node is no mapping, or does not have the key. */
const yaml_node_t *child_of(
	yaml_document_t &document, const yaml_node_t *mapping, std::string_view key)
{
	if (!mapping || mapping->type != YAML_MAPPING_NODE)
		return nullptr;
	for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
		pair < mapping->data.mapping.pairs.top; pair++) {
		if (scalar(yaml_document_get_node(&document, pair->key)) == key)
			return yaml_document_get_node(&document, pair->value);
	}
	return nullptr;
}

const yaml_node_t *node_of(yaml_document_t &document, std::string_view key)
{
	const yaml_node_t *node = yaml_document_get_root_node(&document);
	for (std::size_t dot = 0; node && dot != std::string_view::npos;) {
		dot = key.find('.');
		node = child_of(document, node, key.substr(0, dot));
		key.remove_prefix(dot == std::string_view::npos ? key.size() : dot + 1);
	}
	return node;
}

/* Calls take with the value of the key, or nullptr if the file does not have it. */
template <class T, class Take>
Result<T> with_value(const std::string &path, const std::string &key, const Take &take)
{
	const auto text = contents_of(path);
	if (!text)
		return text.error();
	yaml_parser_t parser;
	if (!yaml_parser_initialize(&parser))
		return Error{Errc::io, "out of memory"};
	const Owned<yaml_parser_t, yaml_parser_delete> parser_end(&parser);
	yaml_parser_set_input_string(
		&parser, reinterpret_cast<const unsigned char *>(text->data()), text->size());
	yaml_document_t document;
	if (!yaml_parser_load(&parser, &document))
		return Error{Errc::invalid,
			path + ":" + std::to_string(parser.problem_mark.line + 1) +
				" is not YAML: " + (parser.problem ? parser.problem : "no reason")};
	const Owned<yaml_document_t, yaml_document_delete> document_end(&document);
	return take(document, node_of(document, key));
}

} // namespace

ConfigFile config_file(const std::string &option)
{
	if (!option.empty())
		return {option, true};
	const char *named = getenv("SKUBE_CONFIG"); // NOLINT(concurrency-mt-unsafe): one thread
	if (named && *named)
		return {named, true};
	return {names::k_config_file, false};
}

Status check_named_file(const std::string &option)
{
	const ConfigFile file = config_file(option);
	if (!file.is_named)
		return Ok{};
	const auto read = config_value(file.path, "cluster");
	return read
		? Status(Ok{})
		: Status(in_context(option.empty() ? "SKUBE_CONFIG" : "--config", read.error()));
}

Result<std::string> config_value(const std::string &path, const std::string &key)
{
	return with_value<std::string>(
		path, key, [&](yaml_document_t &, const yaml_node_t *value) -> Result<std::string> {
			if (value && value->type != YAML_SCALAR_NODE)
				return Error{
					Errc::invalid, path + ": " + key + " must be one value"};
			return std::string(scalar(value));
		});
}

Result<std::vector<std::string>> config_list(const std::string &path, const std::string &key)
{
	using List = std::vector<std::string>;
	return with_value<List>(path, key,
		[&](yaml_document_t &document, const yaml_node_t *value) -> Result<List> {
			List list;
			if (!value)
				return list;
			if (value->type != YAML_SEQUENCE_NODE)
				return Error{Errc::invalid,
					path + ": " + key + " must be a list, as in [one, two]"};
			for (const int *item = value->data.sequence.items.start;
				item < value->data.sequence.items.top; item++)
				list.emplace_back(scalar(yaml_document_get_node(&document, *item)));
			return list;
		});
}

} // namespace slurmkube::skube
