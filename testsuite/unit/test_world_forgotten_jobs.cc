/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurmctld forgets ended jobs after MinJobAge, or when its state is restored. A pod whose job was
 * cancelled, preempted or timed out goes nevertheless, and gets no other job. */
#include "testsuite/unit/unlike_stage.h"
#include "testsuite/unit/world_stage.h"

#include <string>

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

const Error k_denied{Errc::denied, "a webhook denied the request"};

/* What is asked for during so many seconds, while the API server refuses deletions. */
template <class S> std::string refuse_deletions(S &s, int seconds)
{
	std::string log;
	for (int i = 0; i < seconds; i++) {
		for (const auto &[uid, action] : s.world.take_actions(s.now)) {
			if (const auto *remove = std::get_if<DeletePod>(&action)) {
				s.world.answer(
					DeletePodAnswered{uid, k_denied, remove->cause}, s.now);
				log += "delete " + uid.text + " ";
			}
			if (std::holds_alternative<LookUp>(action))
				s.world.answer(LookUpAnswered{uid, PodLookup::unbound}, s.now);
			if (std::holds_alternative<Report>(action))
				s.world.answer(ReportAnswered{uid, Ok{}}, s.now);
			if (std::holds_alternative<Submit>(action))
				log += "submit " + uid.text + " ";
		}
		s.pass(k_second);
	}
	return log;
}

bool has(const std::string &text, const char *part)
{
	return text.find(part) != std::string::npos;
}

void run_pod_elsewhere(Stage &s, const std::string &uid)
{
	Pod p = s.pod(uid);
	p.node_name = "n1";
	p.phase = PodPhase::running;
	p.annotations = allocation_annotations(8);
	s.world.observe(PodSeen{p}, s.now);
}

void a_pod_goes_although_its_ended_job_was_purged()
{
	for (const JobState state : {JobState::cancelled, JobState::timeout, JobState::preempted}) {
		Stage s;
		run_pod(s, "a", 7);
		s.world.observe(JobSeen{Stage::job(7, "a", state)}, s.now);
		CHECK(has(refuse_deletions(s, 3), "delete a"));
		s.world.observe(JobGone{{7}}, s.now);
		const std::string log = refuse_deletions(s, 1200);
		CHECK(has(log, "delete a"));
		CHECK(!has(log, "submit"));
		for (const auto &[uid, action] : s.world.take_actions(s.now))
			s.world.answer(DeletePodAnswered{uid, Ok{}, Eviction::cancelled}, s.now);
		s.world.observe(PodGone{{"a"}}, s.now);
		s.pass(60 * k_second);
		CHECK_EQUAL(s.act(), "");
		CHECK(s.world.state().pods.empty());
	}
}

/* A scancel of a waiting job is a wish, too. */
void a_waiting_pod_goes_although_its_ended_job_was_purged()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a")}, s.now);
	(void)s.act();
	s.world.answer(SubmitAnswered{{"a"}, Submitted{.job = {7}, .node = ""}}, s.now);
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::pending)}, s.now);
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::cancelled)}, s.now);
	CHECK(has(refuse_deletions(s, 3), "delete a"));
	s.world.observe(JobGone{{7}}, s.now);
	CHECK(!has(refuse_deletions(s, 600), "submit"));
}

/* Conditions are never taken back, so one may be from a job before that of a healthy pod. */
void a_condition_alone_deletes_nobody()
{
	Stage s;
	Pod p = s.pod("a");
	p.node_name = "n1";
	p.phase = PodPhase::running;
	p.annotations = allocation_annotations(7);
	p.disruption = Condition{names::k_reason_job_ended, "text"};
	s.world.observe(PodSeen{p}, s.now);
	const std::string log = refuse_deletions(s, 120);
	CHECK(!has(log, "delete"));
	CHECK(has(log, "submit a"));
}

/* slurmctld and the lead went to another host, whose agent gave the pod another job, and came back:
 * this agent still remembers. Later slurmctld loses that job. */
