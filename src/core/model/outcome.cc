/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/outcome.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* shells and container runtimes report signal n as 128 + n */
constexpr int k_shell_signal_base = 128;
constexpr int k_signal_max = 64;
/* exit code 1, for a failed pod without a failed container: the kubelet refused or evicted it */
constexpr std::uint32_t k_refused_status = 1U << 8;

/* The reason that a kubelet reports, with exit code 137, for containers that it never created, once
 * their pod is deleted. */
constexpr char k_never_located[] = "ContainerStatusUnknown";
constexpr char k_deadline_exceeded[] = "DeadlineExceeded"; /* status.reason */

bool has_failed(const ContainerEnd &end)
{
	return end.exit_code != 0 || end.signal != 0;
}

/* The main container if it failed, otherwise the failed container with the highest exit code. */
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

/*
 * slurmctld gives a wait status of 1 a meaning of its own and passes 256 to accounting: scontrol
 * shows 0:1, sacct 1:0. With the core dump bit set, both show signal 1.
 */
std::uint32_t signal_status(int number)
{
	constexpr std::uint32_t k_core_dumped = 0x80;
	return static_cast<std::uint32_t>(number) | (number == 1 ? k_core_dumped : 0);
}

/* The agent deleted the pod because it did not start in time, and no container has run since. */
bool never_started(const Pod &pod)
{
	const auto ran = [](const ContainerEnd &end) {
		return has_failed(end) && end.reason != k_never_located;
	};
	return pod.deleting && pod.start_limit && std::ranges::none_of(pod.ended_containers, ran);
}

} // namespace

std::uint32_t wait_status_of_gone(const Pod *last)
{
	if (last && is_terminal(*last))
		return wait_status_of(*last);
	return last && never_started(*last) ? k_status_not_started : k_status_cancelled;
}

std::uint32_t wait_status_of(const Pod &pod)
{
	if (pod.phase == PodPhase::succeeded)
		return k_status_completed;
	/* the pod failed after its deletion began: its containers were stopped, so their exit codes
	 * mean nothing */
	if (pod.deleting)
		return never_started(pod) ? k_status_not_started : k_status_cancelled;
	if (pod.status_reason == k_deadline_exceeded)
		return k_status_deadline;
	const ContainerEnd *end = deciding(pod);
	if (!end)
		return k_refused_status;
	if (end->reason == "OOMKilled")
		return k_status_out_of_memory;
	if (end->signal > 0 && end->signal <= k_signal_max)
		return signal_status(end->signal);
	if (end->exit_code > k_shell_signal_base &&
		end->exit_code <= k_shell_signal_base + k_signal_max)
		return signal_status(end->exit_code - k_shell_signal_base);
	return static_cast<std::uint32_t>(std::clamp(end->exit_code, 1, 255)) << 8;
}

} // namespace slurmkube::core
