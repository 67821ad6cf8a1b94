/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_pod.cc - one pod, node, namespace, claim, volume, storage class, resource slice or device
 * class, and the job, node line, user, next step of the claim or list of devices that follows from
 * it.
 */
#include "src/codec/amounts.h"
#include "src/codec/claim.h"
#include "src/codec/json.h"
#include "src/codec/marker.h"
#include "src/codec/namespace.h"
#include "src/codec/node.h"
#include "src/codec/pod.h"
#include "src/codec/resource_slice.h"
#include "src/core/device/inventory.h"
#include "src/core/model/amounts.h"
#include "src/core/reconcile/node_sync.h"
#include "src/core/translate/translate.h"
#include "testsuite/fuzz/fuzz.h"

using namespace slurmkube;
using namespace slurmkube::fuzz;

namespace
{

__extension__ using Wide = __int128;

const core::Policy &policy()
{
	static const core::Policy one = {
		.scheduler_names = {"slurm"},
		.namespaces = {{"a", 1000, 1000, {"acct", "other"}, {"kube", "gpu"}, {"normal"}},
			{"*", 1001, 1001, {}, {}, {}}},
	};
	return one;
}

/* Amounts are never negative, and rounding never yields less than was requested. */
void check_resources(const core::Resources &r)
{
	MUST(r.milli_cpu >= 0 && r.memory_bytes >= 0 && r.pods >= 0);
	for (const auto &[name, amount] : r.extended)
		MUST(amount >= 0);
	const std::uint64_t mib = core::memory_mib_of(r, 0);
	MUST(mib >= 1 && static_cast<Wide>(mib) * (1 << 20) >= r.memory_bytes);
	const std::uint32_t cpus = core::cpus_of(r, core::k_whole_cpu);
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
	/* the node really has what it announces to Slurm */
	MUST(spec.cpus == 1 || static_cast<Wide>(spec.cpus) * 1000 <= node.allocatable.milli_cpu);
	MUST(spec.memory_mib == 1 ||
		static_cast<Wide>(spec.memory_mib) << 20 <= node.allocatable.memory_bytes);
	MUST(spec.cpus > 1 || node.allocatable.milli_cpu < 3000);
}

/* Whatever the annotations say, the rule only yields a user that was looked up, and lists and
 * names within their limits. */
void check_namespace(const core::Namespace &seen)
{
	core::NamespaceRule rule{.name_space = "",
		.user_id = 7,
		.group_id = 7,
		.accounts = {},
		.partitions = {},
		.qos = {}};
	rule.user_from = "id/user";
	rule.accounts_from = "id/accounts";
	const std::vector<core::NamespaceRule> rules = {rule};
	core::IdentityFacts facts;
	facts.namespaces[seen.name] = seen;
	facts.users.insert_or_assign("phys", Result<core::SlurmUser>(core::SlurmUser{1001, 100}));
	facts.users.insert_or_assign("root", Result<core::SlurmUser>(core::SlurmUser{0, 0}));
	const auto found = core::rule_of({rules, 1000, facts}, seen.name);
	MUST(says_why(found));
	if (!found)
		return;
	MUST(found->user_id == 1001 && found->group_id == 100 && found->accounts.size() <= 64);
	for (const std::string &account : found->accounts)
		MUST(is_printable(account) && !account.empty() &&
			account.find_first_of(", ") == std::string::npos);
}

/* Whatever the objects contain, a claim only gets a volume of its class and of at least its
 * size, and only for a node that the volume is reachable from. */
void check_storage(json_object *object)
{
	core::Claims claims;
	const auto storage_class = codec::storage_class_from_json(object);
	const auto volume = codec::volume_from_json(object);
	const auto claim = codec::claim_from_json(object);
	MUST(says_why(storage_class) && says_why(volume) && says_why(claim));
	if (storage_class)
		(void)claims.seen(*storage_class);
	(void)claims.seen(
		core::StorageClass{"local", "u", "kubernetes.io/no-provisioner", true, {}});
	if (volume)
		(void)claims.seen(*volume);
	core::Claim wanted = claim ? *claim : core::Claim();
	if (!claim) {
		wanted.id = {"lab", "c"};
		wanted.uid = "u";
		wanted.storage_class = "local";
		wanted.bytes = 1000;
	}
	(void)claims.seen(wanted);
	core::Pod pod;
	pod.name_space = wanted.id.name_space;
	pod.constraints.claims = {{wanted.id.name, false}};
	core::KubeNode node;
	node.name = "n1";
	node.labels = {{"kubernetes.io/hostname", "n1"}};
	if (!claims.trouble_of(pod).empty() || claims.refuses(pod, node))
		return;
	for (const core::ClaimStep &step : claims.plan(pod, node).steps) {
		MUST(core::claim_name_of(step) == wanted.id.name);
		if (std::holds_alternative<core::GiveVolume>(step))
			MUST(volume && volume->bytes >= wanted.bytes && !volume->deleting);
	}
}

/* The list in Slurm's record is one word, and says the same devices in the same order. */
void check_devices(json_object *object)
{
	const auto device_class = codec::device_class_from_json(object);
	const auto slice = codec::resource_slice_from_json(object);
	MUST(says_why(device_class) && says_why(slice));
	if (!slice)
		return;
	core::DeviceRule rule;
	rule.driver = slice->pool.driver;
	rule.type_attribute = "type";
	core::Inventory inventory;
	(void)inventory.seen(*slice);
	(void)inventory.listed({slice->uid});
	const core::DeviceList list = inventory.on_node(slice->node, rule);
	MUST(list.trouble.empty() || list.devices.empty());
	const std::string gres = core::gres_of_list(rule, list);
	MUST(core::gres_count(core::gres_from_text(gres),
		     {.name = "gpu", .type = "", .count = 0, .indices = ""}) ==
		list.devices.size());
	const std::string extra = core::frozen_text("a", {rule}, {list}, slice->node);
	const auto frozen = core::frozen_devices(extra, rule, slice->node);
	MUST(frozen.size() == list.devices.size());
	for (std::size_t i = 0; i < frozen.size(); i++)
		MUST(frozen[i] == list.devices[i].id);
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
	const auto name_space = codec::namespace_from_json(object->get());
	MUST(says_why(name_space));
	if (name_space)
		check_namespace(*name_space);
	check_storage(object->get());
	check_devices(object->get());
	return 0;
}
