/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/kube/leases.h"

#include "src/agent/kube/token.h"
#include "src/agent/kube/token_renewal.h"
#include "src/codec/lease.h"
#include "src/core/model/names.h"

namespace slurmkube::kube
{

namespace
{

constexpr std::size_t k_largest_lease = std::size_t{1} << 20;

std::string path_of(const std::string &name_space)
{
	return "/apis/coordination.k8s.io/v1/namespaces/" + escape_query(name_space) + "/leases";
}

Result<core::LeaseRecord> lease_in(const Response &answer)
{
	const auto object = codec::parse_json(answer.body, k_largest_lease);
	if (!object)
		return object.error();
	return codec::lease_from_json(object->get());
}

} // namespace

void get_lease(Client &client, const LeaseName &lease,
	std::function<void(Result<std::optional<core::LeaseRecord>>)> done)
{
	using Answer = Result<std::optional<core::LeaseRecord>>;
	Request request;
	request.is_urgent = true;
	request.path = path_of(lease.name_space) + "/" + escape_query(lease.name);
	request.body_limit = k_largest_lease;
	client.send(std::move(request),
		[done = std::move(done), what = "get lease " + lease.text()](
			const Result<Response> &answer) {
			if (!answer && answer.error().code == Errc::not_found)
				return done(Answer(std::nullopt));
			const auto record = answer ? lease_in(*answer)
						   : Result<core::LeaseRecord>(answer.error());
			done(record ? Answer(*record) : Answer(in_context(what, record.error())));
		});
}

void write_lease(Client &client, const LeaseName &lease, const core::LeaseRecord &record,
	std::function<void(Result<core::LeaseRecord>)> done)
{
	const bool is_new = record.resource_version.empty();
	Request request;
	request.is_urgent = true;
	request.method = is_new ? Method::post : Method::put;
	request.path = path_of(lease.name_space) + (is_new ? "" : "/" + escape_query(lease.name)) +
		"?fieldManager=slurm-kube";
	request.body = codec::lease_body(lease.name_space, lease.name, record);
	request.body_limit = k_largest_lease;
	client.send(std::move(request),
		[done = std::move(done),
			what = (is_new ? "create lease " : "update lease ") + lease.text()](
			const Result<Response> &answer) {
			const auto written = answer ? lease_in(*answer)
						    : Result<core::LeaseRecord>(answer.error());
			if (written)
				done(*written);
			else
				done(in_context(what, written.error()));
		});
}

std::string own_namespace(const Client &client)
{
	const std::string of_account = account_namespace_of(client.token().claims().subject);
	return of_account.empty() ? names::k_agent_namespace : of_account;
}

} // namespace slurmkube::kube
