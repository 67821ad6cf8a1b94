/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/watch/table.h"

#include <functional>
#include <utility>

namespace slurmkube::watch
{

namespace
{

constexpr char k_synced[] = "{\"type\":\"synced\"}\n";

const char *kind_name(core::ListKind kind)
{
	switch (kind) {
	case core::ListKind::jobs:
		return "job";
	case core::ListKind::pods:
		return "pod";
	case core::ListKind::nodes:
		break;
	}
	return "node";
}

void add_event(std::string &lines, const char *type, core::ListKind kind, const std::string &object)
{
	lines += "{\"type\":\"";
	lines += type;
	lines += "\",\"kind\":\"";
	lines += kind_name(kind);
	lines += "\",\"object\":";
	lines += object;
	lines += "}\n";
}

/* 0 stands for an object that does not exist. */
std::uint64_t digest_of(const std::string &row)
{
	const std::uint64_t digest = std::hash<std::string>()(row);
	return digest == 0 ? 1 : digest;
}

} // namespace

std::optional<std::size_t> Table::join(Wish wish)
{
	std::size_t free = 0;
	while (free < watchers_.size() && watchers_[free])
		free++;
	if (free == watchers_.size())
		return std::nullopt;
	Watcher &watcher = watchers_[free].emplace(std::move(wish));
	for (auto known = known_.begin(); known != known_.end(); ++known) {
		/* rows were looked at for the others only */
		known->second.row.clear();
		note(known, bit(free));
	}
	watcher.waits_for_walk = !is_complete_;
	if (is_complete_)
		watcher.pending.emplace_back(std::nullopt);
	else if (!walk_)
		begin_walk();
	return free;
}

void Table::leave(std::size_t watcher)
{
	watchers_[watcher].reset();
	const Mask others = ~bit(watcher);
	for (auto known = known_.begin(); known != known_.end();) {
		const auto one = known++;
		one->second.visible &= others;
		one->second.sent &= others;
		one->second.stale &= others;
		drop_if_over(one);
	}
}

void Table::clear()
{
	known_.clear();
	walk_.reset();
	walks_again_ = is_complete_ = false;
}

/* Rows are kept while somebody waits for them, objects while they exist or a watcher has them. */
void Table::drop_if_over(Place known)
{
	if (known->second.stale != 0)
		return;
	known->second.row.clear();
	known->second.row.shrink_to_fit();
	if (known->second.digest == 0 && known->second.sent == 0)
		known_.erase(known);
}

void Table::note(Place known, Mask mask)
{
	mask &= ~known->second.stale;
	known->second.stale |= mask;
	for (std::size_t i = 0; i < watchers_.size(); i++) {
		if ((mask & bit(i)) != 0)
			watchers_[i]->pending.emplace_back(known);
	}
}

bool Table::may_see(const Watcher &watcher, const Known &known)
{
	return known.is_for_all || watcher.wish.peer.may_see(known.user);
}

Table::Mask Table::visible_to(const ObjectId &id, const Sight &sight) const
{
	Mask mask = 0;
	for (std::size_t i = 0; i < watchers_.size(); i++) {
		if (!watchers_[i])
			continue;
		const Wish &wish = watchers_[i]->wish;
		const auto &selection = wish.selections[static_cast<std::size_t>(id.kind)];
		if (selection && (sight.is_for_all || wish.peer.may_see(sight.facts.user)) &&
			core::selects(*selection, sight.facts))
			mask |= bit(i);
	}
	return mask;
}

void Table::look(const ObjectId &id)
{
	look_at(known_.try_emplace(id).first);
}

void Table::look_at(Place place)
{
	Known &known = place->second;
	auto sight = objects_.look(place->first);
	const std::uint64_t digest = sight ? digest_of(sight->row) : 0;
	const Mask visible = sight ? visible_to(place->first, *sight) : Mask{0};
	/* whoever sees another row, sees the object for the first time, or no longer */
	const Mask changed = digest != known.digest
		? visible | known.sent
		: (visible ^ known.visible) | (visible & ~known.sent);
	known.digest = digest;
	known.visible = visible;
	if (sight) {
		known.user = sight->facts.user;
		known.is_for_all = sight->is_for_all;
		known.identity = std::move(sight->identity);
		known.row = std::move(sight->row);
	} else {
		known.row.clear();
	}
	note(place, changed);
	drop_if_over(place);
}

void Table::begin_walk()
{
	if (walk_)
		walks_again_ = true;
	else
		walk_ = ObjectId{};
}

void Table::walk(std::size_t objects)
{
	if (!walk_)
		return;
	for (; walk_ && objects > 0; objects--) {
		auto next = objects_.after(*walk_);
		const auto gone = known_.upper_bound(*walk_);
		if (gone != known_.end() && (!next || gone->first < *next))
			next = gone->first;
		walk_ = next;
		if (next)
			look(*next);
	}
	if (!walk_)
		end_walk();
}

void Table::end_walk()
{
	is_complete_ = true;
	if (std::exchange(walks_again_, false))
		begin_walk();
	for (auto &watcher : watchers_) {
		if (watcher && std::exchange(watcher->waits_for_walk, false))
			watcher->pending.emplace_back(std::nullopt);
	}
}

/* The object is first in the watcher's queue. false: the watcher has nothing to hear of it. */
bool Table::take_event(std::size_t watcher, Place place, std::string &lines)
{
	Known &known = place->second;
	const Mask mine = bit(watcher);
	const bool has_it = (known.sent & mine) != 0;
	const bool is_strange =
		!has_it && known.digest != 0 && !may_see(*watchers_[watcher], known);
	if (known.row.empty() && !is_strange)
		look_at(place); /* keeps the object, because it is stale for this watcher */
	known.stale &= ~mine;
	const bool is_seen = !is_strange && (known.visible & mine) != 0;
	if (is_seen)
		add_event(lines, has_it ? "changed" : "added", place->first.kind, known.row);
	else if (has_it)
		add_event(lines, "gone", place->first.kind, known.identity);
	known.sent = is_seen ? known.sent | mine : known.sent & ~mine;
	drop_if_over(place);
	return is_seen || has_it;
}

bool Table::next(std::size_t watcher, std::size_t &examined_most, std::string &lines)
{
	auto &pending = watchers_[watcher]->pending;
	for (; !pending.empty() && examined_most > 0; examined_most--) {
		const auto first = pending.front();
		pending.pop_front();
		if (!first)
			lines += k_synced;
		if (!first || take_event(watcher, *first, lines))
			return true;
	}
	return false;
}

} // namespace slurmkube::watch
