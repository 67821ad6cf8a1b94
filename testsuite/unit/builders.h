/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * builders.h - values of the model that many unit tests need. A builder sets what every such value
 * has; a test sets the rest itself, so that its lines show what matters to it.
 */
#ifndef SLURMKUBE_TESTSUITE_UNIT_BUILDERS_H
#define SLURMKUBE_TESTSUITE_UNIT_BUILDERS_H

#include "src/core/model/job.h"
#include "src/core/model/names.h"
#include "src/core/model/now.h"
#include "src/core/model/pod.h"

namespace slurmkube::check
{

constexpr std::int64_t k_second = 1'000'000;

/* When tests begin: neither clock is 0, which stands for "never" in the model. */
constexpr core::Now k_start{.mono_us = 100 * k_second, .wall_s = 1'000'000};

inline void advance(core::Now &now, std::int64_t us)
{
	now.mono_us += us;
	now.wall_s += us / k_second;
}

/* Requests of one pod. */
inline core::Resources make_requests(std::int64_t milli_cpu, std::int64_t memory_bytes = 0)
{
	return {.milli_cpu = milli_cpu, .memory_bytes = memory_bytes, .pods = 1, .extended = {}};
}

/* A pod that waits and asks for nothing, unless requests say otherwise. */
inline core::Pod make_pod(const std::string &name_space, const std::string &name,
	const std::string &uid, core::Resources requests = {})
{
	core::Pod pod;
	pod.uid = {uid};
	pod.name_space = name_space;
	pod.name = name;
	pod.requests = std::move(requests);
	return pod;
}

/* What a binding to a node writes on every pod. */
inline std::map<std::string, std::string> allocation_annotations(
	std::uint32_t job, std::uint32_t attempt = 1)
{
	return {{names::k_allocation_job_id, std::to_string(job)},
		{names::k_allocation_attempt, std::to_string(attempt)}};
}

/* Of cluster "main", as in plain_settings(). */
inline core::Marker make_marker(const std::string &name_space, const std::string &name,
	const std::string &kind, const std::string &uid, std::uint32_t attempt = 1)
{
	return {.cluster = "main",
		.name_space = name_space,
		.name = name,
		.kind = kind,
		.uid = uid,
		.attempt = attempt};
}

inline core::NodeAllocation make_allocation(const std::string &node, std::uint32_t cpus,
	std::uint64_t memory_mib = 0, const std::string &core_ids = "")
{
	return {.node = node,
		.cpus = cpus,
		.core_ids = core_ids,
		.memory_mib = memory_mib,
		.gres = {}};
}

/* A job without nodes. */
inline core::SlurmJob make_job(std::uint32_t id, core::Marker marker, core::JobState state)
{
	core::SlurmJob job;
	job.id = {id};
	job.marker = std::move(marker);
	job.state = state;
	return job;
}

} // namespace slurmkube::check

#endif
