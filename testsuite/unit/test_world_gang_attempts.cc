/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and gangs that were tried before, by this agent or an earlier one, and members that
 * another client has bound. */
#include "src/core/model/outcome.h"
#include "testsuite/unit/gang_stage.h"

using namespace slurmkube;
using namespace slurmkube::check;

namespace
{

Pod bound(Pod pod, const char *node, std::uint32_t rank, std::uint32_t attempt = 1)
{
	pod.node_name = node;
	pod.phase = PodPhase::running;
	pod.annotations[names::k_allocation_rank] = std::to_string(rank);
	pod.annotations[names::k_allocation_size] = "2";
	pod.annotations[names::k_allocation_gang] = "train-uid";
	pod.annotations[names::k_allocation_attempt] = std::to_string(attempt);
	pod.annotations[names::k_allocation_job_id] = "7";
	return pod;
}

void answer_looks(GangStage &s, const std::vector<World::PodAction> &actions)
{
	for (const auto &[uid, action] : actions) {
		if (std::holds_alternative<Report>(action))
			s.world.answer(core::ReportAnswered{uid, Ok{}}, s.now);
		if (std::holds_alternative<LookUp>(action))
			s.world.answer(core::LookUpAnswered{uid, PodLookup::unbound}, s.now);
	}
}

/* Seconds until the allocation is given back; -1: it is not, within 15 minutes. */
int seconds_until_given_back(bool has_failed_before)
{
	GangStage s(2, size(8000, 64));
	if (has_failed_before) {
		Pod old = bound(s.pod(0, "old"), "n3", 0);
		old.phase = PodPhase::failed;
		old.main_container = "main";
		old.ended_containers = {{"main", 1, 0, "Error"}};
		s.world.observe(core::PodSeen{old}, s.now);
	}
	s.all_pods(2);
	(void)s.take();
	s.world.answer(
		core::SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, s.now);
	for (const char *name : {"n1", "n2"}) {
		KubeNode node = kube_node(name, std::string(name) + "-uid", 8000);
		node.ready = false;
		s.world.observe(core::NodeSeen{node}, s.now);
	}
	s.world.observe(
		core::JobSeen{s.running(nodes({{"n1", 8}, {"n2", 8}}), has_failed_before ? 2 : 1)},
		s.now);
	for (int seconds = 0; seconds < 900; seconds += 10, s.pass(10 * k_second)) {
		const auto actions = s.take();
		answer_looks(s, actions);
		if (!only<Complete>(actions).empty())
			return seconds;
		CHECK(only<Submit>(actions).empty());
	}
	return -1;
}

void a_pod_of_an_earlier_attempt_does_not_keep_the_allocation()
{
	const int alone = seconds_until_given_back(false);
	CHECK(alone > 0);
	CHECK_EQUAL(seconds_until_given_back(true), alone);
}

/* The pods were bound under attempt 1. Their job was submitted again, with their nodes, as
 * attempt 2. This agent has seen neither submission. */
std::vector<std::pair<PodUid, Complete>> ends_after_a_restart(int exit_code)
{
	GangStage s(2);
	for (const std::uint32_t i : {0U, 1U})
		s.world.observe(core::PodSeen{bound(s.pod(i), "n1", i)}, s.now);
	s.connect({s.running(nodes({{"n1", 8}}), 2, 8)});
	(void)s.take();
	for (const std::uint32_t i : {0U, 1U})
		s.end(i, exit_code == 0 ? PodPhase::succeeded : PodPhase::failed, exit_code);
	for (int i = 0; i < 10; i++, s.pass(4 * k_second)) {
		const auto ends = only<Complete>(s.take());
		if (!ends.empty())
			return ends;
	}
	return {};
}

void a_readopted_gang_has_the_result_of_its_pods_after_a_restart()
{
	const auto failed = ends_after_a_restart(3);
	CHECK_EQUAL(failed.size(), 1U);
	if (failed.size() == 1)
		CHECK_EQUAL(failed.front().second.wait_status, 3U << 8);
	const auto succeeded = ends_after_a_restart(0);
	CHECK_EQUAL(succeeded.size(), 1U);
	if (succeeded.size() == 1)
		CHECK_EQUAL(succeeded.front().second.wait_status, 0U);
}

/* Rank 0 was bound to n4 by another client, rank 1 by us under job 7. */
GangStage with_a_member_of_somebody_else(PodPhase phase)
{
	Settings settings = plain_settings();
	settings.start_limit_us = 90 * k_second;
	GangStage s(2, size(4000, 64), settings);
	Pod theirs = s.pod(0);
	theirs.node_name = "n4";
	theirs.phase = phase;
	s.world.observe(core::PodSeen{theirs}, s.now);
	s.world.observe(core::PodSeen{s.pod(1)}, s.now);
	(void)s.take();
	s.world.answer(
		core::SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, s.now);
	s.world.observe(core::JobSeen{s.running(nodes({{"n1", 8}}))}, s.now);
	for (const auto &[uid, bind] : only<Bind>(s.take())) {
		s.world.answer(core::BindAnswered{uid, Ok{}}, s.now);
		s.world.observe(
			core::PodSeen{bound(*s.world.state().pod(uid), bind.node.c_str(), 1)},
			s.now);
	}
	(void)s.take();
	return s;
}

void a_member_bound_by_somebody_else_has_no_start_limit()
{
	GangStage s = with_a_member_of_somebody_else(PodPhase::pending);
	for (int i = 0; i < 20; i++) {
		s.pass(10 * k_second);
		for (const auto &[uid, deletion] : only<DeletePod>(s.take()))
			CHECK(uid.text != "u0");
	}
}

void a_member_bound_by_somebody_else_does_not_go_with_the_job()
{
	GangStage s = with_a_member_of_somebody_else(PodPhase::running);
	s.pass(100 * k_second);
	SlurmJob job = s.running(nodes({{"n1", 8}}));
	job.state = JobState::preempted;
	job.submit_time = s.now.wall_s - 100;
	job.end_time = s.now.wall_s;
	s.world.observe(core::JobSeen{job}, s.now);
	const auto deleted = only<DeletePod>(s.take());
	CHECK_EQUAL(deleted.size(), 1U);
	for (const auto &[uid, deletion] : deleted)
		CHECK_EQUAL(uid.text, "u1");
}

/* For example by slurm-bridge, which starts pods of a Job one after the other. */
void members_bound_by_another_scheduler_get_jobs_of_their_own()
{
	GangStage s(4);
	for (std::uint32_t rank : {0U, 1U}) {
		Pod theirs = s.pod(rank);
		theirs.node_name = "n1";
		theirs.phase = PodPhase::running;
		s.world.observe(core::PodSeen{theirs}, s.now);
	}
	(void)s.take();
	s.pass(11 * k_second);
	std::string submitted;
	for (const auto &[key, submit] : only<Submit>(s.take()))
		submitted += key.text + "@" + submit.spec.required_node + "x" +
			std::to_string(submit.spec.tasks) + " ";
	CHECK_EQUAL(submitted, "u0@n1x1 u1@n1x1 ");
	s.world.observe(core::PodSeen{s.pod(2)}, s.now);
	s.world.observe(core::PodSeen{s.pod(3)}, s.now);
	for (const auto &[key, submit] : only<Submit>(s.take()))
		submitted += key.text + " ";
	CHECK_EQUAL(submitted, "u0@n1x1 u1@n1x1 train-uid ");
	s.world.answer(
		core::SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, s.now);
	s.world.observe(core::JobSeen{s.running(nodes({{"n2", 8}}))}, s.now);
	std::string bound_pods;
	for (const auto &[uid, bind] : only<Bind>(s.take()))
		bound_pods += uid.text + "@" + bind.node + " ";
	CHECK_EQUAL(bound_pods, "u2@n2 u3@n2 ");
}

void a_clock_of_a_time_without_a_link_stops_with_the_link()
{
	GangStage s(1);
	s.start(1, nodes({{"n1", 8}}));
	const Pod pod = *s.world.state().pod({"u0"});
	s.world.observe(core::PodGone{pod.uid, pod}, s.now);
	(void)s.take();
	s.pass(4 * k_second);
	(void)s.take();
	s.world.observe(core::LinkLost{});
	(void)s.take();
	s.pass(2 * k_second);
	(void)s.take();
	CHECK(s.world.clocks().since({"train-uid"}, Clock::unlinked) > 0);
	s.connect({s.running(nodes({{"n1", 8}}))});
	s.world.observe(core::PodSeen{s.pod(0, "b")}, s.now);
	(void)s.take();
	CHECK_EQUAL(s.world.clocks().since({"train-uid"}, Clock::unlinked), 0);
}

/* Otherwise the pod would keep its last, outdated message for as long as that takes. */
void a_pod_whose_rank_is_still_taken_says_so()
{
	GangStage s(2);
	s.start(2, nodes({{"n1", 8}}));
	Pod leaving = *s.world.state().pod({"u0"});
	leaving.deleting = true;
	s.world.observe(core::PodSeen{leaving}, s.now);
	s.world.observe(core::PodSeen{s.pod(0, "b")}, s.now);
	(void)s.take();
	s.pass(2 * k_second);
	const auto reports = only<Report>(s.take());
	REQUIRE(reports.size() == 1);
	CHECK_EQUAL(reports.front().first.text, "u0b");
	CHECK_EQUAL(reports.front().second.not_scheduled.message,
		"Slurm job 7 keeps rank 0 for this pod until the earlier pod of that rank has "
		"ended");
}

} // namespace

int main()
{
	return check::run_tests("world gang attempts",
		{TEST(a_pod_of_an_earlier_attempt_does_not_keep_the_allocation),
			TEST(a_readopted_gang_has_the_result_of_its_pods_after_a_restart),
			TEST(a_member_bound_by_somebody_else_has_no_start_limit),
			TEST(a_member_bound_by_somebody_else_does_not_go_with_the_job),
			TEST(members_bound_by_another_scheduler_get_jobs_of_their_own),
			TEST(a_clock_of_a_time_without_a_link_stops_with_the_link),
			TEST(a_pod_whose_rank_is_still_taken_says_so)});
}
