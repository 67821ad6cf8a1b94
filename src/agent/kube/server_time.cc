/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/kube/server_time.h"

#include "src/codec/json.h"
#include "src/codec/kube_writes.h"
#include "src/codec/time.h"

#include <chrono>

namespace slurmkube::kube
{

namespace
{

constexpr std::size_t k_answer_max = std::size_t{64} << 10;

Result<std::int64_t> creation_time(const Response &answer)
{
	const auto event = codec::parse_json(answer.body, k_answer_max);
	if (!event)
		return in_context("asking for the server's time", event.error());
	return codec::parse_time(
		codec::get_string(codec::get(event->get(), "metadata"), "creationTimestamp"));
}

} // namespace

void server_time(Client &client, std::function<void(Result<std::int64_t>)> done)
{
	codec::Event event;
	event.name_space = "default";
	event.name = "clock";
	event.reason = "ClockCheck";
	event.action = "Checking";
	event.note = "never stored";
	event.reporting_instance = "slurmkubed";
	Request request;
	request.method = Method::post;
	request.path = "/apis/events.k8s.io/v1/namespaces/default/events?dryRun=All";
	request.body = codec::event_body(event, agent::wall_us());
	request.body_limit = k_answer_max;
	client.send(std::move(request), [done = std::move(done)](const Result<Response> &answer) {
		if (answer)
			done(creation_time(*answer));
		else
			done(in_context("asking for the server's time", answer.error()));
	});
}

} // namespace slurmkube::kube
