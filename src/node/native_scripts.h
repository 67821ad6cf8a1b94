/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * native_scripts.h - what Prolog and Epilog, which slurmd runs for every job, do about pods in
 * native jobs. They fail only if containers of ended jobs still run.
 */
#ifndef SLURMKUBE_NODE_NATIVE_SCRIPTS_H
#define SLURMKUBE_NODE_NATIVE_SCRIPTS_H

#include "src/node/native_jobs.h"

namespace slurmkube::node
{

/* As getenv(3). */
using Variable = std::function<const char *(const char *name)>;

/* The job that the environment of a prolog describes; nullopt: one of Slurm's variables is
 * missing. */
std::optional<core::NativeMark> life_of_prolog(const Variable &variable);

/* For a prolog: waits for containers of ended jobs, and opens the job if pods may run in it. */
Result<Ok> settle_native_pods(const NativeJobs &jobs, const Cgroups &cgroups,
	const Variable &variable, bool is_open, const EndLimits &limits = k_end_limits,
	const ContainerdStatus &containerd = {});
/* For an epilog: closes the job and ends its containers. Writes nothing. Without is_epilog, by hand
 * or in an epilog that lacks Slurm's variables, a job that has a cgroup here may live, and nothing
 * would open it again: its containers are only waited for. */
Result<Ok> end_native_pods(const NativeJobs &jobs, const Cgroups &cgroups, std::uint32_t job,
	bool is_epilog, const EndLimits &limits = k_end_limits,
	const ContainerdStatus &containerd = {});

} // namespace slurmkube::node

#endif
