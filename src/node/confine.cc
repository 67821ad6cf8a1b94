/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/confine.h"

#include "src/base/digits.h"
#include "src/core/model/names.h"

#include <algorithm>
#include <charconv>

namespace slurmkube::node
{

namespace
{

constexpr std::uint32_t k_cpu_max = 65535;
constexpr std::int64_t k_mib = std::int64_t{1} << 20;
constexpr std::size_t k_path_max = 4096;

/* All of the text as a number. */
template <class T> std::optional<T> number_of(std::string_view text)
{
	T value = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	if (text.empty() || !is_digit(text.front()) || error != std::errc() ||
		end != text.data() + text.size())
		return std::nullopt;
	return value;
}

Error refusal(const Pod &pod, const std::string &reason)
{
	return {Errc::denied, "slurm-kube: pod " + pod.name_space + "/" + pod.name + ": " + reason};
}

/* 0: the container's own limit is low enough. */
std::int64_t memory_limit_of(const Container &container, std::int64_t share)
{
	const bool is_within = container.memory_limit > 0 && container.memory_limit <= share;
	return is_within ? 0 : share;
}

struct CpuRange {
	std::uint32_t first, last;
};

std::optional<CpuRange> cpu_range(std::string_view range)
{
	const std::size_t dash = range.find('-');
	const std::optional<std::uint32_t> first = number_of<std::uint32_t>(range.substr(0, dash));
	const std::optional<std::uint32_t> last = dash == std::string_view::npos
		? first
		: number_of<std::uint32_t>(range.substr(dash + 1));
	if (!first || !last || *first > *last || *last > k_cpu_max)
		return std::nullopt;
	return CpuRange{*first, *last};
}

/* "a-b.slice" -> "/a.slice/a-b.slice" */
std::string slice_path(const std::string &slice)
{
	constexpr std::string_view k_suffix = ".slice";
	const std::string stem = slice.substr(0, slice.size() - k_suffix.size());
	std::string path;
	for (std::size_t dash = stem.find('-'); dash != std::string::npos;
		dash = stem.find('-', dash + 1))
		path += "/" + stem.substr(0, dash) + ".slice";
	return path + "/" + slice;
}

Result<std::string> systemd_path(const std::string &path)
{
	const std::size_t first = path.find(':'), second = path.find(':', first + 1);
	const std::string slice = path.substr(0, first);
	if (second == std::string::npos || !slice.ends_with(".slice"))
		return Error{Errc::invalid, "the cgroup path " + path + " is not known"};
	return slice_path(slice) + "/" + path.substr(first + 1, second - first - 1) + "-" +
		path.substr(second + 1) + ".scope";
}

} // namespace

Result<std::uint32_t> job_of(const Pod &pod)
{
	if (pod.job.empty())
		return std::uint32_t{0};
	const std::optional<std::uint32_t> job = number_of<std::uint32_t>(pod.job);
	if (!job || *job == 0)
		return refusal(pod,
			"annotation " + std::string(names::k_allocation_job_id) +
				" is not a job id");
	return *job;
}

Result<std::int64_t> memory_share_of(const Pod &pod)
{
	if (pod.memory.empty())
		return std::int64_t{0};
	const std::optional<std::int64_t> mib = number_of<std::int64_t>(pod.memory);
	if (!mib || *mib == 0 || *mib > INT64_MAX / k_mib)
		return refusal(pod,
			"annotation " + std::string(names::k_allocation_memory) +
				" is not a size in MiB");
	return *mib * k_mib;
}

std::optional<std::string> pod_cgroup_of(const Pod &pod, const std::string &cgroup)
{
	const std::size_t slash = cgroup.rfind('/');
	if (slash == std::string::npos || pod.uid.empty())
		return std::nullopt;
	const std::string parent = cgroup.substr(0, slash);
	const std::string name = parent.substr(parent.rfind('/') + 1);
	std::string escaped = pod.uid;
	std::ranges::replace(escaped, '-', '_');
	const bool is_pods = name == "pod" + pod.uid || name.ends_with("-pod" + escaped + ".slice");
	return is_pods ? std::optional(parent) : std::nullopt;
}

Result<Confinement> confinement_of(const Pod &pod, const Container &container,
	const std::optional<JobFacts> &job, const std::string &system_cpus)
{
	if (!job)
		return Confinement{system_cpus, "", 0};
	if (job->is_closed)
		return refusal(pod, "Slurm job " + pod.job + " " + names::k_refused_ended);
	if (!job->cpuset)
		return refusal(pod, "Slurm job " + pod.job + " " + names::k_refused_no_processors);
	const Result<std::int64_t> share = memory_share_of(pod);
	if (!share)
		return share.error();
	return Confinement{
		job->cpuset->cpus, job->cpuset->mems, memory_limit_of(container, *share)};
}

std::set<std::uint32_t> cpus_in(std::string_view list)
{
	std::set<std::uint32_t> cpus;
	for (;;) {
		const std::size_t comma = list.find(',');
		const std::optional<CpuRange> range = cpu_range(list.substr(0, comma));
		if (!range)
			return {};
		for (std::uint32_t cpu = range->first; cpu <= range->last; cpu++)
			cpus.insert(cpu);
		if (comma == std::string_view::npos)
			return cpus;
		list.remove_prefix(comma + 1);
	}
}

std::string cpu_overlap(
	const std::string &job, const std::string &job_cpus, const std::string &system_cpus)
{
	const std::set<std::uint32_t> jobs = cpus_in(job_cpus);
	for (const std::uint32_t cpu : cpus_in(system_cpus))
		if (jobs.contains(cpu))
			return "Slurm has given processor " + std::to_string(cpu) +
				" of SystemCpus to job " + job +
				": CpuSpecList of the node in slurm.conf (Slurm's numbers) and "
				"SystemCpus (Linux's numbers) must be the same processors";
	return {};
}

bool is_cpu_list(std::string_view list)
{
	return !cpus_in(list).empty();
}

Result<std::string> cgroup_of(const std::string &path)
{
	if (path.size() > k_path_max || path.find("..") != std::string::npos ||
		path.find('\n') != std::string::npos)
		return Error{Errc::invalid, "the cgroup path of a container is not one"};
	if (path.starts_with('/'))
		return path;
	return systemd_path(path);
}

} // namespace slurmkube::node
