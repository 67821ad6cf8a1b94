/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * amounts.h - the requests of pods in the units that Slurm counts in. Pure.
 */
#ifndef SLURMKUBE_CORE_MODEL_AMOUNTS_H
#define SLURMKUBE_CORE_MODEL_AMOUNTS_H

#include "src/core/model/pod.h"

namespace slurmkube::core
{

/* Requests in Slurm CPUs of cpu_unit thousandths each, at least 1, and in MiB, at least least_mib
 * and at least 1. Both are rounded up. */
std::uint32_t cpus_of(const Resources &requests, std::uint32_t cpu_unit);
std::uint64_t memory_mib_of(const Resources &requests, std::uint64_t least_mib);

/* Slurm CPUs as whole CPUs, rounded up, and as text: "1 CPU", "2.5 CPUs". */
std::uint32_t whole_cpus(std::uint32_t slurm_cpus, std::uint32_t cpu_unit);
std::string cpus_text(std::uint32_t slurm_cpus, std::uint32_t cpu_unit);

} // namespace slurmkube::core

#endif
