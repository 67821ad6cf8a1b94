/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and native jobs of pods: for which one slurmctld is asked next, and who looks then. */
#include "testsuite/unit/native_stage.h"

#include <ctime>

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

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

/* Otherwise one pod whose annotation is edited again and again would have all questions. */
void namespaces_take_turns()
{
	for (const bool is_one_pod : {false, true}) {
		NativeStage s;
		std::uint32_t number = 100;
		const auto edit = [&](int pod) {
			Pod p = NativeStage::asking("evil" + std::to_string(pod), ++number);
			p.name_space = is_one_pod ? "default" : "evil";
			s.world.observe(PodSeen{p}, s.now);
		};
		for (int i = 0; i < (is_one_pod ? 1 : 15); i++)
			edit(i);
		(void)s.act();
		for (int i = 0; i < 10; i++) { /* the evil ones have had their turns */
			const std::string one = s.question();
			if (!one.empty())
				s.answer(k_no_such_job,
					static_cast<std::uint32_t>(std::stoul(one.substr(4))));
			advance(s.now, k_native_second / 4);
			edit(20);
			(void)s.act();
		}
		s.world.observe(PodSeen{NativeStage::asking("a", 5000)}, s.now);
		(void)s.act();
		std::string asked;
		for (int i = 0; i < 3; i++) {
			advance(s.now, k_native_second / 4);
			edit(20);
			(void)s.act();
			const std::string one = s.question();
			asked += one + " ";
			if (!one.empty())
				s.answer(k_no_such_job,
					static_cast<std::uint32_t>(std::stoul(one.substr(4))));
		}
		CHECK(asked.find("ask:5000 ") != std::string::npos);
	}
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

/* Rounds come many times per second, and hybrid nodes complete jobs nearly always. */
void rounds_between_questions_cost_nothing()
{
	const auto cpu_us = [](int rounds, std::uint32_t jobs) {
		NativeJobs native;
		Now now = k_start;
		for (std::uint32_t i = 0; i < jobs * 64; i++) {
			const NativeMark mark{{1 + i / 64}, 1, 0, 1, "slurm-a"};
			native.settle({"pod" + std::to_string(i)}, {mark, "n2", 10, 1});
		}
		native.note_completing("n2", true);
		const std::clock_t begun = std::clock();
		for (int i = 0; i < rounds; i++) {
			advance(now, 100);
			if (const auto job = native.take_question(now))
				(void)native.answered(*job, job_of_user(job->number), now);
			native.note_completing("n2", true);
		}
		return static_cast<double>(std::clock() - begun) * 1e6 / CLOCKS_PER_SEC;
	};
	CHECK(cpu_us(20'000, 128) < 10 * cpu_us(20'000, 1) + 100'000);
}

/* Most of the time each job has been asked for a short while ago. */
void rounds_without_a_question_do_not_walk_over_the_jobs()
{
	const auto cpu_us = [](std::uint32_t jobs) {
		NativeJobs native;
		Now now = k_start;
		for (std::uint32_t id = 1; id <= jobs; id++)
			native.settle({"pod" + std::to_string(id)},
				{{{id}, 1, 0, 1, "slurm-a"}, "n2", 10, 1});
		for (std::uint32_t asked = 0; asked < jobs; advance(now, NativeJobs::k_pause_us)) {
			const auto job = native.take_question(now);
			if (!job)
				continue;
			asked++;
			(void)native.answered(*job, job_of_user(job->number), now);
		}
		advance(now, NativeJobs::k_pause_us);
		const std::clock_t begun = std::clock();
		for (int i = 0; i < 100'000; i++) {
			advance(now, 10);
			CHECK(!native.take_question(now));
		}
		return static_cast<double>(std::clock() - begun) * 1e6 / CLOCKS_PER_SEC;
	};
	CHECK(cpu_us(100) < 5 * cpu_us(1) + 50'000);
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
	CHECK(s.asks_within(1)); /* what was said before counts no more */
	s.answer(job_of_user());
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

/* Answers and events make the pods look, too, and each look plans another one. */
void a_waiting_pod_plans_one_look_at_a_time()
{
	constexpr std::int64_t k_minutes = 10;
	const struct {
		JobState state;
		bool is_on;
		std::size_t most;
	} rows[] = {
		{JobState::running, true, 12 * k_minutes}, /* it lacks room */
		{JobState::pending, true, k_minutes},
		{JobState::complete, true, k_minutes},
		{JobState::running, false, 0},
	};
	for (const auto &row : rows) {
		NativeStage s;
		s.run("a");
		s.run("b");
		if (!row.is_on)
			s.world.observe(SettingsSet{PlaceStage::settings()}, s.now);
		const std::uint32_t id = row.state == JobState::running ? 7 : 50;
		s.world.observe(PodSeen{NativeStage::asking("c", id)}, s.now);
		(void)s.act();
		s.pass(5);
		(void)s.act(); /* it has said why it waits */
		std::size_t planned = 0;
		const std::int64_t end_us = s.now.mono_us + k_minutes * 60 * k_native_second;
		for (std::int64_t tick_us = s.now.mono_us; tick_us < end_us;
			tick_us += k_native_second) {
			for (auto at = s.world.next_look_us(); at && *at <= tick_us;
				at = s.world.next_look_us(), planned++) {
				advance(s.now, *at - s.now.mono_us);
				(void)s.act();
			}
			advance(s.now, tick_us - s.now.mono_us);
			if (const std::string one = s.question(); !one.empty()) {
				NativeJob job = job_of_user(one == "ask:7" ? 7 : id);
				job.state = one == "ask:7" ? JobState::running : row.state;
				s.answer(job, job.mark.job.number);
			}
			(void)s.act();
		}
		CHECK(planned <= row.most + 2);
	}
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

/* Pods that name the number one after the other would tell it by the time. */
void of_another_users_job_the_time_tells_nothing()
{
	NativeJob foreign = job_of_user(50);
	foreign.mark.user_id = 2;
	NativeJob array = foreign;
	array.described = 1'000;
	const NativeAnswer words[] = {k_no_such_job, NativeAnswer(foreign), NativeAnswer(array)};
	for (const NativeAnswer &word : words) {
		NativeStage s;
		s.world.observe(PodSeen{NativeStage::asking("a", 50)}, s.now);
		(void)s.act();
		CHECK(s.asks_within(1, 50));
		s.answer(word, 50);
		CHECK_EQUAL(s.act(), "report:a:SlurmRefused");
		for (const char *next : {"b", "c", "d"}) {
			s.world.observe(PodGone{{"a"}, NativeStage::asking("a", 50)}, s.now);
			(void)s.act();
			s.pass(15);
			s.text.clear();
			s.world.observe(PodSeen{NativeStage::asking(next, 50)}, s.now);
			CHECK_EQUAL(s.act(), "report:" + std::string(next) + ":SlurmRefused");
			CHECK(s.text.starts_with("there is no Slurm job 50 of"));
			s.world.observe(PodGone{{next}, NativeStage::asking(next, 50)}, s.now);
			(void)s.act();
		}
	}
}

} // namespace

int main()
{
	return check::run_tests("world_native_questions",
		{
			TEST(questions_have_a_pace),
			TEST(namespaces_take_turns),
			TEST(hasty_questions_take_turns_with_the_others),
			TEST(rounds_between_questions_cost_nothing),
			TEST(rounds_without_a_question_do_not_walk_over_the_jobs),
			TEST(a_node_that_slurm_has_lost_completes_nothing),
			TEST(pods_look_often_only_if_they_lack_room),
			TEST(a_waiting_pod_plans_one_look_at_a_time),
			TEST(large_answers_delay_those_that_wait_only),
			TEST(tasks_of_a_job_that_is_not_known_count),
			TEST(a_pod_that_names_numbers_in_turn_asks_no_more_often),
			TEST(of_another_users_job_the_time_tells_nothing),
		});
}
