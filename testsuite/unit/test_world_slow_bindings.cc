/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and bindings or look-ups that are answered slowly, one after another, or now and then not
 * at all: an allocation whose pods cannot be bound is given back all the same. */
#include "testsuite/unit/end_stage.h"
#include "testsuite/unit/place_stage.h"

#include <functional>
#include <map>

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

/* How requests fare, and what came of it. */
struct Fate {
	std::int64_t bind_us = 10'000, look_us = 20'000;
	Error bind_error{Errc::denied, "policy"};
	int one_look_fails_in = 0;
	bool is_spread = false; /* some bindings take longer than others */
	int looks = 0, binds = 0;
	bool is_given_back = false;
};

/* Runs a World as the agent does: after each event, and at next_look_us(). */
template <class S> class Engine
{
      public:
	Engine(S &stage, Fate &fate) : s_(stage), fate_(fate) {}

	void at(std::int64_t delay_us, std::function<void()> call)
	{
		events_.emplace(s_.now.mono_us + delay_us, std::move(call));
	}

	/* Until the allocation is given back or so many seconds have passed. */
	bool run(std::int64_t seconds)
	{
		const std::int64_t end = s_.now.mono_us + seconds * k_second;
		while (s_.now.mono_us < end && !fate_.is_given_back) {
			for (const auto &[uid, action] : s_.world.take_actions(s_.now))
				handle(uid, action);
			pass_to_next();
		}
		return fate_.is_given_back;
	}

      private:
	void pass_to_next()
	{
		std::int64_t next = s_.now.mono_us + 5 * k_second; /* the agent's tick */
		if (const auto look = s_.world.next_look_us())
			next = std::min(next, std::max(*look, s_.now.mono_us + 1));
		if (!events_.empty())
			next = std::min(next, std::max(events_.begin()->first, s_.now.mono_us));
		advance(s_.now, next - s_.now.mono_us);
		while (!events_.empty() && events_.begin()->first <= s_.now.mono_us) {
			const auto call = std::move(events_.begin()->second);
			events_.erase(events_.begin());
			call();
		}
	}

	void handle(const PodUid &uid, const Action &action)
	{
		if (std::holds_alternative<Bind>(action))
			bind(uid);
		if (std::holds_alternative<LookUp>(action))
			look_up(uid);
		if (std::holds_alternative<Report>(action))
			at(10'000, [this, uid] {
				s_.world.answer(ReportAnswered{uid, Ok{}}, s_.now);
			});
		fate_.is_given_back |= std::holds_alternative<Complete>(action);
	}

	void bind(const PodUid &uid)
	{
		fate_.binds++;
		const std::int64_t takes_us = fate_.is_spread
			? fate_.bind_us * (70 + fate_.binds * 37 % 61) / 100
			: fate_.bind_us;
		at(takes_us, [this, uid] {
			s_.world.answer(BindAnswered{uid, fate_.bind_error}, s_.now);
		});
	}

	void look_up(const PodUid &uid)
	{
		fate_.looks++;
		const bool fails =
			fate_.one_look_fails_in > 0 && fate_.looks % fate_.one_look_fails_in == 0;
		at(fate_.look_us, [this, uid, fails] {
			const Error busy{Errc::again, "429"};
			s_.world.answer(LookUpAnswered{uid,
						fails ? Result<PodLookup>(busy)
						      : Result<PodLookup>(PodLookup::unbound)},
				s_.now);
		});
	}

	S &s_;
	Fate &fate_;
	std::multimap<std::int64_t, std::function<void()>> events_;
};

template <class S> bool is_given_back(S &s, Fate fate, std::int64_t seconds = 600)
{
	return Engine<S>(s, fate).run(seconds);
}

void place_alone(PlaceStage &s)
{
	s.world.observe(PodSeen{PlaceStage::pod("b")}, s.now);
	(void)s.act();
	s.allocate("b", 8, "n1");
	SlurmJob job =
		make_job(8, make_marker("default", "pod-b", "Pod", "b", 1), JobState::running);
	job.nodes = nodes({{"n1", 4}});
	s.world.observe(JobSeen{job}, s.now);
}

