/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * toml.h - as much of TOML as the configurations of container runtimes need.
 *
 * Pure. Source: toml.io 1.0. What is not understood is left out; inline tables and strings over
 * several lines are not.
 */
#ifndef SLURMKUBE_NODE_TOML_H
#define SLURMKUBE_NODE_TOML_H

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::node
{

using TomlPath = std::vector<std::string>;
/* The keys with the names of their tables before them, and the values as they are written. */
using Toml = std::map<TomlPath, std::string>;

Toml parse_toml(std::string_view text);
/* Without quotation marks; empty: there is none. */
std::string value_of(const Toml &toml, const TomlPath &path);
/* Whether an array of strings has this one. */
bool has_string(const Toml &toml, const TomlPath &path, const std::string &wanted);

} // namespace slurmkube::node

#endif
