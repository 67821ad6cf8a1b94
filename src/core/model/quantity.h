/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * quantity.h - Kubernetes quantities ("1500m", "1.5Gi", "2e3") as whole numbers, exactly.
 *
 * Requests are rounded up and allocatable is rounded down, so that rounding never makes a node too
 * small for what was promised.
 */
#ifndef SLURMKUBE_CORE_MODEL_QUANTITY_H
#define SLURMKUBE_CORE_MODEL_QUANTITY_H

#include "src/base/result.h"

#include <cstdint>
#include <string_view>

namespace slurmkube::core
{

enum class Scale { milli, whole };
enum class Rounding { up, down }; /* up: away from zero, as Kubernetes does; down: towards zero */

/* invalid: not a quantity, or below the range of an int64 at this scale. too_large: above it. The
 * text is quoted in the error. */
Result<std::int64_t> parse_quantity(
	std::string_view text, Scale scale, Rounding rounding = Rounding::up);

} // namespace slurmkube::core

#endif
