/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/node_state_file.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::plugin;

namespace
{

core::SlurmNode node(const char *name, bool drain, core::NodeBase base, const char *reason)
{
	core::SlurmNode node;
	node.name = name;
	node.drain = drain;
	node.base = base;
	node.reason = reason;
	return node;
}

void drained_and_down_nodes_are_noted()
{
	OutOfServiceNodes map;
	CHECK(note_node(map, node("a", true, core::NodeBase::idle, "bad disk")));
	CHECK(note_node(map, node("b", false, core::NodeBase::down, "no power")));
	CHECK(note_node(map, node("c", true, core::NodeBase::down, "both")));
	CHECK(!note_node(map, node("a", true, core::NodeBase::allocated, "bad disk")));
	CHECK_EQUAL(to_text(map), std::string("a drain bad disk\nb down no power\nc down both\n"));
}

void a_node_in_use_is_not_whatever_its_reason_says()
{
	OutOfServiceNodes map;
	CHECK(!note_node(map, node("a", false, core::NodeBase::mixed, "old text")));
	CHECK(map.empty());
	(void)note_node(map, node("a", true, core::NodeBase::mixed, "text"));
	CHECK(note_node(map, node("a", false, core::NodeBase::mixed, "text")));
	CHECK(map.empty());
}

void a_new_reason_is_a_change()
{
	OutOfServiceNodes map;
	(void)note_node(map, node("a", true, core::NodeBase::idle, "one"));
	CHECK(note_node(map, node("a", true, core::NodeBase::idle, "two")));
	CHECK(note_node(map, node("a", true, core::NodeBase::down, "two")));
	CHECK(map.at("a").down);
}

void slurm_keeps_dynamic_nodes_itself()
{
	OutOfServiceNodes map;
	core::SlurmNode dynamic = node("a", true, core::NodeBase::idle, "x");
	dynamic.dynamic = true;
	CHECK(!note_node(map, dynamic));
	CHECK(map.empty());
}

void any_reason_survives_the_file()
{
	OutOfServiceNodes map;
	for (const char *reason :
		{"plain", " blanks at both ends ", "two\nlines\n", "back\\slash\\n", "\\"})
		(void)note_node(map,
			node(("n" + std::to_string(map.size())).c_str(), true, core::NodeBase::idle,
				reason));
	CHECK_EQUAL(map.size(), std::size_t{5});
	CHECK(out_of_service_from(to_text(map)) == map);
}

void foreign_lines_are_left_out()
{
	OutOfServiceNodes map = out_of_service_from(
		"a drain x\n\nb\nc sideways y\nd drain\n drain z\ne down y\nf drain cut o");
	CHECK_EQUAL(map.size(), std::size_t{2});
	CHECK(!map.at("a").down);
	CHECK(map.at("e").down);
}

} // namespace

int main()
{
	return check::run_tests("plugin node state file",
		{
			TEST(drained_and_down_nodes_are_noted),
			TEST(a_node_in_use_is_not_whatever_its_reason_says),
			TEST(a_new_reason_is_a_change),
			TEST(slurm_keeps_dynamic_nodes_itself),
			TEST(any_reason_survives_the_file),
			TEST(foreign_lines_are_left_out),
		});
}
