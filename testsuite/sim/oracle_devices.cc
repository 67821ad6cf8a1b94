/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Invariants of devices and of claims for them. */
#include "src/core/device/inventory.h"
#include "src/core/model/index_list.h"
#include "src/core/model/outcome.h"
#include "testsuite/sim/oracle.h"

#include <algorithm>

namespace slurmkube::sim
{

namespace
{

std::string text_of(const std::vector<core::DeviceId> &devices)
{
	std::string out;
	for (const core::DeviceId &one : devices)
		out += (out.empty() ? "" : ", ") + one.name + " of " + one.pool.name;
	return out.empty() ? "none" : out;
}

/* What the indices of the job mean by the list in the node's record. */
std::vector<core::DeviceId> devices_of(const core::NodeAllocation &share,
	const SlurmNodeTruth &record, const core::DeviceRule &rule)
{
	std::vector<core::DeviceId> out;
	const auto frozen =
		core::frozen_devices(record.facts.extra.value_or(""), rule, record.facts.name);
	for (const core::Gres &gres : share.gres) {
		const auto indices = core::indices_of(gres.indices);
		for (const std::uint32_t index : *indices)
			out.push_back(index < frozen.size() ? frozen[index] : core::DeviceId());
	}
	std::ranges::sort(out);
	return out;
}

std::vector<core::DeviceId> devices_of(const core::ResourceClaim &claim)
{
	std::vector<core::DeviceId> out;
	if (!claim.allocation)
		return out;
	for (const core::DeviceResult &one : claim.allocation->results)
		out.push_back(one.device);
	std::ranges::sort(out);
	return out;
}

} // namespace

/* Whatever happened before, no device is in two pods. A kubelet that is away is not asked. */
void Oracle::prepared(const PodTruth &pod)
{
	for (const auto &[uid, other] : kube_.pods) {
		if (uid == pod.api.uid.text || !other.has_containers || other.is_lost ||
			Devices::is_common(pod, other))
			continue;
		for (const core::DeviceId &one : other.used) {
			if (std::ranges::find(pod.used, one) != pod.used.end())
				stage_.violated("D two",
					"pods " + name_of(other) + " and " + name_of(pod) +
						" both have " + text_of({one}));
		}
	}
}

bool Oracle::is_used_by_bound(const core::ResourceClaim &claim) const
{
	return std::ranges::any_of(claim.reserved_for, [&](const std::string &uid) {
		const auto user = kube_.pods.find(uid);
		return user != kube_.pods.end() && !user->second.api.node_name.empty();
	});
}

/* A pod that is being bound. The controller ends the claim of a pod that is done. */
void Oracle::check_claim(const PodTruth &pod, const JobTruth &job, const std::string &node)
{
	const auto record = slurm_.state.nodes.find(node);
	if (pod.devices == 0 || !sim::is_live(pod) || pod.api.deleting ||
		!pod.api.node_name.empty() || record == slurm_.state.nodes.end())
		return;
	const core::ResourceClaim *claim = devices_.claim_of(pod);
	const auto wanted =
		devices_of(*share_of(job, node), record->second, devices_.rules().front());
	const auto given = claim ? devices_of(*claim) : std::vector<core::DeviceId>();
	const bool is_shared = claim && claim->owner_uid.empty();
	const bool is_reserved = claim &&
		(is_shared ? std::ranges::find(claim->reserved_for, pod.api.uid.text) !=
					claim->reserved_for.end()
			   : claim->reserved_for == std::vector<std::string>{pod.api.uid.text});
	const std::size_t count =
		is_shared ? static_cast<std::size_t>(claim->requests.front().count) : pod.devices;
	/* the pods that run may have lost the job that had their devices */
	const bool is_of_job =
		std::ranges::includes(wanted, given) || (is_shared && is_used_by_bound(*claim));
	if (given.size() != count || !is_of_job || !is_reserved)
		stage_.violated("D bind",
			"pod " + name_of(pod) + " is bound with " + text_of(given) + ", and job " +
				std::to_string(job.facts.id.number) + " has " + text_of(wanted));
}

void Oracle::check_devices()
{
	for (const auto &[id, claim] : devices_.claims) {
		const std::string user = !claim.owner_uid.empty() ? claim.owner_uid
			: claim.reserved_for.empty()              ? ""
								  : claim.reserved_for.back();
		const auto found = kube_.pods.find(user);
		if (!claim.allocation || found == kube_.pods.end() ||
			(claim.owner_uid.empty() && is_used_by_bound(claim)))
			continue;
		const PodTruth &pod = found->second;
		const bool waits = sim::is_live(pod) && pod.api.node_name.empty();
		const auto live = live_jobs_for(pod);
		const bool has_nodes = std::ranges::any_of(live, [](const JobTruth *job) {
			return core::job_side(&job->facts) == core::JobSide::allocated;
		});
		if (waits && !has_nodes)
			stage_.violated("D left",
				"pod " + name_of(pod) + " waits, and its claim keeps " +
					text_of(devices_of(claim)));
	}
}

} // namespace slurmkube::sim
