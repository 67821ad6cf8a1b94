/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and bindings that the API server refuses or fails to carry out: for how long the allocation
 * is held, and how it is made sure that no pod is bound before it is given back. */
#include "testsuite/unit/gang_stage.h"
#include "testsuite/unit/place_stage.h"

#include <algorithm>

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

constexpr std::int64_t k_room_wait = 60 * k_second;

template <class S> void pass(S &s, std::int64_t us)
{
	advance(s.now, us);
}

bool says(const std::string &text, const std::string &word)
{
	return (" " + text + " ").find(" " + word + " ") != std::string::npos;
}

SlurmJob single_job(const std::string &uid, std::uint32_t id, JobState state,
	const std::string &node, std::uint32_t attempt)
{
	SlurmJob job =
		make_job(id, make_marker("default", "pod-" + uid, "Pod", uid, attempt), state);
	if (!node.empty())
		job.nodes = nodes({{node.c_str(), 4}});
	return job;
}

/* The pod's bindings are refused until the allocation is given back; returns how long that took. */
std::int64_t refuse_until_given_back(PlaceStage &s, std::uint32_t id, std::uint32_t attempt)
{
	const std::int64_t begin = s.now.mono_us;
	const std::string end = "complete:" + std::to_string(id) + "=given-back";
	for (int i = 0; i < 200; i++) {
		const std::string did = s.act();
		if (says(did, "bind:b@n1"))
			s.world.answer(
				BindAnswered{{"b"}, Error{Errc::denied, "no rights"}}, s.now);
		if (says(did, "look:b"))
			s.world.answer(LookUpAnswered{{"b"}, PodLookup::unbound}, s.now);
		else if (!says(did, end))
			pass(s, k_second);
		if (says(did, end)) {
			s.world.answer(CompleteAnswered{{"b"}, Ok{}, false}, s.now);
			s.world.observe(
				JobSeen{single_job("b", id, JobState::failed, "", attempt)}, s.now);
			return s.now.mono_us - begin;
		}
	}
	return 0;
}

/* Until the next job is submitted. */
std::int64_t pause_of(PlaceStage &s)
{
	const std::int64_t begin = s.now.mono_us;
	while (s.now.mono_us < begin + 10'000 * k_second) {
		const std::string did = s.act();
		if (did.starts_with("submit:b"))
			break;
		if (says(did, "look:b"))
			s.world.answer(LookUpAnswered{{"b"}, PodLookup::unbound}, s.now);
		pass(s, k_second);
	}
	return s.now.mono_us - begin;
}

