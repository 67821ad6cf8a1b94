/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * yaml.h - JSON as text for people and programs. Pure.
 */
#ifndef SLURMKUBE_SKUBE_YAML_H
#define SLURMKUBE_SKUBE_YAML_H

#include <json-c/json.h>

#include <string>

namespace slurmkube::skube
{

/* Indented, with a final newline. */
std::string json_text(json_object *value);

/* In block style, with a final newline. A string that YAML could read as another type is quoted as
 * in JSON, which YAML 1.2 contains. */
std::string yaml_text(json_object *value);

} // namespace slurmkube::skube

#endif
