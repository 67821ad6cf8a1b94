/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/policy/slinky_node.h"
#include "src/core/reconcile/topology_lines.h"
#include "testsuite/unit/check.h"

#include <set>

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
	const auto lines = topology_lines(nodes, k_keys, "kube-test");
	for (const std::string &line : *lines)
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
		"SwitchName=kube-test-s1 Nodes=n1,n3\n"
		"SwitchName=kube-test-s2 Nodes=n2\n"
		"SwitchName=kube-test Switches=kube-test-s1,kube-test-s2\n");
	CHECK_EQUAL(lines_of({by_labels("n1", "east", "east-a"), by_labels("n2", "east", "east-b"),
			    by_labels("n3", "west", "west-a")}),
		"SwitchName=kube-test-east-a Nodes=n1\n"
		"SwitchName=kube-test-east-b Nodes=n2\n"
		"SwitchName=kube-test-east Switches=kube-test-east-a,kube-test-east-b\n"
		"SwitchName=kube-test-west-a Nodes=n3\n"
		"SwitchName=kube-test-west Switches=kube-test-west-a\n"
		"SwitchName=kube-test Switches=kube-test-east,kube-test-west\n");
}

void a_switch_has_nodes_or_switches_but_not_both()
{
	CHECK_EQUAL(lines_of({by_labels("n1", "east", "a"), by_labels("n2", "east", ""),
			    by_spec("n3", "")}),
		"SwitchName=kube-test-other Nodes=n3\n"
		"SwitchName=kube-test-east-other Nodes=n2\n"
		"SwitchName=kube-test-a Nodes=n1\n"
		"SwitchName=kube-test-east Switches=kube-test-east-other,kube-test-a\n"
		"SwitchName=kube-test Switches=kube-test-other,kube-test-east\n");
	/* a switch may have the name of ours */
	CHECK_EQUAL(lines_of({by_spec("n1", "t:other"), by_spec("n2", "")}),
		"SwitchName=kube-test-other-2 Nodes=n2\n"
		"SwitchName=kube-test-other Nodes=n1\n"
		"SwitchName=kube-test Switches=kube-test-other-2,kube-test-other\n");
}

void each_switch_has_a_name_of_its_own_that_slurm_takes()
{
	CHECK_EQUAL(lines_of({by_labels("n1", "east", "a"), by_labels("n2", "west", "a")}),
		"SwitchName=kube-test-east-a Nodes=n1\n"
		"SwitchName=kube-test-east Switches=kube-test-east-a\n"
		"SwitchName=kube-test-west-a Nodes=n2\n"
		"SwitchName=kube-test-west Switches=kube-test-west-a\n"
		"SwitchName=kube-test Switches=kube-test-east,kube-test-west\n");
	CHECK_EQUAL(lines_of({by_spec("n1", "t:kube-test"), by_spec("n2", "t:s[1 2] Nodes=ALL")}),
		"SwitchName=kube-test-kube-test Nodes=n1\n"
		"SwitchName=kube-test-s_1_2__Nodes_ALL Nodes=n2\n"
		"SwitchName=kube-test Switches=kube-test-kube-test,kube-test-s_1_2__Nodes_ALL\n");
	CHECK_EQUAL(lines_of({by_spec("n1", "t:a b"), by_spec("n2", "t:a_b")}),
		"SwitchName=kube-test-a_b Nodes=n1\n"
		"SwitchName=kube-test-a_b-2 Nodes=n2\n"
		"SwitchName=kube-test Switches=kube-test-a_b,kube-test-a_b-2\n");
}

/* slurmctld would not start. */
void names_and_depth_have_limits()
{
	const std::string long_name(63, 'x');
	std::vector<PlacedNode> nodes;
	for (int i = 0; i < 200; i++) {
		PlacedNode node = by_labels(
			"n" + std::to_string(i), long_name + std::to_string(i), long_name);
		nodes.push_back(node);
	}
	nodes.push_back(by_labels("beside", long_name + "7", ""));
	std::string spec = "t";
	for (int i = 0; i < 40; i++)
		spec += ":u" + std::to_string(i);
	CHECK_EQUAL(switches_of(by_spec("n", spec), k_keys).size(), 10U);
	nodes.push_back(by_spec("deep", spec));
	std::set<std::string> names;
	const std::string head = "SwitchName=";
	const auto lines = topology_lines(nodes, k_keys, std::string(100, 'r'));
	REQUIRE(lines.ok());
	for (const std::string &line : *lines) {
		const std::string name = line.substr(head.size(), line.find(' ') - head.size());
		CHECK(name.size() <= 64);
		CHECK(names.insert(name).second);
	}
	CHECK_EQUAL(lines->size(), 200U + 200 + 1 + 10 + 1);
}

/* With the host name as a label, each node would be a switch. */
void too_many_switches_are_refused()
{
	std::vector<PlacedNode> nodes;
	for (int i = 0; i < 999; i++)
		nodes.push_back(by_spec("n" + std::to_string(i), "t:s" + std::to_string(i)));
	CHECK(topology_lines(nodes, k_keys, "kube").ok());
	nodes.push_back(by_spec("n", "t:s"));
	const auto lines = topology_lines(nodes, k_keys, "kube");
	REQUIRE(!lines.ok());
	CHECK(lines.error().what.starts_with("1001 switches are too many for slurmctld"));
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
			TEST(names_and_depth_have_limits),
			TEST(too_many_switches_are_refused),
		});
}
