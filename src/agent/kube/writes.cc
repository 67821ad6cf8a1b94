/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/kube/writes.h"

#include "src/base/log.h"
#include "src/codec/extended_claim.h"
#include "src/codec/json.h"
#include "src/codec/resource_claim.h"

#include <chrono>

namespace slurmkube::kube
{

namespace
{

/* identifies the agent in managedFields */
constexpr char k_field_manager[] = "?fieldManager=slurm-kube";

std::string pod_path(const std::string &name_space, const std::string &name, const char *rest = "")
{
	return "/api/v1/namespaces/" + escape_query(name_space) + "/pods/" + escape_query(name) +
		rest;
}

Request write_request(
	Method method, std::string path, std::string body, const char *content_type = k_json)
{
	Request request;
	request.method = method;
	request.path = std::move(path);
	request.body = std::move(body);
	request.content_type = content_type;
	return request;
}

/* The pod that a write is meant for. */
struct Target {
	std::string name_space, name, uid;
	[[nodiscard]] std::string text() const { return name_space + "/" + name; }
};

/*
 * A write whose uid is not that of the pod is refused with 409 or 422, depending on the verb, and
 * with a text that depends on the version. So read the pod to find out. if_other: the result if the
 * pod is gone or another pod has the name.
 */
void explain(Client &client, const Target &target, const Error &refusal, const Status &if_other,
	Done done)
{
	get_pod(client, target.name_space, target.name,
		[=, done = std::move(done)](const Result<core::Pod> &pod) {
			const bool is_gone = !pod && pod.error().code == Errc::not_found;
			const bool is_other = pod && pod->uid.text != target.uid;
			done(is_gone || is_other ? if_other : Status(refusal));
		});
}

void post_binding(Client &client, const BindPod &bind, const Done &done)
{
	const std::string path = pod_path(bind.name_space, bind.name, "/binding") + k_field_manager;
	Request request = write_request(Method::post, path, codec::binding_body(bind));
	client.send(std::move(request), [done](const Result<Response> &answer) {
		done(answer ? Status(Ok{}) : Status(answer.error()));
	});
}

} // namespace

void bind_pod(Client &client, BindPod bind, Done done)
{
	BindWays ways;
	ways.post = [&client](const BindPod &what, const Done &posted) {
		post_binding(client, what, posted);
	};
	ways.get = [&client](const BindPod &what, PodAnswer looked) {
		get_pod(client, what.name_space, what.name, std::move(looked));
	};
	ways.after = [&client](std::chrono::milliseconds delay, std::function<void()> call) {
		client.after(delay, std::move(call));
	};
	bind_pod(std::move(ways), std::move(bind), std::move(done));
}

void delete_pod(Client &client, const std::string &name_space, const std::string &name,
	const std::string &uid, std::optional<std::int64_t> grace_seconds, Done done)
{
	const Target target{name_space, name, uid};
	Request request = write_request(Method::remove, pod_path(name_space, name),
		codec::delete_options(uid, grace_seconds));
	client.send(std::move(request),
		[&client, target, done = std::move(done)](const Result<Response> &answer) {
			if (answer || answer.error().code == Errc::not_found) {
				done(Ok{});
				return;
			}
			const Error refusal =
				in_context("delete pod " + target.text(), answer.error());
			if (refusal.code == Errc::conflict)
				explain(client, target, refusal, Ok{}, done);
			else
				done(refusal);
		});
}

void set_conditions(Client &client, const SetConditions &write, Done done)
{
	const Target target{write.name_space, write.name, write.uid};
	Request request = write_request(Method::patch,
		pod_path(write.name_space, write.name, "/status") + k_field_manager,
		codec::conditions_patch(write.uid, write.conditions, write.resource_version),
		k_strategic_merge_patch);
	request.can_wait = write.can_wait;
	request.is_outdated = write.is_outdated;
	client.send(std::move(request),
		[&client, target, is_outdated = write.is_outdated, done = std::move(done)](
			const Result<Response> &answer) {
			if (answer) {
				done(Ok{});
				return;
			}
			const std::string what = "set conditions of pod " + target.text();
			const Error refusal = in_context(what, answer.error());
			if (is_outdated && is_outdated()) /* nothing to find out */
				done(refusal);
			else if (refusal.code == Errc::conflict || refusal.code == Errc::invalid)
				explain(client, target, refusal,
					Error{Errc::not_found, what + ": another pod has the name"},
					done);
			else
				done(refusal);
		});
}

void set_drain_condition(
	Client &client, const core::ReportDrain &what, std::int64_t transition_time, Done done)
{
	Request request = write_request(Method::patch,
		"/api/v1/nodes/" + escape_query(what.name) + "/status" + k_field_manager,
		codec::drain_condition_patch(what.uid, what.condition, transition_time),
		k_strategic_merge_patch);
	request.can_wait = true;
	client.send(std::move(request),
		[name = what.name, done = std::move(done)](const Result<Response> &answer) {
			done(answer ? Status(Ok{})
				    : Status(in_context("set condition SlurmDrain of node " + name,
					      answer.error())));
		});
}

namespace
{

std::string path_of(const core::ResourceClaimId &claim, const char *subresource)
{
	return "/apis/resource.k8s.io/v1/namespaces/" + escape_query(claim.name_space) +
		"/resourceclaims" + (claim.name.empty() ? "" : "/" + escape_query(claim.name)) +
		subresource;
}

/* Path and body; claims are created with a POST, everything else is a patch. */
struct PatchText {
	std::string path, body;
	const char *type = k_merge_patch;
};

struct ClaimPatch {
	PatchText operator()(const core::GiveVolume &step) const
	{
		return {"/api/v1/persistentvolumes/" + escape_query(step.volume),
			codec::claim_ref_patch(step)};
	}
	PatchText operator()(const core::SelectNode &step) const
	{
		return {"/api/v1/namespaces/" + escape_query(step.claim.name_space) +
				"/persistentvolumeclaims/" + escape_query(step.claim.name),
			codec::selected_node_patch(step)};
	}
	PatchText operator()(const core::CreateClaim &step) const
	{
		return {path_of({step.claim.name_space, ""}, ""), codec::extended_claim_body(step),
			k_json};
	}
	PatchText operator()(const core::MapRequests &step) const
	{
		return {pod_path(step.claim.name_space, step.pod_name, "/status"),
			codec::mappings_patch(step)};
	}
	PatchText operator()(const core::ProtectClaim &step) const
	{
		return {path_of(step.claim, ""), codec::protect_patch(step)};
	}
	PatchText operator()(const core::AllocateDevices &step) const
	{
		return {path_of(step.claim, "/status"), codec::allocation_patch(step)};
	}
	PatchText operator()(const core::ReserveClaim &step) const
	{
		return {path_of(step.claim, "/status"), codec::reservation_patch(step),
			k_strategic_merge_patch};
	}
	PatchText operator()(const core::ReleaseDevices &step) const
	{
		if (!step.leaving_uid.empty())
			return {path_of(step.claim, "/status"), codec::leaving_patch(step),
				k_strategic_merge_patch};
		return {path_of(step.claim, "/status"), codec::release_patch(step)};
	}
};

} // namespace

void provide(Client &client, const core::ClaimStep &step, Done done)
{
	PatchText patch = std::visit(ClaimPatch{}, step);
	const bool is_new = std::holds_alternative<core::CreateClaim>(step);
	client.send(write_request(is_new ? Method::post : Method::patch,
			    patch.path + k_field_manager, std::move(patch.body), patch.type),
		[path = patch.path, is_new, done = std::move(done)](
			const Result<Response> &answer) {
			/* also if the claim exists: the watch shows it, or its name is taken */
			done(answer ? Status(Ok{})
				    : Status(in_context((is_new ? "post " : "patch ") + path,
					      answer.error())));
		});
}

bool post_event(Client &client, const codec::Event &event)
{
	if (client.queued() > 0)
		return false;
	const std::string path = "/apis/events.k8s.io/v1/namespaces/" +
		escape_query(codec::event_namespace(event)) + "/events";
	Request request = write_request(
		Method::post, path + k_field_manager, codec::event_body(event, agent::wall_us()));
	request.can_wait = true;
	client.send(std::move(request),
		[who = event.name_space + "/" + event.name](const Result<Response> &answer) {
			if (!answer)
				log_debug("event not written: object=%s error=%s", who.c_str(),
					answer.error().what.c_str());
		});
	return true;
}

} // namespace slurmkube::kube
