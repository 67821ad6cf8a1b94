/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/crio_hook.h"

#include "src/node/native_jobs.h"
#include "src/node/oci_hook.h"
#include "src/node/records.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace slurmkube::node
{

namespace
{

std::optional<std::uint32_t> job_of_container(const Records &records, const std::string &id)
{
	for (const auto &[job, ids] : records.containers())
		if (std::ranges::find(ids, id) != ids.end())
			return job;
	return std::nullopt;
}

/* none: no pod of a job has the container. */
std::optional<JobFacts> facts_of(
	const Settings &settings, const Cgroups &cgroups, const std::string &container)
{
	const Records records = Records::at(settings.state_directory);
	if (const auto job = job_of_container(records, container))
		return JobFacts{
			records.state_of(*job) != Records::JobState::open, cgroups.cpuset_of(*job)};
	const NativeJobs jobs(settings.state_directory);
	if (const auto job = job_of_container(Records::at(jobs.directory()), container)) {
		const std::optional<OpenedJob> opened = jobs.opened(*job);
		return JobFacts{!opened,
			opened ? cgroups.cpuset_of(*job, opened->life.user_id) : std::nullopt};
	}
	return std::nullopt;
}

void note_in(const Records &records, const Cgroups &cgroups, const std::string &container)
{
	const auto job = job_of_container(records, container);
	const auto known = job ? records.container(*job, container) : std::nullopt;
	if (known && !known->is_started && cgroups.has_processes(known->cgroup))
		(void)records.keep_container(*job, container, known->cgroup, true);
}

/* CRI-O tells no plugin when a creation has failed. The container's first process is in its cgroup
 * when hooks run (runc and crun), so an epilog need not wait for another one any more. */
void note_first_process(std::string_view state, const Settings &settings, const Cgroups &cgroups)
{
	const std::string container = id_of_state(state);
	note_in(Records::at(settings.state_directory), cgroups, container);
	note_in(Records::at(NativeJobs(settings.state_directory).directory()), cgroups, container);
}

} // namespace

Result<Ok> may_run(std::string_view state, const Settings &settings, const Cgroups &cgroups)
{
	note_first_process(state, settings, cgroups);
	const Result<CreatedContainer> container =
		created_container(state, [](const std::string &path) {
			std::ifstream in(path);
			return std::string(std::istreambuf_iterator<char>(in), {});
		});
	if (!container)
		return container.error();
	return check_processors(
		container->cpus, facts_of(settings, cgroups, container->id), settings.system_cpus);
}

} // namespace slurmkube::node
