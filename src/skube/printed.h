/* SPDX-License-Identifier: GPL-2.0-or-later */
/* printed.h - texts of the agent's answers, made safe for a terminal. */
#ifndef SLURMKUBE_SKUBE_PRINTED_H
#define SLURMKUBE_SKUBE_PRINTED_H

#include "src/base/text.h"
#include "src/codec/json.h"

#include <string>
#include <string_view>

namespace slurmkube::skube
{

/* As codec::get_string(). */
inline std::string printed(json_object *object, const char *key, std::string_view fallback = {})
{
	return printable(codec::get_string(object, key, fallback));
}

/* NAMESPACE/NAME; key is that of the name. */
inline std::string full_name(json_object *row, const char *key)
{
	return printed(row, "namespace") + "/" + printed(row, key);
}

} // namespace slurmkube::skube

#endif
