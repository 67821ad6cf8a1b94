/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_native.h - texts about pods that run within a native job: why one is refused or waits, and
 * why one is deleted.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_REPORT_NATIVE_H
#define SLURMKUBE_CORE_RECONCILE_REPORT_NATIVE_H

#include "src/base/result.h"
#include "src/core/model/native_job.h"
#include "src/core/model/pod.h"

namespace slurmkube::core
{

/* invalid: refused; otherwise it waits. */
Condition not_in_native_job(const Error &why);
/* The condition DisruptionTarget. what: completes "Slurm job 12 ". */
Condition native_job_ended(const NativeMark &mark, const std::string &what);
Condition bound_in_native_job(const NativeMark &mark, const std::string &node);

namespace native_text
{

/* For a pod that has had a job of its own. */
std::string had_own_job();
std::string other_option(const std::string &name);
std::string devices();
std::string memory_volume();
std::string no_memory_request();
std::string long_grace(std::int64_t most_seconds);
std::string unbound_claim(const std::string &claim);
std::string not_asked(JobId id);
std::string no_answer(JobId id);
/* Also for another user's job. */
std::string unknown_job(JobId id, const std::string &as_whom);
std::string wrong_kind(const NativeJob &job);
std::string not_started(const NativeJob &job);
std::string suspended(const NativeJob &job);
std::string in_prolog(const NativeJob &job);
std::string has_ended(const NativeJob &job);
std::string unsuitable(const NativeJob &job);
std::string shared(const NativeJob &job);
std::string several_nodes(const NativeJob &job);
std::string no_memory(const NativeJob &job);
std::string too_large(const NativeJob &job, std::int64_t milli_cpu, std::uint64_t memory_mib);
std::string no_room_in_job(const NativeJob &job);
std::string not_hybrid(const NativeJob &job);
std::string node_not_ready(const NativeJob &job);
std::string node_refuses(const NativeJob &job, const std::string &why);
std::string node_full(const NativeJob &job, const std::string &holder);
std::string too_many_pods(const NativeJob &job, std::size_t most);
std::string not_bound(const Error &why);
/* Of one namespace. */
std::string too_many_jobs(std::size_t most);
/* Of the user, for example "user phys (uid 1000)"; empty: in the whole cluster. */
std::string too_many_jobs_with_pods(std::size_t most, const std::string &as_whom);

} // namespace native_text

} // namespace slurmkube::core

#endif
