/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `skube why node/NAME`: whether Slurm uses a node, who has taken it out of service, which pods are
 * there, and which workloads avoid it. */
#include "src/core/inspect/waits.h"
#include "src/core/inspect/why.h"
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/placement/placement.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

using Lines = std::vector<WhyLine>;

constexpr std::size_t k_named_most = 8;
/* A pod takes about a microsecond to judge. */
constexpr std::size_t k_judged_most = 20'000;

struct NodeStory {
	const World &world;
	const std::string &name;
	const KubeNode *kube;
	const SlurmNode *slurm;
};

std::string named(const Pod &pod)
{
	return pod.name_space + "/" + pod.name;
}

std::string kube_text(const NodeStory &s)
{
	if (!s.kube)
		return s.world.state().sync.is_listed()
			? "no managed node of this name: it does not exist, or lacks the label"
			: "unknown: the list of nodes is not complete yet";
	std::string text = s.kube->ready ? "Ready" : "NotReady";
	if (!s.kube->ready && !s.kube->not_ready_reason.empty())
		text += " (" + s.kube->not_ready_reason + ")";
	text += s.kube->unschedulable ? ", cordoned" : "";
	text += s.kube->deleting ? ", being deleted" : "";
	return text + (s.kube->internal_ip.empty() ? "" : ", address " + s.kube->internal_ip);
}

const char *base_text(NodeBase base)
{
	switch (base) {
	case NodeBase::down:
		return "DOWN";
	case NodeBase::idle:
		return "IDLE";
	case NodeBase::allocated:
		return "ALLOCATED";
	case NodeBase::mixed:
		return "MIXED";
	case NodeBase::error:
		return "ERROR";
	case NodeBase::future:
		return "FUTURE";
	case NodeBase::unknown:
		break;
	}
	return "UNKNOWN";
}

bool is_out_of_service(const SlurmNode &slurm)
{
	return slurm.drain || slurm.base == NodeBase::down || slurm.base == NodeBase::error ||
		slurm.base == NodeBase::future;
}

bool is_ours(const std::string &reason)
{
	return reason.starts_with(names::k_reason_prefix);
}

std::string slurm_text(const NodeStory &s)
{
	if (!s.slurm)
		return s.world.state().sync.has_link()
			? "no record of this node"
			: "unknown: the plugin in slurmctld is not connected";
	return std::string(base_text(s.slurm->base)) + (s.slurm->drain ? "+DRAIN" : "") +
		(s.slurm->not_responding ? "+NOT_RESPONDING" : "") +
		(s.slurm->completing ? "+COMPLETING" : "") + ", " + std::to_string(s.slurm->cpus) +
		" CPUs, " + std::to_string(s.slurm->memory_mib) + " MiB" +
		(s.slurm->gres.empty() ? "" : ", " + s.slurm->gres);
}

/* Why Slurm starts no pod there; or that it may. */
std::string use_text(const NodeStory &s)
{
	if (!s.slurm)
		return "not used: Slurm has no record of the node (skube check, line nodes)";
	if (!is_out_of_service(*s.slurm))
		return s.kube ? "in use: Slurm may start pods here"
			      : "no pod is bound here: Kubernetes does not have the node";
	if (s.slurm->reason.empty())
		return "not used: DRAIN or DOWN without a reason";
	if (is_ours(s.slurm->reason))
		return "not used: this agent took it out of service (" + s.slurm->reason +
			") and returns it when that is over";
	return "not used: an administrator or Slurm took it out of service (" + s.slurm->reason +
		"); the agent leaves it so: scontrol update NodeName=" +
		s.world.state().settings.nodes.names.in_slurm(s.name) + " State=RESUME";
}

std::string taints_text(const NodeStory &s)
{
	std::string text;
	for (const Taint &taint : s.kube ? s.kube->taints : std::vector<Taint>{})
		text += (text.empty() ? "" : "; ") + taint.key +
			(taint.value.empty() ? "" : "=" + taint.value) + ":" + taint.effect +
			(s.world.state().taints.is_tolerated(taint)
					? ", which some pods tolerate"
					: ", which no pod of Slurm tolerates");
	return text;
}

