/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/kube/watch_group.h"

#include "src/codec/pod.h"

#include <algorithm>

namespace slurmkube::kube
{

namespace
{

void add(WatchCounters &sum, const WatchCounters &other)
{
	sum.lists += other.lists;
	sum.pages += other.pages;
	sum.expired += other.expired;
	sum.streams += other.streams;
	sum.events += other.events;
	sum.bookmarks += other.bookmarks;
	sum.errors += other.errors;
	sum.silences += other.silences;
}

} // namespace

WatchGroup::WatchGroup(Client &client, const std::vector<WatchOptions> &options, WatchSink &sink)
    : sink_(sink)
{
	for (const WatchOptions &one : options)
		parts_.push_back(std::make_unique<Part>(*this, client, one));
}

void WatchGroup::list_again()
{
	for (const auto &part : parts_)
		part->list_again();
}

bool WatchGroup::synced() const
{
	return std::ranges::all_of(parts_, [](const auto &part) { return part->watch().synced(); });
}

const std::string &WatchGroup::trouble() const
{
	const auto troubled = std::ranges::find_if(
		parts_, [](const auto &part) { return !part->watch().healthy(); });
	return (troubled == parts_.end() ? parts_.front() : *troubled)->watch().trouble();
}

WatchCounters WatchGroup::counters() const
{
	WatchCounters sum;
	for (const auto &part : parts_)
		add(sum, part->watch().counters());
	return sum;
}

/* A list proves nothing about what other selectors choose: before all have listed, their objects
 * would look deleted. */
void WatchGroup::part_listed(const std::set<std::string> &live_uids)
{
	if (is_single())
		return sink_.listed(live_uids);
	if (!std::ranges::all_of(parts_, [](const auto &part) { return part->is_listed(); }))
		return;
	std::set<std::string> live;
	for (const auto &part : parts_)
		live.insert(part->live().begin(), part->live().end());
	sink_.listed(live);
}

void WatchGroup::Part::upserted(json_object *object)
{
	if (!group_.is_single())
		live_.insert(codec::uid_of(object));
	group_.sink_.upserted(object);
}

void WatchGroup::Part::deleted(json_object *last_state)
{
	if (!group_.is_single())
		live_.erase(codec::uid_of(last_state));
	group_.sink_.deleted(last_state);
}

void WatchGroup::Part::listed(const std::set<std::string> &live_uids)
{
	if (!group_.is_single())
		live_ = live_uids;
	is_listed_ = true;
	group_.part_listed(live_uids);
}

void WatchGroup::Part::list_again()
{
	is_listed_ = false;
	watch_.list_again();
}

} // namespace slurmkube::kube
