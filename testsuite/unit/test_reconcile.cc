/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every pair of pod side and job side has a row here. The decisions within a row have separate
 * tests. */
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/reconcile/reconcile.h"
#include "src/core/reconcile/stage.h"
#include "testsuite/unit/builders.h"
#include "testsuite/unit/check.h"

#include <optional>

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

Pod pod_in(PodSide side)
{
	Pod pod = make_pod("default", "p", "u1");
	switch (side) {
	case PodSide::absent:
	case PodSide::waiting:
		break;
	case PodSide::gated:
		pod.gated = true;
		break;
	case PodSide::withdrawn:
		pod.deleting = true;
		break;
	case PodSide::stopping:
		pod.deleting = true;
		[[fallthrough]];
	case PodSide::running:
		pod.node_name = "n1";
		pod.phase = PodPhase::running;
		break;
	case PodSide::ended:
		pod.node_name = "n1";
		pod.phase = PodPhase::failed;
		pod.main_container = "c";
		pod.ended_containers = {
			{.name = "c", .exit_code = 3, .signal = 0, .reason = "Error"}};
		break;
	}
	return pod;
}

SlurmJob job_in(JobSide side)
{
	SlurmJob job;
	job.id = {7};
	job.marker.uid = "u1";
	job.state = side == JobSide::pending ? JobState::pending
		: side == JobSide::allocated ? JobState::running
					     : JobState::cancelled;
	if (side == JobSide::allocated)
		job.nodes = {make_allocation("n1", 2)};
	return job;
}

/* A standalone pod with all conditions favourable; tests take some away. */
struct Scene {
	Pod pod;
	SlurmJob job;
	Result<JobSpec> spec{JobSpec{}};
	ComponentFacts facts;

	Scene(PodSide pod_is, JobSide job_is) : pod(pod_in(pod_is)), job(job_in(job_is))
	{
		facts.known = facts.is_alone = facts.is_complete = facts.absent_long = true;
		facts.rank_count = 1;
		facts.job = job_is == JobSide::none ? nullptr : &job;
		facts.spec = &spec;
		facts.pinned = pod.node_name;
		if (pod_is == PodSide::absent || pod_is == PodSide::withdrawn ||
			pod_is == PodSide::ended) {
			facts.ended_ranks = 1;
			facts.result = pod_is == PodSide::ended ? wait_status_of(pod)
								: wait_status_of_gone(nullptr);
		}
		if (pod_is == PodSide::absent)
			return;
		RankFacts only;
		only.uid = pod.uid;
		only.pod = &pod;
		only.side = pod_is;
		only.is_ours = is_bound_side(pod_is);
		only.is_ranked = only.is_about = true;
		if (pod_is == PodSide::waiting && job_is == JobSide::allocated) {
			only.holds_rank = true;
			only.node = {.name = "n1", .cpus = 2, .is_usable = true, .has_room = true};
		}
		facts.ranks.push_back(only);
	}
	Scene(const Scene &) = delete;
	Scene &operator=(const Scene &) = delete;

	RankFacts &rank() { return facts.ranks.front(); }
	PlaceFacts &node() { return rank().node; }
};

std::string text_of(const std::vector<RankAction> &actions)
{
	std::string out;
	for (const auto &[pod, action] : actions) {
		out += out.empty() ? "" : " ";
		if (const auto *submit = std::get_if<Submit>(&action))
			out += submit->spec.required_node.empty()
				? "submit"
				: "submit@" + submit->spec.required_node;
		else if (std::holds_alternative<Update>(action))
			out += "update";
		else if (const auto *cancel = std::get_if<Cancel>(&action))
			out += "cancel:" + std::to_string(cancel->job.number);
		else if (const auto *complete = std::get_if<Complete>(&action))
			out += "complete:" +
				(complete->wait_status == k_status_cancelled
						? "cancelled"
						: std::to_string(complete->wait_status));
		else if (const auto *bind = std::get_if<Bind>(&action))
			out += "bind@" + bind->node;
		else if (const auto *look = std::get_if<LookUp>(&action))
			out += "look:" + look->name_space + "/" + look->name;
		else if (const auto *remove = std::get_if<DeletePod>(&action))
			out += remove->not_started ? "give-up:" + remove->disruption.message
						   : "remove";
		else if (const auto *report = std::get_if<Report>(&action))
			out += "report:" + report->not_scheduled.reason;
	}
	return out;
}

