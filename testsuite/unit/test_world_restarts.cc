/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World after an absence: restarts of the agent and of slurmctld, lost answers, messages that
 * crossed. */
#include "src/core/model/outcome.h"
#include "testsuite/unit/world_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

void a_lost_link_stops_everything_until_the_next_snapshot()
{
	Stage s;
	s.world.observe(LinkLost{});
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.connect({});
	CHECK_EQUAL(s.act(), "submit:a#1");
}

/* Only new pods get the condition, once, and not pods with a condition by another agent. */
void without_slurmctld_new_pods_are_told_so()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("old")}, s.now);
	CHECK_EQUAL(s.act(), "submit:old#1");
	s.world.answer(
		SubmitAnswered{{"old"}, Submitted{.job = {1}, .node = "", .cpus = 0}}, s.now);
	s.world.observe(LinkLost{});
	CHECK_EQUAL(s.act(), "");
	s.pass(60 * k_second);
	s.world.observe(PodSeen{s.pod("new")}, s.now);
	Pod told = s.pod("told");
	told.not_scheduled = Condition{names::k_reason_pending, "Slurm job 7 is pending"};
	s.world.observe(PodSeen{told}, s.now);
	Pod gated = s.pod("gated");
	gated.gated = true;
	s.world.observe(PodSeen{gated}, s.now);
	s.pass(9 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.pass(k_second);
	CHECK_EQUAL(s.act(), "report:new:SlurmRetrying");
	s.world.answer(ReportAnswered{{"new"}, Ok{}}, s.now);
	s.pass(60 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.connect({Stage::job(1, "old", JobState::pending)});
	CHECK(s.act().find("submit:new#1") != std::string::npos);
}

/* slurmctld only restarts: no pod gets a condition. */
void a_short_absence_of_slurmctld_is_not_told()
{
	Stage s;
	s.world.observe(LinkLost{});
	CHECK_EQUAL(s.act(), "");
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	s.pass(9 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.connect({});
	CHECK_EQUAL(s.act(), "submit:a#1");
	s.world.observe(LinkLost{});
	s.pass(9 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.pass(5 * k_second);
	CHECK_EQUAL(s.act(), "");
}

void a_restarted_agent_goes_on_where_the_other_died()
{
	Stage s;
	s.world.observe(LinkLost{});
	/* the other agent died after the submission, after the binding, after the end */
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	Pod b = s.pod("b");
	b.node_name = "n1";
	s.world.observe(PodSeen{b}, s.now);
	s.world.observe(PodSeen{end_of(s.pod("c"), PodPhase::succeeded, 0)}, s.now);
	s.connect({Stage::job(1, "a", JobState::running), Stage::job(2, "b", JobState::running),
		Stage::job(3, "c", JobState::running), Stage::job(4, "gone", JobState::running),
		Stage::job(5, "gone2", JobState::pending)});
	CHECK_EQUAL(s.act(), "look:gone look:gone2 bind:a@n1 complete:3=0");
	s.world.answer(LookUpAnswered{{"gone"}, PodLookup::absent}, s.now);
	s.world.answer(LookUpAnswered{{"gone2"}, PodLookup::absent}, s.now);
	CHECK_EQUAL(s.act(), "cancel:5");
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.pass(k_second); /* the pod may have been force-deleted a moment ago */
	CHECK_EQUAL(s.act(), "complete:4=cancelled");
}

void a_submission_that_crosses_a_snapshot_is_not_lost()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a#1");
	s.world.observe(LinkOpened{{}}); /* a snapshot begins, read before the job was created */
	s.allocate("a", 7);
	s.world.observe(SlurmNodeSeen{slurm_node("n1", 0)});
	s.world.observe(SnapshotEnded{}, s.now);
	CHECK_EQUAL(s.act(), "bind:a@n1");
	s.world.answer(BindAnswered{{"a"}, Ok{}}, s.now);
	Pod p = s.pod("a");
	p.node_name = "n1";
	s.world.observe(PodSeen{p}, s.now);
	s.connect({});
	s.pass(5 * k_second);
	CHECK_EQUAL(s.act(), "");
}

void what_failed_while_a_side_was_away_is_tried_when_it_is_back()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	(void)s.act();
	s.allocate("a", 7);
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::running)}, s.now);
	const Error refused{Errc::again, "connection refused"};
	for (int i = 0; i < 8; i++) {
		std::string did = s.act();
		if (did.starts_with("look:a")) {
			s.world.answer(LookUpAnswered{{"a"}, refused}, s.now);
			did = s.act();
		}
		CHECK_EQUAL(did, "bind:a@n1");
		s.world.answer(BindAnswered{{"a"}, refused}, s.now);
		s.pass(i < 7 ? 31 * k_second : k_second);
	}
	CHECK_EQUAL(s.act(), "");
	s.world.observe(PodsListed{{"a"}}, s.now); /* the API server is back */
	CHECK_EQUAL(s.act(), "bind:a@n1");

	Stage t;
	t.world.observe(PodSeen{t.pod("b")}, t.now);
	CHECK_EQUAL(t.act(), "submit:b#1");
	t.world.answer(SubmitAnswered{{"b"}, Error{Errc::invalid, "Invalid account"}}, t.now);
	(void)t.act();
	t.world.answer(ReportAnswered{{"b"}, Ok{}}, t.now);
	t.connect({}); /* a new connection does not repeat a refused submission */
	CHECK_EQUAL(t.act(), "");
}

