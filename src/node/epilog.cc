/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/epilog.h"

#include <charconv>
#include <cstring>

#include <poll.h>

namespace slurmkube::node
{

namespace
{

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds k_grace_default{30}, k_grace_max{86400}, k_margin{60};
/* Between the runtime's question and the first process of a container, when it is not known whether
 * its creation or start has failed: the runtime was killed in between, or it is CRI-O and its hook
 * has not run (crio_hook.h). */
constexpr std::chrono::seconds k_creation_max{60};
constexpr std::chrono::milliseconds k_pause_min{5}, k_pause_max{200};

/* So long --list shows the job; a page of tmpfs for each. Its containers are refused for ever. */
constexpr std::chrono::hours k_forget_after{1};

/* The container that a job's end waits for; empty: none. */
std::string live_one_of(const std::vector<ContainerRecord> &containers, const Cgroups &cgroups,
	const ContainerdStatus &containerd)
{
	for (const ContainerRecord &container : containers)
		if (is_live(container, cgroups, containerd))
			return container.id;
	return {};
}

/* Only what has been seen is forgotten: a new job may have this number already. The prolog of a
 * new one announces it anew, and without that no container gets what it has. */
Result<Ok> finish(const Records &records, std::uint32_t job, bool is_cleared,
	const std::vector<ContainerRecord> &containers)
{
	if (is_cleared)
		records.forget_grace(job);
	if (const Result<Ok> closed = records.close(job, is_cleared); !closed || !is_cleared)
		return closed;
	for (const ContainerRecord &container : containers)
		records.forget_container(container.id);
	return Ok{};
}

/* The same of any job that has ended. Runs before each job of the node, so it reads nothing of
 * jobs without containers. */
std::string live_container_of_ended(
	const Records &records, const Cgroups &cgroups, const ContainerdStatus &containerd)
{
	for (const auto &[job, ids] : records.containers()) {
		if (records.state_of(job) == Records::JobState::open && cgroups.cpuset_of(job))
			continue;
		for (const std::string &id : ids) {
			const std::optional<ContainerRecord> container = records.container(job, id);
			if (container && is_live(*container, cgroups, containerd))
				return id + " of job " + std::to_string(job);
		}
	}
	return {};
}

/* Waits longer each time. */
class Pause
{
      public:
	explicit Pause(std::chrono::seconds limit) : end_(Clock::now() + limit) {}
	/* false: the limit is over */
	bool wait()
	{
		if (Clock::now() >= end_)
			return false;
		(void)::poll(nullptr, 0, static_cast<int>(next_.count()));
		next_ = std::min(2 * next_, k_pause_max);
		return true;
	}

      private:
	Clock::time_point end_;
	std::chrono::milliseconds next_ = k_pause_min;
};

} // namespace

/* Processes are looked at last: a start that fails meanwhile leaves none. */
bool is_live(const ContainerRecord &container, const Cgroups &cgroups,
	const ContainerdStatus &containerd)
{
	const bool may_start = !container.is_started && container.age < k_creation_max &&
		!containerd.has_ended(container.id);
	return may_start || cgroups.has_processes(container.cgroup);
}

std::chrono::seconds epilog_limit(const char *grace)
{
	unsigned seconds = 0;
	const char *end = grace ? grace + std::strlen(grace) : nullptr;
	const bool is_number = grace && *grace &&
		std::from_chars(grace, end, seconds).ec == std::errc() &&
		std::from_chars(grace, end, seconds).ptr == end;
	const std::chrono::seconds given{seconds};
	return (is_number ? std::min(given, k_grace_max) : k_grace_default) + k_margin;
}

bool is_pods_job(const Records &records, std::uint32_t job)
{
	return records.grace_of(job) || records.state_of(job) != Records::JobState::open ||
		!records.containers_of(job).empty();
}

Result<Ok> end_job(const Records &records, const Cgroups &cgroups, std::uint32_t job,
	std::chrono::seconds limit, bool may_kill, const ContainerdStatus &containerd)
{
	if (Result<Ok> closed = records.close(job, false); !closed)
		return closed;
	records.prune(k_forget_after);
	for (Pause pause(limit);;) {
		const std::vector<ContainerRecord> containers = records.containers_of(job);
		const std::string live = live_one_of(containers, cgroups, containerd);
		if (live.empty() && (!may_kill || cgroups.remove(job)))
			return finish(records, job, may_kill, containers);
		if (!pause.wait())
			return Error{Errc::again,
				live.empty() ? "the job's cgroups cannot be removed"
					     : "container " + live + " still runs"};
	}
}

Result<Ok> wait_for_ended_jobs(const Records &records, const Cgroups &cgroups,
	std::chrono::seconds limit, const ContainerdStatus &containerd)
{
	for (Pause pause(limit);;) {
		const std::string live = live_container_of_ended(records, cgroups, containerd);
		if (live.empty())
			return Ok{};
		if (!pause.wait())
			return Error{Errc::again, "container " + live + " still runs"};
	}
}

} // namespace slurmkube::node
