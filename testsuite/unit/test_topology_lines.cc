/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/policy/slinky_node.h"
#include "src/core/reconcile/topology_lines.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::core;

namespace
{

const std::vector<std::string> k_keys{
	"topology.kubernetes.io/region", "topology.kubernetes.io/zone"};

PlacedNode by_spec(const std::string &name, const std::string &spec)
{
	return {name, spec, {}};
}

PlacedNode by_labels(const std::string &name, const std::string &region, const std::string &zone)
{
	PlacedNode node{name, "", {{k_keys[0], region}}};
	if (!zone.empty())
		node.labels[k_keys[1]] = zone;
	return node;
}

std::string lines_of(const std::vector<PlacedNode> &nodes)
{
	std::string text;
	for (const std::string &line : topology_lines(nodes, k_keys, "kube-test"))
		text += line + "\n";
	return text;
}

void the_annotation_says_the_switches_of_a_node()
{
	const struct {
		const char *spec, *path;
	} rows[] = {
		{"topo-switch:s2,topo-block:b2", "s2"},
		{"topo-block:b2,topo-switch:s2", "s2"},
		{"topo-block:b2", "label"},
		{"default:root:s1:leaf", "root/s1/leaf"},
		{"", "label"},
		{"topo-switch", "label"},
		{"topo-switch:", "label"},
		{":s1", "label"},
		{",,topo::s1:", "s1"},
	};
	for (const auto &row : rows) {
		PlacedNode node = by_spec("n1", row.spec);
		node.labels = {{k_keys[1], "label"}};
		std::string path;
		for (const std::string &one : switches_of(node, k_keys))
			path += (path.empty() ? "" : "/") + one;
		CHECK_EQUAL(path, row.path);
	}
}

void a_long_annotation_says_nothing()
{
	CHECK_EQUAL(slinky_topology({}), "");
	CHECK_EQUAL(slinky_topology({{k_topology_spec, "t:s1"}}), "t:s1");
	CHECK_EQUAL(slinky_topology({{k_topology_spec, "t:" + std::string(1023, 'x')}}), "");
}

void one_switch_is_above_all_nodes()
{
	CHECK_EQUAL(lines_of({}), "");
	CHECK_EQUAL(lines_of({by_spec("n1", ""), by_spec("n2", "")}),
		"SwitchName=kube-test Nodes=n1,n2\n");
	CHECK_EQUAL(lines_of({by_spec("n1", "t:s1"), by_spec("n2", "t:s2"), by_spec("n3", "t:s1")}),
		"SwitchName=kube-test Switches=s1,s2\n"
		"SwitchName=s1 Nodes=n1,n3\n"
		"SwitchName=s2 Nodes=n2\n");
	CHECK_EQUAL(lines_of({by_labels("n1", "east", "east-a"), by_labels("n2", "east", "east-b"),
			    by_labels("n3", "west", "west-a")}),
		"SwitchName=kube-test Switches=east,west\n"
		"SwitchName=east Switches=east-a,east-b\n"
		"SwitchName=east-a Nodes=n1\n"
		"SwitchName=east-b Nodes=n2\n"
		"SwitchName=west Switches=west-a\n"
		"SwitchName=west-a Nodes=n3\n");
}

void a_switch_has_nodes_or_switches_but_not_both()
{
	CHECK_EQUAL(lines_of({by_labels("n1", "east", "a"), by_labels("n2", "east", ""),
			    by_spec("n3", "")}),
		"SwitchName=kube-test Switches=kube-test-other,east\n"
		"SwitchName=kube-test-other Nodes=n3\n"
		"SwitchName=east Switches=east-other,a\n"
		"SwitchName=east-other Nodes=n2\n"
		"SwitchName=a Nodes=n1\n");
	/* a switch may have the name of ours */
	CHECK_EQUAL(lines_of({by_spec("n1", "t:-other"), by_spec("n2", "")}),
		"SwitchName=kube-test Switches=kube-test-other,-other\n"
		"SwitchName=kube-test-other Nodes=n2\n"
		"SwitchName=-other Nodes=n1\n");
}

void each_switch_has_a_name_of_its_own_that_slurm_takes()
{
	CHECK_EQUAL(lines_of({by_labels("n1", "east", "a"), by_labels("n2", "west", "a")}),
		"SwitchName=kube-test Switches=east,west\n"
		"SwitchName=east Switches=east-a\n"
		"SwitchName=east-a Nodes=n1\n"
		"SwitchName=west Switches=west-a\n"
		"SwitchName=west-a Nodes=n2\n");
	CHECK_EQUAL(lines_of({by_spec("n1", "t:kube-test"), by_spec("n2", "t:s[1 2] Nodes=ALL")}),
		"SwitchName=kube-test Switches=kube-test_,s_1_2__Nodes_ALL\n"
		"SwitchName=kube-test_ Nodes=n1\n"
		"SwitchName=s_1_2__Nodes_ALL Nodes=n2\n");
	CHECK_EQUAL(lines_of({by_spec("n1", "t:a b"), by_spec("n2", "t:a_b")}),
		"SwitchName=kube-test Switches=a_b,a_b_\n"
		"SwitchName=a_b Nodes=n1\n"
		"SwitchName=a_b_ Nodes=n2\n");
}

} // namespace

int main()
{
	return check::run_tests("topology_lines",
		{
			TEST(the_annotation_says_the_switches_of_a_node),
			TEST(a_long_annotation_says_nothing),
			TEST(one_switch_is_above_all_nodes),
			TEST(a_switch_has_nodes_or_switches_but_not_both),
			TEST(each_switch_has_a_name_of_its_own_that_slurm_takes),
		});
}