/* The `since` of the submission that follows. */
std::int64_t since_after(void (*arrange)(Scene &))
{
	Scene s(PodSide::waiting, JobSide::none);
	s.facts.aged_since = 1000;
	s.pod.created = 900;
	arrange(s);
	const auto actions = reconcile(s.facts);
	const auto *submit =
		actions.empty() ? nullptr : std::get_if<Submit>(&actions.front().action);
	return submit ? submit->spec.marker.since : -1;
}

void what_was_given_back_keeps_its_age()
{
	CHECK_EQUAL(since_after([](Scene &) {}), 1000);
	CHECK_EQUAL(since_after([](Scene &s) { s.facts.aged_since = 0; }), 0);
	/* its pod has not waited for longer than it exists */
	CHECK_EQUAL(since_after([](Scene &s) { s.pod.created = 2000; }), 2000);
}

void every_pair_of_sides_has_its_action()
{
	constexpr PodSide k_pods[] = {PodSide::absent, PodSide::gated, PodSide::waiting,
		PodSide::withdrawn, PodSide::running, PodSide::stopping, PodSide::ended};
	constexpr JobSide k_jobs[] = {
		JobSide::none, JobSide::pending, JobSide::allocated, JobSide::ended};
	const char *const expected[][4] = {
		/* absent    */ {"", "cancel:7", "complete:cancelled", ""},
		/* gated     */ {"", "", "", ""},
		/* waiting   */ {"submit", "report:SlurmPending", "bind@n1", "remove"},
		/* withdrawn */ {"", "cancel:7", "complete:cancelled", ""},
		/* running   */ {"", "", "", "remove"},
		/* stopping  */ {"", "cancel:7", "", ""},
		/* ended     */ {"", "cancel:7", "complete:768", ""},
	};
	for (std::size_t p = 0; p < std::size(k_pods); p++) {
		for (std::size_t j = 0; j < std::size(k_jobs); j++) {
			const Scene scene(k_pods[p], k_jobs[j]);
			const std::string got = text_of(reconcile(scene.facts));
			if (got != expected[p][j])
				(void)check::record(false, "row", __FILE__, __LINE__,
					"pod " + std::to_string(p) + " job " + std::to_string(j) +
						": '" + got + "', not '" + expected[p][j] + "'");
			CHECK(pod_side(k_pods[p] == PodSide::absent ? nullptr : &scene.pod,
				      scene.pod.node_name) == k_pods[p]);
			CHECK(job_side(scene.facts.job) == k_jobs[j]);
		}
	}
}

void nothing_is_done_before_both_worlds_are_known()
{
	Scene scene(PodSide::waiting, JobSide::none);
	scene.facts.known = false;
	CHECK(reconcile(scene.facts).empty());
}

void what_is_under_way_is_not_started_again()
{
	for (const auto &[pod, job] : {std::pair(PodSide::waiting, JobSide::none),
		     std::pair(PodSide::absent, JobSide::pending),
		     std::pair(PodSide::ended, JobSide::allocated)}) {
		Scene scene(pod, job);
		scene.facts.busy.slurm = true;
		CHECK_EQUAL(text_of(reconcile(scene.facts)), "");
	}
	Scene binding(PodSide::waiting, JobSide::allocated);
	binding.rank().busy.bind = true;
	CHECK_EQUAL(text_of(reconcile(binding.facts)), "");
	Scene removing(PodSide::running, JobSide::ended);
	removing.rank().busy.remove = true;
	CHECK_EQUAL(text_of(reconcile(removing.facts)), "");
}

