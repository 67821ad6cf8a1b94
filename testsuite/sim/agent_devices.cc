/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent hears of devices and of claims for them. */
#include "testsuite/sim/agent.h"

namespace slurmkube::sim
{

StreamSink<core::ResourceClaim> Agent::claim_sink()
{
	auto out = sink<core::ResourceClaim>();
	out.changed = [this](const Change<core::ResourceClaim> &change) {
		if (!sees_pods())
			return;
		core::ResourceClaim claim = *change.object;
		const auto reader = kube_.pods.find(claim.owner_uid);
		const bool is_bound =
			reader != kube_.pods.end() && !reader->second.api.node_name.empty();
		if (stage_.plant == Plant::blind_claims && is_bound)
			claim.allocation.reset();
		if (change.gone)
			world_->observe(core::ResourceClaimGone{claim.id});
		else
			world_->observe(core::ResourceClaimSeen{std::move(claim)});
		want_round();
	};
	out.listed = [this](const std::set<std::string> &all) {
		world_->observe(
			core::ResourceClaimsListed{sees_pods() ? all : std::set<std::string>{}});
		want_round();
	};
	return out;
}

StreamSink<core::ResourceSlice> Agent::slice_sink()
{
	auto out = sink<core::ResourceSlice>();
	out.changed = [this](const Change<core::ResourceSlice> &change) {
		if (!sees_nodes())
			return;
		if (change.gone)
			world_->observe(core::SliceGone{change.object->name}, stage_.agent_now());
		else
			world_->observe(core::SliceSeen{*change.object}, stage_.agent_now());
		want_round();
	};
	out.listed = [this](const std::set<std::string> &all) {
		world_->observe(core::SlicesListed{sees_nodes() ? all : std::set<std::string>{}},
			stage_.agent_now());
		want_round();
	};
	return out;
}

} // namespace slurmkube::sim
