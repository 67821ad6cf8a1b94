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

/* The agent before this one wrote the condition, and could not delete the pod. */
void a_new_agent_continues_by_the_condition()
{
	for (const bool is_ours : {true, false}) {
		Stage s;
		Pod p = s.pod("a");
		p.node_name = "n1";
		p.phase = PodPhase::running;
		p.annotations = allocation_annotations(7);
		p.disruption = Condition{
			is_ours ? names::k_reason_job_ended : "DeletionByTaintManager", "text"};
		s.world.observe(PodSeen{p}, s.now);
		const std::string log = refuse_deletions(s, 120);
		CHECK_EQUAL(has(log, "delete a"), is_ours);
		CHECK_EQUAL(has(log, "submit a"), !is_ours);
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

/* The workers' job is cancelled and purged, and the head could not be deleted yet. */
void pods_of_other_components_go_although_the_job_was_purged()
{
	LivingStage s;
	s.start();
	s.end_job("ray-uid+1", JobState::cancelled);
	CHECK(has(refuse_deletions(s, 3), "delete h"));
	for (const char *uid : {"w0", "w1"})
		s.world.observe(PodGone{{uid}}, s.now);
	s.world.observe(JobGone{s.jobs.at("ray-uid+1").id}, s.now);
	const std::string log = refuse_deletions(s, 600);
	CHECK(has(log, "delete h"));
}

} // namespace

int main()
{
	return check::run_tests("world_forgotten_jobs",
		{
			TEST(a_pod_goes_although_its_ended_job_was_purged),
			TEST(a_waiting_pod_goes_although_its_ended_job_was_purged),
			TEST(a_new_agent_continues_by_the_condition),
			TEST(a_pod_with_a_job_lives_whatever_its_condition_says),
			TEST(a_job_that_runs_again_keeps_its_pod),
			TEST(pods_of_other_components_go_although_the_job_was_purged),
		});
}
