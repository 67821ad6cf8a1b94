/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/outcome.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr int k_shell_signal_base = 128; /* 128 + n is how a shell and a runtime report signal n */
constexpr int k_signal_max = 64;
constexpr std::uint32_t k_refused_status = 1U << 8; /* Failed, and no container says why: the kubelet refused or evicted it */

bool has_failed(const ContainerEnd &end)
{
	return end.exit_code != 0 || end.signal != 0;
}

/* The main container's failure if it failed, else the highest exit code. */
const ContainerEnd *deciding(const Pod &pod)
{
	const ContainerEnd *worst = nullptr;
	for (const ContainerEnd &end : pod.ended_containers) {
		if (!has_failed(end))
			continue;
		if (end.name == pod.main_container)
			return &end;
		if (!worst || end.exit_code > worst->exit_code)
			worst = &end;
	}
	return worst;
}

} // namespace

std::uint32_t wait_status_of(const Pod &pod)
{
	if (pod.phase == PodPhase::succeeded)
		return k_status_completed;
	/* Failed after a deletion began: its containers were stopped, whatever code they left with */
	if (pod.deleting)
		return k_status_cancelled;
	const ContainerEnd *end = deciding(pod);
	if (!end)
		return k_refused_status;
	if (end->reason == "OOMKilled")
		return k_status_out_of_memory;
	if (end->signal > 0 && end->signal <= k_signal_max)
		return static_cast<std::uint32_t>(end->signal);
	if (end->exit_code > k_shell_signal_base && end->exit_code <= k_shell_signal_base + k_signal_max)
		return static_cast<std::uint32_t>(end->exit_code - k_shell_signal_base);
	return static_cast<std::uint32_t>(std::clamp(end->exit_code, 1, 255)) << 8;
}

} // namespace slurmkube::core