/* The next agent was not told of the job, but the Binding's annotations name it, so no answer
 * was lost. */
void a_job_cancelled_soon_takes_its_bound_pod_along_over_a_restart()
{
	Stage s;
	Pod p = s.pod("a");
	p.node_name = "n1";
	p.phase = PodPhase::running;
	p.annotations = allocation_annotations(7);
	s.world.observe(PodSeen{p}, s.now);
	SlurmJob ended = Stage::job(7, "a", JobState::cancelled);
	ended.submit_time = s.now.wall_s - 2;
	ended.end_time = s.now.wall_s - 1;
	s.connect({ended});
	CHECK_EQUAL(s.act(), "remove:a");
}

void a_job_that_slurmctld_could_not_tell_us_of_is_replaced()
{
	Stage s;
	s.world.observe(LinkLost{});
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	s.connect({cancelled_job(s, 1, "a", 0)});
	s.pass(k_second);
	CHECK_EQUAL(s.act(), "submit:a#2");
}

/* A restarted slurmctld without the job: it was killed before it had saved the job that it
 * answered with. */
void a_job_that_only_a_dead_slurmctld_told_us_of_is_forgotten()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a#1");
	s.allocate("a", 7);
	PluginHello hello;
	hello.pid = 4711;
	s.world.observe(LinkOpened{hello});
	s.world.observe(SlurmNodeSeen{slurm_node("n1", 0)});
	s.world.observe(SnapshotEnded{}, s.now);
	CHECK_EQUAL(s.act(), "submit:a#1");
}

void a_job_that_the_plugin_never_tells_of_is_forgotten()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	(void)s.act();
	s.world.answer(SubmitAnswered{{"a"}, Submitted{.job = {7}, .node = "", .cpus = 0}}, s.now);
	s.pass(9 * k_second);
	(void)s.act(); /* reports that the pod waits */
	s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(k_second);
	CHECK_EQUAL(s.act(), "cancel:7"); /* the job may be live, unknown to the plugin */
	s.world.answer(CompleteAnswered{{"a"}, Ok{}, true}, s.now);
	s.pass(4 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#1");
}

