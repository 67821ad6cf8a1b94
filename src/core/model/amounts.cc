/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/amounts.h"

#include <algorithm>

namespace slurmkube::core
{

std::uint32_t whole_cpus(std::uint32_t slurm_cpus, std::uint32_t cpu_unit)
{
	return static_cast<std::uint32_t>(
		(std::uint64_t{slurm_cpus} * cpu_unit + k_whole_cpu - 1) / k_whole_cpu);
}

std::string cpus_text(std::uint32_t slurm_cpus, std::uint32_t cpu_unit)
{
	const std::uint64_t milli = std::uint64_t{slurm_cpus} * cpu_unit;
	std::string fraction = std::to_string(k_whole_cpu + milli % k_whole_cpu).substr(1);
	fraction.erase(fraction.find_last_not_of('0') + 1);
	return std::to_string(milli / k_whole_cpu) + (fraction.empty() ? "" : "." + fraction) +
		(milli == k_whole_cpu ? " CPU" : " CPUs");
}

std::uint32_t cpus_of(const Resources &requests, std::uint32_t cpu_unit)
{
	const std::int64_t whole =
		requests.milli_cpu / cpu_unit + (requests.milli_cpu % cpu_unit > 0 ? 1 : 0);
	return static_cast<std::uint32_t>(std::clamp<std::int64_t>(whole, 1, 0xfffffff0));
}

std::uint64_t memory_mib_of(const Resources &requests, std::uint64_t least_mib)
{
	constexpr std::int64_t k_mib = 1 << 20;
	const std::int64_t whole =
		requests.memory_bytes / k_mib + (requests.memory_bytes % k_mib > 0 ? 1 : 0);
	return std::max<std::uint64_t>(whole > 0 ? static_cast<std::uint64_t>(whole) : 0,
		std::max<std::uint64_t>(least_mib, 1));
}

} // namespace slurmkube::core
