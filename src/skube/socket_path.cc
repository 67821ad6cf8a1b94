/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/socket_path.h"

#include "src/base/owned.h"
#include "src/base/result.h"
#include "src/core/model/names.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>
#include <yaml.h>

namespace slurmkube::skube
{

namespace
{

constexpr std::size_t k_file_max = std::size_t{1} << 20;
constexpr std::string_view k_key = "control_socket";

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

/* Empty: the top mapping does not have the key. */
std::string value_in(yaml_document_t &document)
{
	const yaml_node_t *root = yaml_document_get_root_node(&document);
	if (!root || root->type != YAML_MAPPING_NODE)
		return {};
	for (const yaml_node_pair_t *pair = root->data.mapping.pairs.start;
		pair < root->data.mapping.pairs.top; pair++) {
		if (scalar(yaml_document_get_node(&document, pair->key)) == k_key)
			return std::string(scalar(yaml_document_get_node(&document, pair->value)));
	}
	return {};
}

Result<std::string> value_of(const std::string &path)
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
	return value_in(document);
}

} // namespace

SocketPath socket_path(
	const std::string &option, const char *environment, const std::string &config_file)
{
	if (!option.empty())
		return {option, "--socket"};
	if (environment && *environment)
		return {environment, "SKUBE_SOCKET"};
	const auto value = value_of(config_file);
	if (value && !value->empty())
		return {*value, std::string(k_key) + " in " + config_file};
	if (value || value.error().code == Errc::not_found)
		return {names::k_control_socket, "the default"};
	return {names::k_control_socket, "the default, because " + value.error().what};
}

SocketPath place_of_socket(const std::string &option)
{
	// NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
	return socket_path(option, getenv("SKUBE_SOCKET"), names::k_config_file);
}

} // namespace slurmkube::skube
