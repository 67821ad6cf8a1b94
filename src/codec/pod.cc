/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/pod.h"

#include "src/codec/scheduling_constraints.h"
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
using PodView = View<schema::k_pod>;
using SpecView = View<schema::k_spec>;
using StatusView = View<schema::k_status>;

int small(std::int64_t value)
{
	return static_cast<int>(std::clamp<std::int64_t>(value, INT_MIN, INT_MAX));
}

core::PodPhase phase_of(const std::string &text)
{
	if (text == "Running")
		return core::PodPhase::running;
	if (text == "Succeeded")
		return core::PodPhase::succeeded;
	if (text == "Failed")
		return core::PodPhase::failed;
	/* A pod that no kubelet has seen may have no phase. */
	return text.empty() || text == "Pending" ? core::PodPhase::pending
						 : core::PodPhase::unknown;
}

bool is_wanted(std::string_view key)
{
	const auto is_same = [key](const auto &mark) { return mark.first == key; };
	return core::is_option_key(key) || key.starts_with(names::k_allocation_prefix) ||
		std::ranges::any_of(names::k_not_to_evict, is_same);
}

/* Room for 16 KiB of node names and less than 2 KiB of the agent's other annotations */
constexpr std::size_t k_annotation_bytes_most =
	names::k_annotation_bytes_max - (std::size_t{18} << 10);

std::size_t annotation_bytes(json_object *annotations)
{
	std::size_t bytes = 0;
	for (const auto &[key, value] : get_strings(annotations))
		bytes += key.size() + value.size();
	return bytes;
}

Status take_metadata(Pod &pod, View<schema::k_metadata> metadata)
{
	pod.uid.text = metadata.text<"uid">();
	pod.name_space = metadata.text<"namespace">();
	pod.name = metadata.text<"name">();
	if (pod.uid.text.empty() || pod.name_space.empty() || pod.name.empty())
		return Error{Errc::invalid, "not a pod: without name, namespace or uid"};
	pod.resource_version = metadata.text<"resourceVersion">();
	pod.deleting = metadata.has<"deletionTimestamp">();
	pod.deletion_grace_seconds =
		pod.deleting ? metadata.integer<"deletionGracePeriodSeconds">() : 0;
	const auto created = parse_time(metadata.text<"creationTimestamp">("1970-01-01T00:00:00Z"));
	if (!created)
		return in_context("metadata.creationTimestamp", created.error());
	pod.created = *created;
	pod.labels = get_strings(metadata.values<"labels">());
	pod.annotations = get_strings(metadata.values<"annotations">(), is_wanted);
	pod.controller = controller_of(metadata.objects<"ownerReferences">());
	return Ok{};
}

std::string main_container(PodView pod)
{
	const std::string wanted = pod.object<"metadata">().entry<"annotations">(
		"kubectl.kubernetes.io/default-container");
	const auto containers = pod.object<"spec">().objects<"containers">();
	for (const auto container : containers) {
		if (!wanted.empty() && container.text<"name">() == wanted)
			return wanted;
	}
	return containers[0].text<"name">();
}

/* All volumes, of which there may be any number. */
bool has_memory_volume(SpecView spec)
{
	for (const auto volume : spec.objects<"volumes">()) {
		if (!volume.object<"emptyDir">().text<"medium">().empty())
			return true;
	}
	return false;
}

void take_spec(Pod &pod, PodView object)
{
	const SpecView spec = object.object<"spec">();
	json_object *annotations = object.object<"metadata">().values<"annotations">();
	pod.scheduler_name = spec.text<"schedulerName">();
	pod.node_name = spec.text<"nodeName">();
	pod.scheduling_group = spec.object<"schedulingGroup">().text<"podGroupName">();
	pod.gated = spec.objects<"schedulingGates">().size() > 0;
	pod.termination_grace_seconds = spec.integer<"terminationGracePeriodSeconds">(30);
	pod.priority_class = spec.text<"priorityClassName">();
	pod.active_deadline_seconds = spec.integer<"activeDeadlineSeconds">();
	std::set<std::string> unsupported;
	pod.constraints = constraints_from_json(spec, unsupported);
	pod.constraints.spreads = spreads_from_json(
		spec.objects<"topologySpreadConstraints">(), pod.labels, unsupported);
	pod.constraints.claims = claims_of_pod(spec, pod.name, unsupported);
	pod.has_memory_volume = has_memory_volume(spec);
	pod.resource_claims = resource_claims_of_pod(spec, object.object<"status">(), unsupported);
	pod.container_claims = container_claims_of(spec, unsupported);
	pod.container_devices = container_devices_of(spec);
	pod.extended_claim = extended_claim_of_pod(object.object<"status">());
	note_unsupported(spec, unsupported);
	pod.annotation_bytes = annotation_bytes(annotations);
	/* a bound pod has those of its Binding, too */
	if (pod.node_name.empty() && pod.annotation_bytes > k_annotation_bytes_most)
		unsupported.insert("metadata.annotations with more than 238 KiB");
	pod.unsupported_fields.assign(unsupported.begin(), unsupported.end());
}

