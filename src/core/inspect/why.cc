/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/inspect/why.h"

#include "src/core/inspect/waits.h"
#include "src/core/model/amounts.h"
#include "src/core/model/outcome.h"
#include "src/core/reconcile/report.h"
#include "src/core/world/native_pods.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

using Lines = std::vector<WhyLine>;

const char *phase_text(PodPhase phase)
{
	switch (phase) {
	case PodPhase::pending:
		return "Pending";
	case PodPhase::running:
		return "Running";
	case PodPhase::succeeded:
		return "Succeeded";
	case PodPhase::failed:
		return "Failed";
	case PodPhase::unknown:
		break;
	}
	return "Unknown";
}

std::string pod_text(const PodStory &s)
{
	std::string text = s.pod.name_space + "/" + s.pod.name + ", " +
		(s.is_gone ? "gone" : phase_text(s.pod.phase));
	if (s.pod.deleting && !s.is_gone)
		text += ", being deleted";
	if (s.pod.created > 0)
		text += ", created " + minute_text(s.pod.created);
	return text + ", uid " + s.pod.uid.text;
}

std::string joined(const std::vector<std::string> &list)
{
	std::string all;
	for (const std::string &one : list)
		all += (all.empty() ? "" : ", ") + one;
	return all;
}

std::string rule_text(const PodStory &s)
{
	const auto rule = s.world.state().settings.policy.rule_of(s.pod.name_space);
	if (!rule)
		return rule.error().what;
	std::string text = as_whom(*rule);
	for (const auto &[what, list] : {std::pair("accounts", &rule->accounts),
		     std::pair("QOS", &rule->qos), std::pair("partitions", &rule->partitions)}) {
		if (!list->empty())
			text += std::string("; ") + what + " " + joined(*list);
	}
	return text;
}

std::string gang_text(const PodStory &s)
{
	if (!s.gang)
		return {};
	std::string text = s.gang->id.kind + " " + s.gang->id.name_space + "/" + s.gang->id.name;
	if (const auto rank = s.gang->members.find(s.pod.uid);
		rank != s.gang->members.end() && rank->second)
		text += ", rank " + std::to_string(workload_rank_of(*s.gang, *rank->second)) +
			" of " + std::to_string(workload_size_of(*s.gang));
	if (s.gang->components > 1)
		text += ", component " +
			std::to_string(component_of_key(
				s.entry.component ? s.entry.component->text : "")) +
			" of " + std::to_string(s.gang->components);
	const auto bound =
		std::count_if(s.gang->members.begin(), s.gang->members.end(), [&](const auto &m) {
			const Pod *pod = s.world.state().pod(m.first);
			return pod && !pod->node_name.empty() && !is_terminal(*pod);
		});
	return text + ", " + std::to_string(s.gang->members.size()) + " pods are there, " +
		std::to_string(bound) + " of them bound";
}

std::string asks_text(const PodStory &s)
{
	const auto spec = translate(s.pod, s.world.state().settings.policy, 1);
	if (!spec)
		return "refused: " + spec.error().what;
	const GangShape shape = s.gang ? s.gang->shape : GangShape{};
	const std::uint32_t cpus = shape.tasks > 0 ? shape.cpus_per_task : spec->cpus;
	if (spec->options.native_job > 0)
		return std::to_string(s.pod.requests.milli_cpu) + "m CPU, " +
			std::to_string(memory_mib_of(s.pod.requests, 1)) +
			" MiB of native Slurm job " + std::to_string(spec->options.native_job);
	std::string text = shape.tasks > 0 ? std::to_string(shape.tasks) + " tasks of " : "";
	text += cpus_text(cpus, s.world.state().settings.policy.cpu_unit) + ", " +
		std::to_string(shape.tasks > 0 ? shape.memory_mib_per_task : spec->memory_mib) +
		" MiB, partition " + spec->partition;
	if (!spec->account.empty())
		text += ", account " + spec->account;
	if (!spec->qos.empty())
		text += ", QOS " + spec->qos;
	text += (spec->time_limit_minutes > 0
			? ", " + std::to_string(spec->time_limit_minutes) + " minutes"
			: ", the partition's time limit");
	return text + (shape.excess.empty() ? "" : "; " + shape.excess);
}

