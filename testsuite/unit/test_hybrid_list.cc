/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which device is which index on a hybrid node: a number in its name, never its position. */
#include "src/core/device/hybrid_list.h"
#include "src/core/policy/gres.h"
#include "testsuite/unit/device_facts.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

/* "gpu-0 gpu-1:a", in the order of the list; or the trouble */
std::string text_of(const DeviceList &list)
{
	std::string out = list.trouble;
	for (const ListedDevice &one : list.devices)
		out += (out.empty() ? "" : " ") + one.id.name +
			(one.type.empty() ? "" : ":" + one.type);
	return out;
}

/* names: "gpu-1:a", with the model */
DeviceList listed(const DeviceRule &rule, const std::vector<std::string> &names)
{
	std::vector<SliceDevice> devices;
	for (const std::string &name : names) {
		const std::size_t colon = name.find(':');
		devices.push_back(device(name.substr(0, colon),
			colon == std::string::npos ? "a" : name.substr(colon + 1)));
	}
	Inventory inventory;
	(void)inventory.seen(slice("n1", std::move(devices)));
	(void)inventory.listed({"uid-slice-n1"});
	return inventory.on_node("n1", rule);
}

void the_number_of_a_device_is_its_index()
{
	const struct {
		std::vector<std::string> published;
		const char *gres, *want;
	} rows[] = {
		{{"gpu-1", "gpu-0"}, "gpu:2", "gpu-0 gpu-1"},
		{{"gpu-1", "gpu-0"}, "gpu:a100:1(S:0),gpu:h100:1(S:1),nic:4", "gpu-0 gpu-1"},
		{{"b-0", "a-1", "0000-2"}, "nic:1,gpu:3(S:0-1)", "b-0 a-1 0000-2"},
		{{}, "", ""},
		{{}, "nic:4,gpu:0", ""},
		/* a device has vanished: the others keep their indices, so nothing is given */
		{{"gpu-0", "gpu-2"}, "gpu:3",
			"driver gpu.example.com publishes gpu:2, and Slurm has gpu:3"},
		{{"gpu-0"}, "", "driver gpu.example.com publishes gpu:1, and Slurm has no gpu"},
		{{}, "gpu:4", "driver gpu.example.com publishes no gpu, and Slurm has gpu:4"},
		/* and another one has come */
		{{"gpu-0", "gpu-2", "gpu-3"}, "gpu:3",
			"device gpu-3 of driver gpu.example.com has no number from 0 to 2 at the "
			"end of its name, which would be its index in Slurm"},
		{{"gpu-1", "gpu-2"}, "gpu:2",
			"device gpu-2 of driver gpu.example.com has no number from 0 to 1 at the "
			"end of its name, which would be its index in Slurm"},
		{{"gpu-0", "card"}, "gpu:2",
			"device card of driver gpu.example.com has no number from 0 to 1 at the "
			"end of its name, which would be its index in Slurm"},
		{{"gpu-0", "gpu-01"}, "gpu:2",
			"device gpu-01 of driver gpu.example.com has no number from 0 to 1 at the "
			"end of its name, which would be its index in Slurm"},
		{{"gpu-0", "gpu-4294967297"}, "gpu:2",
			"device gpu-4294967297 of driver gpu.example.com has no number from 0 to 1 "
			"at the end of its name, which would be its index in Slurm"},
		{{"gpu1", "renderd0"}, "gpu:2", "renderd0 gpu1"},
		{{"0", "rack-1"}, "gpu:2", "0 rack-1"},
		/* product numbers of PCI, not indices; c1 may be one, too */
		{{"0000-03-00-0-0x56c0"}, "gpu:1",
			"device 0000-03-00-0-0x56c0 of driver gpu.example.com has no number from 0 "
			"to 0 at the end of its name, which would be its index in Slurm"},
		{{"gpu-c0"}, "gpu:1",
			"device gpu-c0 of driver gpu.example.com has no number from 0 to 0 at the "
			"end of its name, which would be its index in Slurm"},
		{{"gpu-0"}, "gpu:no_consume:1",
			"Slurm gives no indices of gpu, because Gres of the node has no_consume"},
		{{"gpu-0"}, "gpu:a100:no_consume:1",
			"Slurm gives no indices of gpu, because Gres of the node has no_consume"},
		{{"gpu-0"}, "gpu:1,nic:no_consume:1", "gpu-0"},
		{{"gpu-0", "mig-0"}, "gpu:2",
			"devices gpu-0 and mig-0 of driver gpu.example.com have the same number at "
			"the end of their names"},
	};
	for (const auto &row : rows)
		CHECK_EQUAL(text_of(hybrid_list(rule("gpu"), listed(rule("gpu"), row.published),
				    gres_from_text(row.gres))),
			row.want);
}

