/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World when it loses sight of pods: lists without them, another cluster's API server, a plugin
 * that does not report a job. */
#include "src/core/inspect/sight.h"
#include "src/core/model/outcome.h"
#include "testsuite/unit/world_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

Pod running(const Stage &s, const std::string &uid, std::uint32_t id)
{
	Pod p = starting(s, uid, id);
	p.phase = PodPhase::running;
	return p;
}

void a_list_without_a_pod_is_no_deletion()
{
	Stage s;
	run_pod(s, "a", 7);
	CHECK_EQUAL(s.act(), "");
	s.world.observe(PodsListed{{}}, s.now);
	CHECK_EQUAL(s.act(), "look:a");
	s.world.answer(LookUpAnswered{{"a"}, Error{Errc::io, "no answer"}}, s.now);
	s.pass(k_second);
	CHECK_EQUAL(s.act(), "look:a");
	s.world.answer(LookUpAnswered{{"a"}, PodLookup::bound}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(5 * k_second);
	CHECK_EQUAL(s.act(), "look:a");
	s.world.answer(LookUpAnswered{{"a"}, PodLookup::absent}, s.now);
	CHECK_EQUAL(s.act(), "complete:7=cancelled");
}

void a_waiting_pod_that_a_list_leaves_out_keeps_its_place()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	(void)s.act();
	s.world.answer(SubmitAnswered{{"a"}, Submitted{.job = {7}, .node = "", .cpus = 0}}, s.now);
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::pending)}, s.now);
	s.world.observe(PodsListed{{}}, s.now);
	CHECK_EQUAL(s.act(), "look:a");
	s.world.answer(LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
	s.pass(2 * k_second);
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	s.world.observe(PodsListed{{"a"}}, s.now);
	CHECK(s.act().find("cancel") == std::string::npos);
	s.pass(10 * k_second);
	CHECK(s.act().find("look") == std::string::npos);
}

/* An ended pod needs no look-up. */
void an_ended_pod_that_a_list_leaves_out_is_gone()
{
	Stage s;
	run_pod(s, "a", 7);
	s.world.observe(PodSeen{end_of(s.pod("a"), PodPhase::succeeded, 0)}, s.now);
	s.world.observe(PodsListed{{}}, s.now);
	CHECK_EQUAL(s.act(), "complete:7=0");
}

void few_questions_are_under_way_at_once()
{
	Stage s;
	for (int i = 0; i < 40; i++)
		s.world.observe(PodSeen{running(s, "a" + std::to_string(i), 0)}, s.now);
	(void)s.act();
	s.world.observe(PodsListed{{}}, s.now);
	std::size_t looks = 0;
	for (const auto &[uid, action] : s.world.take_actions(s.now))
		looks += std::holds_alternative<LookUp>(action) ? 1U : 0U;
	CHECK_EQUAL(looks, 16U);
}

/* The plugin is slow, or cannot tell to which pod the job belongs; a pod runs under the job. */
void an_untold_job_of_a_bound_pod_is_not_cancelled()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	(void)s.act();
	s.allocate("a", 7);
	CHECK_EQUAL(s.act(), "bind:a@n1");
	s.world.answer(BindAnswered{{"a"}, Ok{}}, s.now);
	s.world.observe(PodSeen{running(s, "a", 7)}, s.now);
	s.pass(11 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::running)}, s.now);
	s.pass(30 * k_second);
	CHECK_EQUAL(s.act(), "");

	Stage t; /* never reported: the pod gets another job, and then the old one is ended */
	t.world.observe(PodSeen{t.pod("a")}, t.now);
	(void)t.act();
	t.allocate("a", 7);
	(void)t.act();
	t.world.answer(BindAnswered{{"a"}, Ok{}}, t.now);
	t.world.observe(PodSeen{running(t, "a", 7)}, t.now);
	t.pass(11 * k_second);
	CHECK_EQUAL(t.act(), "");
	t.pass(11 * k_second);
	CHECK_EQUAL(t.act(), "submit:a#2@n1");
	t.world.answer(
		SubmitAnswered{{"a"}, Submitted{.job = {8}, .node = "n1", .cpus = 1}}, t.now);
	t.world.observe(JobSeen{Stage::job(8, "a", JobState::running, 2)}, t.now);
	CHECK_EQUAL(t.act(), "cancel:7");
	t.world.answer(CompleteAnswered{{"a"}, Ok{}, true}, t.now);
	t.pass(4 * k_second);
	CHECK_EQUAL(t.act(), "");
	t.world.observe(PodGone{{"a"}, running(t, "a", 7)}, t.now);
	CHECK_EQUAL(t.act(), "complete:8=cancelled");
}

