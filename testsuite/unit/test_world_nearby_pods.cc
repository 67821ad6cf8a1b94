/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and pods whose placement depends on pods of other nodes: spread, zones, namespaces;
 * waiting pods, pods with an allocation, and gangs. */
#include "testsuite/unit/gang_stage.h"
#include "testsuite/unit/place_stage.h"

#include <functional>

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

const PodSelector k_web{{{"app", "web"}}, {}};

Pod spread(const std::string &uid, const std::string &key = "zone")
{
	Pod p = PlaceStage::pod(uid);
	p.constraints.spreads = {{.topology_key = key, .selector = k_web}};
	return p;
}

PodTerm web_by(const std::string &key)
{
	return {.topology_key = key, .selector = k_web, .namespaces = {}, .all_namespaces = false};
}

void pods_are_spread_over_zones_at_the_first_try()
{
	PlaceStage s;
	for (const char *uid : {"a", "b", "c"})
		s.world.observe(PodSeen{spread(uid)}, s.now);
	CHECK_EQUAL(s.act(), "submit:a");
	s.allocate("a", 7, "n1");
	CHECK_EQUAL(s.act(), "bind:a@n1 submit:b-n1-n2");
	s.allocate("b", 8, "n3");
	CHECK_EQUAL(s.act(), "bind:b@n3 submit:c");
}

/* With SchedulerParameters=defer Slurm considers many jobs at once. The pods are therefore
 * submitted one by one, until Slurm says that the previous job waits for resources. */
void those_that_slurm_has_not_looked_at_are_waited_for()
{
	PlaceStage s;
	for (const char *uid : {"a", "b", "c"})
		s.world.observe(PodSeen{spread(uid)}, s.now);
	CHECK_EQUAL(s.act(), "submit:a");
	s.queue_job("a", 7);
	CHECK_EQUAL(s.act(), "");
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "report:a:SlurmPending report:b:SlurmPending report:c:SlurmPending");
	CHECK_EQUAL(s.text,
		"waiting for pods with related affinity or spread constraints to be scheduled "
		"first");
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "submit:b"); /* that was long enough */
	s.end_job("b", 8, JobState::pending);
	SlurmJob looked_at = s.world.state().jobs.at({8});
	looked_at.reason = "Resources";
	s.allocate("b", 8, "");
	s.world.observe(JobSeen{looked_at}, s.now);
	CHECK_EQUAL(s.act(), "submit:c");
}

/* Both jobs were submitted when the spread allowed it. The first pod that is bound decides. */
void an_allocation_that_breaks_the_spread_is_given_back()
{
	PlaceStage s;
	s.world.observe(PodSeen{spread("a")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a");
	s.allocate("a", 7, "n1");
	s.world.observe(PodSeen{spread("b")}, s.now);
	CHECK_EQUAL(s.act(), "bind:a@n1 submit:b-n1-n2");
	s.allocate("b", 8, "n2");
	CHECK_EQUAL(s.act(), "look:b");
	s.world.answer(LookUpAnswered{{"b"}, PodLookup::unbound}, s.now);
	CHECK_EQUAL(s.act(), "complete:8=given-back");
}

void a_waiting_job_follows_those_that_come_and_go()
{
	PlaceStage s;
	s.run(spread("a"), 7, "n1");
	s.world.observe(PodSeen{spread("b")}, s.now);
	CHECK_EQUAL(s.act(), "submit:b-n1-n2");
	s.queue_job("b", 8);
	s.now.mono_us += 2 * k_second;
	(void)s.act();
	s.world.answer(ReportAnswered{{"b"}, Ok{}}, s.now);
	Pod leaving = *s.world.state().pod({"a"});
	leaving.deleting = true; /* a deleted pod does not count */
	s.world.observe(PodSeen{leaving}, s.now);
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "update:b");
	s.world.answer(UpdateAnswered{{"b"}, "", {8}, Ok{}}, s.now);
	Pod web = PlaceStage::pod("w");
	web.node_name = "n3";
	s.world.observe(ForeignSeen{web});
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "update:b-n3");
}