void a_binding_that_is_refused_for_good_is_not_charged_for_long()
{
	PlaceStage s;
	s.world.observe(PodSeen{PlaceStage::pod("b")}, s.now);
	CHECK_EQUAL(s.act(), "submit:b");
	std::int64_t before = 0;
	for (std::uint32_t attempt = 1; attempt <= 9; attempt++) {
		const std::uint32_t id = 7 + attempt;
		s.allocate("b", id, "n1");
		s.world.observe(
			JobSeen{single_job("b", id, JobState::running, "n1", attempt)}, s.now);
		const std::int64_t held = refuse_until_given_back(s, id, attempt);
		CHECK(held >= k_room_wait && held <= k_room_wait + 35 * k_second);
		const std::int64_t pause = pause_of(s);
		CHECK(pause >= before && pause <= 3'841 * k_second);
		before = pause;
	}
	CHECK(before > 3'600 * k_second);
}

void the_pod_says_that_its_binding_is_refused()
{
	PlaceStage s;
	s.world.observe(PodSeen{PlaceStage::pod("b")}, s.now);
	(void)s.act();
	s.allocate("b", 8, "n1");
	s.world.observe(JobSeen{single_job("b", 8, JobState::running, "n1", 1)}, s.now);
	CHECK_EQUAL(s.act(), "bind:b@n1");
	s.world.answer(BindAnswered{{"b"}, Error{Errc::denied, "no rights"}}, s.now);
	pass(s, 100'000);
	CHECK_EQUAL(s.act(), "report:b:SlurmRefused");
	CHECK_EQUAL(s.text,
		"Slurm job 8 has node n1, but the API server refuses to bind the pod: no rights");
	s.world.answer(ReportAnswered{{"b"}, Ok{}}, s.now);
	(void)refuse_until_given_back(s, 8, 1);
	CHECK(s.text.ends_with("no rights; the allocation is given back, and the pod queued again "
			       "after a pause"));
}

/* As soon as the rights are back. */
void a_binding_that_succeeds_ends_the_pauses()
{
	PlaceStage s;
	s.world.observe(PodSeen{PlaceStage::pod("b")}, s.now);
	(void)s.act();
	for (std::uint32_t attempt = 1; attempt <= 3; attempt++) {
		s.allocate("b", 7 + attempt, "n1");
		s.world.observe(
			JobSeen{single_job("b", 7 + attempt, JobState::running, "n1", attempt)},
			s.now);
		(void)refuse_until_given_back(s, 7 + attempt, attempt);
		(void)pause_of(s);
	}
	CHECK_EQUAL(s.world.state().component_of({"b"}).failed_bindings, 3U);
	s.allocate("b", 20, "n1");
	s.world.observe(JobSeen{single_job("b", 20, JobState::running, "n1", 4)}, s.now);
	CHECK(says(s.act(), "bind:b@n1"));
	s.world.answer(BindAnswered{{"b"}, Ok{}}, s.now);
	CHECK_EQUAL(s.world.state().component_of({"b"}).failed_bindings, 0U);
}

/* The job is charged for those that run, and ends with them. */
void a_gang_that_runs_is_not_ended_for_a_refused_pod()
{
	GangStage s(2);
	s.all_pods(2);
	(void)s.take();
	s.world.observe(JobSeen{s.running(nodes({{"n1", 4}, {"n2", 4}}))}, s.now);
	(void)s.take();
	s.world.answer(BindAnswered{{"u0"}, Ok{}}, s.now);
	s.world.answer(BindAnswered{{"u1"}, Error{Errc::denied, "no rights"}}, s.now);
	Pod bound = s.pod(0);
	bound.node_name = "n1";
	bound.phase = PodPhase::running;
	bound.annotations[names::k_allocation_attempt] = "1";
	s.world.observe(PodSeen{bound}, s.now);
	for (int i = 0; i < 200; i++) {
		pass(s, k_second);
		for (const auto &[uid, action] : s.take()) {
			CHECK(!std::holds_alternative<Complete>(action));
			if (std::holds_alternative<Bind>(action))
				s.world.answer(
					BindAnswered{uid, Error{Errc::denied, "no rights"}}, s.now);
		}
	}
}

/* ---- bindings that fail for other reasons ---- */

/* A webhook that does not answer, an API server that is overloaded: if the pod can be read but not
 * bound, its nodes are charged for nothing. */
void a_binding_that_fails_for_long_is_not_charged_for_long()
{
	for (const Errc code : {Errc::io, Errc::again, Errc::conflict, Errc::internal,
		     Errc::too_large, Errc::denied, Errc::invalid}) {
		PlaceStage s;
		s.world.observe(PodSeen{PlaceStage::pod("b")}, s.now);
		(void)s.act();
		s.allocate("b", 8, "n1");
		s.world.observe(JobSeen{single_job("b", 8, JobState::running, "n1", 1)}, s.now);
		bool is_given_back = false;
		for (int i = 0; i < 400 && !is_given_back; i++) {
			const std::string did = s.act();
			if (says(did, "bind:b@n1"))
				s.world.answer(BindAnswered{{"b"}, Error{code, "webhook"}}, s.now);
			if (says(did, "look:b"))
				s.world.answer(LookUpAnswered{{"b"}, PodLookup::unbound}, s.now);
			is_given_back = says(did, "complete:8=given-back");
			pass(s, k_second / 2);
		}
		CHECK(is_given_back);
	}
}

/* Nothing is wrong with the pod then, and it gets its nodes as soon as the API server is back. */
void an_allocation_survives_an_outage_of_the_api_server()
{
	PlaceStage s;
	s.world.observe(PodSeen{PlaceStage::pod("b")}, s.now);
	(void)s.act();
	s.allocate("b", 8, "n1");
	s.world.observe(JobSeen{single_job("b", 8, JobState::running, "n1", 1)}, s.now);
	const Error down{Errc::io, "connection refused"};
	for (int i = 0; i < 1200; i++) {
		const std::string did = s.act();
		if (says(did, "bind:b@n1"))
			s.world.answer(BindAnswered{{"b"}, down}, s.now);
		if (says(did, "look:b"))
			s.world.answer(LookUpAnswered{{"b"}, down}, s.now);
		pass(s, k_second / 2);
	}
	std::string log;
	for (int i = 0; i < 120 && !says(log, "bind:b@n1"); i++) {
		log += " " + s.act();
		pass(s, k_second / 2);
		if (says(log, "look:b"))
			s.world.answer(LookUpAnswered{{"b"}, PodLookup::unbound}, s.now);
	}
	CHECK(says(log, "bind:b@n1"));
	CHECK(!says(log, "complete:8=given-back"));
}

/* One error that the next try makes good is not worth a write to the API server. */
void only_a_binding_that_fails_repeatedly_is_told()
{
	PlaceStage s;
	s.world.observe(PodSeen{PlaceStage::pod("b")}, s.now);
	(void)s.act();
	s.allocate("b", 8, "n1");
	s.world.observe(JobSeen{single_job("b", 8, JobState::running, "n1", 1)}, s.now);
	pass(s, 2 * k_second);
	int tries = 0;
	std::string told_after;
	for (int i = 0; i < 200 && told_after.empty(); i++) {
		const std::string did = s.act();
		if (says(did, "bind:b@n1")) {
			tries++;
			s.world.answer(BindAnswered{{"b"}, Error{Errc::io, "timed out"}}, s.now);
		}
		if (says(did, "report:b:SlurmRetrying"))
			told_after = std::to_string(tries) + " " + s.text;
		pass(s, 100'000);
	}
	CHECK_EQUAL(told_after, "4 Slurm job 8 has node n1, but binding the pod fails: timed out");
}

/* ---- to make sure that a pod is not bound ---- */

/* A gang of so many pods whose node is not Ready until its allocation is to be given back. */
struct AwayStage : GangStage {
	int looks = 0;
	std::int64_t first_us = 0;
	std::string told;

	explicit AwayStage(std::uint32_t pods) : GangStage(pods, size(1, 1))
	{
		all_pods(pods);
		for (int i = 0; i < 20 && only<Submit>(take()).empty(); i++)
			pass(k_second / 10);
		world.answer(SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, now);
		for (const char *name : {"n1", "n2", "n3", "n4"}) {
			KubeNode node = kube_node(name, std::string(name) + "-uid", 8000);
			node.ready = false;
			world.observe(NodeSeen{node}, now);
		}
		world.observe(JobSeen{running(nodes({{"n1", pods}}))}, now);
	}

	/* Until the end of the job is asked for, or for so many seconds after the first look-up;
	 * returns whether it was asked for. */
	bool look(const Result<PodLookup> &answer, std::int64_t seconds)
	{
		for (;;) {
			for (const auto &[uid, action] : take()) {
				if (const auto *report = std::get_if<Report>(&action)) {
					told = report->not_scheduled.message;
					world.answer(ReportAnswered{uid, Ok{}}, now);
				}
				if (std::holds_alternative<Complete>(action))
					return true;
				if (!std::holds_alternative<LookUp>(action))
					continue;
				first_us = first_us == 0 ? now.mono_us : first_us;
				looks++;
				world.answer(LookUpAnswered{uid, answer}, now);
			}
			if (first_us > 0 && now.mono_us > first_us + seconds * k_second)
				return false;
			pass(20'000);
		}
	}
};

/* At most a number of them are under way at a time, and none waits for those that are answered. */
void look_ups_of_a_gang_follow_one_another()
{
	AwayStage s(256);
	CHECK(s.look(PodLookup::unbound, 60));
	CHECK_EQUAL(s.looks, 256);
	CHECK(s.now.mono_us - s.first_us < 2 * k_second);
}

void look_ups_that_fail_become_rarer_and_the_pods_say_so()
{
	AwayStage s(16);
	CHECK(!s.look(Error{Errc::denied, "no right to get pods"}, 600));
	CHECK(s.looks < 16 * 30);
	CHECK_EQUAL(s.told,
		"Slurm job 7 is to be ended, which waits until the API server has confirmed that "
		"no pod is bound; asking it fails: no right to get pods");
	CHECK(s.look(PodLookup::unbound, 700));
}

/* A binding without an answer may be carried out for some seconds: an earlier look says nothing. */
void an_early_look_does_not_rule_out_a_late_binding()
{
	PlaceStage s;
	s.world.observe(PodSeen{PlaceStage::on_ssd("a")}, s.now);
	(void)s.act();
	s.allocate("a", 7, "n1");
	s.world.observe(JobSeen{single_job("a", 7, JobState::running, "n1", 1)}, s.now);
	CHECK_EQUAL(s.act(), "bind:a@n1");
	s.world.answer(BindAnswered{{"a"}, Error{Errc::io, "timed out"}}, s.now);
	const std::int64_t begin = s.now.mono_us;
	KubeNode unfit = PlaceStage::node("n1");
	unfit.labels.erase("disk");
	s.world.observe(NodeSeen{unfit}, s.now);
	std::int64_t took = 0;
	for (int i = 0; i < 100 && took == 0; i++) {
		const std::string did = s.act();
		if (says(did, "look:a"))
			s.world.answer(LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
		if (says(did, "complete:7=given-back"))
			took = s.now.mono_us - begin;
		pass(s, k_second / 2);
	}
	CHECK(took >= 5 * k_second && took < 12 * k_second);
}

/* Pod 0 was bound to n1, without an answer; what comes next ends the job. */
struct LateStage : GangStage {
	std::string log;

	LateStage() : GangStage(2)
	{
		world.observe(PodSeen{pod(0)}, now);
		(void)take();
		world.answer(SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, now);
		world.observe(JobSeen{running(nodes({{"n1", 4}, {"n2", 4}}))}, now);
		REQUIRE(only<Bind>(take()).size() == 1);
		world.answer(BindAnswered{{"u0"}, Error{Errc::io, "timed out"}}, now);
	}

	/* Whether the end of the job is asked for although the API server says that pod 0 is
	 * bound. */
	bool ends_what_runs(int seconds)
	{
		for (int i = 0; i < 4 * seconds; i++) {
			for (const auto &[uid, action] : take()) {
				if (std::holds_alternative<LookUp>(action))
					world.answer(LookUpAnswered{uid, PodLookup::bound}, now);
				if (std::holds_alternative<Bind>(action))
					world.answer(
						BindAnswered{uid, Error{Errc::io, "timed out"}},
						now);
				if (std::holds_alternative<Complete>(action))
					return true;
			}
			pass(k_second / 4);
		}
		return false;
	}
};

void a_job_that_is_too_small_is_not_ended_under_a_bound_pod()
{
	LateStage s;
	s.pass(k_second / 10);
	Pod large = s.pod(1);
	large.requests = size(8000, 64);
	s.world.observe(PodSeen{large}, s.now);
	CHECK(!s.ends_what_runs(60));
}

void a_gang_whose_pods_never_come_is_not_ended_under_a_bound_pod()
{
	LateStage s;
	CHECK(!s.ends_what_runs(1200));
}

/* An agent that is being replaced may bind a pod between two tries to end the job. */
void an_end_is_not_repeated_under_a_pod_that_was_bound_meanwhile()
{
	AwayStage s(2);
	REQUIRE(s.look(PodLookup::unbound, 60));
	s.world.answer(CompleteAnswered{{"train-uid"}, Error{Errc::io, "no answer"}, false}, s.now);
	for (int i = 0; i < 8; i++) { /* the pause between two tries has grown */
		if (s.look(PodLookup::unbound, 1200))
			s.world.answer(CompleteAnswered{{"train-uid"}, Error{Errc::io, "no answer"},
					       false},
				s.now);
	}
	s.first_us = s.now.mono_us;
	CHECK(!s.look(PodLookup::bound, 120));
}

} // namespace

int main()
{
	return check::run_tests("world failed bindings",
		{
			TEST(a_binding_that_is_refused_for_good_is_not_charged_for_long),
			TEST(the_pod_says_that_its_binding_is_refused),
			TEST(a_binding_that_succeeds_ends_the_pauses),
			TEST(a_gang_that_runs_is_not_ended_for_a_refused_pod),
			TEST(a_binding_that_fails_for_long_is_not_charged_for_long),
			TEST(an_allocation_survives_an_outage_of_the_api_server),
			TEST(only_a_binding_that_fails_repeatedly_is_told),
			TEST(look_ups_of_a_gang_follow_one_another),
			TEST(look_ups_that_fail_become_rarer_and_the_pods_say_so),
			TEST(an_early_look_does_not_rule_out_a_late_binding),
			TEST(a_job_that_is_too_small_is_not_ended_under_a_bound_pod),
			TEST(a_gang_whose_pods_never_come_is_not_ended_under_a_bound_pod),
			TEST(an_end_is_not_repeated_under_a_pod_that_was_bound_meanwhile),
		});
}
