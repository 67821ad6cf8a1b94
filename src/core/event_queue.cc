/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/event_queue.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_second_us = 1'000'000;

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
		news_.pop_front();
		dropped_++;
	}
}

/* News before warnings, the oldest first. */
void EventQueue::make_room()
{
	if (warnings_.size() + news_.size() < limits_.queued_max)
		return;
	(news_.empty() ? warnings_ : news_).pop_front();
	dropped_++;
}

void EventQueue::add(EventNote note, std::int64_t now_us)
{
	List &list = note.warning ? warnings_ : news_;
	const auto same = std::find_if(list.begin(), list.end(), [&note](const Entry &e) { return e.note.uid == note.uid && e.note.reason == note.reason; });
	if (same != list.end()) {
		same->note = std::move(note);
		return;
	}
	make_room();
	list.push_back({std::move(note), now_us});
}

std::optional<EventNote> EventQueue::next(std::int64_t now_us)
{
	refill(now_us);
	drop_old_news(now_us);
	if (empty() || tokens_ == 0)
		return std::nullopt;
	List &list = warnings_.empty() ? news_ : warnings_;
	EventNote note = std::move(list.front().note);
	list.pop_front();
	tokens_--;
	written_++;
	return note;
}

} // namespace slurmkube::core
