/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World at a takeover or a start: it does not take what it has not seen itself for gone. */
#include "src/core/model/outcome.h"
#include "testsuite/unit/gang_stage.h"

#include <algorithm>

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

using Stage = GangStage;

/* With a wrong scheduler_name, or without permissions, the watch shows none of the gang's pods. */
void a_gang_that_was_never_seen_keeps_its_job()
{
	for (const bool runs : {true, false}) {
		Stage stage(2);
		stage.connect({stage.running(runs ? nodes({{"n1", 8}}) : nodes({}))});
		(void)stage.take();
		for (int i = 0; i < 20; i++) {
			stage.pass(11 * k_second);
			const auto actions = stage.take();
			CHECK(only<Complete>(actions).empty() && only<Cancel>(actions).empty());
			for (const auto &[lead, look] : only<LookUp>(actions)) {
				CHECK(look.name.empty());
				stage.world.answer(
					LookUpAnswered{lead,
						i % 2 == 0 ? Result<PodLookup>(PodLookup::bound)
							   : Result<PodLookup>(
								     Error{Errc::denied, "no"})},
					stage.now);
			}
		}
	}
}

void a_gang_without_any_pod_ends()
{
	Stage stage(2);
	stage.connect({stage.running(nodes({{"n1", 8}}))});
	(void)stage.take();
	stage.pass(11 * k_second);
	const auto looks = only<LookUp>(stage.take());
	REQUIRE(looks.size() == 1);
	CHECK_EQUAL(looks.front().second.name_space, "a");
	CHECK(only<LookUp>(stage.take()).empty()); /* the look-up is under way */
	stage.world.answer(LookUpAnswered{looks.front().first, PodLookup::absent}, stage.now);
	CHECK_EQUAL(only<Complete>(stage.take()).size(), 1U);
}

void a_gang_whose_owner_has_gone_ends_unseen()
{
	Stage stage(2);
	stage.connect({stage.running(nodes({{"n1", 8}}))});
	(void)stage.world.take_actions(stage.now);
	stage.pass(11 * k_second);
	(void)stage.world.take_actions(stage.now);
	for (const OwnerId &id : stage.world.take_questions(stage.now))
		stage.world.observe(OwnerSeen{id, std::optional<Owner>()}, stage.now);
	CHECK_EQUAL(only<Complete>(stage.world.take_actions(stage.now)).size(), 1U);
}

void on_doubt_a_pod_is_a_member()
{
	const GangId gang{"js-uid", "JobSet", "a", "train"};
	Pod pod;
	pod.name = "x";
	CHECK(!may_be_member(pod, "js-uid", gang));
	Pod of_job = pod;
	of_job.controller = OwnerRef{"batch/v1", "Job", "train-workers-0", "other"};
	CHECK(may_be_member(of_job, "js-uid", gang));
	Pod labelled = pod;
	labelled.labels = {{"jobset.sigs.k8s.io/jobset-name", "train"}};
	CHECK(may_be_member(labelled, "js-uid", gang));
	labelled.phase = PodPhase::failed;
	CHECK(!may_be_member(labelled, "js-uid", gang));
	Pod grouped = pod;
	grouped.scheduling_group = "train";
	CHECK(may_be_member(grouped, "js-uid", gang));
	of_job.node_name = "n1";
	of_job.annotations = {{names::k_allocation_gang, "other-uid"}};
	CHECK(!may_be_member(of_job, "js-uid", gang));
	of_job.annotations = {{names::k_allocation_gang, "js-uid"}};
	CHECK(may_be_member(of_job, "js-uid", gang));
}