void the_gate_holds_a_binding_and_says_so()
{
	Scene scene(PodSide::waiting, JobSide::allocated);
	scene.node().has_room = false;
	CHECK_EQUAL(text_of(reconcile(scene.facts)), "report:SlurmPending");
	scene.node().has_room = true;
	scene.node().is_usable = false;
	CHECK_EQUAL(text_of(reconcile(scene.facts)), "report:SlurmPending");
}

void a_pod_gives_way_to_one_that_runs_there_and_has_lost_its_job()
{
	Scene scene(PodSide::waiting, JobSide::allocated);
	scene.node().has_room = false;
	scene.facts.gives_way = true;
	CHECK_EQUAL(text_of(reconcile(scene.facts)), "look:default/p");
	scene.rank().surely_unbound = true;
	CHECK_EQUAL(text_of(reconcile(scene.facts)), "complete:256");
	scene.facts.busy.slurm = true;
	CHECK_EQUAL(text_of(reconcile(scene.facts)), "");
	Scene next(PodSide::waiting, JobSide::ended);
	next.job.state = JobState::failed;
	CHECK_EQUAL(text_of(reconcile(next.facts)), "submit");
}

void a_refused_pod_says_why_and_is_not_submitted()
{
	Scene scene(PodSide::waiting, JobSide::none);
	scene.spec = Error{Errc::invalid, "annotation x"};
	CHECK_EQUAL(text_of(reconcile(scene.facts)), "report:SlurmRefused");
}

void a_failed_submission_waits_and_reports()
{
	Scene scene(PodSide::waiting, JobSide::none);
	scene.facts.may_retry = false;
	CHECK_EQUAL(text_of(reconcile(scene.facts)), "");
	scene.facts.trouble = Condition{names::k_reason_retrying, "away"};
	CHECK_EQUAL(text_of(reconcile(scene.facts)), "report:SlurmRetrying");
}

void a_pod_that_never_ran_queues_again_after_node_failure_not_scancel()
{
	for (const auto &[state, wanted] : {std::pair(JobState::node_fail, "submit"),
		     std::pair(JobState::preempted, "submit"),
		     std::pair(JobState::boot_fail, "submit"),
		     /* slurmctld kills a job whose submitter did not receive the answer, with
		      * signal 15 */
		     std::pair(JobState::failed, "submit"), std::pair(JobState::complete, "submit"),
		     std::pair(JobState::oom, "submit"), std::pair(JobState::cancelled, "remove"),
		     /* the job held its nodes until its time limit because the pod could not be
		      * bound */
		     std::pair(JobState::timeout, "submit"),
		     std::pair(JobState::deadline, "remove")}) {
		Scene scene(PodSide::waiting, JobSide::ended);
		scene.job.state = state;
		CHECK_EQUAL(text_of(reconcile(scene.facts)), wanted);
	}
}

