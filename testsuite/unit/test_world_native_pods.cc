/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and pods within native jobs: n2 is a hybrid node, where job 7 of user 1 runs. */
#include "src/core/inspect/why.h"
#include "testsuite/unit/place_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

constexpr std::int64_t k_native_second = 1'000'000;

NativeJob job_of_user(std::uint32_t id = 7)
{
	NativeJob job;
	job.mark = {{id}, 1, 0, 1'790'000'000, "slurm-a"};
	job.state = JobState::running;
	job.partition = "shared";
	job.nodes = {"n2"};
	job.cpus = 2;
	job.memory_mib = 200;
	return job;
}

struct NativeStage : PlaceStage {
	NativeStage()
	{
		Settings s = settings();
		s.policy.pods_in_native_jobs = true;
		world.observe(SettingsSet{s}, now);
		connect("slurm-a");
		(void)world.take_node_actions(now);
	}

	void connect(const char *cluster)
	{
		PluginHello hello;
		hello.cluster_name = cluster;
		world.observe(LinkOpened{hello});
		for (const char *name : {"n1", "n3"})
			world.observe(SlurmNodeSeen{slurm_node(name, 4)});
		world.observe(SlurmNodeSeen{hybrid()});
		world.observe(SnapshotEnded{}, now);
	}

	static SlurmNode hybrid(bool is_completing = false)
	{
		SlurmNode n = slurm_node("n2", 4);
		n.is_hybrid = true;
		n.completing = is_completing;
		n.features = "kube-hybrid";
		return n;
	}

	static Pod asking(const std::string &uid, std::uint32_t job = 7)
	{
		Pod p = pod(uid);
		p.requests = make_requests(1000, std::int64_t{64} << 20);
		p.annotations = {{"slurm-kube.io/job", std::to_string(job)}};
		return p;
	}

	void pass(std::int64_t seconds) { advance(now, seconds * k_native_second); }

	/* act() says "other" of a deletion. "ask:7", or "" */
	std::string question()
	{
		const auto id = world.take_job_question(now);
		return id ? "ask:" + std::to_string(id->number) : "";
	}

	void answer(NativeAnswer what, std::uint32_t job = 7, std::size_t described = 1)
	{
		world.observe(NativeJobAnswered{{job}, std::move(what), described}, now);
	}

	/* Lets time pass until the job is asked for; false: it is not within that time. */
	bool asks_within(std::int64_t seconds, std::uint32_t job = 7)
	{
		for (std::int64_t i = 0; i <= seconds * 10; i++) {
			if (question() == "ask:" + std::to_string(job))
				return true;
			advance(now, k_native_second / 10);
		}
		return false;
	}

	/* Binds the pod within job 7. */
	void run(const std::string &uid)
	{
		world.observe(PodSeen{asking(uid)}, now);
		std::string done = act();
		if (done.empty()) { /* nothing is known of the job, or not enough */
			CHECK(asks_within(2));
			answer(job_of_user());
			done = act();
		}
		CHECK_EQUAL(done, "bind:" + uid + "@n2");
		world.answer(BindAnswered{{uid}, Ok{}}, now);
		world.observe(PodSeen{bound(uid)}, now);
		CHECK_EQUAL(act(), "");
	}

	static Pod bound(const std::string &uid)
	{
		Pod p = asking(uid);
		p.node_name = "n2";
		p.phase = PodPhase::running;
		p.annotations[names::k_allocation_job_id] = "native";
		p.annotations[names::k_allocation_native_job] = text_of(job_of_user().mark);
		return p;
	}
};

const NativeAnswer k_no_such_job = Error{Errc::not_found, "Invalid job id specified"};
const NativeAnswer k_no_word = Error{Errc::again, "no answer"};

void a_pod_is_bound_within_the_job_and_gets_none_of_its_own()
{
	NativeStage s;
	s.world.observe(PodSeen{NativeStage::asking("a")}, s.now);
	CHECK_EQUAL(s.act(), "");
	CHECK_EQUAL(s.question(), "ask:7");
	CHECK_EQUAL(s.question(), ""); /* one at a time */
	s.answer(job_of_user());
	const auto actions = s.world.take_actions(s.now);
	REQUIRE(actions.size() == 1);
	const auto *bind = std::get_if<Bind>(&actions.front().action);
	REQUIRE(bind);
	CHECK_EQUAL(bind->node, "n2");
	CHECK(bind->native == job_of_user().mark);
	CHECK_EQUAL(bind->memory_mib, 64U);
	CHECK_EQUAL(s.world.state().occupancy.pods_on("n2"), 1U);
	s.world.answer(BindAnswered{{"a"}, Ok{}}, s.now);
	s.world.observe(PodSeen{NativeStage::bound("a")}, s.now);
	for (int i = 0; i < 60; i++) {
		s.pass(1);
		CHECK_EQUAL(s.act(), "");
		if (s.question() == "ask:7")
			s.answer(job_of_user());
	}
	std::string story;
	for (const WhyLine &line : why(s.world, "default", "pod-a", s.now))
		story += line.about + ": " + line.text + "\n";
	CHECK(story.find("runs within native Slurm job 7 of uid 1") != std::string::npos);
}

void an_answer_by_which_a_pod_is_bound_is_fresh()
{
	NativeStage s;
	s.run("a");
	s.pass(7);
	CHECK_EQUAL(s.question(), "");
	s.world.observe(PodSeen{NativeStage::asking("b")}, s.now);
	CHECK_EQUAL(s.act(), "");
	CHECK_EQUAL(s.question(), "ask:7");
	s.answer(job_of_user());
	CHECK_EQUAL(s.act(), "bind:b@n2");
}

void a_binding_that_fails_is_tried_again()
{
	NativeStage s;
	s.world.observe(PodSeen{NativeStage::asking("a")}, s.now);
	(void)s.act();
	CHECK_EQUAL(s.question(), "ask:7");
	s.answer(job_of_user());
	CHECK_EQUAL(s.act(), "bind:a@n2");
	s.world.answer(BindAnswered{{"a"}, Error{Errc::invalid, "refused by a policy"}}, s.now);
	(void)s.act();
	s.pass(300);
	(void)s.act();
	CHECK(s.asks_within(6));
	s.answer(job_of_user());
	CHECK(s.act().find("bind:a@n2") != std::string::npos);
}

void a_refused_pod_says_why_and_is_tried_again()
{
	NativeStage s;
	NativeJob foreign = job_of_user();
	foreign.mark.user_id = 2;
	s.world.observe(PodSeen{NativeStage::asking("a")}, s.now);
	(void)s.act();
	CHECK_EQUAL(s.question(), "ask:7");
	s.answer(foreign);
	CHECK_EQUAL(s.act(), "report:a:SlurmRefused");
	CHECK(s.asks_within(61));
	s.answer(job_of_user());
	CHECK(s.act().find("bind:a@n2") != std::string::npos);
}

void jobs_with_pods_have_room_for_no_more_than_they_have()
{
	NativeStage s;
	s.run("a");
	s.run("b");
	s.world.observe(PodSeen{NativeStage::asking("c")}, s.now);
	(void)s.act();
	s.pass(2);
	CHECK_EQUAL(s.act(), "report:c:SlurmPending");
	CHECK(s.text.find("other pods have too much of Slurm job 7") != std::string::npos);
	s.world.answer(ReportAnswered{{"c"}, Ok{}}, s.now);
	s.world.observe(PodGone{{"a"}, NativeStage::bound("a")}, s.now);
	CHECK_EQUAL(s.act(), "bind:c@n2");
}

void the_end_of_the_job_ends_the_pod()
{
	for (const JobState state :
		{JobState::complete, JobState::cancelled, JobState::timeout, JobState::suspended}) {
		NativeStage s;
		s.run("a");
		CHECK(s.asks_within(11));
		NativeJob job = job_of_user();
		job.state = state;
		s.answer(job);
		CHECK_EQUAL(s.act(), "other");
		CHECK_EQUAL(s.act(), "");
	}
}

/* slurmctld has just been restored from an older state, for example. */
void a_job_that_slurm_does_not_know_is_asked_for_twice()
{
	NativeStage s;
	s.run("a");
	CHECK(s.asks_within(11));
	s.answer(k_no_such_job);
	CHECK_EQUAL(s.act(), "");
	CHECK(!s.asks_within(4));
	CHECK(s.asks_within(2));
	s.answer(k_no_such_job);
	CHECK_EQUAL(s.act(), "other");
}

void what_is_said_once_only_ends_no_pod()
{
	NativeStage s;
	s.run("a");
	CHECK(s.asks_within(11));
	s.answer(k_no_such_job);
	CHECK_EQUAL(s.act(), "");
	CHECK(s.asks_within(6));
	s.answer(job_of_user());
	CHECK_EQUAL(s.act(), "");
	CHECK(s.asks_within(11));
	s.answer(k_no_such_job);
	CHECK_EQUAL(s.act(), "");
}

void silence_ends_no_pod()
{
	NativeStage s;
	s.run("a");
	for (int i = 0; i < 100; i++) {
		s.pass(5);
		CHECK_EQUAL(s.act(), "");
		if (s.question() == "ask:7")
			s.answer(k_no_word);
	}
	CHECK_EQUAL(s.act(), "");
}

void another_life_of_the_number_is_another_job()
{
	NativeStage s;
	s.run("a");
	NativeJob requeued = job_of_user();
	requeued.mark.restarts = 1;
	requeued.mark.start += 130;
	CHECK(s.asks_within(11));
	s.answer(requeued);
	CHECK_EQUAL(s.act(), "");
	CHECK(s.asks_within(6));
	s.answer(requeued);
	CHECK_EQUAL(s.act(), "other");
}

void a_node_that_completes_jobs_is_asked_for_at_once()
{
	NativeStage s;
	s.run("a");
	s.pass(3);
	CHECK_EQUAL(s.question(), "");
	s.world.observe(SlurmNodeSeen{NativeStage::hybrid(true)});
	CHECK_EQUAL(s.question(), "ask:7");
	s.answer(job_of_user());
	CHECK(!s.asks_within(1));
	CHECK(s.asks_within(2));
	s.world.observe(SlurmNodeSeen{NativeStage::hybrid(false)});
	s.answer(job_of_user());
	CHECK(!s.asks_within(8));
}

/* It has led by the Lease before: its jobs are unknown here. */
void jobs_of_another_slurm_cluster_are_left_alone()
{
	NativeStage s;
	s.run("a");
	s.connect("slurm-b");
	for (int i = 0; i < 100; i++) {
		s.pass(1);
		CHECK_EQUAL(s.act(), "");
		if (s.question() == "ask:7")
			s.answer(k_no_such_job);
	}
}

/* A new agent knows bound pods from their annotations alone, whatever their options are now. */
void another_agent_keeps_bound_pods()
{
	NativeStage s;
	Pod p = NativeStage::bound("a");
	p.annotations.erase("slurm-kube.io/job");
	s.world.observe(PodSeen{p}, s.now);
	for (int i = 0; i < 30; i++) {
		s.pass(1);
		CHECK_EQUAL(s.act(), "");
		if (s.question() == "ask:7")
			s.answer(job_of_user());
	}
	CHECK(s.asks_within(11));
	NativeJob job = job_of_user();
	job.state = JobState::complete;
	s.answer(job);
	CHECK_EQUAL(s.act(), "other");
}

void turned_off_it_refuses_new_pods_only()
{
	NativeStage s;
	s.run("a");
	s.world.observe(SettingsSet{PlaceStage::settings()}, s.now);
	s.world.observe(PodSeen{NativeStage::asking("b")}, s.now);
	CHECK_EQUAL(s.act(), "report:b:SlurmRefused");
	CHECK(s.asks_within(11));
	NativeJob job = job_of_user();
	job.state = JobState::failed;
	s.answer(job);
	CHECK_EQUAL(s.act(), "other");
}

/* One that has a job of its own keeps it. */
void a_pod_with_a_job_cannot_get_into_another()
{
	NativeStage s;
	Pod p = PlaceStage::pod("a");
	s.world.observe(PodSeen{p}, s.now);
	CHECK_EQUAL(s.act(), "submit:a");
	s.queue_job("a", 9);
	(void)s.act();
	p.annotations = {{"slurm-kube.io/job", "7"}};
	s.world.observe(PodSeen{p}, s.now);
	s.pass(2);
	CHECK_EQUAL(s.act().find("bind"), std::string::npos);
	CHECK_EQUAL(s.question(), "");
	SlurmJob ended =
		make_job(9, make_marker("default", "pod-a", "Pod", "a", 1), JobState::node_fail);
	ended.end_time = s.now.wall_s;
	s.world.observe(JobSeen{ended}, s.now);
	for (int i = 0; i < 100; i++) {
		s.pass(1);
		CHECK(s.act().find("submit") == std::string::npos);
	}
}

/* Where no admission policy keeps users from writing it, a mark takes no pod with a job of its own
 * out of the agent's hands. */
void a_forged_mark_changes_nothing_for_a_pod_with_a_job()
{
	const struct {
		const char *job_id, *node;
	} rows[] = {{"9", "n2"}, {"9", "n1"}, {"native", "n2"}, {"native", "n1"}};
	for (const auto &row : rows) {
		for (const bool is_on : {false, true}) {
			NativeStage s;
			if (!is_on)
				s.world.observe(SettingsSet{PlaceStage::settings()}, s.now);
			Pod p = PlaceStage::pod("a");
			p.annotations = {{names::k_allocation_job_id, row.job_id},
				{names::k_allocation_native_job, "1:0:0:1:x"}};
			s.PlaceStage::run(p, 9, row.node);
			CHECK_EQUAL(s.question(), "");
			s.end_job("a", 9, JobState::cancelled);
			CHECK_EQUAL(s.act(), "other");
		}
	}
}

/* Pods that were bound past Slurm are not asked for, either. */
void a_mark_counts_on_hybrid_nodes_only()
{
	for (const char *node : {"n1", "n2"}) {
		NativeStage s;
		Pod p = NativeStage::bound("a");
		p.node_name = node;
		s.world.observe(PodSeen{p}, s.now);
		(void)s.act();
		CHECK_EQUAL(s.question(), p.node_name == "n2" ? "ask:7" : "");
	}
}

/* A binding within a job has failed, and the pod got a job of its own. */
void the_mark_of_an_earlier_binding_judges_no_pod()
{
	NativeStage s;
	s.world.observe(PodSeen{NativeStage::asking("a")}, s.now);
	(void)s.act();
	CHECK_EQUAL(s.question(), "ask:7");
	s.answer(job_of_user());
	CHECK_EQUAL(s.act(), "bind:a@n2");
	s.world.answer(BindAnswered{{"a"}, Error{Errc::invalid, "refused by a policy"}}, s.now);
	Pod p = NativeStage::asking("a");
	p.annotations.clear();
	s.world.observe(PodSeen{p}, s.now);
	CHECK(s.act().find("submit:a") != std::string::npos);
	s.pass(10);
	s.allocate("a", 9, "n1");
	CHECK_EQUAL(s.act(), "bind:a@n1");
	CHECK(!s.world.state().pods.at({"a"}).native_mark);
	s.world.answer(BindAnswered{{"a"}, Ok{}}, s.now);
	CHECK_EQUAL(s.act(), "");
	CHECK_EQUAL(s.question(), "");
}

void questions_have_a_pace()
{
	NativeStage s;
	for (std::uint32_t job = 101; job < 117; job++)
		s.world.observe(
			PodSeen{NativeStage::asking("p" + std::to_string(job), job)}, s.now);
	s.world.observe(PodSeen{NativeStage::asking("p117", 117)}, s.now);
	s.pass(2);
	CHECK(s.act().find("report:p117:SlurmPending") != std::string::npos);
	std::set<std::string> asked;
	int count = 0;
	for (int ms = 0; ms < 3000; ms += 10) {
		advance(s.now, 10'000);
		const std::string one = s.question();
		if (one.empty())
			continue;
		count++;
		asked.insert(one);
		const auto job = static_cast<std::uint32_t>(std::stoul(one.substr(4)));
		NativeJob said = job_of_user(job);
		said.state = JobState::pending;
		s.answer(said, job);
	}
	CHECK(count <= 16 && asked.size() >= 13);
}

/* Many jobs on a node that stays COMPLETING. */
void hasty_questions_take_turns_with_the_others()
{
	NativeStage s;
	s.world.observe(SlurmNodeSeen{NativeStage::hybrid(true)});
	for (std::uint32_t job = 101; job < 131; job++) {
		Pod p = NativeStage::bound("p" + std::to_string(job));
		p.annotations[names::k_allocation_native_job] = text_of(job_of_user(job).mark);
		s.world.observe(PodSeen{p}, s.now);
	}
	(void)s.act();
	std::set<std::string> asked;
	for (int i = 0; i < 200; i++) {
		if (i == 100) {
			s.world.observe(PodSeen{NativeStage::asking("w", 50)}, s.now);
			(void)s.act();
		}
		const std::string one = s.question();
		if (!one.empty()) {
			const auto job = static_cast<std::uint32_t>(std::stoul(one.substr(4)));
			s.answer(job_of_user(job), job);
			asked.insert(one);
		}
		advance(s.now, k_native_second / 10);
	}
	CHECK(asked.contains("ask:50"));
	CHECK_EQUAL(asked.size(), 31U);
}

void a_node_that_slurm_has_lost_completes_nothing()
{
	NativeStage s;
	s.run("a");
	s.world.observe(SlurmNodeSeen{NativeStage::hybrid(true)});
	CHECK(s.asks_within(3));
	s.answer(job_of_user());
	s.world.observe(LinkLost{});
	PluginHello hello;
	hello.cluster_name = "slurm-a";
	s.world.observe(LinkOpened{hello});
	for (const char *name : {"n1", "n3"})
		s.world.observe(SlurmNodeSeen{slurm_node(name, 4)});
	s.world.observe(SnapshotEnded{}, s.now);
	(void)s.act();
	CHECK(!s.asks_within(8));
	CHECK(s.asks_within(3));
}

/* There may be thousands, for a job that is pending for days. */
void pods_look_often_only_if_they_lack_room()
{
	NativeStage s;
	for (int i = 0; i < 20; i++) {
		Pod p = NativeStage::asking("p" + std::to_string(i));
		p.requests = make_requests(50, std::int64_t{1} << 20);
		s.world.observe(PodSeen{p}, s.now);
	}
	const auto bound = [&] {
		std::size_t count = 0;
		for (const auto &[uid, action] : s.world.take_actions(s.now))
			count += std::holds_alternative<Bind>(action) ? 1U : 0U;
		return count;
	};
	CHECK_EQUAL(bound(), 0U);
	s.pass(2);
	CHECK_EQUAL(bound(), 0U); /* they say what they wait for */
	CHECK_EQUAL(s.question(), "ask:7");
	s.answer(job_of_user());
	CHECK_EQUAL(bound(), 16U);
	s.pass(5);
	CHECK_EQUAL(bound(), 0U);
	CHECK(s.asks_within(6));
	s.answer(job_of_user());
	CHECK_EQUAL(bound(), 4U);
}

/* slurmctld describes all tasks of an array for one question. */
void large_answers_delay_those_that_wait_only()
{
	NativeStage s;
	s.run("a");
	s.world.observe(PodSeen{NativeStage::asking("b", 50)}, s.now);
	(void)s.act();
	CHECK(s.asks_within(2, 50));
	NativeJob array = job_of_user(50);
	array.described = 100'000;
	s.answer(array, 50);
	CHECK(s.act().find("report:b:SlurmRefused") != std::string::npos);
	s.world.observe(PodSeen{NativeStage::asking("c", 51)}, s.now);
	(void)s.act();
	CHECK(s.asks_within(11));
	s.answer(job_of_user());
	CHECK(!s.asks_within(5, 51));
}

/* The number of an array whose first task is forgotten. */
void tasks_of_a_job_that_is_not_known_count()
{
	NativeStage s;
	s.world.observe(PodSeen{NativeStage::asking("a", 50)}, s.now);
	s.world.observe(PodSeen{NativeStage::asking("b", 51)}, s.now);
	(void)s.act();
	CHECK_EQUAL(s.question(), "ask:50");
	s.answer(k_no_such_job, 50, 4'000);
	CHECK(!s.asks_within(3, 51));
	CHECK(s.asks_within(2, 51));
	s.answer(k_no_such_job, 51);
	CHECK(!s.asks_within(500, 50));
}

/* Otherwise one pod could have slurmctld describe an array again and again. */
void a_pod_that_names_numbers_in_turn_asks_no_more_often()
{
	NativeStage s;
	int asked = 0;
	for (int i = 0; i < 100; i++) {
		const std::uint32_t job = i % 2 ? 60 : 61;
		s.world.observe(PodSeen{NativeStage::asking("a", job)}, s.now);
		(void)s.act();
		for (int j = 0; j < 10; j++) {
			advance(s.now, k_native_second / 10);
			const std::string one = s.question();
			if (one.empty())
				continue;
			asked++;
			const auto number = static_cast<std::uint32_t>(std::stoul(one.substr(4)));
			NativeJob array = job_of_user(number);
			array.described = 1'000;
			s.answer(array, number);
			(void)s.act();
		}
	}
	CHECK_EQUAL(asked, 2);
}

void pods_that_vanish_are_forgotten()
{
	NativeStage s;
	s.run("a");
	s.world.observe(PodGone{{"a"}, NativeStage::bound("a")}, s.now);
	(void)s.act();
	s.pass(100);
	(void)s.act();
	CHECK_EQUAL(s.question(), "");
	CHECK(s.world.state().native_jobs.is_empty());
}

} // namespace

int main()
{
	return check::run_tests("world_native_pods",
		{
			TEST(a_pod_is_bound_within_the_job_and_gets_none_of_its_own),
			TEST(an_answer_by_which_a_pod_is_bound_is_fresh),
			TEST(a_binding_that_fails_is_tried_again),
			TEST(a_refused_pod_says_why_and_is_tried_again),
			TEST(jobs_with_pods_have_room_for_no_more_than_they_have),
			TEST(the_end_of_the_job_ends_the_pod),
			TEST(a_job_that_slurm_does_not_know_is_asked_for_twice),
			TEST(what_is_said_once_only_ends_no_pod),
			TEST(silence_ends_no_pod),
			TEST(another_life_of_the_number_is_another_job),
			TEST(a_node_that_completes_jobs_is_asked_for_at_once),
			TEST(jobs_of_another_slurm_cluster_are_left_alone),
			TEST(another_agent_keeps_bound_pods),
			TEST(turned_off_it_refuses_new_pods_only),
			TEST(a_pod_with_a_job_cannot_get_into_another),
			TEST(a_forged_mark_changes_nothing_for_a_pod_with_a_job),
			TEST(a_mark_counts_on_hybrid_nodes_only),
			TEST(the_mark_of_an_earlier_binding_judges_no_pod),
			TEST(questions_have_a_pace),
			TEST(hasty_questions_take_turns_with_the_others),
			TEST(a_node_that_slurm_has_lost_completes_nothing),
			TEST(pods_look_often_only_if_they_lack_room),
			TEST(large_answers_delay_those_that_wait_only),
			TEST(tasks_of_a_job_that_is_not_known_count),
			TEST(a_pod_that_names_numbers_in_turn_asks_no_more_often),
			TEST(pods_that_vanish_are_forgotten),
		});
}