/* Each job of such a gang is charged while it waits. */
void a_gang_that_never_comes_whole_is_asked_for_ever_less_often()
{
	Stage stage(2);
	stage.world.observe(PodSeen{stage.pod(0)}, stage.now);
	std::uint32_t jobs = 0;
	std::int64_t last = 0;
	std::vector<std::int64_t> pauses;
	bool is_told = false;
	for (const std::int64_t end = stage.now.mono_us + 36'000 * k_second;
		stage.now.mono_us < end; stage.pass(10 * k_second)) {
		for (const auto &[pod, next] : stage.take_unbound()) {
			if (const auto *submit = std::get_if<Submit>(&next)) {
				pauses.push_back((stage.now.mono_us - last) / k_second);
				stage.world.answer(
					SubmitAnswered{pod, Submitted{.job = {++jobs}, .node = ""}},
					stage.now);
				SlurmJob job = stage.running(
					nodes({{"n1", 8}}), submit->spec.marker.attempt, jobs);
				job.configuring = true; /* so nothing is bound */
				stage.world.observe(JobSeen{job}, stage.now);
			} else if (const auto *complete = std::get_if<Complete>(&next)) {
				last = stage.now.mono_us;
				SlurmJob ended = stage.running({}, 1, complete->job.number);
				ended.state = JobState::failed;
				ended.exit_status = complete->wait_status;
				ended.end_time = stage.now.wall_s;
				stage.world.observe(JobSeen{ended}, stage.now);
				stage.world.answer(CompleteAnswered{pod, Ok{}, false}, stage.now);
				stage.world.observe(JobGone{complete->job}, stage.now);
			} else if (const auto *report = std::get_if<Report>(&next)) {
				is_told = is_told ||
					report->not_scheduled.message.find(
						"1 of 2 pods did not come") != std::string::npos;
				stage.world.answer(ReportAnswered{pod, Ok{}}, stage.now);
			}
		}
	}
	CHECK(jobs >= 4 && jobs <= 8); /* it would be 59 without pauses */
	for (std::size_t i = 3; i < pauses.size(); i++)
		CHECK(pauses[i] >= pauses[i - 1]);
	CHECK(is_told);
	stage.world.observe(PodSeen{stage.pod(1)}, stage.now);
	CHECK_EQUAL(only<Submit>(stage.take()).size(), 1U); /* the gang is complete */
}

/* PreemptMode=SUSPEND: Slurm suspends the job of the pod already there, but the pod continues to
 * run. */
void a_gang_without_room_gives_its_allocation_back()
{
	Stage stage(2);
	Pod there = stage.pod(9);
	there.controller.reset();
	there.labels.clear();
	there.node_name = "n1";
	there.phase = PodPhase::running;
	there.requests = size(8000, 64);
	stage.world.observe(PodSeen{there}, stage.now);
	stage.all_pods(2);
	(void)stage.take();
	stage.world.answer(
		SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, stage.now);
	stage.world.observe(JobSeen{stage.running(nodes({{"n1", 8}}))}, stage.now);
	(void)stage.take();
	stage.pass(50 * k_second);
	CHECK(only<LookUp>(stage.take()).empty());
	stage.pass(11 * k_second);
	const auto looks = only<LookUp>(stage.take());
	REQUIRE(looks.size() == 2);
	stage.pass(k_second);
	for (const auto &[uid, look] : looks)
		stage.world.answer(LookUpAnswered{uid, PodLookup::unbound}, stage.now);
	const auto ends = only<Complete>(stage.take());
	REQUIRE(ends.size() == 1);
	CHECK_EQUAL(ends.front().second.wait_status, k_status_given_back);
	stage.world.answer(CompleteAnswered{{"train-uid"}, Ok{}, false}, stage.now);
	SlurmJob ended = stage.running({});
	ended.state = JobState::failed;
	ended.exit_status = k_status_given_back;
	ended.end_time = stage.now.wall_s;
	stage.world.observe(JobSeen{ended}, stage.now);
	stage.pass(4 * k_second);
	const auto again = only<Submit>(stage.take());
	REQUIRE(again.size() == 1);
	CHECK(std::ranges::find(again.front().second.spec.excluded_nodes, "n1") !=
		again.front().second.spec.excluded_nodes.end());
}

/* OverSubscribe=FORCE:2 */
void a_gang_is_kept_out_of_partitions_in_which_no_pod_can_run()
{
	Stage stage(2);
	stage.world.observe(PartitionsRefused{{{"kube", "has OverSubscribe=FORCE:2"}}});
	stage.all_pods(2);
	CHECK(only<Submit>(stage.take()).empty());
	stage.pass(2 * k_second);
	(void)stage.take();
	CHECK(stage.world.state().pods.at({"u0"}).reported.message.find(
		      "partition 'kube' has OverSubscribe=FORCE:2") != std::string::npos);
	stage.world.observe(PartitionsRefused{{}});
	stage.pass(6 * k_second);
	CHECK_EQUAL(only<Submit>(stage.take()).size(), 1U);
}

Pod plain(int number, const char *node)
{
	Pod pod;
	pod.uid = {"p" + std::to_string(number)};
	pod.name_space = "a";
	pod.name = pod.uid.text;
	pod.main_container = "main";
	pod.requests = size(1000, 64);
	pod.node_name = node;
	if (*node) {
		pod.phase = PodPhase::running;
		pod.annotations = allocation_annotations(7);
	}
	return pod;
}

Pod failed(Pod pod)
{
	pod.phase = PodPhase::failed;
	pod.ended_containers = {{"main", 3, 0, "Error"}};
	return pod;
}

