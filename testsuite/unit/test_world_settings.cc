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
	fresh.policy.scheduler_names = {"other"};
	fresh.policy.cpu_unit = fresh.nodes.cpu_unit = 100;
	fresh.policy.namespaces.clear();
	s.world.observe(SettingsSet{fresh}, s.now);
	s.world.observe(PodSeen{PlaceStage::pod("a")}, s.now);
	const JobSpec spec = submitted(s);
	CHECK_EQUAL(spec.marker.cluster, "main");
	CHECK_EQUAL(spec.marker.cluster_uid, "cluster-uid");
	CHECK_EQUAL(spec.cpus, 1U);
	CHECK_EQUAL(spec.user_id, 1U);
	CHECK(s.world.state().settings.policy.scheduler_names.empty());
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

void an_option_that_slurm_refused_is_sent_again()
{
	PlaceStage s;
	Pod p = PlaceStage::pod("a");
	s.world.observe(PodSeen{p}, s.now);
	const JobSpec spec = submitted(s);
	s.world.answer(SubmitAnswered{{"a"}, Submitted{.job = {7}, .node = ""}}, s.now);
	s.world.observe(JobSeen{make_job(7, spec.marker, JobState::pending)}, s.now);
	(void)s.act();
	p.annotations["slurm-kube.io/nice"] = "5";
	s.world.observe(PodSeen{p}, s.now);
	const auto updates = [&s] {
		std::size_t count = 0;
		for (int i = 0; i < 30; i++) {
			for (const auto &[uid, action] : s.world.take_actions(s.now)) {
				const auto *update = std::get_if<Update>(&action);
				if (!update)
					continue;
				count++;
				s.world.answer(UpdateAnswered{uid, update->spec.marker.options,
						       update->job, Error{Errc::denied, "no"}},
					s.now);
			}
			advance(s.now, k_second);
		}
		return count;
	};
	CHECK_EQUAL(updates(), 1U);
	CHECK_EQUAL(updates(), 0U);
	s.world.observe(SettingsSet{PlaceStage::settings()}, s.now);
	CHECK_EQUAL(updates(), 1U);
}

/* What ran under the longer limit gets the whole of the shorter one, as after a restart. */
void a_shorter_start_limit_deletes_nothing_at_once()
{
	PlaceStage s;
	Settings fresh = PlaceStage::settings();
	fresh.start_limit_us = 1800 * k_second;
	s.world.observe(SettingsSet{fresh}, s.now);
	Pod p = PlaceStage::pod("a");
	s.world.observe(PodSeen{p}, s.now);
	(void)s.act();
	s.allocate("a", 7, "n1");
	(void)s.act();
	s.world.answer(BindAnswered{p.uid, Ok{}}, s.now);
	p.node_name = "n1";
	s.world.observe(PodSeen{p}, s.now);
	SlurmJob job = make_job(7, make_marker("default", "pod-a", "Pod", "a"), JobState::running);
	job.nodes = {make_allocation("n1", 1)};
	s.world.observe(JobSeen{job}, s.now);
	const auto seconds_to_deletion = [&s](int most) {
		for (int i = 0; i < most; i++) {
			for (const auto &[uid, action] : s.world.take_actions(s.now))
				if (std::holds_alternative<DeletePod>(action))
					return i;
			advance(s.now, k_second);
		}
		return most;
	};
	CHECK_EQUAL(seconds_to_deletion(900), 900);
	fresh.start_limit_us = 600 * k_second;
	s.world.observe(SettingsSet{fresh}, s.now);
	const int then = seconds_to_deletion(900);
	CHECK(then >= 600 && then < 610);
}

/* Steps of a second until the node gets the change; -1: it does not within 15 minutes. */
int seconds_to(PlaceStage &s, const char *node, NodeStateChange change, NodeLookup sight)
{
	for (int i = 0; i < 900; i++) {
		(void)s.world.take_actions(s.now);
		for (const NodeAction &action : s.world.take_node_actions(s.now)) {
			const auto *set = std::get_if<SetNodeState>(&action);
			if (!set)
				continue;
			s.world.answer(NodeChangeAnswered{set->name, Ok{}}, s.now);
			SlurmNode record = slurm_node(set->name, 4);
			record.drain = set->change == NodeStateChange::drain;
			record.reason = set->reason;
			s.world.observe(SlurmNodeSeen{record});
			if (set->name == node && set->change == change)
				return i;
		}
		for (const std::string &name : s.world.take_node_questions(s.now))
			s.world.answer(NodeLookUpAnswered{name, sight}, s.now);
		advance(s.now, k_second);
	}
	return -1;
}

void another_limit_for_nodes_that_are_not_ready_holds()
{
	for (const auto &[before, after] : {std::pair(40, 100), std::pair(600, 100)}) {
		PlaceStage s;
		Settings fresh = PlaceStage::settings();
		fresh.nodes.not_ready_after_seconds = before;
		s.world.observe(SettingsSet{fresh}, s.now);
		KubeNode node = PlaceStage::node("n1");
		node.ready = false;
		s.world.observe(NodeSeen{node}, s.now);
		CHECK(seconds_to(s, "n1", NodeStateChange::drain, NodeLookup::not_ready) >= 0);
		advance(s.now, 10 * k_second);
		fresh.nodes.not_ready_after_seconds = after;
		s.world.observe(SettingsSet{fresh}, s.now);
		const int down = seconds_to(s, "n1", NodeStateChange::down, NodeLookup::not_ready);
		CHECK(down >= 80 && down <= 110);
	}
}

void nodes_that_only_slurm_has_are_managed_from_then_on()
{
	PlaceStage s;
	Settings fresh = PlaceStage::settings();
	fresh.nodes.manage = false;
	s.world.observe(SettingsSet{fresh}, s.now);
	s.world.observe(SlurmNodeSeen{slurm_node("n4", 4)});
	CHECK_EQUAL(seconds_to(s, "n4", NodeStateChange::drain, NodeLookup::none), -1);
	fresh.nodes.manage = true;
	s.world.observe(SettingsSet{fresh}, s.now);
	CHECK(seconds_to(s, "n4", NodeStateChange::drain, NodeLookup::none) >= 0);
}

/* Otherwise nodes of the old list would be judged by the new selector. */
void another_selector_waits_for_its_list()
{
	PlaceStage s;
	Settings fresh = PlaceStage::settings();
	fresh.nodes.label_key = "example.org/other";
	s.world.observe(SettingsSet{fresh}, s.now);
	s.world.observe(PodSeen{PlaceStage::pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.world.observe(NodesListed{{"uid-n1", "uid-n2", "uid-n3"}});
	CHECK_EQUAL(s.act(), "submit:a");
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
			TEST(an_option_that_slurm_refused_is_sent_again),
			TEST(a_shorter_start_limit_deletes_nothing_at_once),
			TEST(another_limit_for_nodes_that_are_not_ready_holds),
			TEST(nodes_that_only_slurm_has_are_managed_from_then_on),
			TEST(another_selector_waits_for_its_list),
		});
}
