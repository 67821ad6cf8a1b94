/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/migrate.h"
#include "src/skube/sunk.h"

#include <string_view>

namespace slurmkube::skube
{

namespace
{

constexpr char k_slurm_bridge[] = "slurm-bridge", k_sunk[] = "sunk";
/* Others would be read as another term of the field selector. */
constexpr std::string_view k_name_characters =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";

template <class Leftovers> Result<Plan> plan_of(
	const Result<Leftovers> &left, Result<std::vector<Step>> (*steps_of)(const Leftovers &))
{
	if (!left)
		return left.error();
	auto steps = steps_of(*left);
	if (!steps)
		return steps.error();
	return Plan{left->server, std::move(*steps)};
}

Status from_slurm_bridge(const Migrate &wanted)
{
	return follow({.command = "skube migrate --from slurm-bridge --apply",
			      .nothing = "Nothing is left of slurm-bridge in Kubernetes and in "
					 "Slurm.",
			      .plan =
				      [&wanted] {
					      return plan_of(
						      bridge_leftovers(wanted), migrate_plan);
				      }},
		wanted.apply);
}

Status from_sunk(const Migrate &wanted)
{
	return follow(
		{.command = "skube migrate --from sunk --sunk-scheduler " + wanted.scheduler +
				" --apply",
			.nothing = "Nothing is left of SUNK in Kubernetes, and no node of "
				   "Slurm is drained by its Syncer.",
			.plan = [&wanted] { return plan_of(sunk_leftovers(wanted), sunk_plan); }},
		wanted.apply);
}

} // namespace

std::string migrate_usage(const Migrate &wanted)
{
	if (wanted.from.empty())
		return "migrate needs --from slurm-bridge or --from sunk";
	if (wanted.from != k_slurm_bridge && wanted.from != k_sunk)
		return "--from '" + wanted.from +
			"': skube can take a cluster over from slurm-bridge and sunk only";
	const bool is_sunk = wanted.from == k_sunk;
	if (is_sunk && wanted.scheduler.empty())
		return "migrate --from sunk needs --sunk-scheduler, the name that its pods have in "
		       "schedulerName";
	if (is_sunk && wanted.scheduler.find_first_not_of(k_name_characters) != std::string::npos)
		return "--sunk-scheduler '" + wanted.scheduler + "' is not a name";
	if (is_sunk ? wanted.is_stopped : !wanted.scheduler.empty())
		return std::string(is_sunk ? "--bridge-stopped" : "--sunk-scheduler") +
			" does not belong to --from " + wanted.from;
	return "";
}

Status migrate(const Migrate &wanted)
{
	return wanted.from == k_sunk ? from_sunk(wanted) : from_slurm_bridge(wanted);
}

} // namespace slurmkube::skube
