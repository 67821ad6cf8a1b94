/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checker.h - the static types of a selector, checked before any device is seen.
 *
 * Kubernetes refuses a selector with wrong types when it is written. What passes here passes there:
 * the checker may be stricter, never laxer.
 */
#ifndef SLURMKUBE_CORE_CEL_CHECKER_H
#define SLURMKUBE_CORE_CEL_CHECKER_H

#include "src/base/result.h"
#include "src/core/cel/syntax.h"

namespace slurmkube::core::cel
{

/* Sets types, slots and patterns of a parsed program. */
Status check(Program &program);

} // namespace slurmkube::core::cel

#endif
