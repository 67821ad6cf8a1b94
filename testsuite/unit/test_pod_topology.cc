/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pod_topology.h rule by rule, as tables; testsuite/component/oracle compares the whole with
 * kube-scheduler's own code. */
#include "src/core/placement/pod_topology.h"
#include "testsuite/unit/builders.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

const PodSelector k_web{{{"app", "web"}}, {}};

KubeNode node(const std::string &name, std::map<std::string, std::string> labels = {})
{
	KubeNode n;
	n.name = name;
	n.labels = std::move(labels);
	n.labels["kubernetes.io/hostname"] = name;
	return n;
}

Pod pod(const std::string &name = "p", const std::string &app = "web")
{
	Pod p = make_pod("default", name, name);
	p.labels = {{"app", app}};
	return p;
}

PodTerm web_by(const std::string &key)
{
	return {.topology_key = key, .selector = k_web, .namespaces = {}, .all_namespaces = false};
}

/* Zone a: n1, n2; zone b: n3; no zone: n4. */
struct Place {
	std::vector<KubeNode> nodes = {node("n1", {{"zone", "a"}}), node("n2", {{"zone", "a"}}),
		node("n3", {{"zone", "b"}}), node("n4")};
	std::vector<std::pair<Pod, int>> others; /* with the index of their node; -1: unknown */

	/* The nodes that may take the pod: "n1 n3". */
	[[nodiscard]] std::string allowed(const Pod &p, std::uint32_t at_once = 1) const
	{
		PodTopology s(p, at_once);
		for (const KubeNode &n : nodes)
			s.add_node(n);
		for (const auto &[other, where] : others)
			s.add(other, where < 0 ? nullptr : &nodes[static_cast<std::size_t>(where)]);
		std::string out;
		for (const KubeNode &n : nodes)
			out += s.refuses(n) ? "" : (out.empty() ? "" : " ") + n.name;
		return out;
	}
};

void anti_affinity_by_zone_reaches_other_nodes_from_both_sides()
{
	Pod anti_affinity = pod("anti_affinity");
	anti_affinity.constraints.anti_affinity = {web_by("zone")};
	Place place;
	place.others = {{anti_affinity, 0}};
	CHECK_EQUAL(place.allowed(pod()), "n3 n4");
	CHECK_EQUAL(place.allowed(pod("p", "db")), "n1 n2 n3 n4");
	place.others = {{pod("web"), 0}};
	CHECK_EQUAL(place.allowed(anti_affinity), "n3 n4");
	place.others = {{pod("web"), 3}}; /* a node without a zone is near nobody */
	CHECK_EQUAL(place.allowed(anti_affinity), "n1 n2 n3 n4");
	place.others = {{pod("web"), -1}};
	CHECK_EQUAL(place.allowed(anti_affinity), "");
	CHECK(constrains_topology(anti_affinity) && is_topology_constrained(anti_affinity) &&
		!is_topology_constrained(pod()));
	/* holders_refuse() handles terms by hostname */
	anti_affinity.constraints.anti_affinity = {web_by("kubernetes.io/hostname")};
	place.others = {{pod("web"), 0}};
	CHECK_EQUAL(place.allowed(anti_affinity), "n1 n2 n3 n4");
	CHECK(!constrains_topology(anti_affinity));
}

void affinity_needs_company_unless_it_is_the_first()
{
	Pod p = pod("p", "db");
	p.constraints.affinity = {web_by("zone")};
	Place place;
	CHECK_EQUAL(place.allowed(p), "");
	place.others = {{pod("web"), 1}};
	CHECK_EQUAL(place.allowed(p), "n1 n2");
	p.constraints.affinity = {web_by("kubernetes.io/hostname")};
	CHECK_EQUAL(place.allowed(p), "n2");
	p.constraints.affinity.push_back(web_by("zone"));
	CHECK_EQUAL(place.allowed(p), "n2");
	p.labels = {{"app", "web"}};
	CHECK_EQUAL(place.allowed(p), "n2");
	place.others.clear();
	/* the first pod of a self-affine set may run wherever the topology key exists */
	CHECK_EQUAL(place.allowed(p), "n1 n2 n3");
	place.others = {{pod("web"), -1}};
	CHECK_EQUAL(place.allowed(p), "");
}

void namespaces_are_named_or_selected()
{
	Pod p = pod("p", "db"), web = pod("web");
	web.name_space = "team";
	p.constraints.affinity = {web_by("zone")};
	Place place;
	place.others = {{web, 2}};
	CHECK_EQUAL(place.allowed(p), "");
	p.constraints.affinity[0].namespaces = {"team"};
	CHECK_EQUAL(place.allowed(p), "n3");
	p.constraints.affinity[0].namespaces = {};
	p.constraints.affinity[0].namespace_selector = PodSelector{{{"tier", "x"}}, {}};
	CHECK_EQUAL(place.allowed(p), "");
	/* with a namespace selector, the pod's own namespace is not implied */
	place.others[0].first.name_space = "default";
	CHECK_EQUAL(place.allowed(p), "");
	p.constraints.affinity[0].selected_namespaces = {"default"};
	CHECK_EQUAL(place.allowed(p), "n3");
}