/* ---- which cluster ---- */

SlurmJob of_cluster(SlurmJob job, const std::string &uid)
{
	job.marker.cluster_uid = uid;
	return job;
}

Stage unsure()
{
	Stage s;
	Settings settings = Stage::settings();
	settings.needs_cluster = true;
	s.world = World(settings);
	s.node(true);
	s.world.observe(NodesListed{{"node-uid"}});
	s.world.observe(PodsListed{{}}, s.now);
	return s;
}

void nothing_is_done_before_the_cluster_is_known()
{
	Stage s = unsure();
	s.connect({of_cluster(Stage::job(7, "a", JobState::running), "ours")});
	s.world.observe(PodSeen{s.pod("b")}, s.now);
	CHECK_EQUAL(s.act(), "");
	CHECK(!s.world.state().is_known());
	s.world.observe(ClusterSeen{"ours"});
	CHECK_EQUAL(s.act(), "look:a submit:b#1");
	s.world.observe(ClusterDoubted{});
	s.world.answer(LookUpAnswered{{"a"}, PodLookup::absent}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.world.observe(ClusterSeen{"ours"});
	s.pass(3 * k_second);
	CHECK(s.act().find("complete:7=cancelled") != std::string::npos);
}

/* The agent was started with the kubeconfig of another cluster, which has none of our objects. */
void jobs_of_another_cluster_hold_everything()
{
	Stage s = unsure();
	s.connect({of_cluster(Stage::job(7, "a", JobState::running), "ours"),
		of_cluster(Stage::job(8, "b", JobState::pending), "ours")});
	s.world.observe(ClusterSeen{"other"});
	s.world.observe(PodSeen{s.pod("of-other")}, s.now);
	s.world.observe(NodeGone{"n1"}, s.now);
	CHECK_EQUAL(s.act(), "");
	CHECK(s.world.take_node_actions(s.now).empty());
	CHECK(s.world.take_node_questions(s.now).empty());
	CHECK_EQUAL(other_cluster_text(s.world),
		"kubeconfig leads to the cluster whose namespace kube-system has uid other, and 2 "
		"live jobs of cluster \"main\" are of the one with uid ours "
		"(jobs 7,8): nothing is done for any pod, job or node");
	CHECK(other_cluster_remedy(s.world).ends_with("scancel 7,8"));
	s.pass(3600 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.world.observe(
		JobSeen{of_cluster(Stage::job(7, "a", JobState::cancelled), "ours")}, s.now);
	s.world.observe(JobGone{{8}}, s.now);
	CHECK_EQUAL(other_cluster_text(s.world), "");
	CHECK_EQUAL(s.act(), "submit:of-other#1");
}

/* The name in the configuration was changed, and perhaps changed back. */
void jobs_under_another_name_are_told()
{
	const auto named = [](SlurmJob job, const char *cluster, const char *uid) {
		job.marker.cluster = cluster;
		job.marker.cluster_uid = uid;
		return job;
	};
	Stage s = unsure();
	s.connect({named(Stage::job(7, "a", JobState::running), "old", "ours"),
		named(Stage::job(8, "b", JobState::pending), "old", "ours"),
		named(Stage::job(9, "c", JobState::running), "far", "theirs")});
	CHECK_EQUAL(other_name_text(s.world), "");
	s.world.observe(ClusterSeen{"ours"});
	CHECK_EQUAL(other_name_text(s.world),
		"2 live jobs of this Kubernetes cluster bear its name \"old\", and slurmkubed.yaml "
		"says cluster: main (jobs 7,8): "
		"nothing is done for them and their pods");
	s.world.observe(PodSeen{s.pod("new")}, s.now);
	CHECK_EQUAL(s.act(), "submit:new#1");
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	s.world.observe(PodSeen{s.pod("b")}, s.now);
	s.pass(60 * k_second);
	CHECK_EQUAL(s.act(), "");
	CHECK(other_name_remedy(s.world).starts_with("set cluster: old in slurmkubed.yaml"));
	CHECK(other_name_remedy(s.world).ends_with("scancel 7,8"));
	s.world.observe(
		JobSeen{named(Stage::job(7, "a", JobState::cancelled), "old", "ours")}, s.now);
	s.world.observe(JobGone{{8}}, s.now);
	CHECK_EQUAL(other_name_text(s.world), "");
	CHECK_EQUAL(s.act(), "submit:a#1 submit:b#1");
}

void a_submission_names_its_cluster()
{
	Stage s = unsure();
	s.connect({});
	s.world.observe(ClusterSeen{"ours"});
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	const auto actions = s.world.take_actions(s.now);
	REQUIRE(actions.size() == 1 && std::holds_alternative<Submit>(actions[0].action));
	CHECK_EQUAL(std::get<Submit>(actions[0].action).spec.marker.cluster_uid, "ours");
	s.allocate("a", 7);
	CHECK_EQUAL(s.world.state().jobs.at({7}).marker.cluster_uid, "ours");
}

/* Older markers do not name their cluster. A single pod may always have been deleted. */
void jobs_without_a_cluster_end_unless_too_many_lose_their_pods()
{
	Stage s = unsure();
	s.world.observe(ClusterSeen{"ours"});
	const Pod seen = running(s, "a", 1);
	s.world.observe(PodSeen{seen}, s.now);
	s.connect({Stage::job(1, "a", JobState::running), Stage::job(2, "b", JobState::running),
		Stage::job(3, "c", JobState::pending)});
	CHECK_EQUAL(s.act(), "");
	CHECK_EQUAL(s.world.held_absent_pods(), 2U);
	CHECK(absent_pods_text(s.world).starts_with("2 jobs"));
	s.pass(3600 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.world.observe(JobGone{{3}}, s.now); /* an administrator has removed this job */
	CHECK_EQUAL(s.act(), "look:b");
	s.world.answer(LookUpAnswered{{"b"}, PodLookup::absent}, s.now);
	s.pass(3 * k_second);
	CHECK_EQUAL(s.act(), "complete:2=cancelled");
	CHECK_EQUAL(absent_pods_text(s.world), "");
}

/* ---- other Slurm clusters ---- */

LeaseSeen standing(LeaseStanding what)
{
	LeaseState state;
	state.standing = what;
	return {state};
}

void another_slurm_cluster_holds_everything()
{
	for (const LeaseStanding held : {LeaseStanding::other_cluster, LeaseStanding::contested}) {
		Stage s;
		Settings settings = Stage::settings();
		settings.needs_lease = settings.needs_fresh_lists = true;
		s.world = World(settings);
		s.node(true);
		s.world.observe(NodesListed{{"node-uid"}});
		s.world.observe(PodsListed{{}}, s.now);
		s.world.observe(PodSeen{s.pod("a")}, s.now);
		s.world.observe(PodSeen{running(s, "b", 7)}, s.now);
		CHECK_EQUAL(s.act(), "");
		s.connect({Stage::job(7, "b", JobState::running)});
		(void)s.world.take_list_request();
		s.world.observe(NodesListed{{"node-uid"}});
		s.world.observe(PodsListed{{"a", "b"}}, s.now);
		CHECK_EQUAL(s.act(), "");
		CHECK(!s.world.state().is_known());
		s.world.observe(standing(held));
		s.world.observe(JobSeen{Stage::job(7, "b", JobState::cancelled)}, s.now);
		s.world.observe(NodeGone{"n1"}, s.now);
		s.pass(3600 * k_second);
		CHECK_EQUAL(s.act(), "");
		CHECK(s.world.take_node_actions(s.now).empty());
		CHECK(s.world.take_node_questions(s.now).empty());
		/* the other one may have bound pods since they were listed */
		s.world.observe(standing(LeaseStanding::free));
		CHECK(s.world.take_list_request());
		CHECK_EQUAL(s.act(), "");
		s.world.observe(NodesListed{{}});
		s.world.observe(PodsListed{{"a", "b"}}, s.now);
		CHECK(s.world.state().is_known());
	}
}

/* The pods have had jobs of another Slurm meanwhile. is_new: the Lease that would tell that has
 * been deleted. */
void ends_while_another_slurm_led(bool is_new)
{
	Stage s;
	Settings settings = Stage::settings();
	settings.needs_lease = true;
	s.world = World(settings);
	s.node(true);
	s.world.observe(NodesListed{{"node-uid"}});
	s.world.observe(PodsListed{{}}, s.now);
	if (!is_new)
		s.world.observe(standing(LeaseStanding::other_cluster));
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	s.world.observe(PodSeen{running(s, "b", 8)}, s.now);
	s.world.observe(PodSeen{running(s, "c", 9)}, s.now);
	s.connect({Stage::job(7, "a", JobState::cancelled), Stage::job(8, "b", JobState::running),
		Stage::job(9, "c", JobState::running)});
	s.world.observe(JobSeen{Stage::job(8, "b", JobState::timeout)}, s.now);
	s.pass(600 * k_second);
	CHECK_EQUAL(s.act(), "");
	LeaseSeen mine = standing(LeaseStanding::free);
	mine.state.is_new = is_new;
	s.world.observe(mine);
	std::string done = s.act();
	s.pass(30 * k_second);
	done += " " + s.act();
	CHECK(done.find("submit:a#2") != std::string::npos);
	CHECK(done.find("submit:b#2@n1") != std::string::npos);
	CHECK(done.find("remove") == std::string::npos);
	/* what ends now counts */
	s.world.observe(JobSeen{Stage::job(9, "c", JobState::timeout)}, s.now);
	CHECK(s.act().find("remove:c") != std::string::npos);
}

void an_end_while_another_slurm_led_takes_no_pod_along()
{
	for (const bool is_new : {false, true})
		ends_while_another_slurm_led(is_new);
}

/* The agent that leads has no reason to list anything again. */
void an_agent_that_may_go_on_lists_nothing_again()
{
	Stage s;
	Settings settings = Stage::settings();
	settings.needs_lease = settings.needs_fresh_lists = true;
	s.world = World(settings);
	s.world.observe(NodesListed{{}});
	s.world.observe(PodsListed{{}}, s.now);
	s.connect({});
	(void)s.world.take_list_request();
	s.world.observe(standing(LeaseStanding::free));
	CHECK(!s.world.take_list_request());
}

/* The API server was away, or the process stood still: another agent may lead by now. What ended is
 * told to Slurm all the same. */
void no_pod_is_deleted_by_an_old_lease()
{
	Stage s;
	Settings settings = Stage::settings();
	settings.needs_lease = true;
	s.world = World(settings);
	s.node(true);
	s.world.observe(NodesListed{{"node-uid"}});
	s.world.observe(PodsListed{{}}, s.now);
	LeaseSeen seen = standing(LeaseStanding::free);
	seen.state.read_us = s.now.mono_us;
	s.world.observe(seen);
	s.world.observe(PodSeen{running(s, "a", 7)}, s.now);
	s.world.observe(PodSeen{running(s, "b", 8)}, s.now);
	s.connect({Stage::job(7, "a", JobState::running), Stage::job(8, "b", JobState::running)});
	CHECK_EQUAL(s.act(), "");
	s.pass(600 * k_second);
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::timeout)}, s.now);
	s.world.observe(PodSeen{end_of(running(s, "b", 8), PodPhase::succeeded, 0)}, s.now);
	CHECK_EQUAL(s.act(), "complete:8=0");
	seen.state.read_us = s.now.mono_us;
	s.world.observe(seen);
	s.pass(1 * k_second);
	CHECK(s.act().find("remove:a") != std::string::npos);
}

