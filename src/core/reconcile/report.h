/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.h - what a pod tells its owner: the texts of its conditions and events, each made by a
 * function of its own. testsuite/lint/texts.py enforces that no other file makes a Condition from a
 * literal.
 *
 * If one option, field, claim or node is refused, the text comes from the code that judges it
 * (options/, translate/, placement/, gang/, node filter), as an Error or a Refusal; only here it
 * becomes a condition. Texts about what a pod waits for are here and in report_parts.h.
 *
 * A text may change only when its subject changes, because every change is a write to the API
 * server.
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
/* The pod's options have changed, but the job keeps the earlier ones. */
Condition not_changed(const SlurmJob &job, const std::string &why);
Condition waiting_for_prolog(const SlurmJob &job);
Condition external_on_hybrid(const SlurmJob &job);
/* The wait for Prolog was too long. */
Condition given_back_prolog(const SlurmJob &job);
/* The job ended while it was configuring. */
Condition prolog_failed(const SlurmJob &job);
/* The time limit passed while the job held nodes and no pod could be bound. */
Condition timed_out_unused(const SlurmJob &job);
/* Slurm ended the job as COMPLETED, although no pod was bound. */
Condition completed_unused(const SlurmJob &job);
Condition waiting_for_node(const SlurmJob &job, const std::string &node);
/* Slurm does not have the node, or has it for another cluster. */
Condition waiting_for_record(const SlurmJob &job, const std::string &node);
/* The wait for the node has lasted too long. */
/* The API server refuses to bind a pod, or fails to. */
Condition failed_binding(const SlurmJob &job, const std::string &node, const Error &error);
Condition failed_claim(const SlurmJob &job, const std::string &node, const Error &error);
Condition given_back_unbound(const SlurmJob &job, const Error &error);
/* Nobody can say whether a pod is bound; why: the last answer. */
Condition waiting_to_end(const SlurmJob &job, const std::string &why);
Condition given_back_node(const SlurmJob &job, const std::string &node);
Condition given_back_record(const SlurmJob &job, const std::string &node);
/* Slurm has chosen a node that is not a Kubernetes node. */
Condition on_native_node(const SlurmJob &job, const std::string &node);
/* A job of a gang that was ended because some of its pods did not come. */
struct PodsLate {
	JobId job;
	std::uint32_t missing = 0, ranks = 0;
	std::int64_t waited_seconds = 0;
	unsigned count = 0; /* such jobs in a row */
};
Condition pods_never_came(const PodsLate &late, std::int64_t next_epoch_seconds);
/* Slurm does not have the job, and has not reported its end. count: such jobs in a row. */
Condition job_vanished(JobId job, unsigned count, std::int64_t next_epoch_seconds);
Condition waiting_for_claim(const SlurmJob &job, const std::string &node, const std::string &what);
Condition waiting_for_device(const SlurmJob &job, const std::string &node, const std::string &what);
/* For a workload of several components. job: the other component's; nullptr: it has none yet. */
Condition waiting_for_turn(const std::string &component, const SlurmJob *job);
Condition waiting_for_component(
	const SlurmJob &own, const std::string &component, const SlurmJob *job);
/* The allocations were given back. The text tells minutes, so that it does not change on the
 * way. */
Condition tried_again_at(std::int64_t next_epoch_seconds);
Condition job_of_other_ended(const SlurmJob &job);
Condition waiting_for_room(const SlurmJob &job, const std::string &node, const std::string &holder);
/* A volume claim prevents the submission. */
Condition waiting_for_claims(std::string trouble);
/* The same for claims for devices. */
Condition waiting_for_devices(std::string trouble);
/* Pods with related affinity or spread constraints are scheduled first. */
Condition waiting_for_peers();
/* owner: "Job a: it does not exist yet" */
Condition waiting_for_owner(const std::string &owner);

/* Gangs. */
Condition waiting_for_pods(const GangId &gang, std::size_t count, std::size_t minimum);
Condition waiting_for_gates(const GangId &gang, std::int64_t held_back);
/* For pods that come after earlier pods of the gang, which are still ending. */
Condition waiting_for_earlier_pods();
/* Another live pod has the rank; nullopt: the allocation has no rank left for this pod. */
Condition waiting_for_rank(const SlurmJob &job, std::optional<std::uint32_t> rank);
Condition no_place_left(const SlurmJob &job, std::uint32_t rank);
Condition forbidden_node(const SlurmJob &job, const std::string &node, const std::string &why);
Condition too_small(const SlurmJob &job, std::uint32_t rank);
/* Appends what the job has beyond its pods' requests. */
Condition with_excess(Condition condition, const std::string &excess);

/* Conditions DisruptionTarget, written before the pod is deleted. */
Condition job_ended(const SlurmJob &job);
Condition gang_job_ended(const SlurmJob &job);
/* Of the end of a job that we end because of a node, Slurm says only who cancelled it. */
Condition job_ended_for_node(const SlurmJob &job, const std::string &node);

/* Events. */
Condition bound_to_node(const Bind &bind, std::uint32_t cpu_unit);
Condition completed(JobId job, std::uint32_t wait_status);
/* The administrator has no rule for the class. */
Condition class_unused(const std::string &priority_class);

/* A bound pod that has not started for that many seconds. */
Condition not_started(const SlurmJob &job, const Pod &pod, std::int64_t seconds);

/* How a job ended with its pod: "Slurm job 12 ended with its pod: exit code 3" */
std::string completion_text(JobId job, std::uint32_t wait_status);
/* The last part of that text: "exit code 3" */
std::string result_text(std::uint32_t wait_status);

/* slurmctld has not been connected for a while. */
Condition waiting_for_slurm();

/* Slurm's answer to a submission: refused (Errc::invalid, Errc::denied), or to be tried again. */
Condition submission_failed(const Error &error);
/* slurmctld has not answered the submission, count times in a row. */
Condition submission_unanswered(const Error &error, unsigned count, std::int64_t next_seconds);
/* Nothing was submitted. Errc::again: the Slurm user is not known yet. Errc::not_found: no node may
 * take the pod at present. */
Condition not_submitted(const Error &error);

/*
 * What Slurm's database does not grant. The text names the user, the rule or option that chose the
 * association, and what an administrator or the pod's author can do; Slurm's own error text has
 * none of these.
 */
enum class NotGranted { account, qos, user };
std::string not_granted(NotGranted what, const JobSpec &spec);

/* "2026-11-21T03:04Z" */
std::string minute_text(std::int64_t epoch_seconds);

} // namespace slurmkube::core

#endif