void a_pod_that_no_zone_may_take_waits_for_one()
{
	PlaceStage s;
	s.run(spread("a"), 7, "n1");
	KubeNode bare = PlaceStage::node("n3");
	bare.labels.erase("zone");
	bare.labels["other"] = "x";
	s.world.observe(NodeSeen{bare}, s.now);
	Pod p = spread("b");
	p.constraints.spreads[0].min_domains = 2;
	s.world.observe(PodSeen{p}, s.now);
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "report:b:SlurmNoNode");
	CHECK_EQUAL(s.text,
		"no node may take the pod: 1 node has no label zone, by which the pod is to be "
		"spread; 2 nodes: each would make the skew by zone 2 (maxSkew is 1)");
	s.world.answer(ReportAnswered{{"b"}, Ok{}}, s.now);
	s.world.observe(NodeSeen{PlaceStage::node("n3")}, s.now);
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "submit:b-n1-n2");
}

void affinity_by_zone_follows_an_allocation()
{
	PlaceStage s;
	for (const char *uid : {"a", "b"}) {
		Pod p = PlaceStage::pod(uid);
		p.constraints.affinity = {web_by("zone")};
		s.world.observe(PodSeen{p}, s.now);
	}
	CHECK_EQUAL(s.act(), "submit:a");
	s.allocate("a", 7, "n2");
	CHECK_EQUAL(s.act(), "bind:a@n2 submit:b-n3");
	s.allocate("b", 8, "n3"); /* where it must not be */
	CHECK_EQUAL(s.act(), "look:b");
}

/* A pod's own anti-affinity keeps other pods away, even if those have no constraints. */
void anti_affinity_by_zone_of_ours_keeps_others_off()
{
	PlaceStage s;
	Pod anti_affinity = PlaceStage::pod("a");
	anti_affinity.constraints.anti_affinity = {web_by("zone")};
	s.run(anti_affinity, 7, "n3");
	s.world.observe(PodSeen{PlaceStage::pod("b")}, s.now);
	CHECK_EQUAL(s.act(), "submit:b-n3");
	s.world.observe(PodGone{{"a"}, std::nullopt}, s.now);
	s.world.observe(PodSeen{PlaceStage::pod("c")}, s.now);
	s.now.mono_us += 10 * k_second;
	CHECK(s.act().find("submit:c") != std::string::npos);
	s.world.observe(PodSeen{PlaceStage::pod("d")}, s.now);
	CHECK_EQUAL(s.act(), "submit:d");
}

void namespaces_are_selected_by_their_labels_now()
{
	PlaceStage s;
	Pod web = PlaceStage::pod("w");
	web.name_space = "team";
	web.node_name = "n3";
	s.world.observe(ForeignSeen{web});
	Pod p = PlaceStage::pod("a");
	p.constraints.affinity = {web_by("zone")};
	p.constraints.affinity[0].namespace_selector = PodSelector{{{"tier", "x"}}, {}};
	p.labels = {};
	Pod anti_affinity = PlaceStage::pod("b");
	anti_affinity.constraints.anti_affinity = {p.constraints.affinity[0]};
	s.world.observe(PodSeen{p}, s.now);
	s.world.observe(PodSeen{anti_affinity}, s.now);
	s.now.mono_us += 2 * k_second;
	/* the agent does not know the existing namespaces */
	CHECK_EQUAL(s.act(), "report:a:SlurmNoNode submit:b-n3");
	s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
	s.queue_job("b", 7);
	(void)s.act();
	s.world.answer(ReportAnswered{{"b"}, Ok{}}, s.now);
	Namespace team{.name = "team",
		.uid = "ns",
		.deleting = false,
		.labels = {{"tier", "y"}},
		.annotations = {}};
	s.world.observe(NamespaceSeen{team});
	s.world.observe(NamespacesListed{{"ns"}});
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "update:b");
	s.world.answer(UpdateAnswered{{"b"}, "", {7}, Ok{}}, s.now);
	team.labels["tier"] = "x";
	s.world.observe(NamespaceSeen{team});
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "submit:a-n1-n2 update:b-n3");
}