std::string job_text(const PodStory &s)
{
	const auto native = native_mark_of(s.entry);
	if (!s.job && native)
		return "none; the pod runs within native Slurm job " +
			std::to_string(native->job.number) + " of uid " +
			std::to_string(native->user_id) + ", started " + minute_text(native->start);
	if (!s.job)
		return "none";
	const SlurmJob &job = *s.job;
	std::string text = std::to_string(job.id.number) + ", " + state_text(job.state);
	if (ended_with_prolog(job))
		text += " before PrologSlurmctld was over";
	else if (job_side(&job) == JobSide::allocated && job.configuring)
		text += ", configuring";
	else if (job.state == JobState::cancelled && job.ended_by)
		text += " by uid " + std::to_string(*job.ended_by);
	text += ", attempt " + std::to_string(job.marker.attempt);
	const std::pair<const char *, std::int64_t> times[] = {
		{", submitted ", job.submit_time},
		{job_side(&job) == JobSide::pending ? ", estimated start " : ", started ",
			job.start_time},
		{", ended ", job_side(&job) == JobSide::ended ? job.end_time : 0},
	};
	for (const auto &[what, time] : times)
		text += time > 0 ? what + minute_text(time) : "";
	return text + (job.priority > 0 ? ", priority " + std::to_string(job.priority) : "");
}

std::string node_text(const PodStory &s)
{
	const auto kube = s.world.state().kube_nodes.find(s.node);
	const auto slurm = s.world.state().slurm_nodes.find(s.node);
	std::string text = s.node;
	text += kube == s.world.state().kube_nodes.end() ? ", not a managed node in Kubernetes"
		: kube->second.ready                     ? ", Ready"
				     : ", not Ready (" + kube->second.not_ready_reason + ")";
	if (slurm == s.world.state().slurm_nodes.end())
		return text + ", unknown in Slurm";
	return text + (slurm->second.drain ? ", drained in Slurm: " + slurm->second.reason : "") +
		(slurm->second.base == NodeBase::down ? ", DOWN in Slurm" : "");
}

std::string avoided_text(const PodStory &s)
{
	std::vector<std::string> names;
	for (const Crowded &one : s.component.crowded)
		names.push_back(one.node);
	return names.empty() ? "" : "nodes whose allocation was given back: " + joined(names);
}

std::string stage_line(const PodStory &s)
{
	if (s.component.stage_since_us == 0)
		return {};
	return std::string(stage_text(s.component.stage)) + " for " +
		seconds_text(s.now.mono_us - s.component.stage_since_us);
}

/* "no room on its node for 12 s" */
std::string clocks_line(const PodStory &s)
{
	std::string text;
	std::set<PodUid> uids = {s.pod.uid, s.world.state().component_key_of(s.pod.uid)};
	for (const PodUid &uid : uids) {
		for (const auto &[clock, since_us] : s.world.clocks().running(uid))
			text += (text.empty() ? "" : "; ") + std::string(clock_text(clock)) +
				" for " + seconds_text(s.now.mono_us - since_us);
	}
	return text;
}

} // namespace

PodStory pod_story(const World &world, const PodEntry &entry, Now now)
{
	const Pod &pod = entry.pod ? *entry.pod : *entry.last;
	return {world, entry, pod, world.state().job_of(pod.uid),
		world.state().component_of(pod.uid), world.state().gang_of(entry),
		pod.node_name.empty() ? entry.assumed_node : pod.node_name, now, !entry.pod};
}

const PodEntry *find_pod(const World &world, const std::string &name_space, const std::string &name)
{
	const PodEntry *best = nullptr;
	for (const auto &[uid, entry] : world.state().pods) {
		const Pod *pod = entry.pod ? &*entry.pod : entry.last ? &*entry.last : nullptr;
		if (pod && pod->name_space == name_space && pod->name == name &&
			(!best || entry.pod))
			best = &entry;
	}
	return best;
}

Lines why(const World &world, const std::string &name_space, const std::string &name, Now now)
{
	const PodEntry *entry = find_pod(world, name_space, name);
	if (!entry)
		return {};
	const PodStory s = pod_story(world, *entry, now);
	const Pod &pod = s.pod;
	Lines lines = {{"pod", pod_text(s)}, {"rule", rule_text(s)}, {"asks for", asks_text(s)},
		{"job", job_text(s)}};
	const auto add = [&lines](const char *about, std::string text) {
		if (!text.empty())
			lines.push_back({about, std::move(text)});
	};
	add("gang", gang_text(s));
	add("stage", stage_line(s));
	add("problem", clocks_line(s));
	if (s.node.empty() && !s.gang && job_side(s.job) == JobSide::allocated &&
		!s.job->nodes.empty()) {
		PodStory there = s;
		there.node = s.job->nodes.front().node;
		add("node", node_text(there));
	} else if (!s.node.empty()) {
		add("node", node_text(s));
	}
	add("waits for", waits_text(s));
	add("avoids", s.node.empty() ? avoided_text(s) : "");
	if (pod.not_scheduled)
		add("says", pod.not_scheduled->reason + ": " + pod.not_scheduled->message);
	if (pod.disruption)
		add("says", pod.disruption->reason + ": " + pod.disruption->message);
	if (s.component.trouble && job_side(s.job) != JobSide::allocated)
		add("trouble", s.component.trouble->message);
	return lines;
}

} // namespace slurmkube::core
