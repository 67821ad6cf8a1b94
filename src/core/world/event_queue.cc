/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/event_queue.h"

#include "src/base/time_units.h"
#include "src/core/model/names.h"

#include <algorithm>
#include <iterator>

namespace slurmkube::core
{

namespace
{

std::string key_of(const EventNote &note)
{
	return note.uid + (note.warning ? '!' : ' ') + note.reason;
}

/* Warnings, and what no later event would say again. */
bool goes_first(const EventNote &note)
{
	return note.warning || note.reason == names::k_reason_class_unused;
}

} // namespace

void EventQueue::refill(std::int64_t now_us)
{
	if (filled_us_ == 0)
		filled_us_ = now_us;
	const std::int64_t fresh = (now_us - filled_us_) * limits_.per_second / k_second_us;
	if (fresh <= 0)
		return;
	tokens_ = std::min(limits_.burst, tokens_ + fresh);
	filled_us_ += fresh * k_second_us / limits_.per_second;
}

void EventQueue::drop_old_news(std::int64_t now_us)
{
	while (!news_.empty() && now_us - news_.front().since_us > limits_.news_us) {
		(void)take(news_);
		dropped_++;
	}
}

/* Drops the oldest event, and one that goes first only if there is no other. */
void EventQueue::make_room()
{
	if (urgent_.size() + news_.size() < limits_.queued_max)
		return;
	(void)take(news_.empty() ? urgent_ : news_);
	dropped_++;
}

EventNote EventQueue::take(List &list)
{
	EventNote note = std::move(list.front().note);
	list.pop_front();
	known_.erase(key_of(note));
	return note;
}

void EventQueue::add(EventNote note, std::int64_t now_us)
{
	std::string key = key_of(note);
	if (const auto same = known_.find(key); same != known_.end()) {
		same->second->note = std::move(note);
		return;
	}
	make_room();
	List &list = goes_first(note) ? urgent_ : news_;
	list.push_back({std::move(note), now_us});
	known_.emplace(std::move(key), std::prev(list.end()));
}

std::optional<EventNote> EventQueue::next(std::int64_t now_us)
{
	refill(now_us);
	drop_old_news(now_us);
	if (empty() || tokens_ == 0)
		return std::nullopt;
	tokens_--;
	written_++;
	return take(urgent_.empty() ? news_ : urgent_);
}

} // namespace slurmkube::core
