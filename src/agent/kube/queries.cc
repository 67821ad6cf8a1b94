/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queries.cc - single questions to the API server.
 */
#include "src/agent/kube/leases.h"
#include "src/agent/kube/writes.h"
#include "src/codec/json.h"
#include "src/codec/node.h"
#include "src/codec/owner.h"
#include "src/codec/pod.h"
#include "src/manifests/rights.h"

#include <charconv>
#include <memory>
#include <optional>

namespace slurmkube::kube
{

namespace
{

constexpr std::size_t k_largest_object = std::size_t{8} << 20;
constexpr std::size_t k_largest_page = std::size_t{64} << 20;

Result<core::Pod> pod_of(const Response &answer)
{
	const auto object = codec::parse_json(answer.body, k_largest_object);
	if (!object)
		return object.error();
	return codec::pod_from_json(object.value().get());
}

/* "37", or "37+" with some vendors. */
int leading_number(const std::string &text)
{
	int number = 0;
	/* 0 if there is no number */
	(void)std::from_chars(text.data(), text.data() + text.size(), number);
	return number;
}

Result<ServerVersion> version_of(const Response &answer)
{
	const auto object = codec::parse_json(answer.body, k_largest_object);
	if (!object)
		return object.error();
	json_object *o = object.value().get();
	ServerVersion version;
	version.git_version = codec::get_string(o, "gitVersion");
	version.major = leading_number(codec::get_string(o, "major"));
	version.minor = leading_number(codec::get_string(o, "minor"));
	if (version.git_version.empty() || version.major == 0)
		return Error{Errc::invalid,
			"this is not a Kubernetes API server: /version has no gitVersion"};
	return version;
}

Result<std::string> system_uid_of(const Response &answer)
{
	const auto list = codec::parse_json(answer.body, k_largest_object);
	if (!list)
		return list.error();
	json_object *items = codec::get(list.value().get(), "items");
	const std::size_t count = items ? codec::array_size(items) : 0;
	const std::string uid = count == 1
		? codec::get_string(codec::get(codec::array_at(items, 0), "metadata"), "uid")
		: "";
	if (uid.empty())
		return Error{Errc::invalid, "the API server shows no such namespace"};
	return uid;
}

/* Collects the answers; shared by the requests in flight. */
struct SelfCheck {
	std::function<void(Result<std::vector<Right>>)> done;
	std::vector<Right> rights;
	std::size_t waiting = 0;
	std::optional<Error> error;
};

void take_right(SelfCheck &check, std::size_t i, const Result<Response> &answer)
{
	const auto review = answer ? codec::parse_json(answer->body, k_largest_object)
				   : Result<codec::Json>(answer.error());
	if (review)
		check.rights[i].allowed =
			codec::get_bool(codec::get(review.value().get(), "status"), "allowed");
	else
		check.error = in_context("asking for our rights", review.error());
	if (--check.waiting > 0)
		return;
	if (check.error)
		check.done(*check.error);
	else
		check.done(std::move(check.rights));
}

/* Reads the pages of a list one after the other; shared by its requests. */
struct PodSearch : std::enable_shared_from_this<PodSearch> {
	Client &client;
	std::string path;
	std::function<bool(const core::Pod &)> is_it;
	std::function<void(Result<bool>)> done;