std::string pods_text(const NodeStory &s)
{
	const std::vector<PodUid> holders = s.world.state().occupancy.holders(s.name);
	std::string text = std::to_string(holders.size());
	std::size_t shown = 0;
	for (const PodUid &uid : holders) {
		const Pod *pod = s.world.state().pod(uid);
		if (!pod || shown++ == k_named_most)
			return text + ", ...";
		const SlurmJob *job = s.world.state().job_of(uid);
		text += (shown == 1 ? ": " : ", ") + named(*pod) +
			(job ? " (job " + std::to_string(job->id.number) + ")" : " (no job)") +
			(pod->deleting ? ", terminating" : "");
	}
	return text;
}

std::string others_text(const NodeStory &s)
{
	const Resources held = s.world.state().foreign.held(s.name);
	if (held.pods == 0)
		return {};
	return std::to_string(held.pods) + " pods of other schedulers, which request " +
		std::to_string(held.milli_cpu) + "m CPU and " +
		std::to_string(held.memory_bytes >> 20) + " MiB";
}

/* Waiting pods that may not run on the node, by cause; an example of each. */
struct Avoiding {
	std::map<std::string, std::pair<std::size_t, std::string>> causes;
	bool is_cut = false;
	void add(const std::string &cause, const std::string &pod)
	{
		auto &[count, example] = causes[cause];
		if (count++ == 0)
			example = pod;
	}
};

std::optional<Refusal> refusal_of(const NodeStory &s, const Pod &pod)
{
	if (auto refused = node_refuses(pod, *s.kube))
		return refused;
	return taint_refuses(pod, s.kube->taints, ignored_taints(s.world.state().settings.nodes));
}

Avoiding avoiding(const NodeStory &s)
{
	Avoiding all;
	std::size_t judged = 0;
	for (const auto &[uid, entry] : s.world.state().pods) {
		if (!entry.pod || is_terminal(*entry.pod) || !entry.pod->node_name.empty() ||
			!entry.assumed_node.empty())
			continue;
		if (judged++ == k_judged_most) {
			all.is_cut = true;
			break;
		}
		const Component &component = s.world.state().component_of(uid);
		if (std::ranges::any_of(component.crowded,
			    [&](const Crowded &one) { return one.node == s.name; }))
			all.add("gave it back because it could not take the pod",
				named(*entry.pod));
		else if (const auto refused = s.kube ? refusal_of(s, *entry.pod) : std::nullopt)
			all.add("the node " + refused->why, named(*entry.pod));
	}
	return all;
}

} // namespace

Lines why_node(const World &world, const std::string &name)
{
	const NodeStory s{
		world, name, world.state().kube_node(name), world.state().slurm_node(name)};
	if (!s.kube && !s.slurm)
		return {};
	Lines lines = {{"node", name}, {"use", use_text(s)}, {"kubernetes", kube_text(s)},
		{"slurm", slurm_text(s)}};
	if (s.slurm && !s.slurm->reason.empty())
		lines.push_back({"reason", s.slurm->reason});
	if (const std::string text = taints_text(s); !text.empty())
		lines.push_back({"taints", text});
	lines.push_back({"pods", pods_text(s)});
	if (const std::string text = others_text(s); !text.empty())
		lines.push_back({"others", text});
	const Avoiding avoid = avoiding(s);
	for (const auto &[cause, pods] : avoid.causes)
		lines.push_back({"avoided by",
			std::to_string(pods.first) + " waiting pods, for example " + pods.second +
				": " + cause});
	if (avoid.is_cut)
		lines.push_back({"avoided by",
			"more: only the first " + std::to_string(k_judged_most) +
				" waiting pods were compared"});
	return lines;
}

} // namespace slurmkube::core
