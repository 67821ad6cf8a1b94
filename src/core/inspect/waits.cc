/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/inspect/waits.h"

#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/world/native_pods.h"
#include "src/core/world/pod_claims.h"

#include <algorithm>

namespace slurmkube::core
{

std::string seconds_text(std::int64_t us)
{
	return std::to_string((std::max<std::int64_t>(us, 0) + 999'999) / 1'000'000) + " s";
}

namespace
{

std::string agent_waits(const World &world)
{
	if (!world.state().sync.has_link())
		return "slurmctld: its plugin is not connected to this agent (skube check)";
	if (!world.state().is_cluster_known() || world.state().holds_other_cluster())
		return "the agent to be sure of its Kubernetes cluster (skube check)";
	if (!world.state().has_lease())
		return "the lease of this agent: another Slurm cluster may serve the pod (skube "
		       "check)";
	return world.state().is_known()
		? ""
		: "the first complete lists of pods and nodes (skube check)";
}

std::string claims_wait(const PodStory &s)
{
	if (s.claims_of_gang)
		return *s.claims_of_gang;
	return s.gang ? claim_trouble_of_gang(s.world.state(), *s.gang)
		      : claim_trouble(s.world.state(), s.pod.uid, s.pod);
}

std::string submission_waits(const PodStory &s)
{
	const auto spec = translate(s.pod, s.world.state().settings.policy, 1);
	if (!spec && spec.error().code == Errc::again)
		return spec.error().what;
	if (!spec)
		return "somebody who changes the pod, its namespace or the configuration";
	if (spec->options.native_job > 0)
		return s.entry.reported.message.empty()
			? "native Slurm job " + std::to_string(spec->options.native_job)
			: s.entry.reported.message;
	const bool asks_owner = !s.entry.grouping_known;
	if (std::string owner = asks_owner ? s.world.wanted_owner(s.pod.uid) : ""; !owner.empty())
		return owner;
	if (s.gang && s.gang->ranks.empty())
		return "other pods of the gang: " + std::to_string(s.gang->members.size()) +
			" of at least " + std::to_string(s.gang->minimum) + " are there";
	if (const std::string claims = claims_wait(s); !claims.empty())
		return "its volume claims: " + claims;
	if (s.component.busy.slurm)
		return "slurmctld's answer to the submission";
	if (s.component.retries.retry_at_us > s.now.mono_us)
		return "the next try, in " +
			seconds_text(s.component.retries.retry_at_us - s.now.mono_us) +
			(s.component.trouble ? "; " + s.component.trouble->message : "");
	if (s.gang && s.gang->components > 1 && !s.entry.reported.message.empty())
		return s.entry.reported.message;
	return "its submission to Slurm";
}

/* The time that is left until the pod's place is given up; empty: it is not limited at present. */
std::string rest_text(const PodStory &s, std::int64_t limit_us, const char *words)
{
	const std::int64_t since_us = s.gang ? s.world.clocks().since(s.pod.uid, Clock::placeless)
					     : s.world.clocks().since(s.pod.uid, Clock::room);
	return since_us == 0 ? "" : words + seconds_text(since_us + limit_us - s.now.mono_us);
}

/* What keeps a pod with an allocation from its volumes; empty: nothing. */
std::string claim_waits(const PodStory &s, const KubeNode &node)
{
	const State &state = s.world.state();
	if (s.pod.constraints.claims.empty())
		return {};
	if (std::string trouble = claim_trouble(state, s.pod.uid, s.pod); !trouble.empty())
		return "its volume claims: " + trouble;
	const ClaimPlan plan = state.claims.known().plan(s.pod, node);
	if (plan.steps.empty() && plan.awaited.empty())
		return {};
	return "volume claim " +
		(plan.steps.empty() ? plan.awaited.front().name
				    : claim_name_of(plan.steps.front())) +
		" to be bound for node " + node.name;
}

std::string prolog_waits(const PodStory &s, const std::string &node)
{
	const State &state = s.world.state();
	const std::string job = ", which runs for job " + std::to_string(s.job->id.number);
	if (!is_hybrid(state.slurm_node(node)))
		return "PrologSlurmctld" + job;
	return "Prolog on node " + node + job +
		"; a job whose Prolog is not over after limits.prolog_wait_seconds (" +
		seconds_text(state.settings.prolog_wait_us) + ") is given back";
}

std::string binding_waits(const PodStory &s)
{
	if (s.entry.busy.bind)
		return "the API server's answer to the binding";
	const Settings &settings = s.world.state().settings;
	if (s.gang) /* the pod's node is decided only when it is bound */
		return "its binding to a node of the gang's allocation" +
			(s.entry.reported.message.empty() ? "" : ": " + s.entry.reported.message) +
			rest_text(s, settings.gang_wait_us, "; it gets a job of its own in ");
	const std::string rest = rest_text(s, settings.room_wait_us, ", for at most another ");
	const std::string node = s.job->nodes.empty() ? "" : s.job->nodes.front().node;
	const auto kube = s.world.state().kube_nodes.find(node);
	if (kube == s.world.state().kube_nodes.end() || !kube->second.ready)
		return "node " + node + " to be Ready in Kubernetes" + rest;
	if (!s.world.state().occupancy.has_room(node, kube->second.allocatable, s.pod.requests))
		return "room on node " + node + ": " +
			std::to_string(s.world.state().occupancy.pods_on(node)) +
			" pods are there, terminating ones included" + rest;
	if (s.job->configuring)
		return prolog_waits(s, node);
	if (const std::string claims = claim_waits(s, kube->second); !claims.empty())
		return claims;
	if (s.entry.retries.retry_at_us > s.now.mono_us)
		return "the next try of the binding, in " +
			seconds_text(s.entry.retries.retry_at_us - s.now.mono_us);
	return "its binding to node " + node;
}

std::string unbound_waits(const PodStory &s)
{
	if (s.entry.reported.reason == names::k_reason_device)
		return s.entry.reported.message;
	switch (job_side(s.job)) {
	case JobSide::none:
	case JobSide::ended:
		return submission_waits(s);
	case JobSide::pending:
		return s.job->held ? "the job to be released (scontrol release)"
				   : "Slurm's queue: " +
				(s.job->reason.empty() ? "not looked at yet" : s.job->reason);
	case JobSide::allocated:
		break;
	}
	return binding_waits(s);
}

} // namespace

std::string waits_text(const PodStory &s)
{
	const JobSide job = job_side(s.job);
	const std::string agent = agent_waits(s.world);
	if (!agent.empty())
		return agent;
	switch (s.is_gone ? PodSide::absent : pod_side(&s.pod, s.node)) {
	case PodSide::gated:
		return "its scheduling gates to be removed";
	case PodSide::waiting:
		return unbound_waits(s);
	case PodSide::stopping:
		return "its containers to end";
	case PodSide::running:
		if (job == JobSide::ended)
			return "its deletion, because its job has ended";
		if (job == JobSide::none && !native_mark_of(s.entry))
			return "a new job on its node: Slurm does not know of one";
		return is_starting(s.pod) ? "the kubelet to start it" +
				(s.pod.waiting_reason.empty() ? "" : ": " + s.pod.waiting_reason)
					  : "nothing: it runs";
	case PodSide::absent:
	case PodSide::withdrawn:
	case PodSide::ended:
		break;
	}
	return job == JobSide::pending || job == JobSide::allocated ? "its job to end in Slurm"
								    : "nothing: it has ended";
}

} // namespace slurmkube::core
