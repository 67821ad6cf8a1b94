/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_pod.cc - one pod or node object, as far as the job or the node line that comes of it.
 */
#include "src/codec/amounts.h"
#include "src/codec/json.h"
#include "src/codec/marker.h"
#include "src/codec/node.h"
#include "src/codec/pod.h"
#include "src/core/node_sync.h"
#include "src/core/translate.h"
#include "testsuite/fuzz/fuzz.h"

using namespace slurmkube;
using namespace slurmkube::fuzz;

namespace
{

__extension__ using Wide = __int128;

const core::Policy &policy()
{
	static const core::Policy one = {
		.scheduler_name = "slurm",
		.namespaces = {{"a", 1000, 1000, {"acct", "other"}, {"kube", "gpu"}, {"normal"}}, {"*", 1001, 1001, {}, {}, {}}},
	};
	return one;
}

/* Never negative, and never less than was asked for. */
void check_resources(const core::Resources &r)
{
	MUST(r.milli_cpu >= 0 && r.memory_bytes >= 0 && r.pods >= 0);
	for (const auto &[name, amount] : r.extended)
		MUST(amount >= 0);
	const std::uint64_t mib = core::memory_mib_of(r, 0);
	MUST(mib >= 1 && static_cast<Wide>(mib) * (1 << 20) >= r.memory_bytes);
	const std::uint32_t cpus = core::cpus_of(r);
	MUST(cpus >= 1 && (static_cast<Wide>(cpus) * 1000 >= r.milli_cpu || cpus >= 0xfffffff0U));
}

void check_pod(const core::Pod &pod)
{
	check_resources(pod.requests);
	const auto spec = core::translate(pod, policy(), 1);
	MUST(says_why(spec));
	if (!spec)
		return;
	MUST(spec->user_id >= 1000 && spec->user_id <= 1001 && spec->cpus >= 1);
	MUST(spec->partition == "kube" || spec->partition == "gpu");
	const auto marker = codec::marker_from_text(codec::marker_to_text(spec->marker));
	MUST(marker ? *marker == spec->marker : says_why(marker));
}

void check_node(const core::KubeNode &node)
{
	check_resources(node.allocatable);
	core::NodePolicy reserve;
	reserve.reserve_cpus = 1;
	reserve.reserve_memory_mib = 64;
	const core::NodeSpec spec = core::node_spec(node, reserve, core::PluginHello());
	MUST(spec.cpus >= 1 && spec.memory_mib >= 1);
	/* what is promised to Slurm is there */
	MUST(spec.cpus == 1 || static_cast<Wide>(spec.cpus) * 1000 <= node.allocatable.milli_cpu);
	MUST(spec.memory_mib == 1 || static_cast<Wide>(spec.memory_mib) << 20 <= node.allocatable.memory_bytes);
	MUST(spec.cpus > 1 || node.allocatable.milli_cpu < 3000);
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const auto object = codec::parse_json(Input(data, size).rest(), std::size_t{1} << 20);
	MUST(says_why(object));
	if (!object)
		return 0;
	const auto pod = codec::pod_from_json(object->get());
	MUST(says_why(pod));
	if (pod)
		check_pod(*pod);
	const auto node = codec::node_from_json(object->get());
	MUST(says_why(node));
	if (node)
		check_node(*node);
	return 0;
}
