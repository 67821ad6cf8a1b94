/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World as the agent drives it: the life of one pod, waiting pods, and the counts of both. */
#include "src/core/model/outcome.h"
#include "testsuite/unit/world_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

void a_pod_lives_and_ends_with_three_calls()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a#1");
	CHECK_EQUAL(s.act(), ""); /* under way */
	s.allocate("a", 7);
	CHECK_EQUAL(s.act(), "bind:a@n1");
	/* counted from the moment the binding is sent */
	CHECK_EQUAL(s.world.state().occupancy.pods_on("n1"), 1U);
	s.world.answer(BindAnswered{{"a"}, Ok{}}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::running)}, s.now);
	s.world.observe(PodSeen{end_of(s.pod("a"), PodPhase::failed, 3)}, s.now);
	CHECK_EQUAL(s.act(), "complete:7=768");
	CHECK_EQUAL(s.world.state().occupancy.pods_on("n1"), 0U);
	s.world.answer(CompleteAnswered{{"a"}, Ok{}, false}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::failed)}, s.now);
	s.pass(10 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.world.observe(PodGone{{"a"}, std::nullopt}, s.now);
	s.world.observe(JobGone{{7}});
	CHECK_EQUAL(s.act(), "");
	CHECK(s.world.state().pods.empty());
	CHECK(s.world.state().components.empty());
}

void nothing_happens_before_every_list_is_complete()
{
	World world(Stage::settings());
	const Now now{.mono_us = 1, .wall_s = 1};
	Pod p;
	p.uid = {"a"};
	world.observe(PodSeen{p}, now);
	CHECK(world.take_actions(now).empty());
	world.observe(PodsListed{{"a"}}, now);
	CHECK(world.take_actions(now).empty());
	world.observe(NodesListed{{}});
	CHECK(world.take_actions(now).empty());
	world.observe(LinkOpened{{}});
	CHECK(world.take_actions(now).empty());
	world.observe(SnapshotEnded{}, now);
	CHECK_EQUAL(world.take_actions(now).size(), 1U);
}

void jobs_of_another_cluster_are_never_touched()
{
	Stage s;
	SlurmJob foreign = Stage::job(9, "x", JobState::running);
	foreign.marker.cluster = "other";
	s.connect({foreign});
	CHECK_EQUAL(s.act(), "");
	s.world.observe(JobSeen{foreign}, s.now);
	CHECK_EQUAL(s.act(), "");
}

void scancel_deletes_the_pod_once_and_the_next_waits_for_its_end()
{
	Stage s;
	run_pod(s, "a", 7, 4000);
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::cancelled)}, s.now);
	CHECK_EQUAL(s.act(), "remove:a");
	s.world.answer(DeletePodAnswered{{"a"}, Ok{}}, s.now);
	CHECK_EQUAL(s.act(), ""); /* the watch has not shown deletionTimestamp yet */
	Pod stopping = s.pod("a", 4000);
	stopping.node_name = "n1";
	stopping.phase = PodPhase::running;
	stopping.deleting = true;
	s.world.observe(PodSeen{stopping}, s.now);
	s.world.observe(PodSeen{s.pod("b", 4000)}, s.now);
	CHECK_EQUAL(s.act(), "submit:b#1");
	s.allocate("b", 8);
	CHECK_EQUAL(s.act(), "");
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "report:b:SlurmPending");
	s.world.answer(ReportAnswered{{"b"}, Ok{}}, s.now);
	stopping.phase = PodPhase::failed;
	s.world.observe(PodSeen{stopping}, s.now);
	CHECK_EQUAL(s.act(), "bind:b@n1");
}