void a_running_pod_gets_a_new_job_on_its_node_when_its_job_is_lost()
{
	Scene scene(PodSide::running, JobSide::none);
	CHECK_EQUAL(text_of(reconcile(scene.facts)), "");
	scene.facts.missing_long = true;
	CHECK_EQUAL(text_of(reconcile(scene.facts)), "submit@n1");
	scene.spec->options.hold = true;
	scene.spec->options.begin = 9;
	scene.spec->options.dependency = "afterok:1";
	scene.spec->options.constraints = "gone";
	const auto actions = reconcile(scene.facts);
	const auto *submit = std::get_if<Submit>(&actions.at(0).action);
	REQUIRE(submit);
	CHECK(submit->spec.priority > 4'000'000'000U); /* the pod holds the node already */
	CHECK(!submit->spec.options.hold && submit->spec.options.begin == 0 &&
		submit->spec.options.dependency.empty() &&
		submit->spec.options.constraints.empty());
	scene.spec = Error{Errc::invalid, "not any more"};
	CHECK_EQUAL(text_of(reconcile(scene.facts)), ""); /* never killed on doubt */
}

void a_pod_that_does_not_start_is_given_up_unless_it_runs()
{
	struct Row {
		PodSide pod;
		JobSide job;
		PodPhase phase;
		bool runs, expired, said;
		const char *wanted;
	};
	const std::string gave_up =
		"give-up:Slurm job 7 gave up: nothing of the pod ran on node n1 within 90 s; the "
		"kubelet says ImagePullBackOff: no such image";
	const Row rows[] = {
		{PodSide::running, JobSide::allocated, PodPhase::pending, false, true, false,
			gave_up.c_str()},
		{PodSide::running, JobSide::allocated, PodPhase::pending, false, false, false, ""},
		{PodSide::running, JobSide::allocated, PodPhase::pending, false, false, true,
			"give-up:said"}, /* by an agent that died then */
		{PodSide::running, JobSide::allocated, PodPhase::pending, true, true, false,
			""}, /* an init container runs */
		{PodSide::running, JobSide::allocated, PodPhase::running, false, true, false, ""},
		{PodSide::running, JobSide::allocated, PodPhase::running, false, false, true, ""},
		{PodSide::running, JobSide::ended, PodPhase::pending, false, true, false,
			"remove"}, /* Slurm's reason comes first */
		{PodSide::running, JobSide::none, PodPhase::pending, false, true, false, ""},
		{PodSide::stopping, JobSide::allocated, PodPhase::pending, false, true, true, ""},
	};
	for (const Row &row : rows) {
		Scene scene(row.pod, row.job);
		scene.pod.phase = row.phase;
		scene.pod.container_runs = row.runs;
		scene.pod.waiting_reason = "ImagePullBackOff: no such image";
		if (row.said)
			scene.pod.start_limit = Condition{names::k_reason_start_limit, "said"};
		scene.rank().start_expired = row.expired;
		scene.facts.start_limit_us = 90'000'000;
		CHECK_EQUAL(text_of(reconcile(scene.facts)), row.wanted);
	}
	Scene busy(PodSide::running, JobSide::allocated);
	busy.pod.phase = PodPhase::pending;
	busy.rank().start_expired = busy.rank().busy.remove = true;
	CHECK_EQUAL(text_of(reconcile(busy.facts)), "");
}

void a_second_live_job_of_one_pod_is_cancelled_first()
{
	Scene scene(PodSide::running, JobSide::allocated);
	scene.facts.surplus = {JobId{9}};
	CHECK_EQUAL(text_of(reconcile(scene.facts)), "cancel:9");
}

void a_pod_that_ended_and_went_gives_its_own_result()
{
	Scene scene(PodSide::absent, JobSide::allocated);
	scene.facts.result = 768;
	CHECK_EQUAL(text_of(reconcile(scene.facts)), "complete:768");
}

void a_job_of_a_pod_never_seen_is_left_alone_until_the_pod_is_surely_gone()
{
	for (const JobSide side : {JobSide::pending, JobSide::allocated}) {
		Scene scene(PodSide::absent, side);
		scene.facts.name_space = "default";
		scene.facts.name = "p";
		scene.facts.surplus = {JobId{9}};
		scene.facts.is_unseen = true;
		CHECK_EQUAL(text_of(reconcile(scene.facts)), "look:default/p");
		scene.facts.busy.look = true;
		CHECK_EQUAL(text_of(reconcile(scene.facts)), "");
	}
}

void every_pair_of_sides_has_its_stage()
{
	constexpr PodSide k_pods[] = {PodSide::absent, PodSide::gated, PodSide::waiting,
		PodSide::withdrawn, PodSide::running, PodSide::stopping, PodSide::ended};
	constexpr JobSide k_jobs[] = {
		JobSide::none, JobSide::pending, JobSide::allocated, JobSide::ended};
	const char *const expected[][4] = {
		/* absent    */ {"over", "ending", "ending", "over"},
		/* gated     */ {"gathering", "queued", "held", "gathering"},
		/* waiting   */ {"due", "queued", "held", "due"},
		/* withdrawn */ {"over", "ending", "ending", "over"},
		/* running   */ {"lost", "lost", "running", "ending"},
		/* stopping  */ {"lost", "lost", "running", "ending"},
		/* ended     */ {"over", "ending", "ending", "over"},
	};
	for (std::size_t p = 0; p < std::size(k_pods); p++) {
		for (std::size_t j = 0; j < std::size(k_jobs); j++)
			CHECK_EQUAL(std::string(stage_text(
					    stage_of(Scene(k_pods[p], k_jobs[j]).facts))),
				expected[p][j]);
	}
	Scene asked(PodSide::waiting, JobSide::none);
	asked.facts.busy.slurm = true;
	CHECK(stage_of(asked.facts) == ComponentStage::submitting);
	asked.facts.busy.slurm = false;
	asked.facts.waits_for = Condition{names::k_reason_pending, "others"};
	CHECK(stage_of(asked.facts) == ComponentStage::gathering);
	Scene sent(PodSide::waiting, JobSide::allocated);
	sent.rank().busy.bind = true;
	CHECK(stage_of(sent.facts) == ComponentStage::binding);
	/* the component's pods are created when those of other components run */
	Scene awaiting(PodSide::absent, JobSide::allocated);
	awaiting.facts.others.are_there = awaiting.facts.others.has_live = true;
	CHECK(stage_of(awaiting.facts) == ComponentStage::running);
	awaiting.facts.others.waits_for = Condition{names::k_reason_pending, "others"};
	CHECK(stage_of(awaiting.facts) == ComponentStage::held);
	CHECK(stage_after(ComponentStage::due, Submit{}) == ComponentStage::submitting);
	/* the component's pods run */
	CHECK(stage_after(ComponentStage::lost, Submit{}) == ComponentStage::lost);
	CHECK(stage_after(ComponentStage::held, Bind{}) == ComponentStage::binding);
	CHECK(stage_after(ComponentStage::held, Complete{}) == ComponentStage::ending);
	CHECK(stage_after(ComponentStage::queued, Report{}) == ComponentStage::queued);
}

/* ---- pods that share a job ---- */

/* Two ranks of a gang, with all conditions favourable. */
struct Pair {
	Scene first, second;
	ComponentFacts &facts = first.facts;

	Pair(PodSide one, PodSide other, JobSide job) : first(one, job), second(other, job)
	{
		facts.is_alone = facts.absent_long = false;
		facts.rank_count = 2;
		second.pod.uid = {"u2"};
		second.rank().uid = second.pod.uid;
		second.rank().rank = second.rank().workload_rank = 1;
		facts.ranks.push_back(second.rank());
	}
};

void a_rank_that_does_not_start_is_given_up_and_the_others_go_on()
{
	Pair pair(PodSide::running, PodSide::running, JobSide::allocated);
	pair.second.pod.phase = PodPhase::pending;
	CHECK_EQUAL(text_of(reconcile(pair.facts)), "");
	pair.facts.ranks[1].start_expired = true;
	pair.facts.start_limit_us = 90'000'000;
	const auto actions = reconcile(pair.facts);
	CHECK(actions.size() == 1 && actions[0].pod.text == "u2" &&
		text_of(actions).starts_with("give-up:"));
	pair.facts.ranks[0].start_expired = true; /* this rank runs */
	CHECK_EQUAL(reconcile(pair.facts).size(), 1U);
}

/* A failed deletion is retried after a while. Until then its pod needs no other job. */
void pods_that_are_to_go_get_no_other_job()
{
	Pair pair(PodSide::waiting, PodSide::waiting, JobSide::ended);
	CHECK_EQUAL(text_of(reconcile(pair.facts)), "remove remove");
	pair.facts.ranks[0].may_retry = pair.facts.ranks[1].may_retry = false;
	CHECK_EQUAL(text_of(reconcile(pair.facts)), "report:SlurmPending report:SlurmPending");
}

void an_allocation_that_goes_back_names_the_node_that_is_away()
{
	Pair pair(PodSide::waiting, PodSide::waiting, JobSide::allocated);
	pair.facts.ranks[1].node.is_usable = pair.facts.ranks[1].node.has_room = false;
	CHECK_EQUAL(text_of(reconcile(pair.facts)), "report:SlurmPending report:SlurmPending");
	pair.facts.gives_way = true;
	CHECK_EQUAL(text_of(reconcile(pair.facts)),
		"look:default/p look:default/p report:SlurmRetrying report:SlurmRetrying");
	pair.facts.ranks[0].surely_unbound = pair.facts.ranks[1].surely_unbound = true;
	CHECK_EQUAL(text_of(reconcile(pair.facts)),
		"complete:256 report:SlurmRetrying report:SlurmRetrying");
}

void an_allocation_without_nodes_is_not_bound()
{
	Scene scene(PodSide::waiting, JobSide::allocated);
	scene.job.nodes.clear();
	CHECK_EQUAL(text_of(reconcile(scene.facts)), "");
}

/* The API server's clock may be behind slurmctld's, and watches lag. */
void a_pod_seen_well_after_the_end_is_new_whatever_the_clocks_say()
{
	const struct {
		std::int64_t created, seen, end_seen;
		bool is_watched, is_new;
	} rows[] = {
		{1001, 0, 0, true, true},
		{1000, 0, 0, true, true},
		{999, 0, 0, true, false},
		{995, 13, 10, true, true},
		{995, 13, 10, false, false}, /* it was in the first list */
		{995, 11, 10, true, false},
		{995, 13, 0, true, false},
		{1000, 9, 10, true, false},
		{1000, 11, 10, false, true},
		{1001, 9, 10, true, true},
	};
	SlurmJob ended;
	ended.end_time = 1000;
	for (const auto &row : rows) {
		Pod pod;
		pod.created = row.created;
		RankFacts rank;
		rank.pod = &pod;
		rank.first_seen_us = row.seen * 1'000'000;
		rank.is_watched = row.is_watched;
		CHECK_EQUAL(is_made_after(rank, ended, row.end_seen * 1'000'000), row.is_new);
	}
}

} // namespace

