/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_options.h - what a user may request of Slurm for a job, beyond its size and identity.
 *
 * Plain values; the default of each member means that it was not requested. core/options/table.cc
 * says which annotation sets which member, and agent/slurm/describe.cc how the member is passed in
 * job_desc_msg_t.
 */
#ifndef SLURMKUBE_CORE_MODEL_JOB_OPTIONS_H
#define SLURMKUBE_CORE_MODEL_JOB_OPTIONS_H

#include <cstdint>
#include <optional>
#include <string>

namespace slurmkube::core
{

/* Which other jobs may use the job's nodes at the same time. as_all: as the partition says. */
enum class Sharing { as_all, nobody, same_user, same_mcs_label, same_topology };

/* Bits of JobOptions::mail_types. */
enum MailType : std::uint16_t {
	k_mail_begin = 1U << 0,
	k_mail_end = 1U << 1,
	k_mail_fail = 1U << 2,
	k_mail_requeue = 1U << 3,
	k_mail_time_100 = 1U << 4,
	k_mail_time_90 = 1U << 5,
	k_mail_time_80 = 1U << 6,
	k_mail_time_50 = 1U << 7,
	k_mail_stage_out = 1U << 8,
	k_mail_invalid_depend = 1U << 10,
};

struct JobOptions {
	std::string constraints, prefer;            /* expressions of node features */
	std::string required_nodes, excluded_nodes; /* host lists */
	std::string gres;                           /* per node, as for sbatch --gres */
	std::string licenses, reservation, wckey, dependency, burst_buffer, mcs_label, extra,
		mail_user;
	std::string work_dir; /* absolute path; slurm-kube itself does not use it */
	Sharing sharing = Sharing::as_all;
	std::uint16_t mail_types = 0; /* MailType */
	bool hold = false, spread = false, contiguous = false, use_min_nodes = false;
	std::optional<bool> kill_on_invalid_dependency; /* nullopt: as in slurm.conf */
	std::optional<std::int32_t> nice;
	std::optional<std::uint32_t> min_nodes, max_nodes;
	std::optional<std::uint32_t> pods_per_node; /* maximum for a gang */
	/* take effect before a job exists, in core/gang/grouping.h */
	std::optional<bool> gang, ends_together;
	/* the native job within which the pod runs, instead of in a job of its own; 0: none */
	std::uint32_t native_job = 0;
	std::int64_t begin = 0, deadline = 0; /* seconds since the epoch */
	std::optional<std::uint32_t> switches, switches_wait_seconds, delay_boot_seconds,
		time_min_minutes;
	std::optional<std::uint16_t> segment, cpus_per_gpu, threads_per_core, core_spec,
		thread_spec;
	/* one bit per requested option, by its index in the table of options */
	std::uint64_t given = 0;
	bool operator==(const JobOptions &) const = default;
};

} // namespace slurmkube::core

#endif
