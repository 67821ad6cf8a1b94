/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/reconcile/report_parts.h"

namespace slurmkube::core
{

std::string job_text(const SlurmJob &job)
{
	return "Slurm job " + std::to_string(job.id.number);
}

std::string claims_unread(const std::string &why)
{
	return "its volume claims have not been read yet" + (why.empty() ? "" : ": " + why);
}

std::string claim_in_use(const std::string &claim, const Pod &user)
{
	return "volume claim " + claim + " is ReadWriteOncePod and in use by " + user.name_space +
		"/" + user.name;
}

std::string claim_not_shared(const std::string &claim, const GangId &gang)
{
	return "volume claim " + claim + " is ReadWriteOncePod: pods of " + gang.kind + " " +
		gang.name + " that start together cannot share it";
}

std::string claim_being_bound(const std::string &claim)
{
	return "volume claim " + claim + " is being bound for it";
}

std::string claim_not_bound_in_time(const std::string &claim, std::int64_t seconds)
{
	return "has not got volume claim " + claim + " bound within " + std::to_string(seconds) +
		" s";
}

std::string resource_claims_unread(const std::string &why)
{
	return "its resource claims and the devices of nodes have not been read yet" +
		(why.empty() ? "" : ": " + why);
}

std::string resource_claim_not_made(const std::string &name)
{
	return "Kubernetes has not made its resource claim " + name + " from the template yet";
}

std::string resource_claim_missing(const std::string &claim)
{
	return "resource claim " + claim + " does not exist";
}

std::string resource_claim_ends(const std::string &claim)
{
	return "resource claim " + claim + " is being deleted";
}

std::string resource_claim_not_own(const std::string &claim)
{
	return "resource claim " + claim + " was made for another pod";
}

std::string resource_claim_in_use(const std::string &claim)
{
	return "resource claim " + claim +
		" is in use by other pods: only pods that share a Slurm job can share its devices";
}

std::string resource_claim_being_written(const std::string &claim)
{
	return "resource claim " + claim + " is being allocated for it";
}

namespace
{

std::string deletion_of(const ResourceClaimId &claim)
{
	return "kubectl delete resourceclaim " + claim.name + " -n " + claim.name_space;
}

} // namespace

std::string extended_claim_name_taken(const ResourceClaimId &claim)
{
	return "resource claim " + claim.name +
		" exists, and it is not the claim of this pod: delete it, and the agent makes "
		"that of the pod: " +
		deletion_of(claim);
}

std::string extended_claim_differs(const ResourceClaimId &claim, const std::string &resources)
{
	return "resource claim " + claim.name + " of the pod does not ask for " + resources +
		": delete it, and the agent makes another one: " + deletion_of(claim);
}

std::string extended_claim_being_mapped(const std::string &claim)
{
	return "resource claim " + claim +
		" is being written into status.extendedResourceClaimStatus of the pod, which "
		"needs Kubernetes 1.36 or later, or its feature gate DRAExtendedResource";
}

std::string offered_by_plugin(const std::string &resource)
{
	return "offers " + resource + " by a device plugin, and the pod gets it by a DeviceClass";
}

std::string device_in_use(const std::string &device, const std::string &claim)
{
	return "device " + device + " is still allocated for resource claim " + claim;
}

std::string device_being_vacated(const std::string &device)
{
	return "device " + device +
		" may still be used by containers of a pod that was deleted by force";
}

std::string cannot_be_used(const std::string &why)
{
	return "cannot be used: " + why;
}

std::string holder_ends(const std::string &pod)
{
	return "an earlier pod is still ending: " + pod;
}

std::string holder_runs(const std::string &pod, const SlurmJob *job)
{
	const std::string text = "an earlier pod still runs: " + pod;
	if (!job)
		return text;
	const std::string number = std::to_string(job->id.number);
	if (job->state == JobState::suspended)
		return text + ". Slurm has suspended its job " + number +
			", which stops no pod: an administrator should set PreemptMode=CANCEL for "
			"its "
			"partition";
	return text + ", and its job " + number +
		" runs as well: has the partition OverSubscribe=FORCE?";
}

std::string owner_unanswered(
	const std::string &kind, const std::string &name, const std::string &why)
{
	return kind + " " + name + ": " + (why.empty() ? "it does not exist yet" : why);
}

} // namespace slurmkube::core