int main()
{
	return check::run_tests("reconcile",
		{
			TEST(every_pair_of_sides_has_its_action),
			TEST(what_was_given_back_keeps_its_age),
			TEST(nothing_is_done_before_both_worlds_are_known),
			TEST(what_is_under_way_is_not_started_again),
			TEST(the_gate_holds_a_binding_and_says_so),
			TEST(a_pod_gives_way_to_one_that_runs_there_and_has_lost_its_job),
			TEST(a_refused_pod_says_why_and_is_not_submitted),
			TEST(a_failed_submission_waits_and_reports),
			TEST(a_pod_that_never_ran_queues_again_after_node_failure_not_scancel),
			TEST(a_running_pod_gets_a_new_job_on_its_node_when_its_job_is_lost),
			TEST(a_pod_that_does_not_start_is_given_up_unless_it_runs),
			TEST(a_second_live_job_of_one_pod_is_cancelled_first),
			TEST(a_pod_that_ended_and_went_gives_its_own_result),
			TEST(a_job_of_a_pod_never_seen_is_left_alone_until_the_pod_is_surely_gone),
			TEST(an_allocation_without_nodes_is_not_bound),
			TEST(every_pair_of_sides_has_its_stage),
			TEST(a_rank_that_does_not_start_is_given_up_and_the_others_go_on),
			TEST(pods_that_are_to_go_get_no_other_job),
			TEST(an_allocation_that_goes_back_names_the_node_that_is_away),
			TEST(a_pod_seen_well_after_the_end_is_new_whatever_the_clocks_say),
		});
}
