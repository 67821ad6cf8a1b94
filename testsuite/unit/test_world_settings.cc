/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and a configuration that is read again: what holds at once, and what stays. */
#include "testsuite/unit/place_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

constexpr char k_device[] = "example.org/fpga";

Pod with_device(const std::string &uid)
{
	Pod p = PlaceStage::pod(uid);
	p.requests.extended = {{k_device, 1}};
	return p;
}

Settings with_rule_for_device()
{
	Settings fresh = PlaceStage::settings();
	fresh.policy.gres.push_back(
		{.resource = k_device, .name = "fpga", .type = {}, .type_label = {}});
	fresh.nodes.gres = fresh.policy.gres;
	return fresh;
}

/* The specification of the only submission. */
JobSpec submitted(PlaceStage &s)
{
	for (const auto &[uid, action] : s.world.take_actions(s.now)) {
		if (const auto *submit = std::get_if<Submit>(&action))
			return submit->spec;
	}
	return {};
}

void a_refused_pod_is_judged_by_new_rules()
{
	PlaceStage s;
	for (const char *name : {"n1", "n2", "n3"}) {
		KubeNode node = PlaceStage::node(name);
		node.allocatable.extended = {{k_device, 1}};
		s.world.observe(NodeSeen{node}, s.now);
		SlurmNode record = slurm_node(name, 4);
		record.gres = "fpga:1";
		s.world.observe(SlurmNodeSeen{record});
	}
	s.world.observe(PodSeen{with_device("a")}, s.now);
	CHECK_EQUAL(s.act(), "report:a:SlurmRefused");
	s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.world.observe(SettingsSet{with_rule_for_device()}, s.now);
	CHECK_EQUAL(submitted(s).options.gres, "fpga:1");
}

/* Otherwise each try would be later than the one before, up to minutes. */
void what_slurm_refused_is_submitted_again()
{
	PlaceStage s;
	s.world.observe(PodSeen{PlaceStage::pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a");
	s.world.answer(
		SubmitAnswered{{"a"}, Error{Errc::denied, "Invalid partition name specified"}},
		s.now);
	advance(s.now, 1000);
	(void)s.act();
	s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
	CHECK_EQUAL(s.act(), "");
	Settings fresh = PlaceStage::settings();
	fresh.policy.default_partition = "other";
	s.world.observe(SettingsSet{fresh}, s.now);
	CHECK_EQUAL(submitted(s).partition, "other");
}

void markers_and_rules_of_identity_stay()
{
	PlaceStage s;
	s.world.observe(ClusterSeen{"cluster-uid"});
	Settings fresh = PlaceStage::settings();
	fresh.policy.cluster = "other";
	fresh.policy.scheduler_name = "other";
	fresh.policy.cpu_unit = fresh.nodes.cpu_unit = 100;
	fresh.policy.namespaces.clear();
	s.world.observe(SettingsSet{fresh}, s.now);
	s.world.observe(PodSeen{PlaceStage::pod("a")}, s.now);
	const JobSpec spec = submitted(s);
	CHECK_EQUAL(spec.marker.cluster, "main");
	CHECK_EQUAL(spec.marker.cluster_uid, "cluster-uid");
	CHECK_EQUAL(spec.cpus, 1U);
	CHECK_EQUAL(spec.user_id, 1U);
	CHECK(s.world.state().settings.policy.scheduler_name != "other");
}

void what_waits_or_runs_keeps_its_job()
{
	PlaceStage s;
	s.run(PlaceStage::pod("a"), 7, "n1");
	s.world.observe(PodSeen{PlaceStage::pod("b")}, s.now);
	CHECK_EQUAL(s.act(), "submit:b");
	s.queue_job("b", 8);
	(void)s.act();
	Settings fresh = with_rule_for_device();
	fresh.policy.default_partition = "other";
	fresh.policy.default_time_limit_minutes = 5;
	s.world.observe(SettingsSet{fresh}, s.now);
	for (int i = 0; i < 5; i++) {
		const std::string next = s.act();
		for (const char *word : {"submit", "complete", "cancel", "delete", "update"})
			CHECK(next.find(word) == std::string::npos);
		advance(s.now, 2'000'000);
	}
}

} // namespace

int main()
{
	return check::run_tests("world settings",
		{
			TEST(a_refused_pod_is_judged_by_new_rules),
			TEST(what_slurm_refused_is_submitted_again),
			TEST(markers_and_rules_of_identity_stay),
			TEST(what_waits_or_runs_keeps_its_job),
		});
}
