/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "testsuite/sim/stage.h"

#include <algorithm>
#include <cstdio>

namespace slurmkube::sim
{

std::uint64_t mix(std::uint64_t x)
{
	x += 0x9e3779b97f4a7c15U;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
	return x ^ (x >> 31);
}

std::uint64_t hash_of(std::string_view text)
{
	std::uint64_t hash = 0xcbf29ce484222325U;
	for (const char c : text)
		hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
	return hash;
}

std::uint64_t Dice::roll(Topic topic, std::uint64_t whose)
{
	const std::uint64_t key = mix(whose ^ (static_cast<std::uint64_t>(topic) << 56));
	return mix(seed_ ^ mix(key + ++counts_[key]));
}

std::int64_t Dice::between(
	Topic topic, std::uint64_t whose, std::int64_t lowest, std::int64_t highest)
{
	const auto width = static_cast<std::uint64_t>(highest - lowest + 1);
	return lowest + static_cast<std::int64_t>(roll(topic, whose) % width);
}

void Timeline::at(Micros when, Call call)
{
	heap_.push_back({std::max(when, now_), order_++, std::move(call)});
	std::push_heap(heap_.begin(), heap_.end(), is_later);
}

bool Timeline::step(Micros until)
{
	if (heap_.empty() || heap_.front().when > until) {
		now_ = std::max(now_, until);
		return false;
	}
	std::pop_heap(heap_.begin(), heap_.end(), is_later);
	Entry next = std::move(heap_.back());
	heap_.pop_back();
	now_ = next.when;
	next.call();
	return true;
}

void Stage::violated(const char *invariant, std::string what)
{
	if (is_violated())
		return;
	tell([&] { return "VIOLATED (" + std::string(invariant) + "): " + what; });
	invariant_ = invariant;
	violation_ = std::move(what);
}

void Stage::add_line(const std::string &text)
{
	char time[32];
	(void)snprintf(time, sizeof(time), "%9.3f  ", static_cast<double>(now()) / 1e6);
	story_.push_back(time + text);
}

} // namespace slurmkube::sim
