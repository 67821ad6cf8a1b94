/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/pod.h"

#include "src/codec/demands.h"
#include "src/codec/time.h"
#include "src/core/model/names.h"
#include "src/core/options/options.h"

#include <algorithm>
#include <climits>

namespace slurmkube::codec
{

namespace
{

using core::Pod;

int small_int(json_object *object, const char *key)
{
	return static_cast<int>(std::clamp<std::int64_t>(get_int(object, key), INT_MIN, INT_MAX));
}

core::PodPhase phase_of(const std::string &text)
{
	if (text == "Running")
		return core::PodPhase::running;
	if (text == "Succeeded")
		return core::PodPhase::succeeded;
	if (text == "Failed")
		return core::PodPhase::failed;
	/* A pod that no kubelet has seen yet may have no phase. */
	return text.empty() || text == "Pending" ? core::PodPhase::pending : core::PodPhase::unknown;
}

bool is_ours(std::string_view key)
{
	return core::is_option_key(key) || key.starts_with(names::k_allocation_prefix);
}

Status take_metadata(Pod &pod, json_object *metadata)
{
	pod.uid.text = get_string(metadata, "uid");
	pod.name_space = get_string(metadata, "namespace");
	pod.name = get_string(metadata, "name");
	if (pod.uid.text.empty() || pod.name_space.empty() || pod.name.empty())
		return Error{Errc::invalid, "not a pod: without name, namespace or uid"};
	pod.resource_version = get_string(metadata, "resourceVersion");
	pod.deleting = get(metadata, "deletionTimestamp") != nullptr;
	pod.deletion_grace_seconds = pod.deleting ? get_int(metadata, "deletionGracePeriodSeconds") : 0;
	const auto created = parse_time(get_string(metadata, "creationTimestamp", "1970-01-01T00:00:00Z"));
	if (!created)
		return in_context("metadata.creationTimestamp", created.error());
	pod.created = *created;
	pod.labels = get_strings(get(metadata, "labels"));
	pod.annotations = get_strings(get(metadata, "annotations"), is_ours);
	pod.controller = controller_of(get(metadata, "ownerReferences"));
	return Ok{};
}

std::string main_container(json_object *pod)
{
	const std::string wanted = get_string(get(pod, "metadata", "annotations"), "kubectl.kubernetes.io/default-container");
	json_object *containers = get(pod, "spec", "containers");
	for (std::size_t i = 0; i < array_size(containers); i++) {
		if (!wanted.empty() && get_string(array_at(containers, i), "name") == wanted)
			return wanted;
	}
	return get_string(array_at(containers, 0), "name");
}

void take_spec(Pod &pod, json_object *spec)
{
	pod.scheduler_name = get_string(spec, "schedulerName");
	pod.node_name = get_string(spec, "nodeName");
	pod.scheduling_group = get_string(get(spec, "schedulingGroup"), "podGroupName");
	pod.gated = array_size(get(spec, "schedulingGates")) > 0;
	pod.termination_grace_seconds = get_int(spec, "terminationGracePeriodSeconds", 30);
	pod.priority_class = get_string(spec, "priorityClassName");
	pod.active_deadline_seconds = get_int(spec, "activeDeadlineSeconds");
	std::set<std::string> unsupported;
	pod.demands = demands_from_json(spec, unsupported);
	pod.demands.spreads = spreads_from_json(get(spec, "topologySpreadConstraints"), pod.labels, unsupported);
	pod.demands.claims = claims_of_pod(spec, pod.name, unsupported);
	note_unsupported(spec, unsupported);
	pod.unsupported_fields.assign(unsupported.begin(), unsupported.end());
}

void take_ended(Pod &pod, json_object *container, json_object *statuses)
{
	const std::string name = get_string(container, "name");
	for (std::size_t i = 0; i < array_size(statuses); i++) {
		json_object *status = array_at(statuses, i);
		json_object *end = get(status, "state", "terminated");
		if (end != nullptr && get_string(status, "name") == name)
			pod.ended_containers.push_back({name, small_int(end, "exitCode"), small_int(end, "signal"), get_string(end, "reason")});
	}
}

void take_ended_containers(Pod &pod, json_object *object)
{
	static constexpr const char *lists[][2] = {{"initContainers", "initContainerStatuses"}, {"containers", "containerStatuses"}};
	for (const auto &[in_spec, in_status] : lists) {
		json_object *containers = get(object, "spec", in_spec);
		for (std::size_t i = 0; i < array_size(containers); i++)
			take_ended(pod, array_at(containers, i), get(object, "status", in_status));
	}
}

/* What the kubelet says of containers that do not run. "ContainerCreating" and the like say nothing; they stand until there is more. */
void take_waiting(Pod &pod, json_object *status)
{
	json_object *waiting = get(status, "state", "waiting");
	const std::string reason = get_string(waiting, "reason"), message = get_string(waiting, "message");
	pod.container_runs = pod.container_runs || get(status, "state", "running") != nullptr;
	if (!reason.empty() && (pod.waiting_reason.empty() || (!message.empty() && pod.waiting_reason.find(": ") == std::string::npos)))
		pod.waiting_reason = message.empty() ? reason : reason + ": " + message;
}

void take_running_containers(Pod &pod, json_object *status)
{
	for (const char *list : {"initContainerStatuses", "containerStatuses"}) {
		json_object *statuses = get(status, list);
		for (std::size_t i = 0; i < array_size(statuses); i++)
			take_waiting(pod, array_at(statuses, i));
	}
}

void take_conditions(Pod &pod, json_object *conditions)
{
	for (std::size_t i = 0; i < array_size(conditions); i++) {
		json_object *one = array_at(conditions, i);
		const std::string type = get_string(one, "type"), status = get_string(one, "status");
		core::Condition condition{get_string(one, "reason"), get_string(one, "message")};
		if (type == "PodScheduled" && status == "False")
			pod.not_scheduled = std::move(condition);
		else if (type == "DisruptionTarget" && status == "True")
			pod.disruption = std::move(condition);
		else if (type == names::k_condition_start_limit && status == "True")
			pod.start_limit = std::move(condition);
	}
}

void take_status(Pod &pod, json_object *object)
{
	json_object *status = get(object, "status");
	pod.phase = phase_of(get_string(status, "phase"));
	pod.status_reason = get_string(status, "reason");
	pod.status_message = get_string(status, "message");
	take_conditions(pod, get(status, "conditions"));
	take_ended_containers(pod, object);
	take_running_containers(pod, status);
}

} // namespace

Result<Pod> pod_from_json(json_object *object)
{
	Pod pod;
	if (auto done = take_metadata(pod, get(object, "metadata")); !done)
		return done.error();
	take_spec(pod, get(object, "spec"));
	take_status(pod, object);
	pod.main_container = main_container(object);
	auto requests = effective_requests(object);
	if (!requests)
		return in_context("pod " + pod.name_space + "/" + pod.name, requests.error());
	pod.requests = std::move(*requests);
	return pod;
}

namespace
{

/* As the API server's admission does (DefaultTolerationSeconds): else a template would be kept off nodes that its pods are not. */
void add_default_tolerations(std::vector<core::Toleration> &tolerations)
{
	for (const char *key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
		const auto covers = [&](const core::Toleration &one) { return (one.key.empty() || one.key == key) && (one.effect.empty() || one.effect == "NoExecute"); };
		if (std::ranges::none_of(tolerations, covers))
			tolerations.push_back({key, core::TolerationOp::exists, "", "NoExecute"});
	}
}

} // namespace

Result<Pod> pod_from_template(json_object *pod_template, const std::string &name_space)
{
	Pod pod;
	pod.name_space = name_space;
	pod.labels = get_strings(get(pod_template, "metadata", "labels"));
	take_spec(pod, get(pod_template, "spec"));
	add_default_tolerations(pod.demands.tolerations);
	pod.node_name.clear(); /* which would say that it is bound */
	std::erase_if(pod.demands.claims, [](const core::PodClaim &claim) { return claim.is_own; });
	auto requests = effective_requests(pod_template);
	if (!requests)
		return requests.error();
	pod.requests = std::move(*requests);
	return pod;
}

std::optional<core::OwnerRef> controller_of(json_object *owners)
{
	for (std::size_t i = 0; i < array_size(owners); i++) {
		json_object *owner = array_at(owners, i);
		if (get_bool(owner, "controller"))
			return core::OwnerRef{get_string(owner, "apiVersion"), get_string(owner, "kind"), get_string(owner, "name"), get_string(owner, "uid")};
	}
	return std::nullopt;
}

std::string uid_of(json_object *object)
{
	return get_string(get(object, "metadata"), "uid");
}

} // namespace slurmkube::codec
