/* SPDX-License-Identifier: GPL-2.0-or-later */
/* executor_pods.cc - actions of the executor that write or read pods. */
#include "src/agent/executor.h"

#include "src/base/log.h"
#include "src/core/model/amounts.h"
#include "src/core/model/names.h"
#include "src/core/reconcile/report.h"
#include "src/core/reconcile/report_native.h"

#include <memory>
#include <utility>

namespace slurmkube::agent
{

namespace
{

constexpr char k_pod_scheduled[] = "PodScheduled";
constexpr char k_disruption_target[] = "DisruptionTarget";
/* How long a deletion waits for the condition before it. The condition reaches the API server well
 * within this time; its answer takes many times as long when the server is busy. */
constexpr std::chrono::milliseconds k_head_start{20};
/* all annotations of a pod together have 256 KiB, and every pod of a gang carries the list */
constexpr std::size_t k_node_list_bytes = 16 << 10;

/* What a program of a gang needs to know about its rank and its peers. */
void add_gang(const core::World &world, const core::PodUid &pod, std::uint32_t rank,
	std::map<std::string, std::string> &annotations)
{
	const core::PodEntry &member = world.state().pods.at(pod);
	const auto gang = member.component ? world.state().gangs.find(*member.component)
					   : world.state().gangs.end();
	if (gang == world.state().gangs.end())
		return;
	annotations[names::k_allocation_rank] = std::to_string(rank);
	annotations[names::k_allocation_size] =
		std::to_string(core::workload_size_of(gang->second));
	annotations[names::k_allocation_gang] = gang->first.text;
	if (const core::SlurmJob *job = world.state().job_of(pod))
		annotations[names::k_allocation_nodes] =
			core::node_list_of(job->nodes, k_node_list_bytes);
}

/* What a program may need to know about its job. Containers read the annotations by fieldRef
 * (doc/user.md); a missing annotation gives an empty value. */
void add_job(const core::World &world, const core::Bind &action,
	std::map<std::string, std::string> &annotations)
{
	annotations[names::k_allocation_nodes] = action.node;
	const auto found = world.state().jobs.find(action.job);
	if (found == world.state().jobs.end())
		return;
	annotations[names::k_allocation_partition] = found->second.partition;
	annotations[names::k_allocation_account] = found->second.account;
}

/* Leaves out what the next agent can do without, until the rest fits. A user may have
 * made the pod's own annotations longer since the job was submitted. False: nothing fits. */
bool make_fit(std::size_t taken, std::map<std::string, std::string> &annotations)
{
	const auto fits = [&] {
		std::size_t bytes = taken;
		for (const auto &[key, value] : annotations)
			bytes += key.size() + value.size();
		return bytes <= names::k_annotation_bytes_max;
	};
	constexpr std::string_view spare[] = {names::k_allocation_nodes,
		names::k_not_to_evict[0].first, names::k_not_to_evict[1].first,
		names::k_allocation_account, names::k_allocation_partition,
		names::k_allocation_node, names::k_allocation_cpus, names::k_allocation_cluster};
	for (const std::string_view key : spare) {
		if (fits())
			return true;
		annotations.erase(std::string(key));
	}
	return fits();
}

/* The members that an event needs; the pod may be gone when the event is written. */
core::Pod name_only(const core::Pod &pod)
{
	core::Pod name;
	name.uid = pod.uid;
	name.name_space = pod.name_space;
	name.name = pod.name;
	return name;
}

/* The condition with the reason for the deletion. */
kube::PodCondition condition_of(const core::DeletePod &action, core::Now now)
{
	return {.type = action.not_started ? names::k_condition_start_limit : k_disruption_target,
		.status = true,
		.reason = action.disruption.reason,
		.message = action.disruption.message,
		.transition_time = now.wall_s};
}

void log_deletion(
	const core::World &world, const core::Pod &pod, const kube::PodCondition &condition)
{
	const core::SlurmJob *job = world.state().job_of(pod.uid);
	log_audited(LogLevel::info, "deleting",
		with(about(world, pod.uid, job ? job->id : core::JobId{}),
			{{"node", pod.node_name}, {"reason", condition.reason},
				{"message", condition.message}}));
}

} // namespace

kube::BindPod Executor::binding_of(const core::Pod &pod, const core::Bind &action) const
{
	kube::BindPod request;
	request.name_space = pod.name_space;
	request.name = pod.name;
	request.uid = pod.uid.text;
	request.node = action.node;
	request.annotations = {{names::k_allocation_node, action.node},
		{names::k_allocation_cluster, world_.state().settings.policy.cluster}};
	for (const auto &[key, value] : names::k_not_to_evict) {
		if (!pod.annotations.contains(std::string(key)))
			request.annotations.emplace(key, value);
	}
	if (const core::NodeNames &names = world_.names(); !names.has_own_name(action.node) ||
		pod.annotations.contains(names::k_allocation_slurm_node))
		request.annotations.emplace(
			names::k_allocation_slurm_node, names.in_slurm(action.node));
	if (action.native || action.memory_mib > 0)
		request.annotations.emplace(
			names::k_allocation_memory, std::to_string(action.memory_mib));
	if (action.native) {
		request.annotations.emplace(names::k_allocation_job_id, names::k_job_id_native);
		request.annotations.emplace(
			names::k_allocation_native_job, core::text_of(*action.native));
		return request;
	}
	const core::KubeNode *node = world_.state().kube_node(action.node);
	if (core::is_hybrid(world_.state().slurm_node(action.node)) && node &&
		!node->boot_id.empty())
		request.annotations.emplace(names::k_allocation_boot_id, node->boot_id);
	request.annotations.emplace(names::k_allocation_job_id, std::to_string(action.job.number));
	request.annotations.emplace(names::k_allocation_cpus,
		std::to_string(
			core::whole_cpus(action.cpus, world_.state().settings.nodes.cpu_unit)));
	request.annotations.emplace(names::k_allocation_attempt, std::to_string(action.attempt));
	add_job(world_, action, request.annotations);
	if (action.rank)
		add_gang(world_, pod.uid, *action.rank, request.annotations);
	return request;
}

void Executor::bind(const core::PodUid &pod, const core::Bind &action)
{
	const core::Pod *known = world_.state().pod(pod);
	if (!known)
		return world_.answer(
			core::BindAnswered{pod, Error{Errc::not_found, "the pod is gone"}}, now());
	kube::BindPod request = binding_of(*known, action);
	if (!make_fit(known->annotation_bytes, request.annotations))
		return world_.answer(core::BindAnswered{pod,
					     Error{Errc::invalid,
						     "metadata.annotations has no room for the "
						     "job's number: remove "
						     "some of them"}},
			now());
	log_submitted(world_.state().component_key_of(pod), action.job);
	kube_.bind(std::move(request),
		[this, pod, action, name = name_of(world_, pod),
			whom = about(world_, pod, action.job)](const Status &answer) {
			if (answer)
				log_audited(LogLevel::debug, "bound",
					with(whom, {{"node", action.node}}));
			else
				log_failure("binding failed", whom, answer.error());
			if (answer ||
				(answer.error().code != Errc::not_found &&
					answer.error().code != Errc::conflict))
				last_binding_ = {now(), name, answer ? "" : answer.error().what};
			if (const core::Pod *bound = answer ? world_.state().pod(pod) : nullptr)
				kube_.tell(*bound, false, "Binding",
					action.native
						? core::bound_in_native_job(
							  *action.native, action.node)
						: core::bound_to_node(action,
							  world_.state().settings.nodes.cpu_unit));
			world_.answer(core::BindAnswered{pod, answer}, now());
			want_round();
		});
}

void Executor::provide(const core::PodUid &pod, const core::WriteClaim &action)
{
	const std::string what =
		"claim " + core::claim_name_of(action.step) + " " + core::step_text(action.step);
	kube_.provide(action.step,
		[this, pod, whom = with(about(world_, pod, action.job), {{"step", what}})](
			const Status &answer) {
			if (answer)
				log_event(LogLevel::debug, "claim written", whom);
			else
				log_failure("writing a claim failed", whom, answer.error());
			world_.answer(core::WriteClaimAnswered{pod, answer}, now());
			want_round();
		});
}

/* Looks for pods of the gang that this agent does not see. Pods that World has are not counted. */
void Executor::look_for_members(const core::PodUid &key, const std::string &name_space)
{
	const auto gang = world_.state().gangs.find(key);
	if (gang == world_.state().gangs.end())
		return world_.answer(
			core::LookUpAnswered{key, Error{Errc::not_found, "the gang is gone"}},
			now());
	const auto is_member = [this, key, id = gang->second.id](const core::Pod &pod) {
		return !world_.state().pod(pod.uid) && core::may_be_member(pod, key.text, id);
	};
	auto done = [this, key, name = name_of(world_, key)](const Result<bool> &found) {
		if (!found)
			log_warning("looking for pods of gang=%s: %s", name.c_str(),
				found.error().what.c_str());
		else if (*found)
			log_warning("gang=%s has pods that this agent does not see: its job is "
				    "kept. Is scheduler_name right, "
				    "and may the agent watch all pods?",
				name.c_str());
		Result<core::PodLookup> sight = core::PodLookup::absent;
		if (!found)
			sight = found.error();
		else if (*found)
			sight = core::PodLookup::bound;
		world_.answer(core::LookUpAnswered{key, sight}, now());
		want_round();
	};
	kube_.find_pod(name_space, is_member, std::move(done));
}

void Executor::look_up(const core::PodUid &pod, const core::LookUp &action)
{
	if (action.name.empty())
		return look_for_members(pod, action.name_space);
	kube_.get_pod(action.name_space, action.name, [this, pod](const Result<core::Pod> &found) {
		const bool is_absent =
			found ? found->uid.text != pod.text : found.error().code == Errc::not_found;
		if (is_absent)
			world_.answer(core::LookUpAnswered{pod, core::PodLookup::absent}, now());
		else if (found)
			world_.answer(core::LookUpAnswered{pod,
					      found->node_name.empty() ? core::PodLookup::unbound
								       : core::PodLookup::bound},
				now());
		else
			world_.answer(core::LookUpAnswered{pod, found.error()}, now());
		want_round();
	});
}

/* about: a pod with the members that name_only() keeps. */
void Executor::note_removal(const core::PodUid &pod, const core::Pod &about,
	const core::DeletePod &action, const Status &answer)
{
	if (answer)
		kube_.tell(about, true, "Deleting", action.disruption);
	else
		log_failure("deletion failed",
			{{"pod", about.name_space + "/" + about.name}, {"uid", pod.text}},
			answer.error());
	world_.answer(core::DeletePodAnswered{pod, answer, action.cause}, now());
	want_round();
}

/*
 * Writes the condition before it deletes the pod, because the podFailurePolicy of a Job evaluates
 * the condition when the pod has ended. For a bound pod the deletion does not wait for the answer
 * longer than k_head_start: the kubelet takes longer to end the pod. A pod without a node is gone
 * at once, so its deletion waits. A failed write does not stop the deletion, except for a pod that
 * did not start: that pod may be running by now, and is deleted only if it has not changed since
 * the decision.
 */
void Executor::remove(const core::PodUid &pod, const core::DeletePod &action)
{
	const core::Pod *known = world_.state().pod(pod);
	if (!known)
		return world_.answer(core::DeletePodAnswered{pod, Ok{}}, now());
	const std::string name_space = known->name_space, name = known->name;
	const bool is_conditional = action.not_started, is_bound = !known->node_name.empty();
	const kube::PodCondition condition = condition_of(action, now());
	log_deletion(world_, *known, condition);
	auto removed = [this, pod, about = name_only(*known), action](
			       const Status &answer) { note_removal(pod, about, action, answer); };
	const std::int64_t most = world_.state().settings.grace_most_seconds;
	const bool is_slow = most > 0 && known->termination_grace_seconds > most;
	const auto grace = is_slow ? std::optional<std::int64_t>(most) : std::nullopt;
	auto said = [this, pod, name_space, name, is_conditional, grace, removed,
			    is_over = std::make_shared<bool>(false)](const Status &written) {
		if (std::exchange(*is_over, true))
			return;
		if (is_conditional && !written)
			removed(written);
		else
			kube_.remove({name_space, name, pod.text, grace}, removed);
	};
	kube_.set_conditions({name_space, name, pod.text, {condition},
				     is_conditional ? known->resource_version : ""},
		said);
	if (!is_conditional && is_bound)
		kube_.after(k_head_start, [said] { said(Ok{}); });
}

void Executor::report(const core::PodUid &pod, const core::Report &action)
{
	const core::Pod *known = world_.state().pod(pod);
	if (!known)
		return world_.answer(core::ReportAnswered{pod, Ok{}}, now());
	const bool is_new = !known->not_scheduled;
	if (action.not_scheduled.reason == names::k_reason_refused)
		log_audited(LogLevel::warning, "refused",
			with(about(world_, pod, {}), {{"message", action.not_scheduled.message}}));
	if (action.not_scheduled.reason == names::k_reason_refused)
		kube_.tell(*known, true, "Scheduling", action.not_scheduled);
	const kube::PodCondition condition{.type = k_pod_scheduled,
		.status = false,
		.reason = action.not_scheduled.reason,
		.message = action.not_scheduled.message,
		.transition_time = is_new ? now().wall_s : 0};
	/* conditional: a binding may overtake this write, and a bound pod must not be "not
	 * scheduled" */
	kube::SetConditions write{
		known->name_space, known->name, pod.text, {condition}, known->resource_version};
	write.can_wait = true;
	write.is_outdated = [this, pod, version = known->resource_version] {
		const core::Pod *current = world_.state().pod(pod);
		return !current || current->resource_version != version ||
			world_.state().pods.at(pod).busy.bind;
	};
	kube_.set_conditions(write, [this, pod](const Status &answer) {
		world_.answer(core::ReportAnswered{pod, answer}, now());
		want_round();
	});
}

} // namespace slurmkube::agent
