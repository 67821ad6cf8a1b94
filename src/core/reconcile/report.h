/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.h - what a pod tells its owner: the texts of its conditions and events, each by a function
 * with a name. testsuite/lint/texts.py holds it: nowhere else is a Condition made of a literal.
 *
 * Where the line is: what refuses one option, field, claim or node is an Error or a Refusal whose
 * words come from where that is judged (options/, translate/, placement/, gang/, node filter); it
 * becomes a condition here only. Of what a pod waits for, the words are here and in report_parts.h.
 *
 * Texts change only when the matter does: every change is a write to the API server.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_REPORT_H
#define SLURMKUBE_CORE_RECONCILE_REPORT_H

#include "src/base/result.h"
#include "src/core/model/pod.h"
#include "src/core/model/spec.h"

namespace slurmkube::core
{

struct Bind;
struct GangId;

Condition waiting_in_queue(const SlurmJob &job);
/* The pod's options were changed; its job has those of before. */
Condition not_changed(const SlurmJob &job, const std::string &why);
Condition waiting_for_prolog(const SlurmJob &job);
/* Of a job that ended while it was configuring. */
Condition prolog_failed(const SlurmJob &job);
/* Its nodes were held, and no pod could be bound. */
Condition timed_out_unused(const SlurmJob &job);
Condition waiting_for_node(const SlurmJob &job, const std::string &node);
/* That lasted too long. */
Condition given_back_node(const SlurmJob &job, const std::string &node);
Condition on_native_node(const SlurmJob &job, const std::string &node);
/* Slurm no longer has the job, and nobody has told of its end. */
struct PodsLate {
	JobId job;
	std::uint32_t missing = 0, ranks = 0;
	std::int64_t waited_seconds = 0;
	unsigned count = 0; /* of such jobs in a row */
};
Condition pods_never_came(const PodsLate &late, std::int64_t next_epoch_seconds);
Condition job_vanished(JobId job, unsigned count, std::int64_t next_epoch_seconds);
Condition waiting_for_claim(const SlurmJob &job, const std::string &node, const std::string &what);
/* Of a workload with several components; job: that of the other, nullptr: it has none yet. */
Condition waiting_for_turn(const std::string &component, const SlurmJob *job);
Condition waiting_for_component(
	const SlurmJob &own, const std::string &component, const SlurmJob *job);
/* Its allocations were given back; minutes, so that the text stays. */
Condition tried_again_at(std::int64_t next_epoch_seconds);
Condition job_of_other_ended(const SlurmJob &job);
Condition waiting_for_room(const SlurmJob &job, const std::string &node, const std::string &holder);
/* A claim keeps the pod from being submitted. */
Condition waiting_for_claims(std::string trouble);
/* Pods with related affinity or spread constraints are scheduled first. */
Condition waiting_for_peers();
/* "Job a: it does not exist yet" */
Condition waiting_for_owner(const std::string &owner);

/* Of gangs. */
Condition waiting_for_pods(const GangId &gang, std::size_t count, std::size_t minimum);
Condition waiting_for_gates(const GangId &gang, std::int64_t held_back);
/* Of those that come after them. */
Condition waiting_for_earlier_pods();
/* Another pod that lives has its rank; no rank: it has none in the allocation. */
Condition waiting_for_rank(const SlurmJob &job, std::optional<std::uint32_t> rank);
Condition no_place_left(const SlurmJob &job, std::uint32_t rank);
Condition forbidden_node(const SlurmJob &job, const std::string &node, const std::string &why);
Condition too_small(const SlurmJob &job, std::uint32_t rank);
/* The job has more than its pods ask for. */
Condition with_excess(Condition condition, const std::string &excess);

/* DisruptionTarget, before the pod is deleted. */
Condition job_ended(const SlurmJob &job);
Condition gang_job_ended(const SlurmJob &job);

/* Events. */
Condition bound_to_node(const Bind &bind, std::uint32_t cpu_unit);
Condition completed(JobId job, std::uint32_t wait_status);

/* A bound pod that has not started for so long. */
Condition not_started(const SlurmJob &job, const Pod &pod, std::int64_t seconds);

/* How a job ended with its pod: "Slurm job 12 ended with its pod: exit code 3" */
std::string completion_text(JobId job, std::uint32_t wait_status);
/* The last part of it: "exit code 3" */
std::string result_text(std::uint32_t wait_status);

/* slurmctld has not been connected for a while. */
Condition waiting_for_slurm();

/* Slurm's answer to a submission, by how it may be mended. */
Condition submission_failed(const Error &error);
/* It did not answer so many times in a row. */
Condition submission_unanswered(const Error &error, unsigned count, std::int64_t next_seconds);
/* Not submitted. again: it is not known yet who it is in Slurm; not_found: no node may take it
 * now. */
Condition not_submitted(const Error &error);

/*
 * What Slurm's database does not grant: who was meant, by which rule or option, and what an
 * administrator or the pod's author can do. Slurm's own words say none of it.
 */
enum class NotGranted { account, qos, user };
std::string not_granted(NotGranted what, const JobSpec &spec);

/* "2026-11-21T03:04Z" */
std::string minute_text(std::int64_t epoch_seconds);

} // namespace slurmkube::core

#endif