void a_forced_deletion_holds_the_share_some_seconds_more()
{
	Stage s;
	run_pod(s, "a", 7, 4000);
	s.world.observe(PodGone{{"a"}, std::nullopt}, s.now);
	CHECK_EQUAL(s.act(), "complete:7=cancelled");
	s.world.answer(CompleteAnswered{{"a"}, Ok{}, true}, s.now);
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::cancelled)}, s.now);
	s.world.observe(PodSeen{s.pod("b", 4000)}, s.now);
	CHECK_EQUAL(s.act(), "submit:b#1");
	s.allocate("b", 8);
	CHECK_EQUAL(s.act(), "");
	s.pass(2'900'000);
	(void)s.act(); /* reports why the pod waits */
	s.world.answer(ReportAnswered{{"b"}, Ok{}}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(200'000);
	CHECK_EQUAL(s.act(), "bind:b@n1");
}

void a_failed_submission_is_repeated_with_the_same_attempt()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a#1");
	s.world.answer(SubmitAnswered{{"a"}, Error{Errc::io, "broken pipe"}}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(300'000);
	CHECK_EQUAL(s.act(), "submit:a#1");
	s.world.answer(SubmitAnswered{{"a"}, Error{Errc::invalid, "Invalid account"}}, s.now);
	CHECK_EQUAL(s.act(), "report:a:SlurmRefused");
	s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
	s.pass(30 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.pass(31 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#1");
}

void a_waiting_pod_is_told_on_change_and_not_too_often()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	(void)s.act();
	s.world.answer(SubmitAnswered{{"a"}, Submitted{.job = {7}, .node = "", .cpus = 0}}, s.now);
	SlurmJob job = Stage::job(7, "a", JobState::pending);
	job.reason = "Resources";
	s.world.observe(JobSeen{job}, s.now);
	CHECK_EQUAL(s.act(), ""); /* most pods start within a second */
	s.pass(k_second);
	CHECK_EQUAL(s.act(), "report:a:SlurmPending");
	s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
	s.world.observe(JobSeen{job}, s.now);
	CHECK_EQUAL(s.act(), "");
	job.reason = "Priority";
	s.world.observe(JobSeen{job}, s.now);
	s.pass(10 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.pass(20 * k_second);
	CHECK_EQUAL(s.act(), "report:a:SlurmPending");
}

void a_number_used_again_is_another_job()
{
	Stage s;
	run_pod(s, "a", 7);
	s.connect({Stage::job(7, "b", JobState::running)});
	CHECK_EQUAL(s.act(), "look:b");
	s.world.answer(LookUpAnswered{{"b"}, PodLookup::absent}, s.now);
	s.pass(3 * k_second);
	CHECK_EQUAL(s.act(), "complete:7=cancelled"); /* b is no pod */
	REQUIRE(s.world.state().entry({"a"}) != nullptr);
	CHECK(s.world.state().current_job({"a"}) == nullptr);
}

void the_same_name_with_a_new_uid_is_another_pod()
{
	Stage s;
	run_pod(s, "a", 7);
	Pod other = s.pod("b");
	other.name = "pod-a";
	s.world.observe(PodSeen{other}, s.now);
	s.world.observe(PodsListed{{"b"}}, s.now);
	CHECK_EQUAL(s.act(), "look:a submit:b#1");
	s.world.answer(LookUpAnswered{{"a"}, PodLookup::absent}, s.now);
	CHECK_EQUAL(s.act(), "complete:7=cancelled");
}

void decisions_and_effects_are_timed()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("u1")}, s.now);
	(void)s.act();
	s.allocate("u1", 7);
	(void)s.act();
	s.world.answer(BindAnswered{{"u1"}, Ok{}}, s.now);
	Pod p = starting(s, "u1", 7);
	s.world.observe(PodSeen{p}, s.now);
	CHECK_EQUAL(s.world.stage_latencies().bound_to_running.count(), 0U);
	s.pass(2 * k_second);
	p.phase = PodPhase::running;
	s.world.observe(PodSeen{p}, s.now);
	s.world.observe(PodSeen{p}, s.now);
	CHECK_EQUAL(s.world.stage_latencies().bound_to_running.count(), 1U);
	CHECK_EQUAL(s.world.stage_latencies().bound_to_running.max_us(),
		static_cast<std::uint64_t>(2 * k_second));
	p.deleting = true;
	s.world.observe(PodSeen{p}, s.now);
	s.pass(3 * k_second);
	s.world.observe(PodGone{{"u1"}, p}, s.now);
	CHECK_EQUAL(s.act(), "complete:7=cancelled");
	s.world.answer(CompleteAnswered{{"u1"}, Ok{}, true}, s.now);
	CHECK_EQUAL(s.world.stage_latencies().pod_deleted_to_job_ended.max_us(),
		static_cast<std::uint64_t>(3 * k_second));
}

void ended_jobs_count_once_even_if_told_late()
{
	Stage s;
	run_pod(s, "a", 7);
	s.world.observe(PodSeen{end_of(s.pod("a"), PodPhase::succeeded, 0)}, s.now);
	CHECK_EQUAL(s.act(), "complete:7=0");
	s.world.answer(CompleteAnswered{{"a"}, Ok{}, false}, s.now);
	/* read before the completion */
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::running)}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(4 * k_second);
	CHECK_EQUAL(s.act(), "complete:7=0"); /* the job still runs: completed again */
}

