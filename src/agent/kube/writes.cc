/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/kube/writes.h"

#include "src/base/log.h"
#include "src/codec/json.h"

#include <chrono>

namespace slurmkube::kube
{

namespace
{

/* Names us in managedFields. */
constexpr char k_field_manager[] = "?fieldManager=slurm-kube";

std::string pod_path(const std::string &name_space, const std::string &name, const char *rest = "")
{
	return "/api/v1/namespaces/" + escape_query(name_space) + "/pods/" + escape_query(name) + rest;
}

Request write_request(Method method, std::string path, std::string body, const char *content_type = k_json)
{
	Request request;
	request.method = method;
	request.path = std::move(path);
	request.body = std::move(body);
	request.content_type = content_type;
	return request;
}

/* "Precondition failed: UID in precondition: X, UID in object meta: Y" has no machine-readable cause (Kubernetes 1.30 to 1.37). */
bool is_other_uid(const Error &error)
{
	return error.code == Errc::conflict && error.what.find("UID in precondition") != std::string::npos;
}

} // namespace

void delete_pod(Client &client, const std::string &name_space, const std::string &name, const std::string &uid,
		std::optional<std::int64_t> grace_seconds, Done done)
{
	Request request = write_request(Method::remove, pod_path(name_space, name), codec::delete_options(uid, grace_seconds));
	client.send(std::move(request), [done = std::move(done), who = name_space + "/" + name](const Result<Response> &answer) {
		if (answer || answer.error().code == Errc::not_found || is_other_uid(answer.error()))
			done(Ok{});
		else
			done(in_context("delete pod " + who, answer.error()));
	});
}

void set_conditions(Client &client, const std::string &name_space, const std::string &name, const std::string &uid,
		    const std::vector<PodCondition> &conditions, Done done)
{
	Request request = write_request(Method::patch, pod_path(name_space, name, "/status") + k_field_manager,
					codec::conditions_patch(uid, conditions), k_strategic_merge_patch);
	client.send(std::move(request), [done = std::move(done), who = name_space + "/" + name](const Result<Response> &answer) {
		if (answer)
			done(Ok{});
		else if (is_other_uid(answer.error()))
			done(Error{Errc::not_found, "set conditions of pod " + who + ": another pod has the name"});
		else
			done(in_context("set conditions of pod " + who, answer.error()));
	});
}

bool post_event(Client &client, const codec::Event &event)
{
	if (client.queued() > 0)
		return false;
	const auto now = std::chrono::system_clock::now().time_since_epoch();
	const std::int64_t microseconds = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
	const std::string path = "/apis/events.k8s.io/v1/namespaces/" + escape_query(codec::event_namespace(event)) + "/events";
	client.send(write_request(Method::post, path + k_field_manager, codec::event_body(event, microseconds)),
		    [who = event.name_space + "/" + event.name](const Result<Response> &answer) {
			    if (!answer)
				    log_debug("event not written: object=%s error=%s", who.c_str(), answer.error().what.c_str());
		    });
	return true;
}

} // namespace slurmkube::kube
