/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_nri.cc - what a container runtime sends to slurmkube-node, whole and in two pieces, and the
 * configuration files of both. An error says why; a container that is confined has a list of
 * processors.
 */
#include "src/node/confine.h"
#include "src/node/containerd.h"
#include "src/node/rpc.h"
#include "src/node/settings.h"
#include "testsuite/fuzz/fuzz.h"

#include <algorithm>

using namespace slurmkube;
using namespace slurmkube::fuzz;

namespace
{

void check_container(const node::Pod &pod, const node::Container &container)
{
	const auto job = node::job_of(pod);
	MUST(says_why(job));
	const node::JobFacts facts = {false, node::CpuSet{"1", "0"}};
	const auto confined = node::confinement_of(pod, container, facts, "0");
	MUST(says_why(confined));
	MUST(!confined || (confined->cpus == "1" && confined->memory_limit >= 0));
	const auto cgroup = node::cgroup_of(container.cgroups_path);
	MUST(says_why(cgroup));
	MUST(!cgroup || (cgroup->starts_with('/') && cgroup->find("/../") == std::string::npos));
	if (cgroup)
		(void)node::pod_cgroup_of(pod, *cgroup);
}

void check_payload(const std::string &payload)
{
	if (const auto request = node::parse_container_request(payload))
		check_container(request->pod, request->container);
	if (const auto change = node::parse_state_change(payload))
		check_container(change->request.pod, change->request.container);
	if (const auto inventory = node::parse_inventory(payload))
		for (const node::Container &container : inventory->containers)
			check_container({}, container);
	(void)node::parse_configuration(payload);
}

std::vector<node::RpcMessage> messages_in(std::string_view first, std::string_view rest)
{
	std::vector<node::RpcMessage> found;
	node::RpcReader reader;
	for (const std::string_view piece : {first, rest}) {
		reader.add(piece);
		for (;;) {
			node::RpcMessage message;
			const auto complete = reader.next(message);
			MUST(says_why(complete));
			if (!complete)
				return found;
			if (!*complete)
				break;
			found.push_back(message);
		}
	}
	return found;
}

void check_stream(std::string_view bytes)
{
	const auto whole = messages_in(bytes, {});
	const std::size_t half = bytes.size() / 2;
	const auto pieces = messages_in(bytes.substr(0, half), bytes.substr(half));
	MUST(whole.size() == pieces.size());
	for (std::size_t i = 0; i < whole.size(); i++) {
		MUST(whole[i].body == pieces[i].body && whole[i].stream == pieces[i].stream);
		const auto request = node::parse_rpc_request(whole[i].body);
		MUST(says_why(request));
		if (request)
			check_payload(request->payload);
		MUST(says_why(node::parse_rpc_response(whole[i].body)));
	}
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const std::string_view bytes = Input(data, size).rest();
	check_stream(bytes);
	check_payload(std::string(bytes));
	MUST(says_why(node::parse_settings(bytes)));
	const auto same = [&](const std::string &) { return std::string(bytes); };
	(void)node::containerd_lacks(bytes, same, "0");
	return 0;
}