std::string node_act(Stage &s)
{
	std::string out;
	for (const NodeAction &action : s.world.take_node_actions(s.now)) {
		if (const auto *set = std::get_if<SetNodeState>(&action))
			out += set->change == NodeStateChange::down     ? "down"
				: set->change == NodeStateChange::drain ? "drain"
									: "use";
	}
	return out;
}

/* Even if the wall clock steps: an hour ahead must not set the node DOWN, an hour back must not
 * delay it. */
void a_node_is_down_after_its_time_by_our_own_clock()
{
	for (const std::int64_t step : {std::int64_t{3600}, std::int64_t{-3600}}) {
		Stage s;
		CHECK_EQUAL(node_act(s), "");
		s.node(false);
		CHECK_EQUAL(node_act(s), "drain");
		s.world.answer(NodeChangeAnswered{"n1", Ok{}}, s.now);
		SlurmNode not_ready = slurm_node("n1", 0);
		not_ready.base = NodeBase::mixed;
		not_ready.drain = true;
		not_ready.reason = "slurm-kube: NotReady";
		s.world.observe(SlurmNodeSeen{not_ready});
		s.now.wall_s += step;
		s.pass(39 * k_second);
		CHECK_EQUAL(node_act(s), "");
		s.pass(k_second);
		CHECK_EQUAL(node_act(s), ""); /* the API server is asked first */
		for (const std::string &name : s.world.take_node_questions(s.now))
			s.world.answer(NodeLookUpAnswered{name, NodeLookup::not_ready}, s.now);
		CHECK_EQUAL(node_act(s), "down");
	}
}

/* Otherwise the agent would try to submit a job for it every 30 s, forever. */
void a_pod_on_a_node_that_slurm_does_not_know_waits_for_the_node()
{
	Stage s;
	Pod p = s.pod("a");
	p.node_name = "n9";
	s.world.observe(PodSeen{p}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(60 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.world.observe(SlurmNodeSeen{slurm_node("n9", 0)});
	CHECK_EQUAL(s.act(), "submit:a#1@n9");
}

/* For example from a Slurm newer than the plugin: the agent neither deletes the pod nor ends the
 * job. */
void a_job_state_that_nobody_can_read_is_no_event()
{
	Stage s;
	run_pod(s, "a", 1);
	(void)s.act();
	s.world.observe(JobSeen{Stage::job(1, "a", JobState::unknown)}, s.now);
	CHECK_EQUAL(s.act(), "");
	CHECK(s.world.state().jobs.at({1}).state == JobState::running);
	s.connect({Stage::job(1, "a", JobState::unknown)});
	CHECK_EQUAL(s.act(), "");
	CHECK(s.world.state().jobs.at({1}).state == JobState::running);
}

/* Otherwise the kubelet would refuse the next pod with OutOfcpu. */
void a_pod_that_grows_in_place_leaves_less_room()
{
	Stage s;
	run_pod(s, "a", 1, 1000);
	Pod grown = *s.world.state().pod({"a"});
	grown.requests.milli_cpu = 3000;
	s.world.observe(PodSeen{grown}, s.now);
	s.world.observe(PodSeen{s.pod("b", 2000)}, s.now);
	(void)s.act();
	s.allocate("b", 2);
	CHECK(s.act().find("bind:b") == std::string::npos);
	grown.requests.milli_cpu = 2000;
	s.world.observe(PodSeen{grown}, s.now);
	CHECK_EQUAL(s.act(), "bind:b@n1");
}

} // namespace

int main()
{
	return check::run_tests("world",
		{
			TEST(a_pod_lives_and_ends_with_three_calls),
			TEST(nothing_happens_before_every_list_is_complete),
			TEST(jobs_of_another_cluster_are_never_touched),
			TEST(scancel_deletes_the_pod_once_and_the_next_waits_for_its_end),
			TEST(a_forced_deletion_holds_the_share_some_seconds_more),
			TEST(a_failed_submission_is_repeated_with_the_same_attempt),
			TEST(a_waiting_pod_is_told_on_change_and_not_too_often),
			TEST(a_number_used_again_is_another_job),
			TEST(the_same_name_with_a_new_uid_is_another_pod),
			TEST(decisions_and_effects_are_timed),
			TEST(ended_jobs_count_once_even_if_told_late),
			TEST(a_node_is_down_after_its_time_by_our_own_clock),
			TEST(a_pod_on_a_node_that_slurm_does_not_know_waits_for_the_node),
			TEST(a_job_state_that_nobody_can_read_is_no_event),
			TEST(a_pod_that_grows_in_place_leaves_less_room),
		});
}
