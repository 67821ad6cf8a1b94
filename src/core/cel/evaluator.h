/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evaluator.h - the value of a selector for a device.
 */
#ifndef SLURMKUBE_CORE_CEL_EVALUATOR_H
#define SLURMKUBE_CORE_CEL_EVALUATOR_H

#include "src/base/result.h"
#include "src/core/cel/device.h"
#include "src/core/cel/syntax.h"

namespace slurmkube::core::cel
{

/* too_large: the selector costs more than Kubernetes allows. invalid: another error, for example a
 * missing key. cost is added to. */
Result<bool> evaluate(const Program &program, const Device &device, std::size_t &cost);

} // namespace slurmkube::core::cel

#endif