	explicit PodSearch(Client &of) : client(of) {}
	void ask_for(const std::string &page);
	void take(const Result<Response> &answer);
};

void PodSearch::ask_for(const std::string &page)
{
	Request request;
	request.path = path + (page.empty() ? "" : "&continue=" + escape_query(page));
	request.can_wait = true; /* give way to bindings and deletions */
	client.send(
		std::move(request), [self = shared_from_this()](const Result<Response> &answer) {
			self->take(answer);
		});
}

void PodSearch::take(const Result<Response> &answer)
{
	const auto list = answer ? codec::parse_json(answer->body, k_largest_page)
				 : Result<codec::Json>(answer.error());
	if (!list)
		return done(in_context("list pods at " + path, list.error()));
	json_object *items = codec::get(list.value().get(), "items");
	if (!json_object_is_type(items, json_type_array))
		return done(Error{
			Errc::invalid, "list pods at " + path + ": the answer is not a list"});
	for (std::size_t i = 0; i < codec::array_size(items); i++) {
		const auto pod = codec::pod_from_json(codec::array_at(items, i));
		if (!pod || is_it(*pod)) /* a pod that cannot be decoded counts */
			return done(true);
	}
	const std::string next =
		codec::get_string(codec::get(list.value().get(), "metadata"), "continue");
	if (next.empty())
		return done(false);
	ask_for(next);
}

Result<core::NodeLookup> sight_of(const Response &answer)
{
	const auto object = codec::parse_json(answer.body, k_largest_object);
	const auto node = object ? codec::node_from_json(object.value().get())
				 : Result<core::KubeNode>(object.error());
	if (!node)
		return node.error();
	return node->ready ? core::NodeLookup::ready : core::NodeLookup::not_ready;
}

} // namespace

void get_owner(Client &client, const core::OwnerId &id,
	std::function<void(Result<std::optional<core::Owner>>)> done)
{
	using Answer = Result<std::optional<core::Owner>>;
	Request request;
	request.path = core::path_of(id);
	client.send(std::move(request), [done = std::move(done)](const Result<Response> &answer) {
		if (!answer)
			return done(answer.error().code == Errc::not_found
					? Answer(std::nullopt)
					: Answer(answer.error()));
		const auto object = codec::parse_json(answer->body, k_largest_object);
		auto owner = object ? codec::owner_from_json(object.value().get())
				    : Result<core::Owner>(object.error());
		done(owner ? Answer(std::move(*owner)) : Answer(owner.error()));
	});
}

void get_pod(Client &client, const std::string &name_space, const std::string &name,
	std::function<void(Result<core::Pod>)> done)
{
	Request request;
	request.path =
		"/api/v1/namespaces/" + escape_query(name_space) + "/pods/" + escape_query(name);
	client.send(std::move(request),
		[done = std::move(done), who = name_space + "/" + name](
			const Result<Response> &answer) {
			if (answer)
				done(pod_of(*answer));
			else
				done(in_context("get pod " + who, answer.error()));
		});
}

void find_pod(Client &client, const std::string &name_space,
	std::function<bool(const core::Pod &)> is_it, std::function<void(Result<bool>)> done)
{
	const auto search = std::make_shared<PodSearch>(client);
	search->path = "/api/v1/namespaces/" + escape_query(name_space) +
		"/pods?limit=250&fieldSelector=" +
		escape_query("status.phase!=Succeeded,status.phase!=Failed");
	search->is_it = std::move(is_it);
	search->done = std::move(done);
	search->ask_for({});
}

void look_at_node(
	Client &client, const std::string &name, std::function<void(Result<core::NodeLookup>)> done)
{
	Request request;
	request.path = "/api/v1/nodes/" + escape_query(name);
	client.send(
		std::move(request), [done = std::move(done), name](const Result<Response> &answer) {
			Result<core::NodeLookup> sight = answer
				? sight_of(*answer)
				: Result<core::NodeLookup>(answer.error());
			if (!sight && sight.error().code == Errc::not_found)
				return done(core::NodeLookup::none);
			done(sight ? std::move(sight)
				   : Result<core::NodeLookup>(
					     in_context("get node " + name, sight.error())));
		});
}

void cluster_uid(Client &client, std::function<void(Result<std::string>)> done)
{
	Request request;
	request.path = "/api/v1/namespaces?fieldSelector=metadata.name%3Dkube-system";
	client.send(std::move(request), [done = std::move(done)](const Result<Response> &answer) {
		const auto uid =
			answer ? system_uid_of(*answer) : Result<std::string>(answer.error());
		done(uid ? uid : in_context("uid of namespace kube-system", uid.error()));
	});
}

void version(Client &client, std::function<void(Result<ServerVersion>)> done)
{
	Request request;
	request.path = "/version";
	client.send(std::move(request), [done = std::move(done)](const Result<Response> &answer) {
		if (answer)
			done(version_of(*answer));
		else
			done(answer.error());
	});
}

void self_check(Client &client, const manifests::RightsFor &rights_for,
	std::function<void(Result<std::vector<Right>>)> done)
{
	auto check = std::make_shared<SelfCheck>();
	check->done = std::move(done);
	const auto needs = manifests::needed_rights(rights_for);
	check->waiting = needs.size();
	for (std::size_t i = 0; i < needs.size(); i++) {
		const manifests::NeededRight &need = needs[i];
		const std::string group = need.group;
		check->rights.push_back(
			{need.verb, need.resource + (group.empty() ? "" : "." + group), false});
		Request request;
		request.method = Method::post;
		request.path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
		request.body = codec::access_review_body(need.verb, group, need.resource,
			need.in_own_namespace ? own_namespace(client) : "");
		request.can_wait = true; /* give way to bindings and deletions */
		client.send(std::move(request), [check, i](const Result<Response> &answer) {
			take_right(*check, i, answer);
		});
	}
}

} // namespace slurmkube::kube