Pod spread(Spread how)
{
	Pod p = pod();
	how.selector = how.selector ? how.selector : k_web;
	p.constraints.spreads = {std::move(how)};
	return p;
}

void spread_counts_as_kube_scheduler_does()
{
	Pod elsewhere = pod("e"), leaving = pod("l");
	elsewhere.name_space = "team";
	leaving.deleting = true;
	Place place;
	place.others = {{pod("w1"), 0}};
	CHECK_EQUAL(place.allowed(spread({.topology_key = "zone"})), "n3");
	CHECK_EQUAL(place.allowed(spread({.topology_key = "zone", .max_skew = 2})), "n1 n2 n3");
	CHECK_EQUAL(place.allowed(spread({.topology_key = "kubernetes.io/hostname"})), "n2 n3 n4");
	place.others = {{pod("w1"), 0}, {pod("w2"), 2}};
	CHECK_EQUAL(place.allowed(spread({.topology_key = "zone"})), "n1 n2 n3");
	CHECK_EQUAL(
		place.allowed(spread({.topology_key = "zone", .max_skew = 1, .min_domains = 3})),
		"");
	place.others = {{elsewhere, 0}, {leaving, 0}, {pod("db", "db"), 0}, {pod("w"), 3}};
	CHECK_EQUAL(place.allowed(spread({.topology_key = "zone"})), "n1 n2 n3");
	place.others = {{pod("w1"), 0}}; /* of everybody nobody is counted, kube-scheduler's way */
	CHECK_EQUAL(place.allowed(spread({.topology_key = "zone", .selector = PodSelector{}})),
		"n1 n2 n3");
	Pod none = spread({.topology_key = "zone"});
	none.constraints.spreads[0].selector.reset();
	CHECK_EQUAL(place.allowed(none), "n1 n2 n3");
}

void which_nodes_are_domains_is_a_matter_of_policy()
{
	Place place;
	place.others = {{pod("w1"), 0}};
	place.nodes[2].taints = {{"k", "", "NoSchedule"}};
	Pod p = spread({.topology_key = "zone"});
	CHECK_EQUAL(place.allowed(p), "n3"); /* taints are its own matter */
	p.constraints.spreads[0].honors_taints = true;
	CHECK_EQUAL(place.allowed(p), "n1 n2 n3"); /* and zone b does not count */
	p.constraints.spreads[0].honors_taints = false;
	p.constraints.node_selector = {{"zone", "a"}};
	CHECK_EQUAL(place.allowed(p), "n1 n2 n3");
	p.constraints.spreads[0].honors_affinity = false;
	CHECK_EQUAL(place.allowed(p), "n3");
	p = spread({.topology_key = "zone"}); /* nodes must have all keys to count at all */
	p.constraints.spreads.push_back({.topology_key = "rack", .selector = k_web});
	CHECK_EQUAL(place.allowed(p), "");
	place.nodes[0].labels["rack"] = "r1";
	CHECK_EQUAL(place.allowed(p), "n1"); /* so zone b is none */
	place.nodes[2].labels["rack"] = "r2";
	CHECK_EQUAL(place.allowed(p), "n3");
}

void pods_that_come_together_count_together()
{
	const Pod p = spread({.topology_key = "kubernetes.io/hostname", .max_skew = 3});
	Place place;
	place.others = {{pod("w1"), 0}};
	CHECK_EQUAL(most_on_a_node(p), 3U);
	CHECK_EQUAL(place.allowed(p, 3), "n2 n3 n4");
	CHECK_EQUAL(place.allowed(p, 2), "n1 n2 n3 n4");
	CHECK_EQUAL(most_on_a_node(spread({.topology_key = "zone"})), 0U);
	CHECK_EQUAL(trouble_at_once(p, p), "");
	CHECK_EQUAL(trouble_at_once(spread({.topology_key = "zone"}), pod()),
		"spec.topologySpreadConstraints with topologyKey zone between pods that start "
		"together");
	CHECK_EQUAL(trouble_at_once(spread({.topology_key = "zone"}), pod("x", "db")), "");
	Pod near = pod(), apart = pod();
	near.constraints.affinity = {web_by("zone")};
	apart.constraints.anti_affinity = {web_by("rack")};
	CHECK_EQUAL(trouble_at_once(near, pod()),
		"spec.affinity.podAffinity with topologyKey zone between pods that start together");
	CHECK_EQUAL(trouble_at_once(apart, pod()),
		"spec.affinity.podAntiAffinity with topologyKey rack between pods that start "
		"together");
	CHECK_EQUAL(trouble_at_once(apart, pod("x", "db")), "");
}

} // namespace

int main()
{
	return check::run_tests("pod_topology",
		{TEST(anti_affinity_by_zone_reaches_other_nodes_from_both_sides),
			TEST(affinity_needs_company_unless_it_is_the_first),
			TEST(namespaces_are_named_or_selected),
			TEST(spread_counts_as_kube_scheduler_does),
			TEST(which_nodes_are_domains_is_a_matter_of_policy),
			TEST(pods_that_come_together_count_together)});
}