void place_gang(GangStage &s, std::uint32_t pods)
{
	s.all_pods(pods);
	(void)s.take();
	s.world.answer(SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, s.now);
	s.world.observe(JobSeen{s.running(nodes({{"n1", 8}, {"n2", 8}}))}, s.now);
}

/* A webhook that does not answer in time. */
void bindings_of_a_pod_hang()
{
	for (const std::int64_t seconds : {5, 10, 15, 20, 30, 31, 46}) {
		PlaceStage s;
		place_alone(s);
		CHECK(is_given_back(s, {.bind_us = seconds * k_second}));
	}
}

void bindings_of_a_gang_hang()
{
	for (const bool is_spread : {false, true}) {
		for (const std::uint32_t pods : {2U, 8U, 16U}) {
			/* with the longer time one is always under way, if they are begun again */
			for (const std::int64_t seconds : {15, 60}) {
				GangStage s(pods, size(1000, 64));
				place_gang(s, pods);
				const Fate fate{
					.bind_us = seconds * k_second, .is_spread = is_spread};
				CHECK(is_given_back(s, fate, 240));
			}
		}
	}
}

void bindings_are_refused_one_after_another()
{
	for (const std::uint32_t pods : {2U, 8U, 16U}) {
		GangStage s(pods, size(1000, 64));
		place_gang(s, pods);
		CHECK(is_given_back(s, {.bind_us = 300'000, .is_spread = true}, 120));
	}
}

/* A reload, or a report about the job, comes while a binding is under way. */
void events_do_not_begin_the_time_anew()
{
	PlaceStage s;
	place_alone(s);
	Fate fate{.bind_us = 15 * k_second};
	Engine<PlaceStage> engine(s, fate);
	std::function<void()> reload = [&] {
		s.world.observe(SettingsSet{PlaceStage::settings()}, s.now);
		engine.at(5 * k_second, reload);
	};
	engine.at(5 * k_second, reload);
	CHECK(engine.run(600));
}

/* The pods of the gang have failed and still exist; nothing runs. */
void bindings_of_successors_are_refused()
{
	EndStage s(2);
	SlurmJob job = s.running(nodes({{"n1", 4}, {"n2", 4}}));
	s.submit(job);
	(void)s.steps(4);
	for (std::uint32_t i = 0; i < 2; i++)
		s.end(i, PodPhase::failed, 1);
	s.replace_pods("b");
	CHECK(is_given_back(s, {}));
}

void some_look_ups_fail()
{
	for (const std::uint32_t pods : {1U, 16U}) {
		for (const int one_in : {50, 20, 5}) {
			GangStage s(pods, size(500, 64));
			place_gang(s, pods);
			CHECK(is_given_back(s, {.one_look_fails_in = one_in}));
		}
	}
}

/* The first answers still count when the last one comes. */
void look_ups_of_a_large_gang_come_to_an_end()
{
	struct Row {
		std::uint32_t pods;
		std::int64_t look_us;
	};
	for (const Row row : {Row{256, k_second}, Row{1000, k_second}, Row{5000, 20'000}}) {
		if (check::k_is_sanitized && row.pods > 1000)
			break;
		GangStage s(row.pods, size(1, 1));
		for (std::uint32_t i = 0; i < row.pods; i++)
			s.world.observe(PodSeen{s.pod(i)}, s.now);
		for (int i = 0; i < 200 && only<Submit>(s.take()).empty(); i++)
			s.pass(k_second / 10);
		s.world.answer(
			SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, s.now);
		KubeNode node = kube_node("n1", "n1-uid", 8000);
		node.allocatable.pods = 100'000;
		node.ready = false;
		s.world.observe(NodeSeen{node}, s.now);
		s.world.observe(JobSeen{s.running(nodes({{"n1", row.pods}}))}, s.now);
		CHECK(is_given_back(s, {.look_us = row.look_us}));
	}
}

} // namespace

int main()
{
	return check::run_tests("world slow bindings",
		{
			TEST(bindings_of_a_pod_hang),
			TEST(bindings_of_a_gang_hang),
			TEST(bindings_are_refused_one_after_another),
			TEST(events_do_not_begin_the_time_anew),
			TEST(bindings_of_successors_are_refused),
			TEST(some_look_ups_fail),
			TEST(look_ups_of_a_large_gang_come_to_an_end),
		});
}