/* gres.conf may name types in any order. */
void the_types_must_be_those_of_slurm()
{
	const DeviceRule typed = rule("gpu", "model");
	const std::vector<std::string> names{"gpu-0:h", "gpu-1:a", "gpu-2:h"};
	const struct {
		const char *gres, *want;
	} rows[] = {
		{"gpu:a:1,gpu:h:2", "gpu-0:h gpu-1:a gpu-2:h"},
		{"gpu:h:2(S:0),gpu:a:1(S:1)", "gpu-0:h gpu-1:a gpu-2:h"},
		{"gpu:a:2,gpu:h:1",
			"driver gpu.example.com publishes gpu:a:1,gpu:h:2, and Slurm has "
			"gpu:a:2,gpu:h:1; types in Slurm must be the driver's"},
		{"gpu:3",
			"driver gpu.example.com publishes gpu:a:1,gpu:h:2, and Slurm has gpu:3; "
			"types in Slurm must be the driver's"},
		/* no pod could ask for gpu:A */
		{"gpu:A:1,gpu:h:2",
			"driver gpu.example.com publishes gpu:a:1,gpu:h:2, and Slurm has "
			"gpu:A:1,gpu:h:2; types in gres.conf and slurm.conf must be in small "
			"letters, as slurm-kube asks for them"},
	};
	for (const auto &row : rows)
		CHECK_EQUAL(
			text_of(hybrid_list(typed, listed(typed, names), gres_from_text(row.gres))),
			row.want);
}

void names_in_order_say_no_index()
{
	DeviceRule by_name = rule("gpu");
	by_name.order = DeviceOrder::name;
	CHECK(has(
		text_of(hybrid_list(by_name, listed(by_name, {"gpu-0"}), gres_from_text("gpu:1"))),
		"the order of driver gpu.example.com is not 'number'"));
	CHECK_EQUAL(text_of(hybrid_list(by_name, {}, {})), "");
}

void trouble_of_the_pool_stays()
{
	DeviceList list;
	list.trouble = "pool n1 is incomplete";
	CHECK_EQUAL(text_of(hybrid_list(rule("gpu"), list, gres_from_text("gpu:1"))), list.trouble);
	CHECK_EQUAL(hybrid_lists({rule("gpu"), rule("nic")}, {list, {}}, gres_from_text("nic:1"))
			    .size(),
		2U);
}

/* Of the indices that the job has. Otherwise the files of gres.conf are in another order. */
void a_device_of_another_type_is_not_given()
{
	const DeviceRule typed = rule("gpu", "model");
	const std::vector<DeviceList> lists = {hybrid_list(
		typed, listed(typed, {"gpu-0:h", "gpu-1:a"}), gres_from_text("gpu:a:1,gpu:h:1"))};
	const struct {
		const char *name, *type, *indices;
		bool is_right;
	} rows[] = {
		{"gpu", "h", "0", true},
		{"gpu", "a", "1", true},
		{"gpu", "a", "0", false},
		{"gpu", "h", "0-1", false},
		{"gpu", "", "0-1", true},
		{"gpu", "a", "", true}, /* refused for another reason */
		{"gpu", "a", "7", true},
		{"nic", "a", "0", true},
	};
	for (const auto &row : rows) {
		NodeAllocation slot;
		slot.node = "n1";
		slot.gres = {{row.name, row.type, 1, row.indices}};
		const Status same = have_types_of(slot, {typed}, lists);
		CHECK_EQUAL(same.ok(), row.is_right);
		if (!same)
			CHECK(has(same.error().what, "device gpu-"));
		CHECK(have_types_of(slot, {rule("gpu")}, lists).ok());
	}
}

} // namespace

int main()
{
	return check::run_tests("hybrid_list",
		{TEST(the_number_of_a_device_is_its_index), TEST(the_types_must_be_those_of_slurm),
			TEST(names_in_order_say_no_index), TEST(trouble_of_the_pool_stays),
			TEST(a_device_of_another_type_is_not_given)});
}