using Statuses = Views<schema::k_container_status>;
using Containers = Views<schema::k_container>;

void take_ended(Pod &pod, Containers containers, Statuses statuses)
{
	for (const auto container : containers) {
		const std::string name = container.text<"name">();
		for (const auto status : statuses) {
			const auto end = status.object<"state">().object<"terminated">();
			if (end && status.text<"name">() == name)
				pod.ended_containers.push_back({name,
					small(end.integer<"exitCode">()),
					small(end.integer<"signal">()), end.text<"reason">()});
		}
	}
}

/* Notes the reason of the first container that waits. A reason with a message replaces one without,
 * such as "ContainerCreating", which says little. */
void take_running(Pod &pod, Statuses statuses)
{
	for (const auto status : statuses) {
		const auto state = status.object<"state">();
		const auto waiting = state.object<"waiting">();
		const std::string reason = waiting.text<"reason">(),
				  message = waiting.text<"message">();
		pod.container_runs = pod.container_runs || state.has<"running">();
		if (!reason.empty() &&
			(pod.waiting_reason.empty() ||
				(!message.empty() &&
					pod.waiting_reason.find(": ") == std::string::npos)))
			pod.waiting_reason = message.empty() ? reason : reason + ": " + message;
	}
}

void take_conditions(Pod &pod, StatusView pod_status)
{
	for (const auto one : pod_status.objects<"conditions">()) {
		const std::string type = one.text<"type">(), status = one.text<"status">();
		core::Condition condition{one.text<"reason">(), one.text<"message">()};
		if (type == "PodScheduled" && status == "False")
			pod.not_scheduled = std::move(condition);
		else if (type == "DisruptionTarget" && status == "True")
			pod.disruption = std::move(condition);
		else if (type == names::k_condition_start_limit && status == "True")
			pod.start_limit = std::move(condition);
	}
}

void take_status(Pod &pod, PodView object)
{
	const auto status = object.object<"status">();
	const auto spec = object.object<"spec">();
	const auto of_init = status.objects<"initContainerStatuses">(),
		   of_main = status.objects<"containerStatuses">();
	pod.phase = phase_of(status.text<"phase">());
	pod.status_reason = status.text<"reason">();
	pod.status_message = status.text<"message">();
	take_conditions(pod, status);
	take_ended(pod, spec.objects<"initContainers">(), of_init);
	take_ended(pod, spec.objects<"containers">(), of_main);
	take_running(pod, of_init);
	take_running(pod, of_main);
}

} // namespace

Result<Pod> pod_from_json(json_object *object)
{
	Pod pod;
	const PodView view(object);
	if (auto done = take_metadata(pod, view.object<"metadata">()); !done)
		return done.error();
	take_spec(pod, view);
	take_status(pod, view);
	pod.main_container = main_container(view);
	auto requests = effective_requests(object);
	if (!requests)
		return in_context("pod " + pod.name_space + "/" + pod.name, requests.error());
	pod.requests = std::move(*requests);
	return pod;
}

namespace
{

/* Adds the tolerations that the API server's admission adds to pods (DefaultTolerationSeconds).
 * Otherwise a template would be kept off nodes that are open to its pods. */
void add_default_tolerations(std::vector<core::Toleration> &tolerations)
{
	for (const char *key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
		const auto covers = [&](const core::Toleration &one) {
			return (one.key.empty() || one.key == key) &&
				(one.effect.empty() || one.effect == "NoExecute");
		};
		if (std::ranges::none_of(tolerations, covers))
			tolerations.push_back({key, core::TolerationOp::exists, "", "NoExecute"});
	}
}

} // namespace

Result<Pod> pod_from_template(json_object *pod_template, const std::string &name_space)
{
	Pod pod;
	pod.name_space = name_space;
	const PodView view(pod_template);
	pod.labels = get_strings(view.object<"metadata">().values<"labels">());
	pod.annotations = get_strings(view.object<"metadata">().values<"annotations">(), is_wanted);
	take_spec(pod, view);
	add_default_tolerations(pod.constraints.tolerations);
	pod.node_name.clear(); /* otherwise the pod would count as bound */
	std::erase_if(
		pod.constraints.claims, [](const core::PodClaim &claim) { return claim.is_own; });
	auto requests = effective_requests(pod_template);
	if (!requests)
		return requests.error();
	pod.requests = std::move(*requests);
	return pod;
}

std::optional<core::OwnerRef> controller_of(Views<schema::k_owner> owners)
{
	for (const auto owner : owners) {
		if (owner.boolean<"controller">())
			return core::OwnerRef{owner.text<"apiVersion">(), owner.text<"kind">(),
				owner.text<"name">(), owner.text<"uid">()};
	}
	return std::nullopt;
}

std::string uid_of(json_object *object)
{
	/* at the same place in all kinds */
	return PodView(object).object<"metadata">().text<"uid">();
}

} // namespace slurmkube::codec