/* An agent without a link tells no pod that slurmctld is away, if another Slurm has it. */
void pods_of_another_slurm_cluster_get_no_condition()
{
	for (const LeaseStanding held : {LeaseStanding::free, LeaseStanding::other_cluster}) {
		Settings settings = Stage::settings();
		settings.needs_lease = true;
		Stage s;
		s.world = World(settings);
		s.world.observe(standing(held));
		s.world.observe(NodesListed{{}});
		s.world.observe(PodsListed{{}}, s.now);
		s.world.observe(PodSeen{s.pod("a")}, s.now);
		(void)s.act();
		s.pass(60 * k_second);
		CHECK_EQUAL(s.act().empty(), held == LeaseStanding::other_cluster);
	}
}

/* ---- jobs that an agent gave up ---- */

/* An earlier agent gave the jobs up, because of another cluster's kubeconfig or an API server
 * without its pods. That agent may have run as root. */
void a_job_that_an_agent_gave_up_takes_no_pod_along()
{
	Stage s;
	s.world.observe(PodSeen{running(s, "a", 7)}, s.now);
	s.world.observe(PodSeen{s.pod("b")}, s.now);
	SlurmJob bound = Stage::job(7, "a", JobState::cancelled),
		 waiting = Stage::job(8, "b", JobState::cancelled);
	for (SlurmJob *job : {&bound, &waiting}) {
		job->marker.given_up = true;
		job->ended_by = 0;
		job->submit_time = s.now.wall_s - 1000;
		job->end_time = s.now.wall_s;
	}
	s.connect({bound, waiting});
	CHECK_EQUAL(s.act(), "submit:b#2");
	s.pass(10 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#2@n1");

	Stage t; /* the agent was about to end the job, but it timed out first */
	t.world.observe(PodSeen{running(t, "a", 7)}, t.now);
	bound.state = JobState::timeout;
	t.connect({bound});
	CHECK_EQUAL(t.act(), "remove:a");
}

/* Cancel or Complete, and whether the marker is to say that the job was given up. */
std::string ends_of(Stage &s)
{
	std::string out;
	for (const auto &[uid, action] : s.world.take_actions(s.now)) {
		if (const auto *c = std::get_if<Cancel>(&action))
			out += std::to_string(c->job.number) +
				(c->for_absence ? " absent;" : " gone;");
		else if (const auto *e = std::get_if<Complete>(&action))
			out += std::to_string(e->job.number) +
				(e->for_absence ? " absent;" : " gone;");
	}
	return out;
}

void only_a_deletion_that_was_seen_needs_no_mark()
{
	Stage s;
	run_pod(s, "a", 7);
	s.world.observe(PodGone{{"a"}, running(s, "a", 7)}, s.now);
	CHECK_EQUAL(ends_of(s), "7 gone;");
	run_pod(s, "b", 8);
	s.world.observe(PodsListed{{}}, s.now);
	CHECK_EQUAL(ends_of(s), "");
	s.world.answer(LookUpAnswered{{"b"}, PodLookup::absent}, s.now);
	CHECK_EQUAL(ends_of(s), "8 absent;");

	Stage t;
	t.connect({Stage::job(7, "a", JobState::running), Stage::job(8, "b", JobState::pending)});
	(void)t.act();
	t.world.answer(LookUpAnswered{{"a"}, PodLookup::absent}, t.now);
	t.world.answer(LookUpAnswered{{"b"}, PodLookup::absent}, t.now);
	CHECK_EQUAL(ends_of(t), "8 absent;");
	t.pass(3 * k_second);
	CHECK_EQUAL(ends_of(t), "7 absent;");
	t.world.observe(PodSeen{running(t, "a", 7)}, t.now); /* there it is */
	t.world.observe(JobSeen{Stage::job(7, "a", JobState::cancelled)}, t.now);
	CHECK_EQUAL(t.act(), "");
}

} // namespace

int main()
{
	return check::run_tests("world sight",
		{
			TEST(a_list_without_a_pod_is_no_deletion),
			TEST(a_waiting_pod_that_a_list_leaves_out_keeps_its_place),
			TEST(an_ended_pod_that_a_list_leaves_out_is_gone),
			TEST(few_questions_are_under_way_at_once),
			TEST(an_untold_job_of_a_bound_pod_is_not_cancelled),
			TEST(nothing_is_done_before_the_cluster_is_known),
			TEST(jobs_of_another_cluster_hold_everything),
			TEST(jobs_under_another_name_are_told),
			TEST(a_submission_names_its_cluster),
			TEST(jobs_without_a_cluster_end_unless_too_many_lose_their_pods),
			TEST(another_slurm_cluster_holds_everything),
			TEST(an_end_while_another_slurm_led_takes_no_pod_along),
			TEST(an_agent_that_may_go_on_lists_nothing_again),
			TEST(no_pod_is_deleted_by_an_old_lease),
			TEST(pods_of_another_slurm_cluster_get_no_condition),
			TEST(a_job_that_an_agent_gave_up_takes_no_pod_along),
			TEST(only_a_deletion_that_was_seen_needs_no_mark),
		});
}
