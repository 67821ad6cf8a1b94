/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world/parts.h - functions that the files of World share. Pure.
 */
#ifndef SLURMKUBE_CORE_WORLD_PARTS_H
#define SLURMKUBE_CORE_WORLD_PARTS_H

#include "src/core/world/world.h"

namespace slurmkube::core
{

/* Why an allocation is given back if its node has lost its label, or is gone. */
inline constexpr char k_not_managed[] = "is no managed node of Kubernetes any more";

/* ---- names of nodes in Slurm (world/names_in_use.cc) ---- */
InUse names_in_use(const State &state);
/* The name in Slurm under which the pod was bound, whatever it is now. */
std::string name_at_binding(const State &state, const Pod &pod);
/* Whether the node of the bound pod has the same name in Slurm as at its binding. */
bool has_name_of_binding(const State &state, const Pod &pod);
/* The same, and Slurm has the node: a job that is pinned to it would be on the pod's machine. */
bool has_record_of_binding(const State &state, const PodEntry &bound);

/* The attempt under whose job the pod was bound; 0: none. */
std::uint32_t bound_attempt(const Pod &pod);

/* The pause, in microseconds, between the end of a job and the submission of the next one for the
 * same pods. */
std::int64_t pause_before(std::uint32_t attempt);
/* The same pause after that many consecutive allocations that were given back because bindings
 * failed. */
std::int64_t pause_after_failed_bindings(unsigned count);

/* "3 nodes: each has no label a=b; 1 node has ..." */
std::string reasons_text(const std::map<std::string, std::size_t> &reasons);

/* Recheck interval of pods that wait for claims, even without an event. */
inline constexpr std::int64_t k_claim_look_us = 2'000'000;

/* Maximum number of allocations that a pod or gang gives back in favour of running pods without a
 * job. In a long queue other jobs may take what is given back, again and again. */
inline constexpr unsigned k_give_back_most = 2;
/* Continues "the node, which ..." in texts. */
inline constexpr char k_native_node[] = "is no Kubernetes node in Slurm";

/* SubmittedOptions::exclusions after a failed update, which may have taken effect in part. */
inline constexpr char k_exclusions_not_known[] = "?";

/* ---- what the end of a job says about the component that had it (world/job_verdicts.cc) ---- */
/* slurmctld ended the job because it could not deliver the answer to our submission. */
bool is_answer_lost(const Component &component, const SlurmJob &ended);
/* Whether it may be one of the first pods of a new run of its workload. */
bool may_begin_run(const Gang &gang, const Pod &pod);
/* How many of the component's ranks the owner wants at present, as far as it has said. */
std::uint32_t wanted_ranks(
	const State &state, const PodUid &key, const Gang &gang, const ComponentFacts &facts);
/* Seconds of age that pods gained by a job that they lost to us before they ran: the last one, or
 * one of before that this agent ended. */
std::int64_t age_of(const State &state, const Component &component, Now now);
/* The same of one job, with what it had from jobs before it. */
std::int64_t age_of(const SlurmJob &job, Now now);
/* An agent ended the job because it found no pod for it. */
bool is_given_up(const Component &component, const SlurmJob &ended);
/* Whether the bound pod has to end with the job. */
bool is_about_pod(const Pod &pod, const Component &component, const SlurmJob &ended);

/* nullopt: the annotation does not exist or is not a number. */
std::optional<std::uint32_t> number_in(const Pod &pod, const char *annotation);
/* The rank with which the pod was bound. */
std::optional<std::uint32_t> rank_annotation(const Pod &pod);

/* empty: not bound; entry.pod must be set */
const std::string &bound_node_of(const PodEntry &entry);
PodSide side_of(const PodEntry &entry);
/* The kinds of action that are under way, or that must not be repeated for a moment. */
InFlight in_flight_of(const PodEntry &entry, Now now);
/* The same for a component; entry: set for a pod alone, else nullptr. */
InFlight in_flight_of(const Component &component, const PodEntry *entry, Now now);
std::string namespace_of(const PodEntry *entry); /* empty: nothing is known of the pod */
/* The namespace of a component, by its key. */
std::string namespace_of(const State &state, const PodUid &key);

/* While a pause lasts: set waits_for instead of submitting, and look again when it is over. */
void wait_after_vanishing(const PodUid &key, const Component &component,
	std::optional<Condition> &waits_for, Now now, Findings &found);
/* How long its pods may take to come; 0: for ever. */
std::int64_t late_limit_us(const State &state, const PodUid &key, const Gang &gang);
void wait_after_never_came(
	const PodUid &key, const Gang &gang, ComponentFacts &facts, Now now, Findings &found);
/* Removes pods that leave the gang from the ranks. */
void drop_leaving(ComponentFacts &facts, const Findings &found);
/* If pods run that the end of the job does not concern, they are treated as pods without a job. */
void note_goes_on(ComponentFacts &facts);

/* ---- components of one workload (world/component_facts.cc) ---- */
/* Keys of the known components of a workload, in their order; a workload with a single component
 * has that one. */
std::vector<PodUid> components_of_workload(const State &state, const PodUid &key);
/* Whether a pod of another component of the workload is on a side for which is_so holds. */
bool is_any_of_others(const State &state, const PodUid &key, bool (*is_so)(PodSide));
/* For how long two workloads that hold nodes may be in each other's way, microseconds. */
std::int64_t give_way_us(std::int64_t hold_seconds);

/* ---- jobs of a component (world/job_verdicts.cc) ---- */
std::uint32_t next_attempt(const State &state, const PodUid &key);
bool has_live_job(const State &state, const PodUid &key);

/* The job's pods are out of sight together with so many others (held_absent_pods) that their
 * absence is not believed. */
bool is_held(const State &state, std::size_t held_absent_pods, const SlurmJob *job);

/* ---- members (world/members.cc) ---- */
/* The number of pods that counts for the minimum of a PodGroup: all that exist, including those
 * that have ended or run alone. */
std::size_t pods_of(const State &state, const Gang &gang, const PodUid &key);
/* Bound by us, or about to be. */
bool is_bound_member(const PodEntry &entry);
void note_crowded(Component &component, Crowded crowded);
/* The end of that job says nothing about live pods: see Component::given_up. */
void note_given_up(Component &component, JobId job);
/* Once after another agent has led by the Lease: jobs that have ended say nothing about pods that
 * live, because these had jobs of that agent. */
void forget_old_ends(State &state);
/* For a job that the plugin had never reported. */
void forget_unheard(Component &component, JobId job);
/* The job goes on, although its end was asked for: whatever ends it later concerns its pods. */
void withdraw_end(Component &component, JobId job);
/* For an allocation that is given back: notes all nodes that cannot take the component's pods, with
 * what the pods that were to go there request together. Returns whether nodes of which Slurm shows
 * no record are new among them. */
bool note_nodes_given_back(State &state, Component &component, const ComponentFacts &facts);

/* How long a pod that we bound may be without a job. Snapshots and deltas may cross our own
 * submission, but only for a moment. */
inline constexpr std::int64_t k_missing_job_us = 10'000'000;

} // namespace slurmkube::core

#endif