/* A standby takes over while its watch is behind. */
void a_pod_that_the_watch_has_not_shown_keeps_its_job()
{
	Stage s;
	s.connect({Stage::job(7, "a", JobState::running)});
	CHECK_EQUAL(s.act(), "look:a");
	s.world.answer(LookUpAnswered{{"a"}, Error{Errc::io, "no answer"}}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(k_second);
	CHECK_EQUAL(s.act(), "look:a");
	s.world.answer(LookUpAnswered{{"a"}, PodLookup::bound}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(5 * k_second);
	CHECK_EQUAL(s.act(), "look:a");
	Pod p = s.pod("a");
	p.node_name = "n1";
	s.world.observe(PodSeen{p}, s.now);
	s.world.answer(LookUpAnswered{{"a"}, PodLookup::bound}, s.now);
	CHECK_EQUAL(s.act(), "");
}

/* The agent died while it submitted a job for a running pod whose job slurmctld had lost.
 * slurmctld ends the new job, and the pod stays. */
void a_running_pod_outlives_a_job_whose_answer_was_lost()
{
	Stage s;
	run_pod(s, "a", 7);
	SlurmJob lost = Stage::job(8, "a", JobState::failed, 2);
	lost.submit_time = lost.end_time = s.now.wall_s;
	s.connect({lost});
	CHECK_EQUAL(s.act(), "");
	s.pass(11 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#3@n1");
}

/* An agent has just started: pages of pods arrive before those of nodes, or the reverse. */
void nothing_is_done_while_a_list_is_not_whole()
{
	Stage s;
	s.world = World(Stage::settings());
	s.connect({});
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.world.observe(PodsListed{{"a"}}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.node(true);
	s.world.observe(NodesListed{{"node-uid"}});
	CHECK_EQUAL(s.act(), "submit:a#1");

	s.world = World(Stage::settings());
	s.connect({});
	s.node(true);
	s.world.observe(NodesListed{{"node-uid"}});
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.world.observe(PodsListed{{"a"}}, s.now);
	CHECK_EQUAL(s.act(), "submit:a#1");
}

/* After a restore, Slurm assigns the number again, here even for the same pod. The answer about
 * the first job says nothing about the second. */
void an_answer_is_forgotten_with_its_job()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a#1");
	s.world.answer(SubmitAnswered{{"a"}, Submitted{.job = {1}, .node = "", .cpus = 0}}, s.now);
	s.world.observe(JobSeen{Stage::job(1, "a", JobState::pending)}, s.now);
	s.connect({}); /* an older state */
	CHECK_EQUAL(s.act(), "submit:a#1");
	s.world.answer(SubmitAnswered{{"a"}, Error{Errc::io, "no answer"}}, s.now);
	s.world.observe(JobSeen{cancelled_job(s, 1, "a", 0)}, s.now);
	s.pass(k_second);
	CHECK_EQUAL(s.act(), "submit:a#2");
}

} // namespace

int main()
{
	return check::run_tests("world restarts",
		{
			TEST(without_slurmctld_new_pods_are_told_so),
			TEST(a_short_absence_of_slurmctld_is_not_told),
			TEST(a_lost_link_stops_everything_until_the_next_snapshot),
			TEST(a_restarted_agent_goes_on_where_the_other_died),
			TEST(a_submission_that_crosses_a_snapshot_is_not_lost),
			TEST(what_failed_while_a_side_was_away_is_tried_when_it_is_back),
			TEST(a_job_cancelled_soon_takes_its_bound_pod_along_over_a_restart),
			TEST(a_job_that_slurmctld_could_not_tell_us_of_is_replaced),
			TEST(a_job_that_only_a_dead_slurmctld_told_us_of_is_forgotten),
			TEST(a_job_that_the_plugin_never_tells_of_is_forgotten),
			TEST(a_pod_that_the_watch_has_not_shown_keeps_its_job),
			TEST(a_running_pod_outlives_a_job_whose_answer_was_lost),
			TEST(nothing_is_done_while_a_list_is_not_whole),
			TEST(an_answer_is_forgotten_with_its_job),
		});
}
