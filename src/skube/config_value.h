/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config_value.h - single values of slurmkubed.yaml for commands that work without the agent. Only
 * the agent checks the whole file (slurmkubed --check-config).
 */
#ifndef SLURMKUBE_SKUBE_CONFIG_VALUE_H
#define SLURMKUBE_SKUBE_CONFIG_VALUE_H

#include "src/base/result.h"

#include <string>
#include <vector>

namespace slurmkube::skube
{

/* The file that --config or SKUBE_CONFIG names, or the usual one. */
struct ConfigFile {
	std::string path;
	bool is_named = false;
};
ConfigFile config_file(const std::string &option);

/* A file that is named must be readable: otherwise another agent would be asked. */
Status check_named_file(const std::string &option);

/* The value of a key; dots lead into sections ("nodes.name_prefix"). Empty: the file does not have
 * the key. not_found: no such file. Other errors: the file cannot be read or is not YAML, or the
 * value is not a scalar. */
Result<std::string> config_value(const std::string &path, const std::string &key);

/* The same for a list of scalars. */
Result<std::vector<std::string>> config_list(const std::string &path, const std::string &key);

} // namespace slurmkube::skube

#endif
