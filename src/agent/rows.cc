/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/rows.h"

#include "src/codec/link.h"
#include "src/core/model/outcome.h"
#include "src/core/world/native_pods.h"

namespace slurmkube::agent
{

using codec::Json;
using codec::new_object;
using codec::put;
using core::Selectable;

namespace
{

const char *phase_text(core::PodPhase phase)
{
	switch (phase) {
	case core::PodPhase::pending:
		return "Pending";
	case core::PodPhase::running:
		return "Running";
	case core::PodPhase::succeeded:
		return "Succeeded";
	case core::PodPhase::failed:
		return "Failed";
	case core::PodPhase::unknown:
		break;
	}
	return "Unknown";
}

std::string node_of(const core::PodEntry &entry)
{
	return entry.pod->node_name.empty() ? entry.assumed_node : entry.pod->node_name;
}

std::string slurm_state_text(const core::SlurmNode *node)
{
	if (!node)
		return "absent";
	std::string text = codec::to_name(node->base);
	for (const auto &[flag, name] : {std::pair(node->drain, "+drain"),
		     std::pair(node->not_responding, "+not_responding"),
		     std::pair(node->completing, "+completing")})
		text += flag ? name : "";
	return text;
}

const char *kube_state_text(const core::World &world, const core::KubeNode *kube)
{
	if (kube)
		return kube->ready ? "Ready" : "NotReady";
	return world.state().sync.is_listed() ? "absent" : "unknown";
}

} // namespace

std::int64_t PodUsers::of(const core::Pod &pod, const core::SlurmJob *job)
{
	if (job)
		return job->user_id;
	const auto known = by_namespace_.find(pod.name_space);
	if (known != by_namespace_.end())
		return known->second;
	const auto rule = policy_.rule_of(pod.name_space);
	return by_namespace_[pod.name_space] = rule ? std::int64_t{rule->user_id} : -1;
}

Json job_row(const core::SlurmJob &job)
{
	Json row = new_object();
	put(row.get(), "id", job.id.number);
	put(row.get(), "namespace", job.marker.name_space);
	put(row.get(), "pod", job.marker.name);
	put(row.get(), "uid", job.marker.uid);
	put(row.get(), "attempt", job.marker.attempt);
	put(row.get(), "state", codec::to_name(job.state));
	put(row.get(), "reason", job.reason);
	put(row.get(), "node", job.nodes.empty() ? std::string() : job.nodes.front().node);
	put(row.get(), "user_id", job.user_id);
	put(row.get(), "partition", job.partition);
	put(row.get(), "submit_time", job.submit_time);
	put(row.get(), "start_time", job.start_time);
	put(row.get(), "end_time", job.end_time);
	put(row.get(), "exit_status", job.exit_status);
	put(row.get(), "kind", job.marker.kind);
	put(row.get(), "account", job.account);
	put(row.get(), "priority", job.priority);
	put(row.get(), "node_count", static_cast<std::int64_t>(job.nodes.size()));
	return row;
}

Selectable selectable(const core::SlurmJob &job)
{
	Selectable row{.name_space = job.marker.name_space,
		.states = {core::slurm_state_name(job.state)},
		.user = job.user_id};
	if (job.completing)
		row.states.emplace_back("COMPLETING");
	for (const core::NodeAllocation &one : job.nodes)
		row.nodes.push_back(one.node);
	return row;
}

Json pod_row(const core::PodEntry &entry, const core::SlurmJob *job, std::int64_t user)
{
	const core::Pod &pod = *entry.pod;
	const bool waits = node_of(entry).empty() && !core::is_terminal(pod);
	Json row = new_object();
	put(row.get(), "namespace", pod.name_space);
	put(row.get(), "name", pod.name);
	put(row.get(), "uid", pod.uid.text);
	put(row.get(), "phase", phase_text(pod.phase));
	put(row.get(), "node", node_of(entry));
	put(row.get(), "job", job ? job->id.number : 0);
	if (const auto native = core::native_mark_of(entry); native && !job)
		put(row.get(), "native_job", native->job.number);
	put(row.get(), "job_state", job ? codec::to_name(job->state) : "none");
	put(row.get(), "waiting_for", waits ? entry.reported.message : std::string());
	put(row.get(), "created", pod.created);
	put(row.get(), "partition", job ? job->partition : std::string());
	if (user >= 0)
		put(row.get(), "user_id", user);
	return row;
}

Selectable selectable(const core::PodEntry &entry, const core::SlurmJob *job, std::int64_t user)
{
	const core::Pod &pod = *entry.pod;
	Selectable row{.name_space = pod.name_space,
		.labels = &pod.labels,
		.states = {core::upper(phase_text(pod.phase))},
		.user = user,
		.nodes = {node_of(entry)},
		.has_ended = core::is_terminal(pod)};
	if (job && !core::is_phase_name(core::slurm_state_name(job->state)))
		row.states.emplace_back(core::slurm_state_name(job->state));
	if (job && job->completing)
		row.states.emplace_back("COMPLETING");
	return row;
}

Json node_row(const core::World &world, const std::string &name, const core::KubeNode *kube,
	const core::SlurmNode *slurm)
{
	Json row = new_object();
	put(row.get(), "name", name);
	put(row.get(), "kube_ready", kube && kube->ready);
	put(row.get(), "kube_state", kube_state_text(world, kube));
	put(row.get(), "cordoned", kube && kube->unschedulable);
	put(row.get(), "slurm_state", slurm_state_text(slurm));
	put(row.get(), "slurm_reason", slurm ? slurm->reason : std::string());
	put(row.get(), "cpus", slurm ? slurm->cpus : 0);
	put(row.get(), "memory_mib", slurm ? slurm->memory_mib : 0);
	put(row.get(), "pods", static_cast<std::int64_t>(world.state().occupancy.pods_on(name)));
	put(row.get(), "kind", !slurm ? "" : slurm->is_hybrid ? "hybrid" : "external");
	put(row.get(), "slurm_name", world.names().in_slurm(name));
	put(row.get(), "address", kube ? kube->internal_ip : std::string());
	put(row.get(), "features", slurm ? slurm->features : std::string());
	put(row.get(), "gres", slurm ? slurm->gres : std::string());
	return row;
}

Selectable selectable(const core::World &world, const std::string &name, const core::KubeNode *kube,
	const core::SlurmNode *slurm)
{
	Selectable row{.labels = kube ? &kube->labels : nullptr,
		.states = {core::upper(kube_state_text(world, kube)),
			slurm ? core::upper(codec::to_name(slurm->base)) : "ABSENT"},
		.nodes = {name}};
	for (const auto &[flag, word] : {std::pair(kube && kube->unschedulable, "CORDONED"),
		     std::pair(slurm && slurm->drain, "DRAIN"),
		     std::pair(slurm && slurm->not_responding, "NOT_RESPONDING"),
		     std::pair(slurm && slurm->completing, "COMPLETING")})
		if (flag)
			row.states.emplace_back(word);
	return row;
}

} // namespace slurmkube::agent
