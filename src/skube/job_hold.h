/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_hold.h - skube hold and skube release: scontrol hold and release for the jobs of pods.
 *
 * The agent only says which jobs these are. scontrol runs with the caller's own rights, so Slurm
 * decides: users may hold their own jobs, operators all.
 */
#ifndef SLURMKUBE_SKUBE_JOB_HOLD_H
#define SLURMKUBE_SKUBE_JOB_HOLD_H

#include "src/base/result.h"
#include "src/skube/target.h"

#include <cstdint>
#include <string>
#include <vector>

namespace slurmkube::skube
{

/* The ids of the waiting jobs in the agent's reply to `why` about the target, in ascending order.
 * not_found: there is no job; conflict: none waits any more. */
Result<std::vector<std::int64_t>> waiting_jobs(const Target &target, json_object *why);

struct HoldRequest {
	Target target;
	std::string socket; /* of the agent */
	bool releases = false;
	bool verbose = false; /* print the command */
};

/* Prints which jobs were held or released. */
Status hold_or_release(const HoldRequest &wanted);

} // namespace slurmkube::skube

#endif
