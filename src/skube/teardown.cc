/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/teardown.h"

namespace slurmkube::skube
{

namespace
{

Result<Plan> plan_of(const Teardown &wanted)
{
	const auto left = leftovers(wanted);
	if (!left)
		return left.error();
	auto steps = teardown_plan(*left);
	if (!steps)
		return steps.error();
	return Plan{left->server, std::move(*steps)};
}

} // namespace

Status teardown(const Teardown &wanted)
{
	return follow({.command = "skube teardown --apply",
			      .nothing = k_nothing_left,
			      .plan = [&wanted] { return plan_of(wanted); }},
		wanted.apply);
}

} // namespace slurmkube::skube
