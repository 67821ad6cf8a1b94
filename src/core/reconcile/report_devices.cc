/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conditions of pods that wait for devices of resource claims. */
#include "src/core/model/names.h"
#include "src/core/reconcile/report.h"
#include "src/core/reconcile/report_parts.h"

namespace slurmkube::core
{

Condition waiting_for_device(const SlurmJob &job, const std::string &node, const std::string &what)
{
	return {names::k_reason_device, job_text(job) + " has node " + node + "; " + what};
}

Condition waiting_for_devices(std::string trouble)
{
	return {names::k_reason_device, std::move(trouble)};
}

std::string shared_claim_of_jobs(const std::string &claim, const GangId &gang)
{
	return "resource claim " + claim + " is named by pods of several Slurm jobs of " +
		gang.kind + " " + gang.name +
		", and only pods of one job can share it: give these roles the same node "
		"constraints and devices, or each role another claim";
}

std::string shared_claim_of_many(const std::string &claim, const GangId &gang, std::size_t pods)
{
	return "resource claim " + claim + " is named by " + std::to_string(pods) + " pods of " +
		gang.kind + " " + gang.name +
		", and a claim can be reserved for 256: use fewer pods, or "
		"resourceClaimTemplateName";
}

std::string shared_claim_on_nodes(const std::string &claim, std::uint32_t min_nodes)
{
	return "min-nodes " + std::to_string(min_nodes) + ": the pods share resource claim " +
		claim +
		", whose devices are on one node; leave it out, or use "
		"resourceClaimTemplateName";
}

std::string on_one_node(const std::string &gres)
{
	return " on one node" + (gres.empty() ? "" : " with " + gres) +
		" (the pods share a resource claim)";
}

std::string claims_and_gres(const std::string &gres)
{
	return "the resource claims and option gres or resources of the pods both ask for GRES " +
		gres + ": leave one of them out";
}

std::string no_node_for_shared(const std::string &claim, const std::string &reasons)
{
	return "no node may take the pods that share resource claim " + claim + ": " + reasons;
}

} // namespace slurmkube::core
