/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/kube_writes.h"

#include "src/codec/json.h"
#include "src/codec/time.h"
#include "src/core/model/names.h"

#include <cstdio>

namespace slurmkube::codec
{

namespace
{

constexpr std::size_t k_longest_note = 1024; /* bytes, of an event */
/* bytes, of its reason, action and reporting instance */
constexpr std::size_t k_longest_field = 128;
/* bytes; with the time after it the name stays below the 253 bytes of an object's name */
constexpr std::size_t k_longest_name = 230;
/* bytes, of a condition; the API has no limit, but people read it */
constexpr std::size_t k_longest_message = 4096;

Json object_of(const std::map<std::string, std::string> &pairs)
{
	Json object = new_object();
	for (const auto &[key, value] : pairs)
		put(object.get(), key.c_str(), value);
	return object;
}

Json uid_only(std::string_view uid)
{
	Json object = new_object();
	put(object.get(), "uid", uid);
	return object;
}

Json condition_json(const PodCondition &condition)
{
	Json object = new_object();
	put(object.get(), "type", condition.type);
	put(object.get(), "status", condition.status ? "True" : "False");
	put(object.get(), "reason", condition.reason);
	put(object.get(), "message", cut_utf8(condition.message, k_longest_message));
	if (condition.transition_time != 0)
		put(object.get(), "lastTransitionTime", format_time(condition.transition_time));
	return object;
}

Json regarding(const Event &event)
{
	Json object = new_object();
	put(object.get(), "apiVersion", "v1");
	put(object.get(), "kind", event.kind);
	if (!event.name_space.empty())
		put(object.get(), "namespace", event.name_space);
	put(object.get(), "name", event.name);
	put(object.get(), "uid", event.uid);
	return object;
}

Json event_metadata(const Event &event, std::int64_t now_microseconds)
{
	char suffix[32];
	(void)snprintf(
		suffix, sizeof(suffix), ".%llx", static_cast<unsigned long long>(now_microseconds));
	Json metadata = new_object();
	put(metadata.get(), "name", event.name.substr(0, k_longest_name) + suffix);
	put(metadata.get(), "namespace", event_namespace(event));
	return metadata;
}

} // namespace

std::string binding_body(const Binding &binding)
{
	Json metadata = uid_only(binding.uid);
	put(metadata.get(), "name", binding.name);
	put(metadata.get(), "namespace", binding.name_space);
	if (!binding.annotations.empty())
		put(metadata.get(), "annotations", object_of(binding.annotations));
	if (!binding.labels.empty())
		put(metadata.get(), "labels", object_of(binding.labels));
	Json target = new_object();
	put(target.get(), "apiVersion", "v1");
	put(target.get(), "kind", "Node");
	put(target.get(), "name", binding.node);
	Json body = new_object();
	put(body.get(), "apiVersion", "v1");
	put(body.get(), "kind", "Binding");
	put(body.get(), "metadata", std::move(metadata));
	put(body.get(), "target", std::move(target));
	return to_text(body.get());
}

std::string conditions_patch(std::string_view uid, const std::vector<PodCondition> &conditions,
	std::string_view resource_version)
{
	Json list = new_array();
	for (const PodCondition &condition : conditions)
		append(list.get(), condition_json(condition));
	Json status = new_object();
	put(status.get(), "conditions", std::move(list));
	Json metadata = uid_only(uid);
	if (!resource_version.empty())
		put(metadata.get(), "resourceVersion", resource_version);
	Json body = new_object();
	put(body.get(), "metadata", std::move(metadata));
	put(body.get(), "status", std::move(status));
	return to_text(body.get());
}

std::string drain_condition_patch(
	std::string_view uid, const core::DrainCondition &condition, std::int64_t transition_time)
{
	Json object = new_object();
	put(object.get(), "type", names::k_condition_drain);
	put(object.get(), "status", condition.status);
	put(object.get(), "reason", condition.reason);
	put(object.get(), "message", condition.message);
	if (transition_time != 0)
		put(object.get(), "lastTransitionTime", format_time(transition_time));
	Json list = new_array();
	append(list.get(), std::move(object));
	Json status = new_object();
	put(status.get(), "conditions", std::move(list));
	Json body = new_object();
	put(body.get(), "metadata", uid_only(uid));
	put(body.get(), "status", std::move(status));
	return to_text(body.get());
}

std::string delete_options(std::string_view uid, std::optional<std::int64_t> grace_seconds)
{
	Json body = new_object();
	put(body.get(), "apiVersion", "v1");
	put(body.get(), "kind", "DeleteOptions");
	put(body.get(), "preconditions", uid_only(uid));
	if (grace_seconds)
		put(body.get(), "gracePeriodSeconds", *grace_seconds);
	return to_text(body.get());
}

std::string claim_ref_patch(const core::GiveVolume &give)
{
	Json annotations = new_object();
	/* so that the volume becomes free again when the claim is gone */
	put(annotations.get(), "pv.kubernetes.io/bound-by-controller", "yes");
	Json metadata = new_object();
	put(metadata.get(), "uid", give.volume_uid);
	put(metadata.get(), "resourceVersion", give.volume_version);
	put(metadata.get(), "annotations", std::move(annotations));
	Json reference = new_object();
	put(reference.get(), "apiVersion", "v1");
	put(reference.get(), "kind", "PersistentVolumeClaim");
	put(reference.get(), "namespace", give.claim.name_space);
	put(reference.get(), "name", give.claim.name);
	put(reference.get(), "uid", give.claim_uid);
	put(reference.get(), "resourceVersion", give.claim_version);
	Json spec = new_object();
	put(spec.get(), "claimRef", std::move(reference));
	Json body = new_object();
	put(body.get(), "metadata", std::move(metadata));
	put(body.get(), "spec", std::move(spec));
	return to_text(body.get());
}

std::string selected_node_patch(const core::SelectNode &select)
{
	Json annotations = new_object();
	put(annotations.get(), names::k_selected_node, select.node);
	Json metadata = new_object();
	put(metadata.get(), "uid", select.claim_uid);
	put(metadata.get(), "resourceVersion", select.claim_version);
	put(metadata.get(), "annotations", std::move(annotations));
	Json body = new_object();
	put(body.get(), "metadata", std::move(metadata));
	return to_text(body.get());
}

std::string event_namespace(const Event &event)
{
	return event.name_space.empty() ? "default" : event.name_space;
}

std::string event_body(const Event &event, std::int64_t now_microseconds)
{
	Json body = new_object();
	json_object *o = body.get();
	put(o, "apiVersion", "events.k8s.io/v1");
	put(o, "kind", "Event");
	put(o, "metadata", event_metadata(event, now_microseconds));
	put(o, "eventTime", format_micro_time(now_microseconds));
	put(o, "type", event.warning ? "Warning" : "Normal");
	put(o, "reason", cut_utf8(event.reason, k_longest_field));
	put(o, "action", cut_utf8(event.action, k_longest_field));
	put(o, "note", cut_utf8(event.note, k_longest_note));
	put(o, "reportingController", event.reporting_controller);
	put(o, "reportingInstance", cut_utf8(event.reporting_instance, k_longest_field));
	put(o, "regarding", regarding(event));
	return to_text(o);
}

std::string access_review_body(std::string_view verb, std::string_view group,
	std::string_view resource, std::string_view name_space)
{
	const std::size_t slash = resource.find('/');
	Json attributes = new_object();
	put(attributes.get(), "verb", verb);
	put(attributes.get(), "group", group);
	put(attributes.get(), "resource", resource.substr(0, slash));
	if (slash != std::string_view::npos)
		put(attributes.get(), "subresource", resource.substr(slash + 1));
	if (!name_space.empty())
		put(attributes.get(), "namespace", name_space);
	Json spec = new_object();
	put(spec.get(), "resourceAttributes", std::move(attributes));
	Json body = new_object();
	put(body.get(), "apiVersion", "authorization.k8s.io/v1");
	put(body.get(), "kind", "SelfSubjectAccessReview");
	put(body.get(), "spec", std::move(spec));
	return to_text(body.get());
}

std::string_view cut_utf8(std::string_view text, std::size_t max)
{
	if (text.size() <= max)
		return text;
	std::size_t end = max;
	while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
		end--;
	return text.substr(0, end);
}

} // namespace slurmkube::codec
