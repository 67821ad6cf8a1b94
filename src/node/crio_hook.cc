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

} // namespace

Result<Ok> may_run(std::string_view state, const Settings &settings, const Cgroups &cgroups)
{
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
