/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/lease/lease_text.h"

namespace slurmkube::core
{

namespace
{

constexpr char k_nothing[] = ": nothing is done for any pod, job or node";

std::string controller_text(const LeaseHolder &holder)
{
	return "Slurm cluster " + holder.cluster +
		(holder.host.empty() ? "" : ", slurmctld on " + holder.host);
}

} // namespace

std::string lease_hold_text(const LeaseState &state)
{
	const LeaseHolder holder = state.held.value_or(LeaseHolder{});
	switch (state.standing) {
	case LeaseStanding::other_cluster:
		return "another Slurm cluster schedules these pods: the lease " + state.lease +
			" is held by " + controller_text(holder) + ", and this agent is that of " +
			controller_text(state.self) + k_nothing;
	case LeaseStanding::contested:
		return "two controllers of one Slurm cluster are in control: the lease " +
			state.lease + " is held by " + controller_text(holder) +
			", which took it back from " + controller_text(state.self) + k_nothing;
	case LeaseStanding::undecided:
		return "the lease " + state.lease + " is not known yet" +
			(state.trouble.empty() ? "" : ": " + state.trouble);
	case LeaseStanding::free:
		break;
	}
	return {};
}

std::string lease_hold_remedy(const LeaseState &state)
{
	if (state.standing == LeaseStanding::undecided)
		return "look at the lines API server and rights";
	if (state.standing == LeaseStanding::contested)
		return "one of the two is a copy: stop its slurmctld and slurmkubed. If the other "
		       "one is, this agent takes over within a minute after that";
	return "stop slurmkubed of the cluster that must not schedule here, or correct its "
	       "kubeconfig; if both must, give them different scheduler names and nodes. When the "
	       "other one has stopped, this agent takes over within a minute";
}

std::string lease_trouble_text(const LeaseState &state)
{
	return state.trouble.empty() ? ""
				     : state.trouble +
			"; a second Slurm cluster that schedules the same pods would not "
			"be noticed";
}

std::string lease_trouble_remedy()
{
	return "look at the line API server; if rights are missing: 'skube manifests | kubectl "
	       "apply -f -'";
}

std::string lease_holder_text(const LeaseState &state)
{
	if (!state.held)
		return state.lease + ", held by none";
	return state.lease + ", held by " + controller_text(*state.held) +
		(state.held == state.self ? " (this agent)" : "");
}

} // namespace slurmkube::core
