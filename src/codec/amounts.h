/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * amounts.h - a resource list of the Kubernetes API (requests, allocatable) as numbers.
 *
 * "cpu" is in thousandths, everything else in whole units. A sum that would exceed int64 stays at
 * its maximum.
 */
#ifndef SLURMKUBE_CODEC_AMOUNTS_H
#define SLURMKUBE_CODEC_AMOUNTS_H

#include "src/base/result.h"
#include "src/codec/json.h"
#include "src/core/model/pod.h"
#include "src/core/model/quantity.h"

#include <map>
#include <string>

namespace slurmkube::codec
{

using Amounts = std::map<std::string, std::int64_t>;

/* Empty if there is no list. An amount beyond every node is lowered to a maximum. invalid: a value
 * is not a quantity, or is negative; the error begins with the resource's name. */
Result<Amounts> amounts_from_json(json_object *list, core::Rounding rounding);

void add(Amounts &to, const Amounts &more);
void raise(Amounts &to, const Amounts &at_least);

/* "cpu", "memory" and "pods" have members of their own, everything else is in `extended`. */
core::Resources resources_of(const Amounts &amounts);

} // namespace slurmkube::codec

#endif
