/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_parts.h - parts of report.h's conditions: jobs, volume claims, and the pods that hold a
 * node.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_REPORT_PARTS_H
#define SLURMKUBE_CORE_RECONCILE_REPORT_PARTS_H

#include "src/core/device/resource_claim.h"
#include "src/core/gang/grouping.h"
#include "src/core/model/job.h"
#include "src/core/model/pod.h"

#include <cstdint>
#include <string>

namespace slurmkube::core
{

/* "Slurm job 12" */
std::string job_text(const SlurmJob &job);

/* The pod waits: "its volume claims have not been read yet: ..." */
std::string claims_unread(const std::string &why);
std::string claim_in_use(const std::string &claim, const Pod &user);
std::string claim_not_shared(const std::string &claim, const GangId &gang);
/* Why the node that the pod was given cannot be used, or not yet. */
std::string claim_being_bound(const std::string &claim);
std::string claim_not_bound_in_time(const std::string &claim, std::int64_t seconds);
/* why: as Kubernetes says it; empty: nothing is known. */
std::string resource_claims_unread(const std::string &why);
/* name: within the pod */
std::string resource_claim_not_made(const std::string &name);
std::string resource_claim_missing(const std::string &claim);
std::string resource_claim_ends(const std::string &claim);
std::string resource_claim_not_own(const std::string &claim);
std::string resource_claim_in_use(const std::string &claim);
/* Why pods that share a job cannot share the claim, with the remedy. */
std::string shared_claim_of_jobs(const std::string &claim, const GangId &gang);
std::string shared_claim_of_many(const std::string &claim, const GangId &gang, std::size_t pods);
std::string shared_claim_on_nodes(const std::string &claim, std::uint32_t min_nodes);
/* " on one node with gpu:2 (...)" */
std::string on_one_node(const std::string &gres);
std::string claims_and_gres(const std::string &gres);
std::string no_node_for_shared(const std::string &claim, const std::string &reasons);
inline constexpr char k_shared_claim_elsewhere[] =
	"pods of its job share a resource claim and must be on one node, and the job has several";
inline constexpr char k_no_cpus_for_gangs[] =
	"its resource claim asks for CPUs, and pods that share a Slurm job cannot have such "
	"claims: annotate their owner with slurm-kube.io/gang: \"false\"";
inline constexpr char k_no_devices[] = "has no devices for its resource claims";
std::string resource_claim_being_written(const std::string &claim);
/* ---- the claim that the agent makes for extended resources ---- */
std::string extended_claim_name_taken(const ResourceClaimId &claim);
/* resources: "resource example.com/gpu (DeviceClass gpu)" */
std::string extended_claim_differs(const ResourceClaimId &claim, const std::string &resources);
std::string extended_claim_being_mapped(const std::string &claim);
/* Why a node is left out. */
std::string offered_by_plugin(const std::string &resource);
inline constexpr char k_devices_of_others[] =
	"the claims of other pods that share its job are not written yet";
inline constexpr char k_devices_not_told[] = "Slurm has not said yet which devices the job has";
std::string device_in_use(const std::string &device, const std::string &claim);
std::string device_being_vacated(const std::string &device);

std::string cannot_be_used(const std::string &why);

/* The pod that holds the node. job: its job if that is still allocated, else nullptr. */
std::string holder_ends(const std::string &pod);
std::string holder_runs(const std::string &pod, const SlurmJob *job);

/* "Job a: it does not exist yet". why: the API server's error, if there was one. */
std::string owner_unanswered(
	const std::string &kind, const std::string &name, const std::string &why);

} // namespace slurmkube::core

#endif
