/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/migrate.h"

namespace slurmkube::skube
{

namespace
{

constexpr char k_slurm_bridge[] = "slurm-bridge";

Result<Plan> plan_of(const Migrate &wanted)
{
	const auto left = bridge_leftovers(wanted);
	if (!left)
		return left.error();
	auto steps = migrate_plan(*left);
	if (!steps)
		return steps.error();
	return Plan{left->server, std::move(*steps)};
}

} // namespace

Status migrate(const Migrate &wanted)
{
	if (wanted.from != k_slurm_bridge)
		return Error{Errc::invalid,
			"--from '" + wanted.from +
				"': skube can take a cluster over from slurm-bridge only"};
	return follow({.command = "skube migrate --from slurm-bridge --apply",
			      .nothing = "Nothing is left of slurm-bridge in Kubernetes and in "
					 "Slurm.",
			      .plan = [&wanted] { return plan_of(wanted); }},
		wanted.apply);
}

} // namespace slurmkube::skube