void a_pod_that_got_another_job_lives()
{
	for (const bool was_bound : {true, false}) {
		Stage s;
		if (was_bound)
			run_pod(s, "a", 7);
		else
			s.world.observe(PodSeen{s.pod("a")}, s.now);
		s.world.observe(JobSeen{Stage::job(7, "a", JobState::pending)}, s.now);
		s.world.observe(JobSeen{Stage::job(7, "a", JobState::cancelled)}, s.now);
		CHECK(has(refuse_deletions(s, 3), "delete a"));
		s.world.observe(LinkLost{}, s.now);
		run_pod_elsewhere(s, "a");
		s.connect({Stage::job(8, "a", JobState::running, 2)});
		CHECK_EQUAL(refuse_deletions(s, 120), "");
		s.world.observe(JobGone{{8}}, s.now);
		const std::string log = refuse_deletions(s, 120);
		CHECK(!has(log, "delete"));
		CHECK(has(log, "submit a"));
	}
}

/* Slurm runs the job of that pod: whatever was written earlier, the pod lives. */
void a_pod_with_a_job_lives_whatever_its_condition_says()
{
	Stage s;
	Pod p = s.pod("a");
	p.node_name = "n1";
	p.phase = PodPhase::running;
	p.annotations = allocation_annotations(7);
	p.disruption = Condition{names::k_reason_job_ended, "text"};
	s.world.observe(PodSeen{p}, s.now);
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::running)}, s.now);
	CHECK_EQUAL(refuse_deletions(s, 120), "");
}

/* slurmctld was restored from a state in which the job runs. */
void a_job_that_runs_again_keeps_its_pod()
{
	Stage s;
	run_pod(s, "a", 7);
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::cancelled)}, s.now);
	CHECK(has(refuse_deletions(s, 3), "delete a"));
	s.world.observe(LinkLost{}, s.now);
	s.connect({Stage::job(7, "a", JobState::running)});
	CHECK_EQUAL(refuse_deletions(s, 120), "");
}

/* The larger component has its nodes when the other one is cancelled: they are not held for pods
 * that go. */
void nodes_are_not_held_for_pods_that_go()
{
	LivingStage s;
	s.all_come();
	(void)s.step();
	s.pass(2 * k_second);
	(void)s.step();
	s.allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
	(void)s.step();
	s.end_job("ray-uid", JobState::cancelled);
	CHECK(has(refuse_deletions(s, 3), "delete w0"));
	s.world.observe(JobGone{s.jobs.at("ray-uid").id}, s.now);
	bool is_given_back = false;
	for (int i = 0; i < 120; i++) {
		for (const auto &[uid, action] : s.world.take_actions(s.now)) {
			is_given_back |= std::holds_alternative<Complete>(action);
			if (std::holds_alternative<DeletePod>(action))
				s.world.answer(DeletePodAnswered{uid, k_denied, {}}, s.now);
			if (std::holds_alternative<LookUp>(action))
				s.world.answer(LookUpAnswered{uid, PodLookup::unbound}, s.now);
		}
		s.pass(k_second);
	}
	CHECK(is_given_back);
}

/* The workers' job is cancelled and purged, and the head could not be deleted yet. */
void pods_of_other_components_go_although_the_job_was_purged()
{
	LivingStage s;
	s.start();
	const SlurmJob live = s.jobs.at("ray-uid+1");
	s.end_job("ray-uid+1", JobState::cancelled);
	CHECK(has(refuse_deletions(s, 3), "delete h"));
	for (const char *uid : {"w0", "w1"})
		s.world.observe(PodGone{{uid}}, s.now);
	s.world.observe(JobGone{live.id}, s.now);
	CHECK(has(refuse_deletions(s, 600), "delete h"));
	/* a restored slurmctld runs it after all */
	s.world.observe(JobSeen{live}, s.now);
	CHECK(!has(refuse_deletions(s, 120), "delete h"));
}

} // namespace

int main()
{
	return check::run_tests("world_forgotten_jobs",
		{
			TEST(a_pod_goes_although_its_ended_job_was_purged),
			TEST(a_waiting_pod_goes_although_its_ended_job_was_purged),
			TEST(a_condition_alone_deletes_nobody),
			TEST(a_pod_that_got_another_job_lives),
			TEST(a_pod_with_a_job_lives_whatever_its_condition_says),
			TEST(a_job_that_runs_again_keeps_its_pod),
			TEST(pods_of_other_components_go_although_the_job_was_purged),
			TEST(nodes_are_not_held_for_pods_that_go),
		});
}
