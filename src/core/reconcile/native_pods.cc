/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/reconcile/native_pods.h"

#include "src/core/model/amounts.h"
#include "src/core/options/options.h"
#include "src/core/reconcile/report_native.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

Error refused(std::string why)
{
	return {Errc::invalid, std::move(why)};
}

Error waits(std::string why)
{
	return {Errc::again, std::move(why)};
}

std::uint64_t memory_of(const Pod &pod)
{
	return memory_mib_of(pod.requests, 1);
}

/* The only options that such a pod may have. */
bool is_native_option(std::string_view name)
{
	return name == "job" || name == "gang";
}

std::string other_option(const JobSpec &spec)
{
	for (const Option &option : options()) {
		if (is_given(option.name, spec) && !is_native_option(option.name))
			return std::string(option.name);
	}
	return {};
}

/* As many as the kubelet admits, in proportion to the job's part of the node; at least one. */
std::size_t pods_max(const NativeJob &job, const NativeNode &node)
{
	const std::uint64_t cpus = std::max<std::uint64_t>(node.record->cpus, 1);
	const auto all =
		static_cast<std::uint64_t>(std::max<std::int64_t>(node.kube->allocatable.pods, 0));
	const std::uint64_t part = all * std::min<std::uint64_t>(job.cpus, cpus) / cpus;
	return std::clamp<std::size_t>(part, 1, k_pods_per_native_job);
}

Status check_size(const NativeJob &job, const Pod &pod, const NativeUse &others)
{
	const auto cpu = std::int64_t{job.cpus} * k_whole_cpu;
	const std::uint64_t memory = memory_of(pod);
	if (job.memory_mib == 0)
		return refused(native_text::no_memory(job));
	if (pod.requests.milli_cpu > cpu || memory > job.memory_mib)
		return refused(native_text::too_large(job, pod.requests.milli_cpu, memory));
	if (others.milli_cpu + pod.requests.milli_cpu > cpu ||
		others.memory_mib + memory > job.memory_mib)
		return waits(native_text::no_room_in_job(job));
	return Ok{};
}

Status check_node(const NativeJob &job, const NativeNode &node)
{
	const std::string &name = job.nodes.front();
	if (!node.record || !node.record->is_hybrid)
		return refused(native_text::not_hybrid(job));
	if (!node.kube || !node.kube->ready || !node.place.is_usable)
		return waits(native_text::node_not_ready(job));
	if (node.kube->unschedulable)
		return waits(native_text::node_refuses(job, name + " is cordoned"));
	if (!node.place.forbidden.empty())
		return waits(native_text::node_refuses(job, name + " " + node.place.forbidden));
	if (!node.place.has_room)
		return waits(native_text::node_full(job, node.place.room_holder));
	if (node.place.claim_step)
		return refused(native_text::unbound_claim(claim_name_of(*node.place.claim_step)));
	if (!node.place.claim_wait.empty())
		return waits(node.place.claim_wait);
	return Ok{};
}

} // namespace

Status check_native_pod(const Pod &pod, const JobSpec &spec)
{
	if (const std::string other = other_option(spec); !other.empty())
		return refused(native_text::other_option(other));
	const auto is_device = [](const auto &one) {
		return one.second > 0 && one.first != "ephemeral-storage";
	};
	if (!pod.resource_claims.empty() || std::ranges::any_of(pod.requests.extended, is_device))
		return refused(native_text::devices());
	if (pod.has_memory_volume)
		return refused(native_text::memory_volume());
	if (pod.requests.memory_bytes <= 0)
		return refused(native_text::no_memory_request());
	if (pod.termination_grace_seconds > k_native_grace_seconds)
		return refused(native_text::long_grace(k_native_grace_seconds));
	return Ok{};
}

Result<const NativeJob *> native_job_for(const JobSpec &spec, const NativeAnswer *answer)
{
	const JobId id{spec.options.native_job};
	if (!answer)
		return waits(native_text::not_asked(id));
	if (!answer->ok() && answer->error().code != Errc::not_found)
		return waits(native_text::no_answer(id));
	if (!answer->ok() || (*answer)->mark.user_id != spec.user_id)
		return refused(native_text::unknown_job(id, spec.as_whom));
	const NativeJob &job = **answer;
	if (job.is_of_pod || job.is_het || job.described > k_array_tasks_max)
		return refused(native_text::wrong_kind(job));
	switch (job.state) {
	case JobState::pending:
		return waits(native_text::not_started(job));
	case JobState::suspended:
		return waits(native_text::suspended(job));
	case JobState::running:
		break;
	default:
		return job.state == JobState::unknown ? waits(native_text::no_answer(id))
						      : refused(native_text::has_ended(job));
	}
	if (job.completing)
		return refused(native_text::has_ended(job));
	if (job.configuring)
		return waits(native_text::in_prolog(job));
	if (!job.unsuitable.empty())
		return refused(native_text::unsuitable(job));
	if (job.is_shared)
		return refused(native_text::shared(job));
	if (job.nodes.size() != 1)
		return refused(native_text::several_nodes(job));
	return &job;
}

Result<NativePlace> place_in(
	const NativeJob &job, const Pod &pod, const NativeUse &others, const NativeNode &node)
{
	if (const Status fits = check_size(job, pod, others); !fits)
		return fits.error();
	if (const Status usable = check_node(job, node); !usable)
		return usable.error();
	if (others.pods >= pods_max(job, node))
		return waits(native_text::too_many_pods(job, pods_max(job, node)));
	return NativePlace{job.mark, job.nodes.front(), job.cpus, memory_of(pod)};
}

NativeVerdict judge_bound(const NativeMark &mark, const std::string &node,
	const NativeAnswer *answer, const std::string &cluster)
{
	if (!answer || mark.cluster != cluster ||
		(!answer->ok() && answer->error().code != Errc::not_found))
		return {};
	if (!answer->ok())
		return {NativeEnd::doubted, Eviction::unknown, "is not known to Slurm any more"};
	const NativeJob &job = **answer;
	if (job.state == JobState::unknown)
		return {};
	if (job.mark != mark)
		return {NativeEnd::doubted, Eviction::unknown,
			"has ended or was queued again; the number is another one's now"};
	if (job.state == JobState::suspended)
		return {NativeEnd::certain, Eviction::preempted, "is suspended"};
	if (job.state == JobState::pending)
		return {NativeEnd::doubted, Eviction::unknown, "is pending again"};
	if (job.state != JobState::running)
		return {NativeEnd::certain, eviction_of(job.state),
			std::string("has ended (") + state_text(job.state) + ")"};
	if (job.completing)
		return {NativeEnd::certain, Eviction::completed, "is completing"};
	if (std::ranges::find(job.nodes, node) == job.nodes.end())
		return {NativeEnd::left_node, Eviction::unknown, "has left node " + node};
	return {};
}

bool may_start(const NativeAnswer *answer)
{
	return answer && answer->ok() &&
		((*answer)->state == JobState::pending || (*answer)->state == JobState::running ||
			(*answer)->state == JobState::suspended);
}

} // namespace slurmkube::core