/* A standby does not reconcile its groups, so that it must forget them by itself. */
void a_standby_forgets_pods_that_have_gone()
{
	Stage stage(2);
	stage.world.observe(LinkLost{});
	for (int i = 0; i < (check::k_is_sanitized ? 4'000 : 20'000); i++) {
		Pod pod = plain(i, i % 4 == 0 ? "n1" : "");
		stage.world.observe(PodSeen{pod}, stage.now);
		stage.world.observe(PodGone{pod.uid, i % 4 == 0 ? failed(pod) : pod}, stage.now);
		stage.pass(2 * k_second);
		(void)stage.take();
		/* a quarter of the pods of the last hour, and two */
		REQUIRE(stage.world.state().pods.size() <= 452);
	}
	for (int i = 0; i < 500; i++) {
		Pod member = stage.pod(0, "life" + std::to_string(i));
		stage.world.observe(PodSeen{member}, stage.now);
		(void)stage.take();
		stage.world.observe(PodGone{member.uid, member}, stage.now);
		stage.pass(2 * k_second);
		(void)stage.take();
	}
	stage.pass(3601 * k_second);
	(void)stage.take();
	stage.pass(3601 * k_second);
	(void)stage.take();
	CHECK_EQUAL(stage.world.state().pods.size(), 0U);
	CHECK_EQUAL(stage.world.state().gangs.size(), 0U);
	CHECK_EQUAL(stage.world.state().occupancy.pods_on("n1"), 0U);
}

void a_standby_knows_how_a_pod_ended_when_it_takes_over()
{
	Stage stage(2);
	stage.world.observe(LinkLost{});
	const Pod pod = plain(1, "n1");
	stage.world.observe(PodSeen{pod}, stage.now);
	stage.world.observe(PodGone{pod.uid, failed(pod)}, stage.now);
	for (int i = 0; i < 50; i++) {
		stage.pass(60 * k_second);
		(void)stage.take();
	}
	SlurmJob job = stage.running(nodes({{"n1", 1}}));
	job.marker.kind = k_pod_kind;
	job.marker.uid = job.marker.name = "p1";
	stage.connect({job});
	const auto ends = only<Complete>(stage.take());
	REQUIRE(ends.size() == 1);
	CHECK_EQUAL(ends.front().second.wait_status, 3U << 8);
}

/* Where no policy prevents it, users can write any annotation. */
void annotations_make_no_gang_of_somebody_elses_pod()
{
	for (const bool is_after : {false, true}) {
		Stage stage(2);
		Pod victim = stage.pod(0);
		victim.controller.reset();
		victim.uid = {"victim"};
		victim.name_space = "b";
		victim.node_name = "n1";
		victim.phase = PodPhase::running;
		victim.annotations = allocation_annotations(7);
		SlurmJob job = stage.running(nodes({{"n1", 1}}));
		job.id = {7};
		job.marker.uid = "victim";
		job.marker.kind = k_pod_kind;
		job.marker.name_space = "b";
		stage.connect({job});
		Pod spoof = stage.pod(1);
		spoof.controller.reset();
		spoof.node_name = "n1";
		spoof.phase = PodPhase::running;
		spoof.annotations = {{names::k_allocation_gang, "victim"},
			{names::k_allocation_rank, "0"}, {names::k_allocation_size, "1"},
			{names::k_allocation_attempt, "1"}};
		stage.world.observe(PodSeen{is_after ? victim : spoof}, stage.now);
		stage.world.observe(PodSeen{is_after ? spoof : victim}, stage.now);
		for (int i = 0; i < 5; i++, stage.pass(4 * k_second))
			(void)stage.take();
		stage.world.observe(PodGone{spoof.uid, spoof}, stage.now);
		for (int i = 0; i < 10; i++, stage.pass(4 * k_second)) {
			for (const auto &action : stage.take())
				CHECK(!(action.pod == victim.uid) ||
					std::holds_alternative<Report>(action.action));
		}
		CHECK(!stage.world.state().pods.at(victim.uid).component);
	}
}

} // namespace

int main()
{
	return check::run_tests("world takeover",
		{
			TEST(a_gang_that_was_never_seen_keeps_its_job),
			TEST(a_gang_without_any_pod_ends),
			TEST(annotations_make_no_gang_of_somebody_elses_pod),
			TEST(a_gang_whose_owner_has_gone_ends_unseen),
			TEST(on_doubt_a_pod_is_a_member),
			TEST(a_gang_that_never_comes_whole_is_asked_for_ever_less_often),
			TEST(a_standby_forgets_pods_that_have_gone),
			TEST(a_standby_knows_how_a_pod_ended_when_it_takes_over),
			TEST(a_gang_without_room_gives_its_allocation_back),
			TEST(a_gang_is_kept_out_of_partitions_in_which_no_pod_can_run),
		});
}
