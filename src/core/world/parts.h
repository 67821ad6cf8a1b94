/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world/parts.h - what the files of World share. Pure.
 */
#ifndef SLURMKUBE_CORE_WORLD_PARTS_H
#define SLURMKUBE_CORE_WORLD_PARTS_H

#include "src/core/world/world.h"

namespace slurmkube::core
{

/* Why a pod gives back its allocation on a node that has lost its label, or is gone. */
inline constexpr char k_not_managed[] = "is no managed node of Kubernetes any more";

/* The attempt whose job the pod was bound under; 0: none. */
std::uint32_t bound_attempt(const Pod &pod);

/* Between the end of one job and the submission of the next for the same work, microseconds. */
std::int64_t pause_before(std::uint32_t attempt);

/* "3 nodes: each has no label a=b; 1 node has ..." */
std::string reasons_text(const std::map<std::string, std::size_t> &reasons);

/* Recheck interval of pods that wait for claims, even without an event. */
inline constexpr std::int64_t k_claim_look_us = 2'000'000;

/* Allocations that one pod or gang gives back to those who are in its place; in a long queue others
 * may take what is let go, again and again. */
inline constexpr unsigned k_give_back_most = 2;
/* Of a node, in texts: "which is ..." */
inline constexpr char k_native_node[] = "is no Kubernetes node in Slurm";

/* SubmittedOptions::exclusions after an update that failed, and may have been done in part. */
inline constexpr char k_exclusions_not_known[] = "?";

/* ---- what a job's end says (world/job_verdicts.cc); of the component that had it ---- */
bool is_answer_lost(const Component &component, const SlurmJob &ended);
bool is_given_up(const Component &component, const SlurmJob &ended);
bool is_about_pod(const Pod &pod, const Component &component, const SlurmJob &ended);

/* Nothing: there is no such annotation, or it is no number. */
std::optional<std::uint32_t> number_in(const Pod &pod, const char *annotation);
/* That the pod was bound with. */
std::optional<std::uint32_t> rank_annotation(const Pod &pod);

const std::string &bound_node_of(const PodEntry &entry); /* of one that has a pod */
PodSide side_of(const PodEntry &entry);
/* What has been started, or is left alone for a moment. */
InFlight in_flight_of(const PodEntry &entry, Now now);
/* The same of its component; entry: of a pod alone, else nullptr. */
InFlight in_flight_of(const Component &component, const PodEntry *entry, Now now);
std::string namespace_of(const PodEntry *entry); /* empty: there is no pod */
/* Of a component, by its key. */
std::string namespace_of(const State &state, const PodUid &key);

/* Instead of the next submission, while a pause is not over; looked at again then. */
void wait_after_vanishing(const PodUid &key, const Component &component,
	std::optional<Condition> &waits_for, Now now, Findings &found);
void wait_after_never_came(
	const PodUid &key, const Gang &gang, ComponentFacts &facts, Now now, Findings &found);
/* Pods that leave are no ranks of the component any more. */
void drop_leaving(ComponentFacts &facts, const Findings &found);
/* What ended had nothing to do with the pods that run: it is as if there were none. */
void note_goes_on(ComponentFacts &facts);

/* ---- components of one workload (world/component_facts.cc) ---- */
/* Those that are known, in their order; of a workload with one, that one. */
std::vector<PodUid> components_of_workload(const State &state, const PodUid &key);
bool is_any_of_others(const State &state, const PodUid &key, bool (*is_so)(PodSide));
/* From one moment on two that hold nodes are in each other's way for long enough, microseconds. */
std::int64_t give_way_us(std::int64_t hold_seconds);

/* ---- jobs of a component (world/job_verdicts.cc) ---- */
std::uint32_t next_attempt(const State &state, const PodUid &key);
bool has_live_job(const State &state, const PodUid &key);

/* Its pods are out of sight with so many others (held_absent_pods) that it is not believed. */
bool is_held(const State &state, std::size_t held_absent_pods, const SlurmJob *job);

/* ---- members (world/members.cc) ---- */
/* What counts for the minimum of a PodGroup: all that exist, those too that have ended or run
 * alone. */
std::size_t pods_of(const State &state, const Gang &gang, const PodUid &key);
/* By us, or about to be. */
bool is_bound_member(const PodEntry &entry);
void note_crowded(Component &component, Crowded crowded);
/* All nodes without room for the component's pods, and what the pods that were to go there need
 * together. */
void note_crowded(Component &component, const ComponentFacts &facts);

/* A pod bound by us without a job: snapshots and deltas may cross our own submission for a moment,
 * never so long. */
inline constexpr std::int64_t k_missing_job_us = 10'000'000;

} // namespace slurmkube::core

#endif
