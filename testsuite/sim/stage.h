/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stage.h - what all parts of the simulation share: the order of events, random draws, clocks, the
 * log of the run, and the first violation.
 *
 * The simulation is deterministic: the same seed and script give the same run everywhere. A draw
 * depends on the seed, its purpose and the number of earlier draws for that purpose, never on
 * anything else. Dropping events from a script therefore does not change the rest of the run's
 * draws.
 */
#ifndef SLURMKUBE_TESTSUITE_SIM_STAGE_H
#define SLURMKUBE_TESTSUITE_SIM_STAGE_H

#include "src/core/world/world.h"
#include "testsuite/sim/planted_bugs.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace slurmkube::sim
{

using Micros = std::int64_t;
inline constexpr Micros k_ms = 1000, k_second = 1'000'000;

std::uint64_t mix(std::uint64_t x);
std::uint64_t hash_of(std::string_view text);

/* What a draw is for. */
enum class Topic {
	latency,
	fate,
	look,
	schedule,
	kubelet,
	plan,
	controller,
	reconnect,
	save,
	pick
};

class Dice
{
      public:
	explicit Dice(std::uint64_t seed) : seed_(seed) {}
	std::uint64_t roll(Topic topic, std::uint64_t whose);
	/* lowest to highest, both inclusive */
	std::int64_t between(
		Topic topic, std::uint64_t whose, std::int64_t lowest, std::int64_t highest);
	bool chance(Topic topic, std::uint64_t whose, unsigned percent)
	{
		return roll(topic, whose) % 100 < percent;
	}

      private:
	std::uint64_t seed_;
	std::unordered_map<std::uint64_t, std::uint32_t> counts_;
};

class Timeline
{
      public:
	using Call = std::function<void()>;
	[[nodiscard]] Micros now() const { return now_; }
	void at(Micros when, Call call);
	void after(Micros delay, Call call) { at(now_ + delay, std::move(call)); }
	/* Runs the next event if it is due by then. False: there is none, and the time is set to
	 * until. */
	bool step(Micros until);

      private:
	struct Entry {
		Micros when;
		std::uint64_t order;
		Call call;
	};
	static bool is_later(const Entry &a, const Entry &b)
	{
		return a.when != b.when ? a.when > b.when : a.order > b.order;
	}
	std::vector<Entry> heap_;
	std::uint64_t order_ = 0;
	Micros now_ = 0;
};

class Stage
{
      public:
	Stage(std::uint64_t seed, Plant planted, bool tells)
	    : dice(mix(seed)), plant(planted), tells_(tells)
	{
	}

	Dice dice;
	Timeline line;
	const Plant plant;
	/* offset of the wall clock of the controller's host; the API server's clock is right */
	std::int64_t wall_step_s = 0;
	bool calm = false; /* faults are over */

	[[nodiscard]] Micros now() const { return line.now(); }
	[[nodiscard]] core::Now agent_now() const
	{
		return {.mono_us = k_boot + now(), .wall_s = wall_s() + wall_step_s};
	}
	[[nodiscard]] std::int64_t wall_s() const { return k_epoch + now() / k_second; }
	[[nodiscard]] std::int64_t host_wall_s() const { return wall_s() + wall_step_s; }

	template <class F> void tell(F &&text)
	{
		if (tells_)
			add_line(text());
	}
	/* Only the first violation is recorded. */
	void violated(const char *invariant, std::string what);
	[[nodiscard]] bool is_violated() const { return !violation_.empty(); }
	[[nodiscard]] const std::string &violation() const { return violation_; }
	[[nodiscard]] const std::string &invariant() const { return invariant_; }
	[[nodiscard]] const std::vector<std::string> &story() const { return story_; }

      private:
	static constexpr Micros k_boot = 100 * k_second;
	static constexpr std::int64_t k_epoch = 1'700'000'000;
	void add_line(const std::string &text);

	bool tells_;
	std::vector<std::string> story_;
	std::string violation_, invariant_;
};

/* Selects an element by a random number. The choice is stable when other elements come and go. */
template <class Keys>
std::optional<typename Keys::value_type> pick(const Keys &keys, std::uint64_t number)
{
	std::optional<typename Keys::value_type> best;
	std::uint64_t best_hash = 0;
	for (const auto &key : keys) {
		const std::uint64_t hash = mix(number ^ hash_of(key));
		if (!best || hash < best_hash) {
			best = key;
			best_hash = hash;
		}
	}
	return best;
}

} // namespace slurmkube::sim

#endif
