/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parser.h - from the text of a selector to its syntax tree.
 */
#ifndef SLURMKUBE_CORE_CEL_PARSER_H
#define SLURMKUBE_CORE_CEL_PARSER_H

#include "src/base/result.h"
#include "src/core/cel/syntax.h"

namespace slurmkube::core::cel
{

/* Reads program.text, and sets the nodes and the root. */
Status parse(Program &program);

} // namespace slurmkube::core::cel

#endif
