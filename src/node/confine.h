/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * confine.h - which processors and memory a container gets on a hybrid node.
 *
 * Pure. A container of a pod with a placeholder gets the cpuset of this job, which slurmd has
 * computed. Every other container gets the system's processors. Without a living job there is no
 * container, because Slurm may have given the processors to another job.
 */
#ifndef SLURMKUBE_NODE_CONFINE_H
#define SLURMKUBE_NODE_CONFINE_H

#include "src/base/result.h"
#include "src/node/nri.h"

#include <optional>
#include <set>

namespace slurmkube::node
{

struct CpuSet {
	std::string cpus, mems; /* as in cpuset.cpus and cpuset.mems */
	bool operator==(const CpuSet &) const = default;
};

/* What is known of a job on this node. */
struct JobFacts {
	bool is_closed = false;       /* its epilog has asked for the end of its containers */
	std::optional<CpuSet> cpuset; /* none: slurmd has made none, or has ended the job */
};

/* The number of the job that the pod's placeholder is; 0: none. invalid: not a job id. */
Result<std::uint32_t> job_of(const Pod &pod);

/* What the pod may use of its node's memory, in bytes; 0: no limit is known, because several pods
 * share the job. denied: not a size. */
Result<std::int64_t> memory_share_of(const Pod &pod);

/* The cgroup of the pod, which has the container's (see cgroup_of()) as a child; none: the kubelet
 * makes no cgroups of pods. Source: kubelet, GetPodContainerName. */
std::optional<std::string> pod_cgroup_of(const Pod &pod, const std::string &cgroup);

/* job: of a pod with a placeholder. denied: the container must not be created, and why. */
Result<Confinement> confinement_of(const Pod &pod, const Container &container,
	const std::optional<JobFacts> &job, const std::string &system_cpus);

/* Whether a list such as "0,2-5" has at least one processor, and none above 65535. */
bool is_cpu_list(std::string_view list);
/* Its processors; empty if it is no list. */
std::set<std::uint32_t> cpus_in(std::string_view list);
/* What is wrong if Slurm gives a job processors that are the system's; empty: nothing. */
std::string cpu_overlap(
	const std::string &job, const std::string &job_cpus, const std::string &system_cpus);

/* The cgroup of a container below the root of a hierarchy, from what the runtime calls its path:
 * "/kubepods/podU/ID" (driver cgroupfs) or "kubepods-podU.slice:cri-containerd:ID" (driver
 * systemd, each dash of a slice is one level). invalid: anything else. Source: runc
 * libcontainer/cgroups, systemd.slice(5). */
Result<std::string> cgroup_of(const std::string &cgroups_path);

} // namespace slurmkube::node

#endif
