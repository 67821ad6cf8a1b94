/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * execute.cc - the half of App that carries actions out: each starts one call and turns its outcome into an answer for World.
 */
#include "src/agent/app.h"
#include "src/base/log.h"
#include "src/core/names.h"
#include "src/core/outcome.h"

#include <unistd.h>

namespace slurmkube::agent
{

namespace
{

constexpr char k_pod_scheduled[] = "PodScheduled";
constexpr char k_disruption_target[] = "DisruptionTarget";

template <class... F> struct Overloaded : F... {
	using F::operator()...;
};
template <class... F> Overloaded(F...) -> Overloaded<F...>;

std::string name_of(const core::World &world, const core::PodUid &uid)
{
	const auto found = world.groups().find(uid);
	if (found == world.groups().end())
		return uid.text;
	const core::Pod *pod = found->second.pod ? &*found->second.pod : found->second.last ? &*found->second.last : nullptr;
	return pod ? pod->name_space + "/" + pod->name : uid.text;
}

void log_outcome(const char *what, const std::string &pod, core::JobId job, const Status &answer)
{
	if (answer)
		log_info("%s pod=%s job=%u", what, pod.c_str(), job.number);
	else
		log_warning("%s failed pod=%s job=%u: %s", what, pod.c_str(), job.number, answer.error().what.c_str());
}

codec::Event event_of(const core::Pod &pod, const core::Condition &why)
{
	char host[128] = "";
	(void)gethostname(host, sizeof(host) - 1); /* without a name the event is no worse */
	codec::Event event;
	event.name_space = pod.name_space;
	event.name = pod.name;
	event.uid = pod.uid.text;
	event.warning = true;
	event.reason = why.reason;
	event.action = "Deleting";
	event.note = why.message;
	event.reporting_instance = host;
	return event;
}

} // namespace

void App::carry_out(const core::PodUid &pod, const core::Action &action)
{
	std::visit(Overloaded{
		       [&](const core::Submit &a) { submit(pod, a); },
		       [&](const core::Cancel &a) { complete(pod, a.job, core::k_status_cancelled); },
		       [&](const core::Complete &a) { complete(pod, a.job, a.wait_status); },
		       [&](const core::Bind &a) { bind(pod, a); },
		       [&](const core::LookUp &a) { look_up(pod, a); },
		       [&](const core::Remove &a) { remove(pod, a); },
		       [&](const core::Report &a) { report(pod, a); },
		   },
		   action);
}

void App::submit(const core::PodUid &pod, const core::Submit &action)
{
	const std::string name = action.spec.marker.name_space + "/" + action.spec.marker.name;
	calls_.submit(action.spec, [this, pod, name](const Result<slurm::SubmitReply> &reply) {
		if (reply)
			log_info("submitted pod=%s job=%u node=%s", name.c_str(), reply->id.number, reply->node.empty() ? "-" : reply->node.c_str());
		else
			log_warning("submission failed pod=%s: %s", name.c_str(), reply.error().what.c_str());
		const auto answer = reply ? Result<core::Submitted>(core::Submitted{.job = reply->id, .node = reply->node, .cpus = reply->cpus}) :
					    Result<core::Submitted>(reply.error());
		world_.submitted(pod, answer, now());
		want_round();
	});
}

void App::complete(const core::PodUid &pod, core::JobId job, std::uint32_t wait_status)
{
	const bool is_cancel = wait_status == core::k_status_cancelled;
	auto done = [this, pod, job, is_cancel, name = name_of(world_, pod)](const Status &answer) {
		log_outcome(is_cancel ? "cancelled" : "completed", name, job, answer);
		world_.completed(pod, answer, is_cancel, now());
		want_round();
	};
	if (is_cancel)
		calls_.cancel(job, std::move(done));
	else if (wait_status == core::k_status_deadline)
		calls_.expire(job, std::move(done));
	else
		calls_.complete(job, wait_status, std::move(done));
}

void App::bind(const core::PodUid &pod, const core::Bind &action)
{
	const core::Pod *known = world_.pod_of(pod);
	if (!known)
		return world_.bound(pod, Error{Errc::not_found, "the pod is gone"}, now());
	kube::BindPod request;
	request.name_space = known->name_space;
	request.name = known->name;
	request.uid = pod.text;
	request.node = action.node;
	request.annotations = {{names::k_allocation_job_id, std::to_string(action.job.number)},
			       {names::k_allocation_cluster, config_.cluster},
			       {names::k_allocation_node, action.node},
			       {names::k_allocation_cpus, std::to_string(action.cpus)},
			       {names::k_allocation_attempt, std::to_string(action.attempt)}};
	kube::bind_pod(client_, std::move(request), [this, pod, job = action.job, name = name_of(world_, pod)](const Status &answer) {
		log_outcome("bound", name, job, answer);
		world_.bound(pod, answer, now());
		want_round();
	});
}

void App::look_up(const core::PodUid &pod, const core::LookUp &action)
{
	kube::get_pod(client_, action.name_space, action.name, [this, pod](const Result<core::Pod> &found) {
		const bool is_absent = found ? found->uid.text != pod.text : found.error().code == Errc::not_found;
		if (is_absent)
			world_.looked_up(pod, core::Sight::absent, now());
		else if (found)
			world_.looked_up(pod, found->node_name.empty() ? core::Sight::unbound : core::Sight::bound, now());
		else
			world_.looked_up(pod, found.error(), now());
		want_round();
	});
}

/*
 * The condition first: a Job's podFailurePolicy looks at it when the pod goes. Its failure does not hold up the deletion, except of a pod that did not start:
 * that one is deleted only if nothing has changed since we looked, because it may run by now.
 */
void App::remove(const core::PodUid &pod, const core::Remove &action)
{
	const core::Pod *known = world_.pod_of(pod);
	if (!known)
		return world_.removed(pod, Ok{}, now());
	const std::string name_space = known->name_space, name = known->name;
	const bool is_conditional = action.not_started;
	const kube::PodCondition condition{.type = is_conditional ? names::k_condition_start_limit : k_disruption_target,
					   .status = true,
					   .reason = action.disruption.reason,
					   .message = action.disruption.message,
					   .transition_time = now().wall_s};
	log_info("deleting pod=%s/%s: %s", name_space.c_str(), name.c_str(), action.disruption.message.c_str());
	auto removed = [this, pod, name_space, name, event = event_of(*known, action.disruption)](const Status &answer) {
		if (answer)
			(void)kube::post_event(client_, event); /* best effort */
		else
			log_warning("deleting failed pod=%s/%s: %s", name_space.c_str(), name.c_str(), answer.error().what.c_str());
		world_.removed(pod, answer, now());
		want_round();
	};
	auto said = [this, pod, name_space, name, is_conditional, removed](const Status &written) {
		if (is_conditional && !written)
			removed(written);
		else
			kube::delete_pod(client_, name_space, name, pod.text, std::nullopt, removed);
	};
	kube::set_conditions(client_, name_space, name, pod.text, {condition}, said, is_conditional ? known->resource_version : "");
}

void App::report(const core::PodUid &pod, const core::Report &action)
{
	const core::Pod *known = world_.pod_of(pod);
	if (!known)
		return world_.reported(pod, Ok{}, now());
	const bool is_new = !known->not_scheduled;
	const kube::PodCondition condition{.type = k_pod_scheduled,
					   .status = false,
					   .reason = action.not_scheduled.reason,
					   .message = action.not_scheduled.message,
					   .transition_time = is_new ? now().wall_s : 0};
	kube::set_conditions(client_, known->name_space, known->name, pod.text, {condition}, [this, pod](const Status &answer) {
		world_.reported(pod, answer, now());
		want_round();
	});
}

void App::carry_out(const core::NodeAction &action)
{
	const auto answered = [this](const char *what, std::string name) {
		return [this, what, name = std::move(name)](const Status &answer) {
			if (answer)
				log_info("%s node=%s", what, name.c_str());
			else
				log_warning("%s failed node=%s: %s", what, name.c_str(), answer.error().what.c_str());
			world_.node_changed(name, answer, now());
			want_round();
		};
	};
	std::visit(Overloaded{
		       [&](const core::CreateNode &a) { calls_.node_create(a.spec, world_.plugin().family, answered("node created in Slurm", a.spec.name)); },
		       [&](const core::DeleteNode &a) { calls_.node_delete(a.name, answered("node deleted in Slurm", a.name)); },
		       [&](const core::SetNodeState &a) {
			       calls_.node_set_state(a.name, a.change, a.reason, answered("node state changed in Slurm", a.name));
		       },
		   },
		   action);
}

} // namespace slurmkube::agent
