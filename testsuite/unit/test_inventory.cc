/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of pools are those of kube-scheduler: k8s.io/dynamic-resource-allocation v0.37.1,
 * structured/internal/stable/pools_stable.go. */
#include "src/core/device/inventory.h"
#include "testsuite/unit/check.h"

#include <utility>

using namespace slurmkube;
using namespace slurmkube::core;

namespace
{

constexpr char k_driver[] = "gpu.example.com";
using Nodes = std::set<std::string>;

SliceDevice device(const std::string &name, const std::string &model = "")
{
	SliceDevice out;
	out.name = name;
	out.properties.driver = k_driver;
	if (!model.empty())
		cel::add_attribute(out.properties, "model", model);
	return out;
}

ResourceSlice slice(const std::string &name, std::vector<SliceDevice> devices,
	const std::string &pool = "n1", std::int64_t generation = 1, std::int64_t count = 1)
{
	ResourceSlice out;
	out.name = name;
	out.uid = "uid-" + name;
	out.pool = {k_driver, pool};
	out.generation = generation;
	out.slice_count = count;
	out.node = "n1";
	out.devices = std::move(devices);
	return out;
}

DeviceRule rule(const std::string &only = "")
{
	DeviceRule out;
	out.driver = k_driver;
	if (!only.empty())
		out.only = *cel::compile(only);
	return out;
}

Inventory inventory_of(std::vector<ResourceSlice> slices)
{
	Inventory out;
	Nodes live;
	for (ResourceSlice &one : slices) {
		live.insert(one.uid);
		(void)out.seen(std::move(one));
	}
	(void)out.listed(live);
	return out;
}

/* "gpu-0 gpu-1", or the trouble */
std::string text_of(const DeviceList &list)
{
	std::string out = list.trouble;
	for (const ListedDevice &one : list.devices)
		out += (out.empty() ? "" : " ") + one.id.name +
			(one.type.empty() ? "" : ":" + one.type);
	return out;
}

bool has_part(const std::string &text, const std::string &part)
{
	return text.find(part) != std::string::npos;
}

void devices_are_in_the_order_of_their_numbers()
{
	const Inventory devices = inventory_of({slice("s",
		{device("gpu-10"), device("gpu-9"), device("mig-2"), device("gpu-09"),
			device("card"), device("a")})});
	CHECK_EQUAL(text_of(devices.on_node("n1", rule())), "mig-2 gpu-9 gpu-09 gpu-10 a card");
	DeviceRule by_name = rule();
	by_name.order = DeviceOrder::name;
	CHECK_EQUAL(text_of(devices.on_node("n1", by_name)), "a card gpu-9 gpu-09 gpu-10 mig-2");
	CHECK_EQUAL(text_of(devices.on_node("n2", rule())), "");
}

void devices_of_one_type_stand_together()
{
	const Inventory devices = inventory_of({slice("s",
		{device("gpu-0", "H100 SXM"), device("gpu-1", "A100"), device("gpu-2", "H100 SXM"),
			device("gpu-3", "A9")})});
	DeviceRule typed = rule();
	typed.type_attribute = "model";
	const DeviceList list = devices.on_node("n1", typed);
	CHECK_EQUAL(text_of(list), "gpu-3:a9 gpu-1:a100 gpu-0:h100_sxm gpu-2:h100_sxm");
	CHECK_EQUAL(gres_of_list(typed, list), "gpu:a9:1,gpu:a100:1,gpu:h100_sxm:2");
	CHECK_EQUAL(gres_of_list(rule(), devices.on_node("n1", rule())), "gpu:4");
	CHECK_EQUAL(gres_of_list(rule(), {}), "");
	typed.type_attribute = std::string(k_driver) + "/model";
	CHECK_EQUAL(devices.on_node("n1", typed).devices.size(), 4U);
	typed.type_attribute = "other.example.com/model";
	CHECK(devices.on_node("n1", typed)
			.trouble.starts_with("device gpu-0 in pool n1 of driver gpu.example.com "
					     "has no attribute "
					     "other.example.com/model: "));
}

void other_attributes_are_types_too()
{
	SliceDevice one = device("gpu-0");
	cel::add_attribute(one.properties, "number", std::int64_t{7});
	cel::add_attribute(one.properties, "truth", true);
	cel::add_attribute(one.properties, "version", *cel::Version::parse("1.2.3+x"));
	const Inventory devices = inventory_of({slice("s", {one})});
	const std::pair<const char *, const char *> cases[] = {
		{"number", "7"}, {"truth", "true"}, {"version", "1.2.3_x"}};
	for (const auto &[name, type] : cases) {
		DeviceRule typed = rule();
		typed.type_attribute = name;
		CHECK_EQUAL(text_of(devices.on_node("n1", typed)), std::string("gpu-0:") + type);
	}
}

void an_incomplete_pool_is_trouble()
{
	Inventory devices = inventory_of({slice("a", {device("gpu-0")}, "n1", 1, 2)});
	CHECK_EQUAL(devices.on_node("n1", rule()).trouble,
		"pool n1 of driver gpu.example.com is incomplete: it has 1 of 2 slices of "
		"generation 1");
	CHECK(devices.on_node("n1", rule()).devices.empty());
	CHECK(devices.find({{k_driver, "n1"}, "gpu-0"}) == nullptr);
	CHECK(devices.seen(slice("b", {device("gpu-1")}, "n1", 1, 2)) == Nodes{"n1"});
	CHECK_EQUAL(text_of(devices.on_node("n1", rule())), "gpu-0 gpu-1");
	CHECK(devices.find({{k_driver, "n1"}, "gpu-1"}) != nullptr);
	CHECK(devices.find({{k_driver, "n2"}, "gpu-1"}) == nullptr);
	CHECK(devices.find({{"other", "n1"}, "gpu-1"}) == nullptr);
}

void only_the_highest_generation_counts()
{
	Inventory devices =
		inventory_of({slice("a", {device("gpu-0")}), slice("b", {device("x-0")}, "n2")});
	CHECK(devices.seen(slice("c", {device("gpu-5")}, "n1", 2, 2)) == Nodes{"n1"});
	CHECK(!devices.on_node("n1", rule()).trouble.empty());
	(void)devices.seen(slice("d", {device("gpu-6")}, "n1", 2, 2));
	CHECK_EQUAL(text_of(devices.on_node("n1", rule())), "x-0 gpu-5 gpu-6");
	/* a slice of an earlier generation that comes late */
	(void)devices.seen(slice("e", {device("gpu-7")}, "n1", 1, 1));
	CHECK_EQUAL(text_of(devices.on_node("n1", rule())), "x-0 gpu-5 gpu-6");
}

void slices_on_other_nodes_complete_a_pool()
{
	ResourceSlice far = slice("b", {device("gpu-1")}, "rack", 1, 2);
	far.node = "n2";
	Inventory devices = inventory_of({slice("a", {device("gpu-0")}, "rack", 1, 2)});
	CHECK(!devices.on_node("n1", rule()).trouble.empty());
	CHECK(devices.seen(far) == (Nodes{"n1", "n2"}));
	CHECK_EQUAL(text_of(devices.on_node("n1", rule())), "gpu-0");
	CHECK_EQUAL(text_of(devices.on_node("n2", rule())), "gpu-1");
	CHECK(devices.nodes_of(k_driver) == (Nodes{"n1", "n2"}));
	CHECK(devices.nodes_of("other").empty());
	CHECK(devices.gone("b") == (Nodes{"n1", "n2"}));
	CHECK(!devices.on_node("n1", rule()).trouble.empty());
	/* a device on no node completes it, too */
	far.node.clear();
	far.unsupported = "allNodes";
	CHECK(devices.seen(far) == Nodes{"n1"});
	CHECK_EQUAL(text_of(devices.on_node("n1", rule())), "gpu-0");
}

void two_devices_of_one_name_are_trouble()
{
	const Inventory devices = inventory_of({slice("a", {device("gpu-0")}, "n1", 1, 2),
		slice("b", {device("gpu-0")}, "n1", 1, 2)});
	CHECK_EQUAL(devices.on_node("n1", rule()).trouble,
		"pool n1 of driver gpu.example.com is invalid: two devices have the name gpu-0");
}

void a_filter_chooses_and_may_fail()
{
	const Inventory devices =
		inventory_of({slice("s", {device("gpu-0", "A100"), device("gpu-1", "T4")})});
	const std::string model = "device.attributes['gpu.example.com'].";
	CHECK_EQUAL(text_of(devices.on_node("n1", rule(model + "model == 'T4'"))), "gpu-1");
	const std::string trouble = devices.on_node("n1", rule(model + "size == 1")).trouble;
	CHECK(trouble.starts_with(
		"device gpu-0 in pool n1 of driver gpu.example.com: 'only' fails: "));
}

void what_cannot_be_given_is_trouble_unless_it_is_left_out()
{
	SliceDevice part = device("gpu-1", "part");
	part.unsupported = "consumesCounters";
	const Inventory devices = inventory_of({slice("s", {device("gpu-0", "full"), part})});
	CHECK_EQUAL(devices.on_node("n1", rule()).trouble,
		"device gpu-1 in pool n1 of driver gpu.example.com has consumesCounters, which "
		"slurm-kube does not support: leave the device out with 'only'");
	const char full[] = "device.attributes['gpu.example.com'].model == 'full'";
	CHECK_EQUAL(text_of(devices.on_node("n1", rule(full))), "gpu-0");
	ResourceSlice strange = slice("s", {});
	strange.unsupported = "too many devices";
	CHECK_EQUAL(inventory_of({strange}).on_node("n1", rule()).trouble,
		"pool n1 of driver gpu.example.com has too many devices, which slurm-kube does "
		"not support");
	CHECK(!inventory_of({slice("s", {device("gpu;0")})}).on_node("n1", rule()).trouble.empty());
	std::vector<SliceDevice> many;
	for (int i = 0; i < 1025; i++)
		many.push_back(device("gpu-" + std::to_string(i)));
	CHECK(inventory_of({slice("s", many)})
			.on_node("n1", rule())
			.trouble.starts_with("1025 devices of driver gpu.example.com are on one"));
}

void two_rules_for_one_gres_on_a_node_are_trouble()
{
	ResourceSlice other = slice("b", {device("x-0")});
	other.pool.driver = "x.example.com";
	const Inventory devices = inventory_of({slice("a", {device("gpu-0")}), other});
	DeviceRules rules = {rule(), rule()};
	rules[1].driver = "x.example.com";
	const auto lists = devices.lists_on("n1", rules);
	REQUIRE(lists.size() == 2);
	CHECK(lists[0] == lists[1]);
	CHECK_EQUAL(lists[0].trouble,
		"drivers gpu.example.com and x.example.com both have devices for GRES gpu: give "
		"them two names");
	rules[1].gres = "x";
	CHECK_EQUAL(text_of(devices.lists_on("n1", rules)[1]), "x-0");
	rules[1] = rule();
	rules[1].driver = "nothing.example.com";
	CHECK_EQUAL(text_of(devices.lists_on("n1", rules)[0]), "gpu-0");
}

void nothing_is_said_before_the_first_list()
{
	Inventory devices;
	CHECK(devices.seen(slice("a", {device("gpu-0")})) == Nodes{"n1"});
	CHECK(!devices.is_listed());
	CHECK_EQUAL(devices.on_node("n1", rule()).trouble, "the devices have not been listed yet");
	CHECK(devices.listed({"uid-a"}) == Nodes{"n1"});
	CHECK(devices.is_listed());
	CHECK_EQUAL(text_of(devices.on_node("n1", rule())), "gpu-0");
	CHECK(devices.listed({"uid-a"}).empty());
	CHECK(devices.listed({"another"}) == Nodes{"n1"});
	CHECK_EQUAL(text_of(devices.on_node("n1", rule())), "");
	CHECK(devices.nodes_of(k_driver).empty());
	CHECK(devices.gone("a").empty());
}

void a_slice_that_moves_concerns_both_nodes()
{
	Inventory devices = inventory_of({slice("a", {device("gpu-0")})});
	ResourceSlice moved = slice("a", {device("gpu-0")}, "n2");
	moved.node = "n2";
	CHECK(devices.seen(moved) == (Nodes{"n1", "n2"}));
	CHECK_EQUAL(text_of(devices.on_node("n1", rule())), "");
	CHECK_EQUAL(text_of(devices.on_node("n2", rule())), "gpu-0");
}

/* Lists are kept, and made anew when a slice of one of their pools changes. */
void lists_follow_every_change()
{
	ResourceSlice other = slice("b", {device("gpu-7")}, "n1", 1, 2);
	other.node = "n2";
	Inventory devices = inventory_of({slice("a", {device("gpu-0")}, "n1", 1, 2), other});
	CHECK_EQUAL(text_of(devices.on_node("n1", rule())), "gpu-0");
	CHECK(&devices.on_node("n1", rule()) == &devices.on_node("n1", rule()));
	CHECK_EQUAL(text_of(devices.on_node("n1", rule("false"))), "");
	DeviceRule by_name = rule();
	by_name.order = DeviceOrder::name;
	CHECK(&devices.on_node("n1", rule()) != &devices.on_node("n1", by_name));
	CHECK(devices.nodes_of(k_driver) == (Nodes{"n1", "n2"}));
	const Inventory copy = devices;
	/* the pool's slice of another node makes the pool incomplete on this one */
	CHECK(devices.gone("b") == (Nodes{"n1", "n2"}));
	CHECK(has_part(devices.on_node("n1", rule()).trouble, "is incomplete"));
	CHECK_EQUAL(text_of(devices.on_node("n2", rule())), "");
	CHECK(devices.nodes_of(k_driver) == Nodes{"n1"});
	(void)devices.seen(other);
	CHECK_EQUAL(text_of(devices.on_node("n1", rule())), "gpu-0");
	CHECK(devices.nodes_of(k_driver) == (Nodes{"n1", "n2"}));
	(void)devices.seen(slice("a", {device("gpu-1")}, "n1", 1, 2));
	CHECK_EQUAL(text_of(devices.on_node("n1", rule())), "gpu-1");
	(void)devices.listed({});
	CHECK_EQUAL(text_of(devices.on_node("n1", rule())), "");
	CHECK_EQUAL(text_of(copy.on_node("n1", rule())), "gpu-0");
	CHECK_EQUAL(text_of(copy.on_node("n2", rule())), "gpu-7");
	devices.forget_lists();
	CHECK_EQUAL(text_of(devices.on_node("n1", rule())), "");
}

/* ---- the list in Slurm's record ---- */

DeviceList list_of(const std::vector<std::pair<std::string, std::string>> &devices)
{
	DeviceList out;
	for (const auto &[pool, name] : devices)
		out.devices.push_back({{{k_driver, pool}, name}, ""});
	return out;
}

DeviceRules two_rules()
{
	DeviceRules rules = {rule(), rule()};
	rules[1].gres = "nic";
	rules[1].driver = "dra.net";
	return rules;
}

void a_list_is_one_word_of_extra()
{
	const std::vector<DeviceList> lists = {
		list_of({{"n1", "gpu-0"}, {"n1", "gpu-1"}}), list_of({{"a/b", "nic-0"}})};
	const std::string word = "slurm-kube:gpu@gpu.example.com=gpu-0,gpu-1;nic@dra.net=a/b/nic-0";
	const std::pair<const char *, std::string> cases[] = {{"", word},
		{"rack 7", "rack 7 " + word}, {"a slurm-kube:gpu@x=y b", "a " + word + " b"},
		{"slurm-kube:", word}, {"a slurm-kube:x", "a " + word}};
	for (const auto &[before, after] : cases) {
		CHECK_EQUAL(frozen_text(before, two_rules(), lists, "n1"), after);
		CHECK_EQUAL(frozen_text(after, two_rules(), lists, "n1"), after);
	}
	const auto gpus = frozen_devices("a " + word + " b", two_rules()[0], "n1"),
		   nics = frozen_devices(word, two_rules()[1], "n1");
	CHECK(gpus ==
		(std::vector<DeviceId>{{{k_driver, "n1"}, "gpu-0"}, {{k_driver, "n1"}, "gpu-1"}}));
	CHECK(nics == (std::vector<DeviceId>{{{"dra.net", "a/b"}, "nic-0"}}));
	DeviceRule other = rule();
	other.driver = "another.example.com";
	CHECK(frozen_devices(word, other, "n1").empty());
	CHECK(frozen_devices("gpu@gpu.example.com=gpu-0", rule(), "n1").empty());
}

void a_list_with_trouble_stays_as_it_was()
{
	std::vector<DeviceList> lists(2);
	lists[0].trouble = "incomplete";
	lists[1] = list_of({{"n1", "nic-1"}});
	CHECK_EQUAL(frozen_text("slurm-kube:gpu@gpu.example.com=gpu-3", two_rules(), lists, "n1"),
		"slurm-kube:gpu@gpu.example.com=gpu-3;nic@dra.net=nic-1");
	CHECK_EQUAL(frozen_text("", two_rules(), lists, "n1"), "slurm-kube:nic@dra.net=nic-1");
}

void without_devices_the_word_goes()
{
	const std::pair<const char *, const char *> cases[] = {{"", ""}, {"a  b", "a  b"},
		{"slurm-kube:gpu@x=y", ""}, {"a slurm-kube:x b", "a b"}, {"slurm-kube:x b", "b"},
		{"a slurm-kube:x", "a"}};
	for (const auto &[before, after] : cases) {
		CHECK_EQUAL(
			frozen_text(before, two_rules(), std::vector<DeviceList>(2), "n1"), after);
		CHECK_EQUAL(frozen_text(before, {}, {}, "n1"), after);
	}
}

/* The keys of the device's taints by DeviceTaintRules. */
std::string taints_of(
	const Inventory &inventory, const std::string &name, const std::string &pool = "n1")
{
	const SliceDevice *device = inventory.find({{k_driver, pool}, name});
	std::string out = device ? "" : "no device";
	for (const Taint &taint : device ? device->rule_taints : std::vector<Taint>())
		out += (out.empty() ? "" : ",") + taint.key;
	return out;
}

DeviceTaintRule taint_rule(const std::string &name)
{
	DeviceTaintRule out;
	out.name = name;
	out.uid = "uid-" + name;
	out.has_selector = true;
	out.taint = {name, "", "NoSchedule"};
	return out;
}

void taint_rules_concern_what_meets_all_criteria()
{
	ResourceSlice other = slice("b", {device("gpu-0")}, "n2");
	other.node = "n2";
	Inventory all = inventory_of({slice("a", {device("gpu-0"), device("gpu-1")}), other});
	CHECK(all.seen(taint_rule("any")) == (Nodes{"n1", "n2"}));
	DeviceTaintRule one = taint_rule("one");
	one.pool = "n1", one.device = "gpu-1";
	CHECK(all.seen(one) == Nodes{"n1"});
	DeviceTaintRule pool = taint_rule("pool");
	pool.pool = "n2";
	CHECK(all.seen(pool) == Nodes{"n2"});
	DeviceTaintRule foreign = taint_rule("foreign");
	foreign.driver = "other.example.com";
	CHECK(all.seen(foreign).empty());
	DeviceTaintRule none = taint_rule("none");
	none.has_selector = false;
	CHECK(all.seen(none).empty());
	CHECK_EQUAL(taints_of(all, "gpu-0"), "any");
	CHECK_EQUAL(taints_of(all, "gpu-1"), "any,one");
	CHECK_EQUAL(taints_of(all, "gpu-0", "n2"), "any,pool");
}

/* More than sixteen for one device are one more taint, and a rule that is seen again changes no
 * node. */
void many_taint_rules_are_bounded()
{
	Inventory devices;
	devices.seen(slice("n1", {device("gpu-0")}));
	for (int i = 10; i < 40; i++) {
		DeviceTaintRule rule = taint_rule("r" + std::to_string(i));
		rule.taint.key = rule.name;
		CHECK_EQUAL(devices.seen(rule).size(), std::size_t{i < 27 ? 1U : 0U});
		CHECK(devices.seen(rule).empty());
	}
	const SliceDevice *found = devices.find({{"gpu.example.com", "n1"}, "gpu-0"});
	REQUIRE(found != nullptr);
	CHECK_EQUAL(found->rule_taints.size(), 17U);
	CHECK_EQUAL(found->rule_taints.back().key, "slurm-kube.io/too-many-taint-rules");
}

void taint_rules_change_and_go()
{
	Inventory all = inventory_of({slice("a", {device("gpu-0"), device("gpu-1")})});
	DeviceTaintRule rule = taint_rule("r");
	rule.device = "gpu-0";
	(void)all.seen(rule);
	rule.device = "gpu-1";
	CHECK(all.seen(rule) == Nodes{"n1"});
	CHECK(all.seen(rule).empty());
	CHECK_EQUAL(taints_of(all, "gpu-0"), "");
	CHECK_EQUAL(taints_of(all, "gpu-1"), "r");
	(void)all.seen(slice("a", {device("gpu-1")})); /* published anew */
	CHECK_EQUAL(taints_of(all, "gpu-1"), "r");
	CHECK(all.rules_listed({"uid-r"}).empty());
	CHECK(all.rule_gone("r") == Nodes{"n1"});
	CHECK_EQUAL(taints_of(all, "gpu-1"), "");
	(void)all.seen(rule);
	CHECK(all.rules_listed({}) == Nodes{"n1"});
	CHECK_EQUAL(taints_of(all, "gpu-1"), "");
}

} // namespace

int main()
{
	return check::run_tests("inventory",
		{TEST(devices_are_in_the_order_of_their_numbers),
			TEST(devices_of_one_type_stand_together),
			TEST(other_attributes_are_types_too), TEST(an_incomplete_pool_is_trouble),
			TEST(only_the_highest_generation_counts),
			TEST(slices_on_other_nodes_complete_a_pool),
			TEST(two_devices_of_one_name_are_trouble),
			TEST(a_filter_chooses_and_may_fail),
			TEST(what_cannot_be_given_is_trouble_unless_it_is_left_out),
			TEST(two_rules_for_one_gres_on_a_node_are_trouble),
			TEST(nothing_is_said_before_the_first_list),
			TEST(a_slice_that_moves_concerns_both_nodes),
			TEST(lists_follow_every_change), TEST(a_list_is_one_word_of_extra),
			TEST(a_list_with_trouble_stays_as_it_was),
			TEST(without_devices_the_word_goes),
			TEST(taint_rules_concern_what_meets_all_criteria),
			TEST(many_taint_rules_are_bounded), TEST(taint_rules_change_and_go)});
}
