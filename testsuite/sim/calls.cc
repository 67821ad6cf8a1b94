/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "testsuite/sim/calls.h"

namespace slurmkube::sim
{

namespace
{

constexpr Micros k_api_deadline = 5 * k_second;
constexpr Micros k_message_timeout = 10 * k_second;
constexpr Micros k_slow_way = 8 * k_second; /* for a submission when slurmctld lacks the guard */

} // namespace

/* ---- API server ---- */

Api::Fate Api::fate_of(std::uint64_t key)
{
	const std::uint64_t draw = stage_.dice.roll(Topic::fate, key);
	if (stage_.calm)
		return Fate::fine;
	const bool is_troubled = stage_.now() < trouble_until;
	if (draw % 100 >= (is_troubled ? 60 : 2))
		return Fate::fine;
	static constexpr Fate k_fates[] = {Fate::lost_before, Fate::lost_after, Fate::lost_after,
		Fate::conflict, Fate::busy, Fate::broken, Fate::forbidden};
	return k_fates[(draw >> 32) % std::size(k_fates)];
}

void Api::call(
	std::uint64_t key, std::function<Status()> effect, std::function<void(const Status &)> done)
{
	const Micros there = stage_.dice.between(Topic::latency, key, k_ms, 20 * k_ms),
		     back = stage_.dice.between(Topic::latency, key, k_ms, 20 * k_ms);
	const Fate fate = fate_of(key);
	const bool late_effect = stage_.dice.chance(Topic::fate, key, 50);
	stage_.line.after(
		there, [=, this, effect = std::move(effect), done = std::move(done)]() mutable {
			const auto answer = [this, &done](Micros delay, Status status) {
				stage_.line.after(delay,
					[done, status = std::move(status)] { done(status); });
			};
			const Micros stall = stalled_until - stage_.now();
			if (is_away())
				return answer(back, Error{Errc::io, "connection refused"});
			if (stall > k_api_deadline) {
				/* a longer stall ends with the connection reset, and the request
				 * has no effect */
				if (late_effect && stall < k_api_deadline + 500 * k_ms)
					stage_.line.after(stall, [this, effect] {
						kube_.writes++;
						(void)effect().ok();
					});
				return answer(k_api_deadline, Error{Errc::io, "deadline"});
			}
			stage_.line.after(std::max<Micros>(stall, 0),
				[=, this, effect = std::move(effect), done = std::move(done)] {
					const auto tell = [&](Micros delay, Status status) {
						stage_.line.after(
							delay, [done, status = std::move(status)] {
								done(status);
							});
					};
					kube_.writes++;
					switch (fate) {
					case Fate::fine:
						return tell(back, effect());
					case Fate::lost_after:
						(void)effect().ok();
						return tell(back + k_api_deadline,
							Error{Errc::io, "no answer"});
					case Fate::lost_before:
					case Fate::refused:
						return tell(back + k_api_deadline,
							Error{Errc::io, "no answer"});
					case Fate::conflict:
						return tell(back,
							Error{Errc::conflict,
								"409: the object has been "
								"modified"});
					case Fate::busy:
						return tell(
							back + k_second, Error{Errc::again, "429"});
					case Fate::broken:
						return tell(back, Error{Errc::io, "500"});
					case Fate::forbidden:
						return tell(back, Error{Errc::denied, "403"});
					}
				});
		});
}

/* ---- slurmctld ---- */

Micros Rpc::way(std::uint64_t key)
{
	const bool is_slow = stage_.dice.chance(Topic::latency, key, 4) && !stage_.calm;
	return stage_.dice.between(Topic::latency, key, 300, is_slow ? k_second : 8 * k_ms);
}

void Rpc::submit(std::uint64_t key, core::JobSpec spec, std::function<bool()> is_listening,
	std::function<void(const Result<core::Submitted> &)> done)
{
	count++;
	const bool is_job_killed = stage_.dice.chance(Topic::fate, key, 50);
	/* The guard matters if a request of a dead agent arrives after its successor's request.
	 * With the usual delay of a few milliseconds that happens once in thousands of seeds. */
	const Micros on_the_way = way(key) +
		(stage_.plant == Plant::no_guard
				? stage_.dice.between(Topic::latency, key, 0, k_slow_way)
				: 0);
	stage_.line.after(on_the_way,
		[=, this, spec = std::move(spec), is_listening = std::move(is_listening),
			done = std::move(done)] {
			if (!slurm_.is_up()) {
				stage_.line.after(k_message_timeout, [done] {
					done(Error{Errc::again, "slurmctld is away"});
				});
				return;
			}
			const auto answer = slurm_.submit(spec);
			stage_.line.after(way(key), [=, this, at = slurm_.incarnation()] {
				if (at != slurm_.incarnation())
					return done(Error{Errc::io, "slurmctld went away"});
				const bool is_lost = stage_.now() < answers_lost_until;
				if (answer && !answer->existed &&
					(!is_listening() || (is_lost && is_job_killed)))
					slurm_.answer_undelivered(answer->submitted.job);
				if (is_lost) {
					stage_.line.after(k_message_timeout, [done] {
						done(Error{Errc::io, "no answer"});
					});
					return;
				}
				stage_.line.after(way(key), [=] {
					done(answer ? Result<core::Submitted>(answer->submitted)
						    : Result<core::Submitted>(answer.error()));
				});
			});
		});
}

void Rpc::call(
	std::uint64_t key, std::function<Status()> effect, std::function<void(const Status &)> done)
{
	count++;
	stage_.line.after(way(key), [=, this, effect = std::move(effect), done = std::move(done)] {
		if (!slurm_.is_up()) {
			stage_.line.after(k_message_timeout, [done] {
				done(Error{Errc::again, "slurmctld is away"});
			});
			return;
		}
		const Status status = effect();
		if (stage_.now() < answers_lost_until) {
			stage_.line.after(k_message_timeout, [done] {
				done(Error{Errc::io, "no answer"});
			});
			return;
		}
		stage_.line.after(way(key), [done, status] { done(status); });
	});
}

} // namespace slurmkube::sim
