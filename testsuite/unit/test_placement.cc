/* SPDX-License-Identifier: GPL-2.0-or-later */
/* placement.h rule by rule; testsuite/component/oracle compares the whole with kube-scheduler's own
 * code. */
#include "src/core/model/selectors.h"
#include "src/core/placement/placement.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::core;

namespace
{

KubeNode node(Labels labels = {}, std::vector<Taint> taints = {})
{
	KubeNode n;
	n.name = "n1";
	n.labels = std::move(labels);
	n.taints = std::move(taints);
	return n;
}

Pod pod(const std::string &name = "p")
{
	Pod p;
	p.name_space = "default";
	p.name = name;
	return p;
}

bool may(const Pod &p, const KubeNode &n)
{
	return !node_refuses(p, n) && !taint_refuses(p, n.taints, {});
}

void every_operator_on_labels()
{
	const Labels labels = {{"disk", "ssd"}, {"cores", "16"}, {"word", "many"}};
	const struct {
		Requirement requirement;
		bool matches;
	} rows[] = {
		{{"disk", SelectorOp::in, {"hdd", "ssd"}}, true},
		{{"disk", SelectorOp::in, {"hdd"}}, false},
		{{"gone", SelectorOp::in, {"ssd"}}, false},
		{{"disk", SelectorOp::not_in, {"hdd"}}, true},
		{{"disk", SelectorOp::not_in, {"ssd"}}, false},
		{{"gone", SelectorOp::not_in, {"ssd"}}, true},
		{{"disk", SelectorOp::exists, {}}, true},
		{{"gone", SelectorOp::exists, {}}, false},
		{{"disk", SelectorOp::does_not_exist, {}}, false},
		{{"gone", SelectorOp::does_not_exist, {}}, true},
		{{"cores", SelectorOp::gt, {"15"}}, true},
		{{"cores", SelectorOp::gt, {"16"}}, false},
		{{"cores", SelectorOp::lt, {"17"}}, true},
		{{"cores", SelectorOp::lt, {"16"}}, false},
		{{"word", SelectorOp::gt, {"1"}}, false},
		{{"gone", SelectorOp::lt, {"1"}}, false},
	};
	for (const auto &row : rows)
		CHECK_EQUAL(row.requirement.key +
				(matches(row.requirement, labels) ? " matches" : " does not"),
			row.requirement.key + (row.matches ? " matches" : " does not"));
}

/* The API would not accept such a term. It matches nothing, even if its other requirements would
 * match. */
void a_term_with_an_invalid_requirement_matches_nothing()
{
	const Requirement bad[] = {
		{"disk", SelectorOp::in, {}},
		{"disk", SelectorOp::exists, {"x"}},
		{"cores", SelectorOp::gt, {"1", "2"}},
		{"cores", SelectorOp::gt, {"-1"}},
		{"cores", SelectorOp::gt, {"one"}},
		{"disk", SelectorOp::not_in, {"a b"}},
		{"disk", SelectorOp::unknown, {}},
		{"", SelectorOp::not_in, {"x"}},
	};
	for (const Requirement &requirement : bad) {
		CHECK(!is_valid(requirement));
		Pod p = pod();
		p.constraints.node_terms = {
			{{.labels = {requirement, {"gone", SelectorOp::does_not_exist, {}}},
				.fields = {}}}};
		CHECK(!may(p, node({{"disk", "ssd"}, {"cores", "16"}})));
	}
}

void terms_are_ored_and_requirements_anded()
{
	const NodeTerm ssd{
		.labels = {{"disk", SelectorOp::in, {"ssd"}}, {"zone", SelectorOp::exists, {}}},
		.fields = {}};
	const NodeTerm named{.labels = {}, .fields = {{"metadata.name", SelectorOp::in, {"n1"}}}};
	const NodeTerm not_named{
		.labels = {}, .fields = {{"metadata.name", SelectorOp::not_in, {"n1"}}}};
	Pod p = pod();
	p.constraints.node_terms = {{ssd}};
	CHECK(!may(p, node({{"disk", "ssd"}})));
	CHECK(may(p, node({{"disk", "ssd"}, {"zone", "a"}})));
	p.constraints.node_terms = {{ssd, named}};
	CHECK(may(p, node()));
	p.constraints.node_terms = {{not_named}};
	CHECK(!may(p, node()));
	p.constraints.node_terms = {{NodeTerm{}}};
	CHECK(!may(p, node()));
	p.constraints.node_terms.emplace();
	CHECK(!may(p, node()));
}

void a_node_selector_holds_beside_affinity()
{
	Pod p = pod();
	p.constraints.node_selector = {{"disk", "ssd"}};
	CHECK(may(p, node({{"disk", "ssd"}})));
	CHECK_EQUAL(node_refuses(p, node({{"disk", "hdd"}}))->why,
		"has no label disk=ssd (nodeSelector)");
	p.constraints.node_terms = {{{.labels = {{"zone", SelectorOp::exists, {}}}, .fields = {}}}};
	CHECK(!may(p, node({{"disk", "ssd"}})));
}

void taints_and_tolerations()
{
	const Taint taint{"gpu", "a100", "NoSchedule"};
	const struct {
		Toleration toleration;
		bool tolerates;
	} rows[] = {
		{{"gpu", TolerationOp::equal, "a100", "NoSchedule"}, true},
		{{"gpu", TolerationOp::equal, "a100", ""}, true},
		{{"gpu", TolerationOp::equal, "h100", ""}, false},
		{{"gpu", TolerationOp::exists, "", "NoExecute"}, false},
		{{"gpu", TolerationOp::exists, "", ""}, true},
		{{"", TolerationOp::exists, "", ""}, true},
		{{"other", TolerationOp::exists, "", ""}, false},
		{{"gpu", TolerationOp::unknown, "a100", ""}, false},
	};
	for (const auto &row : rows) {
		Pod p = pod();
		p.constraints.tolerations = {row.toleration};
		CHECK_EQUAL(may(p, node({}, {taint})), row.tolerates);
	}
	CHECK(may(pod(), node({}, {{"gpu", "", "PreferNoSchedule"}})));
	CHECK(!may(pod(), node({}, {{"gpu", "", "NoExecute"}})));
	CHECK(!taint_refuses(pod(), {taint}, {"gpu"}));
}

void a_cordoned_node_is_for_those_that_tolerate_it()
{
	KubeNode n = node();
	n.unschedulable = true;
	CHECK(cordon_refuses(pod(), n).has_value());
	Pod p = pod();
	p.constraints.tolerations = {
		{"node.kubernetes.io/unschedulable", TolerationOp::exists, "", "NoSchedule"}};
	CHECK(!cordon_refuses(p, n));
}

void host_ports_meet_by_port_protocol_and_address()
{
	const HostPort held{"10.0.0.1", "TCP", 80};
	const struct {
		HostPort wanted;
		bool conflict;
	} rows[] = {
		{{"10.0.0.1", "TCP", 80}, true},
		{{"10.0.0.2", "TCP", 80}, false},
		{{"0.0.0.0", "TCP", 80}, true},
		{{"10.0.0.1", "UDP", 80}, false},
		{{"10.0.0.1", "TCP", 81}, false},
	};
	Pod other = pod("other");
	other.constraints.host_ports = {held};
	for (const auto &row : rows) {
		Pod p = pod();
		p.constraints.host_ports = {row.wanted};
		CHECK_EQUAL(holders_refuse(p, {&other}).has_value(), row.conflict);
	}
}

void anti_affinity_binds_both_sides()
{
	Pod anti_affinity = pod("anti_affinity"), web = pod("web"), elsewhere = pod("elsewhere");
	web.labels = elsewhere.labels = {{"app", "web"}};
	elsewhere.name_space = "other";
	anti_affinity.constraints.anti_affinity = {{.topology_key = "kubernetes.io/hostname",
		.selector = PodSelector{{{"app", "web"}}, {}},
		.namespaces = {},
		.all_namespaces = false}};
	CHECK(holders_refuse(anti_affinity, {&web}).has_value());
	CHECK(holders_refuse(web, {&anti_affinity}).has_value());
	CHECK(!holders_refuse(anti_affinity, {&elsewhere}));
	anti_affinity.constraints.anti_affinity[0].namespaces = {"other"};
	CHECK(holders_refuse(anti_affinity, {&elsewhere}).has_value());
	CHECK(!holders_refuse(anti_affinity, {&web}));
	anti_affinity.constraints.anti_affinity[0].all_namespaces = true;
	CHECK(holders_refuse(anti_affinity, {&web}).has_value());
	anti_affinity.constraints.anti_affinity[0].selector.reset();
	CHECK(!holders_refuse(anti_affinity, {&web}));
}

void what_a_node_does_not_list_it_does_not_have()
{
	const Resources all{.milli_cpu = 4000,
		.memory_bytes = 100,
		.pods = 2,
		.extended = {{"example.com/fpga", 2}}};
	CHECK(!room_refuses(
		{.milli_cpu = 4000, .memory_bytes = 100, .pods = 1, .extended = {}}, all, {}));
	CHECK(room_refuses(
		{.milli_cpu = 4001, .memory_bytes = 0, .pods = 1, .extended = {}}, all, {})
			.has_value());
	CHECK(room_refuses(
		{.milli_cpu = 1, .memory_bytes = 101, .pods = 1, .extended = {}}, all, {})
			.has_value());
	CHECK(!room_refuses({.milli_cpu = 0, .memory_bytes = 0, .pods = 1, .extended = {}}, all,
		{.milli_cpu = 9000, .memory_bytes = 900, .pods = 1, .extended = {}}));
	CHECK(room_refuses({.milli_cpu = 0, .memory_bytes = 0, .pods = 1, .extended = {}}, all,
		{.milli_cpu = 0, .memory_bytes = 0, .pods = 2, .extended = {}})
			.has_value());
	CHECK(room_refuses({.milli_cpu = 0,
				   .memory_bytes = 0,
				   .pods = 1,
				   .extended = {{"example.com/fpga", 3}}},
		all, {})
			.has_value());
	CHECK(room_refuses({.milli_cpu = 0,
				   .memory_bytes = 0,
				   .pods = 1,
				   .extended = {{"example.com/other", 1}}},
		all, {})
			.has_value());
}

} // namespace

int main()
{
	return check::run_tests("placement",
		{TEST(every_operator_on_labels),
			TEST(a_term_with_an_invalid_requirement_matches_nothing),
			TEST(terms_are_ored_and_requirements_anded),
			TEST(a_node_selector_holds_beside_affinity), TEST(taints_and_tolerations),
			TEST(a_cordoned_node_is_for_those_that_tolerate_it),
			TEST(host_ports_meet_by_port_protocol_and_address),
			TEST(anti_affinity_binds_both_sides),
			TEST(what_a_node_does_not_list_it_does_not_have)});
}
