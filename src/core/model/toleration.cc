/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/toleration.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

bool tolerates(const Toleration &toleration, const Taint &taint)
{
	if (!toleration.effect.empty() && toleration.effect != taint.effect)
		return false;
	if (!toleration.key.empty() && toleration.key != taint.key)
		return false;
	return toleration.op == TolerationOp::exists ||
		(toleration.op == TolerationOp::equal && toleration.value == taint.value);
}

} // namespace

bool tolerates(const std::vector<Toleration> &tolerations, const Taint &taint)
{
	return std::any_of(tolerations.begin(), tolerations.end(),
		[&](const Toleration &toleration) { return tolerates(toleration, taint); });
}

} // namespace slurmkube::core
