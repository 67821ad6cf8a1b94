/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What scontrol prints of a topology, as 22.05.8 to 26.05 do. */
#include "src/agent/slurm/topology.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;

namespace
{

void nodes_are_those_of_all_switches_and_blocks()
{
	struct Row {
		const char *text;
		std::set<std::string> nodes;
	};
	const Row rows[] = {
		{"SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[1-2]\n"
		 "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-2],m Switches=s0\n",
			{"m", "n1", "n2"}},
		{"BlockName=b1 BlockIndex=0 Nodes=n3 BlockSize=1\n", {"n3"}},
		{"RingName=r Nodes=n4\n", {"n4"}},
		{"SwitchName=empty Level=0 LinkSpeed=1\n", {}},
	};
	for (const Row &row : rows) {
		const auto nodes = slurm::nodes_of_topology(row.text);
		CHECK(nodes && *nodes == row.nodes);
	}
}

/* scontrol prints nothing for topology/flat, and also when slurmctld does not answer. */
void a_text_without_a_switch_is_no_answer()
{
	CHECK(!slurm::nodes_of_topology(""));
	CHECK(!slurm::nodes_of_topology("No topology information available\n"));
}

} // namespace

int main()
{
	return check::run_tests("topology",
		{TEST(nodes_are_those_of_all_switches_and_blocks),
			TEST(a_text_without_a_switch_is_no_answer)});
}
