/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apply.h - operators and functions on values.
 */
#ifndef SLURMKUBE_CORE_CEL_APPLY_H
#define SLURMKUBE_CORE_CEL_APPLY_H

#include "src/base/result.h"
#include "src/core/cel/function.h"
#include "src/core/cel/value.h"

#include <deque>
#include <string>
#include <vector>

namespace slurmkube::core::cel
{

/* Texts that are computed. Values refer to them until the evaluation ends. */
using Texts = std::deque<std::string>;

/* All functions but matches, orValue, and in with constants. Attributes may be of any type, so that
 * a type may turn out to be wrong here. */
Result<Value> apply(Function function, const std::vector<Value> &arguments, Texts &texts);

/* What Kubernetes charges for the call, or a little more: it counts code points, we count bytes. */
std::size_t cost_of(Function function, const std::vector<Value> &arguments);

} // namespace slurmkube::core::cel

#endif
