/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/message.h"
#include "src/node/nri.h"
#include "src/node/rpc.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::node;

namespace
{

void messages_arrive_in_any_pieces()
{
	const std::string bytes = rpc_frames({1, 7, RpcType::request, "first"}) +
		rpc_frames({2, 9, RpcType::response, std::string(5000, 'x')}) +
		rpc_frames({1, 8, RpcType::request, ""});
	for (const std::size_t piece : {std::size_t{1}, std::size_t{13}, bytes.size()}) {
		RpcReader reader;
		std::vector<RpcMessage> got;
		for (std::size_t at = 0; at < bytes.size(); at += piece) {
			reader.add(std::string_view(bytes).substr(at, piece));
			for (RpcMessage message; reader.next(message).ok() && message.stream != 0;
				message = {})
				got.push_back(message);
		}
		REQUIRE(got.size() == 3);
		CHECK(got[0].connection == 1 && got[0].stream == 7 && got[0].body == "first");
		CHECK(got[1].connection == 2 && got[1].type == RpcType::response &&
			got[1].body.size() == 5000);
		CHECK(got[2].stream == 8 && got[2].body.empty());
	}
}

void what_is_not_ttrpc_is_refused()
{
	const std::string good = rpc_frames({1, 7, RpcType::request, "x"});
	struct Case {
		std::size_t at;
		char byte;
		Errc want;
	};
	const Case cases[] = {
		{3, 3, Errc::invalid},   /* connection 3 */
		{3, 0, Errc::invalid},   /* connection 0 is reserved */
		{4, 1, Errc::too_large}, /* a frame of 16 MiB */
		{8, 1, Errc::too_large}, /* a message of 16 MiB */
		{16, 3, Errc::invalid},  /* a data message */
	};
	for (const Case &one : cases) {
		std::string bytes = good;
		bytes[one.at] = one.byte;
		RpcReader reader;
		reader.add(bytes);
		RpcMessage message;
		const Result<bool> got = reader.next(message);
		REQUIRE(!got.ok());
		CHECK(got.error().code == one.want);
	}
}

void requests_and_responses_are_read()
{
	const Result<RpcRequest> request = parse_rpc_request(rpc_request({"s", "M", "payload"}));
	REQUIRE(request.ok());
	CHECK(request->service == "s" && request->method == "M" && request->payload == "payload");
	CHECK(!parse_rpc_request("").ok());
	CHECK(!parse_rpc_request("\x0a\x05x").ok());
	const Result<std::string> answer = parse_rpc_response(rpc_response("payload"));
	REQUIRE(answer.ok());
	CHECK_EQUAL(*answer, std::string("payload"));
	const Result<std::string> refused = parse_rpc_response(rpc_refusal("no job"));
	REQUIRE(!refused.ok());
	CHECK(refused.error().code == Errc::denied && refused.error().what == "no job");
}

Message pod_message(const std::string &id)
{
	const auto annotation = [](const char *key, const char *value) {
		return Message().text(1, key).text(2, value);
	};
	return Message()
		.text(1, id)
		.text(2, "train")
		.text(3, "u1")
		.text(4, "lab")
		.message(6, annotation("allocation.slurm-kube.io/job-id", "4711"))
		.message(6, annotation("allocation.slurm-kube.io/memory", "512"))
		.message(6, annotation("slurm-kube.io/job-id", "1"));
}

Message container_message(const std::string &id, const std::string &pod)
{
	const Message limit = Message().number(1, 1048576);
	const Message resources = Message()
					  .message(1, Message().message(1, limit))
					  .message(2, Message().text(6, "0"));
	return Message().text(1, id).text(2, pod).text(3, "main").number(4, 3).message(
		11, Message().message(3, resources).text(5, "/kubepods/podU/c1"));
}

void containers_of_the_runtime_are_read()
{
	const Result<ContainerRequest> request =
		parse_container_request(Message()
						.message(1, pod_message("p1"))
						.message(2, container_message("c1", "p1"))
						.bytes());
	REQUIRE(request.ok());
	CHECK(request->pod.id == "p1" && request->pod.name == "train" && request->pod.uid == "u1" &&
		request->pod.name_space == "lab");
	CHECK(request->pod.job == "4711" && request->pod.memory == "512");
	CHECK(request->container.id == "c1" && request->container.pod_id == "p1" &&
		request->container.state == ContainerState::running);
	CHECK_EQUAL(request->container.cgroups_path, std::string("/kubepods/podU/c1"));
	CHECK_EQUAL(request->container.memory_limit, std::int64_t{1048576});
	CHECK(!parse_container_request("").ok());
	CHECK(!parse_container_request("\x0a\x7f").ok());

	const Result<StateChange> change =
		parse_state_change(Message()
					   .number(1, 11)
					   .message(2, pod_message("p1"))
					   .message(3, container_message("c1", "p1"))
					   .bytes());
	REQUIRE(change.ok());
	CHECK(change->event == 11 && change->request.container.id == "c1");

	const Result<Inventory> inventory =
		parse_inventory(Message()
					.message(1, pod_message("p1"))
					.message(2, container_message("c1", "p1"))
					.message(2, container_message("c2", "p1"))
					.number(3, 1)
					.bytes());
	REQUIRE(inventory.ok());
	CHECK(inventory->pods.size() == 1 && inventory->containers.size() == 2 && inventory->more);
}

/* The bytes that containerd's own encoder makes of the same answers. */
void answers_have_the_runtimes_form()
{
	CHECK_EQUAL(adjustment({"1", "", 0}),
		std::string("\x0a\x09\x32\x07\x12\x05\x12\x03\x32\x01"
			    "1"));
	CHECK_EQUAL(updates({{"c", {"0", "", 0}}}),
		std::string("\x0a\x0e\x0a\x01"
			    "c\x12\x07\x0a\x05\x12\x03\x32\x01"
			    "0\x18\x01"));
	CHECK_EQUAL(adjustment({"1", "0", 0}),
		std::string("\x0a\x0c\x32\x0a\x12\x08\x12\x06\x32\x01"
			    "1\x3a\x01"
			    "0"));
	CHECK_EQUAL(updates({}, true), std::string("\x10\x01"));
	CHECK_EQUAL(adjustment({"", "", 1 << 20}),
		std::string("\x0a\x0c\x32\x0a\x12\x08\x0a\x06\x0a\x04\x08\x80\x80\x40", 14));
	CHECK_EQUAL(subscription(false), std::string("\x10\xe8\x0d"));
	CHECK_EQUAL(subscription(true), std::string("\x10\xe9\x0d"));
}

} // namespace

int main()
{
	return check::run_tests("node_rpc",
		{TEST(messages_arrive_in_any_pieces), TEST(what_is_not_ttrpc_is_refused),
			TEST(requests_and_responses_are_read),
			TEST(containers_of_the_runtime_are_read),
			TEST(answers_have_the_runtimes_form)});
}