std::string asked_for(GangStage &s, std::uint32_t pods, const std::function<void(Pod &)> &change)
{
	for (std::uint32_t i = 0; i < pods; i++) {
		Pod p = s.pod(i);
		p.labels["app"] = "web";
		change(p);
		s.world.observe(PodSeen{p}, s.now);
	}
	s.now.mono_us += 2 * k_second;
	std::string out;
	for (const auto &[uid, action] : s.take()) {
		if (const auto *submit = std::get_if<Submit>(&action))
			return "tasks=" + std::to_string(submit->spec.tasks) +
				" per-node=" + std::to_string(submit->spec.tasks_per_node);
		if (const auto *report = std::get_if<Report>(&action))
			out = report->not_scheduled.reason + ": " + report->not_scheduled.message;
	}
	return out;
}

void a_gang_is_spread_over_nodes_and_refused_for_zones()
{
	GangStage hosts(4);
	for (const char *name : {"n1", "n2", "n3", "n4"}) {
		KubeNode n = kube_node(name, std::string(name) + "-uid", 8000);
		n.labels["kubernetes.io/hostname"] = name;
		hosts.world.observe(NodeSeen{n}, hosts.now);
	}
	CHECK_EQUAL(asked_for(hosts, 4,
			    [](Pod &p) {
				    p.constraints.spreads = {
					    {.topology_key = "kubernetes.io/hostname",
						    .selector = k_web}};
			    }),
		"tasks=4 per-node=1");
	/* a selector that matches other pods does not restrict which pods of the gang share a
	 * node */
	for (const char *name : {"n1", "n2"}) {
		GangStage s(2);
		KubeNode n = kube_node(name, std::string(name) + "-uid", 8000);
		n.labels["zone"] = "a";
		s.world.observe(NodeSeen{n}, s.now);
		CHECK_EQUAL(asked_for(s, 2,
				    [](Pod &p) {
					    p.constraints.spreads = {{.topology_key = "zone",
						    .selector = PodSelector{{{"app", "db"}}, {}}}};
				    }),
			"tasks=2 per-node=0");
	}
	GangStage zones(2);
	CHECK_EQUAL(asked_for(zones, 2,
			    [](Pod &p) {
				    p.constraints.spreads = {
					    {.topology_key = "zone", .selector = k_web}};
			    }),
		"SlurmRefused: spec.topologySpreadConstraints with topologyKey zone between pods "
		"that start together is not supported yet: remove it, or use another "
		"schedulerName");
	GangStage near(2);
	CHECK(asked_for(near, 2, [](Pod &p) {
		p.constraints.affinity = {web_by("zone")};
	}).starts_with("SlurmRefused: spec.affinity.podAffinity with topologyKey zone"));
}

} // namespace

int main()
{
	return check::run_tests("world nearby pods",
		{TEST(pods_are_spread_over_zones_at_the_first_try),
			TEST(those_that_slurm_has_not_looked_at_are_waited_for),
			TEST(an_allocation_that_breaks_the_spread_is_given_back),
			TEST(a_waiting_job_follows_those_that_come_and_go),
			TEST(a_pod_that_no_zone_may_take_waits_for_one),
			TEST(affinity_by_zone_follows_an_allocation),
			TEST(anti_affinity_by_zone_of_ours_keeps_others_off),
			TEST(namespaces_are_selected_by_their_labels_now),
			TEST(a_gang_is_spread_over_nodes_and_refused_for_zones)});
}
